/*
 * notes.h - what a conversion has lost: a text for each kind of loss, and how often it happened.
 */
#ifndef FORMATS_NOTES_H
#define FORMATS_NOTES_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "trace/reader.h"

struct format_notes {
    struct format_note {
        char *text;
        uint64_t count;
    } * items;
    size_t count;
};

void format_notes_init(struct format_notes *);
void format_notes_fini(struct format_notes *);

/* Counts one more of this kind. The text is what was lost and why: "MPI_Win_fence: the format has
 * no one-sided operations". `notes` may be NULL. */
void format_note(struct format_notes *, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* What could not be read of a native trace, after it was read. */
void format_note_missing(const struct trace *, struct format_notes *);

/* The line for the user: "MPI_Win_fence: the format has no one-sided operations (12 times)". */
void format_note_text(const struct format_note *, struct buf *out);

#endif
