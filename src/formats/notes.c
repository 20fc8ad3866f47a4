/*
 * notes.c - counts what a conversion loses (see notes.h).
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "formats/notes.h"

#define KINDS_MOST \
    64 /* further kinds are counted together: a damaged file must not print without end */

void format_notes_init(struct format_notes *n)
{
    *n = (struct format_notes){0};
}

void format_notes_fini(struct format_notes *n)
{
    for (size_t i = 0; i < n->count; i++)
        mem_free(n->items[i].text);
    mem_free(n->items);
    *n = (struct format_notes){0};
}

static struct format_note *find(struct format_notes *n, const char *text)
{
    for (size_t i = 0; i < n->count; i++)
        if (strcmp(n->items[i].text, text) == 0)
            return &n->items[i];
    if (n->count == KINDS_MOST)
        return &n->items[KINDS_MOST - 1];
    ARRAY_EXTEND(n->items, n->count);
    n->items[n->count] = (struct format_note){mem_strdup(n->count == KINDS_MOST - 1 ? "other losses"
                                                                                    : text),
                                              0};
    return &n->items[n->count++];
}

void format_note(struct format_notes *n, const char *fmt, ...)
{
    char text[256];
    va_list args;
    if (!n)
        return;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    find(n, text)->count++;
}

void format_note_missing(const struct trace *t, struct format_notes *notes)
{
    if (t->missing.code)
        format_note(notes, "%s: %s", t->missing.text,
                    t->is_complete ? "its records are missing" : "what follows is missing");
}

void format_note_text(const struct format_note *note, struct buf *out)
{
    buf_adds(out, note->text);
    if (note->count > 1)
        buf_addf(out, " (%llu times)", (unsigned long long)note->count);
}
