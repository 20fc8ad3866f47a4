/*
 * orr.c - the native format as an entry of the table.
 */
#include <string.h>

#include "formats/notes.h"
#include "formats/table.h"
#include "trace/copy.h"
#include "trace/format.h"

static int orr_detect(const char *path, const uint8_t *head, size_t bytes)
{
    uint32_t magic = TRACE_MAGIC;
    (void)path;
    return bytes >= sizeof magic && memcmp(head, &magic, sizeof magic) == 0;
}

static int orr_write(struct trace *t, const char *path, struct format_notes *notes, struct err *err)
{
    static const struct trace_cut all = {0, UINT64_MAX, INT64_MIN, INT64_MAX};
    (void)notes;
    return trace_copy(t, &all, path, err);
}

static int orr_read(const char *path, const char *orr, struct format_notes *notes, struct err *err)
{
    struct trace t;
    if (trace_open(&t, path, err) != 0)
        return err->code;
    int rc = orr_write(&t, orr, notes, err);
    format_note_missing(&t, notes);
    trace_close(&t);
    return rc;
}

const struct trace_format format_orr = {
    .name = "orr",
    .suffix = TRACE_SUFFIX,
    .about = "the native format: everything",
    .detect = orr_detect,
    .read = orr_read,
    .write = orr_write,
};
