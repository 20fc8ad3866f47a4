/*
 * formats.h - traces in the formats of other tools. A format is one file with a `struct
 * trace_format`, and a line in the table of formats.c: help, manual, completion and the tests then
 * include it.
 *
 * A reader makes an .orr file (build.h); a writer gets an open trace. What a format cannot express,
 * or a file lacks, is counted in notes, never dropped silently.
 */
#ifndef FORMATS_FORMATS_H
#define FORMATS_FORMATS_H

#include <stddef.h>
#include <stdint.h>

#include "formats/notes.h"
#include "trace/reader.h"

struct trace_format {
    const char *name;   /* "otf2" */
    const char *suffix; /* ".otf2" */
    const char *about;
    /* Whether a file has this format, by its name and its first bytes. */
    int (*detect)(const char *path, const uint8_t *head, size_t bytes);
    /* Writes the trace at `path` as an .orr file; NULL: this format is only written. */
    int (*read)(const char *path, const char *orr, struct format_notes *, struct err *);
    /* NULL: this format is only read. */
    int (*write)(struct trace *, const char *path, struct format_notes *, struct err *);
};

/* The table; ends with NULL. */
const struct trace_format *formats_at(size_t i);

/* The format of this name; ERR_INPUT names the nearest. */
int formats_find(const char *name, const struct trace_format **, struct err *);

/* Converts a trace of any format that can be read to `to`; NULL: what the suffix of `out` says. */
int formats_convert(const char *in, const char *out, const struct trace_format *to,
                    struct format_notes *, struct err *);

/* For opening a trace by its name: *temporary is a file with the same trace as .orr, which
 * formats_forget removes, or NULL if the file has that format already, or none. */
int formats_native(const char *path, char **temporary, struct format_notes *, struct err *);
void formats_forget(char *temporary);

/* Opens a trace of any format that can be read, as trace_open does. Formats other than .orr are
 * converted to a temporary file, which is removed before this returns. */
int formats_open(struct trace *, const char *path, struct format_notes *, struct err *);

#endif
