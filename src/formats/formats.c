/*
 * formats.c - the table of formats, and converting between them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/nearest.h"
#include "formats/table.h"

static const struct trace_format *const formats[] = {
    &format_orr,  &format_otf2,   &format_dumpi, &format_ti,
    &format_goal, &format_chrome, &format_paje,
};
#define FORMATS (sizeof formats / sizeof formats[0])

const struct trace_format *formats_at(size_t i)
{
    return i < FORMATS ? formats[i] : NULL;
}

int formats_find(const char *name, const struct trace_format **found, struct err *err)
{
    struct nearest nearest = {.word = name};
    for (size_t i = 0; i < FORMATS; i++) {
        if (strcmp(formats[i]->name, name) == 0) {
            *found = formats[i];
            return 0;
        }
        nearest_offer(&nearest, formats[i]->name);
    }
    return nearest.best ? err_set(err, ERR_INPUT, "unknown format '%s': did you mean '%s'?", name,
                                  nearest.best)
                        : err_set(err, ERR_INPUT, "unknown format '%s'", name);
}

static int ends(const char *text, const char *with)
{
    size_t length = strlen(text), n = strlen(with);
    return length >= n && strcmp(text + length - n, with) == 0;
}

/* The format with the suffix of a file's name; ERR_INPUT lists the suffixes. */
static int find_by_suffix(const char *path, const struct trace_format **found, struct err *err)
{
    struct buf all;
    buf_init(&all);
    for (size_t i = 0; i < FORMATS; i++) {
        if (formats[i]->write && ends(path, formats[i]->suffix)) {
            *found = formats[i];
            buf_fini(&all);
            return 0;
        }
        if (formats[i]->write)
            buf_addf(&all, "%s%s", all.len ? ", " : "", formats[i]->suffix);
    }
    err_set(err, ERR_INPUT, "the name '%s' has no suffix of a format: it should end in one of %s",
            path, buf_str(&all));
    buf_fini(&all);
    return ERR_INPUT;
}

/* The format of an existing file, by its contents. */
static int detect(const char *path, const struct trace_format **found, struct err *err)
{
    uint8_t head[4096];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof head - 1);
    if (n < 0 && errno != EISDIR) {
        err_set(err, ERR_SYSTEM, "cannot read '%s': %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return ERR_SYSTEM;
    }
    close(fd);
    n = n < 0 ? 0 : n;
    head[n] = 0;
    for (size_t i = 0; i < FORMATS; i++)
        if (formats[i]->detect && formats[i]->detect(path, head, (size_t)n)) {
            *found = formats[i];
            return 0;
        }
    return err_set(err, ERR_INPUT, "'%s' is not a trace of a format that can be read", path);
}

/* ---- converting ---- */

/* Creates an empty temporary file; the caller frees the path. */
static char *make_temporary(struct err *err)
{
    const char *folder = getenv("TMPDIR");
    folder = folder && *folder ? folder : "/tmp";
    size_t length = strlen(folder) + sizeof "/orrery-XXXXXX.orr";
    char *path = mem_alloc(length);
    snprintf(path, length, "%s/orrery-XXXXXX.orr", folder);
    int fd = mkstemps(path, (int)strlen(".orr"));
    if (fd < 0) {
        err_set(err, ERR_SYSTEM, "cannot write in '%s': %s", folder, strerror(errno));
        mem_free(path);
        return NULL;
    }
    close(fd);
    return path;
}

int formats_native(const char *path, char **temporary, struct format_notes *notes, struct err *err)
{
    const struct trace_format *from;
    *temporary = NULL;
    if (detect(path, &from, err) != 0 || from == &format_orr)
        return 0; /* opening a native trace gives the better message */
    char *made = make_temporary(err);
    if (!made)
        return err->code;
    int rc = from->read(path, made, notes, err);
    if (rc != 0)
        formats_forget(made);
    else
        *temporary = made;
    return rc;
}

void formats_forget(char *temporary)
{
    if (temporary)
        unlink(temporary);
    mem_free(temporary);
}

int formats_open(struct trace *t, const char *path, struct format_notes *notes, struct err *err)
{
    char *temporary;
    int rc = formats_native(path, &temporary, notes, err);
    if (rc == 0)
        rc = trace_open(t, temporary ? temporary : path, err);
    formats_forget(temporary);
    return rc;
}

int formats_convert(const char *in, const char *out, const struct trace_format *to,
                    struct format_notes *notes, struct err *err)
{
    const struct trace_format *from;
    struct trace t;
    if ((!to && find_by_suffix(out, &to, err) != 0) || detect(in, &from, err) != 0)
        return err->code;
    if (!to->write)
        return err_set(err, ERR_INPUT, "format '%s' can only be read", to->name);
    if (to == &format_orr)
        return from->read(in, out, notes, err);
    if (formats_open(&t, in, notes, err) != 0)
        return err->code;
    int rc = to->write(&t, out, notes, err);
    format_note_missing(&t, notes);
    trace_close(&t);
    return rc;
}
