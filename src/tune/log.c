/*
 * log.c - reads and appends to the log of a search (see log.h).
 */
#include "tune/log.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/path.h"

#define HEAD "# orrery tune: "

double tune_round(double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.6g", value);
    return strtod(text, NULL);
}

static void keep(struct tune_log *log, const double *values, double error)
{
    ARRAY_EXTEND(log->entries, log->entry_count);
    struct tune_entry *entry = &log->entries[log->entry_count++];
    entry->values = mem_alloc(log->count * sizeof *values);
    memcpy(entry->values, values, log->count * sizeof *values);
    entry->error = error;
}

/* A line of numbers; 0 if it is something else. */
static int read_line(struct tune_log *log, char *line)
{
    double *numbers = mem_alloc((log->count + 1) * sizeof *numbers);
    size_t found = 0;
    char *at = line, *end;
    for (; found <= log->count; found++, at = end) {
        numbers[found] = strtod(at, &end);
        if (end == at)
            break;
    }
    int ok = found == log->count + 1 && at[strspn(at, " ")] == '\0';
    if (ok)
        keep(log, numbers, numbers[log->count]);
    mem_free(numbers);
    return ok;
}

static int read_all(struct tune_log *log, char *text, size_t length, const char *about,
                    off_t *whole, struct err *err)
{
    size_t line = 0;
    for (char *at = text, *end; (end = memchr(at, '\n', length - (size_t)(at - text)));
         at = end + 1) {
        *end = '\0';
        line++;
        if (line == 1 &&
            (strncmp(at, HEAD, strlen(HEAD)) != 0 || strcmp(at + strlen(HEAD), about) != 0))
            return err_set(err, ERR_INPUT,
                           "'%s' is not the log of this search: use another file, or remove it",
                           log->path);
        if (line > 1 && !read_line(log, at))
            return err_set(err, ERR_INPUT, "line %zu of '%s' is not an evaluation", line,
                           log->path);
        *whole = end + 1 - text;
    }
    return 0;
}

static int read_file(struct tune_log *log, const char *about, struct err *err)
{
    off_t size = lseek(log->fd, 0, SEEK_END), whole = 0;
    struct buf head;
    if (size < 0)
        return err_set(err, ERR_SYSTEM, "cannot read '%s': %s", log->path, strerror(errno));
    char *text = mem_alloc((size_t)size + 1);
    ssize_t got = pread(log->fd, text, (size_t)size, 0);
    int rc = got == size ? read_all(log, text, (size_t)size, about, &whole, err)
                         : err_set(err, ERR_SYSTEM, "cannot read '%s'", log->path);
    mem_free(text);
    if (rc != 0)
        return rc;
    buf_init(&head);
    buf_addf(&head, HEAD "%s\n", about);
    if (ftruncate(log->fd, whole) != 0 || lseek(log->fd, whole, SEEK_SET) < 0 ||
        (whole == 0 && write(log->fd, head.data, head.len) != (ssize_t)head.len))
        rc = err_set(err, ERR_SYSTEM, "cannot write '%s': %s", log->path, strerror(errno));
    buf_fini(&head);
    return rc;
}

int tune_log_open(struct tune_log *log, const char *path, const char *about, size_t count,
                  struct err *err)
{
    *log = (struct tune_log){.count = count, .fd = -1};
    pthread_mutex_init(&log->lock, NULL);
    if (!path)
        return 0;
    log->path = mem_strdup(path);
    log->fd = path_open_shared(path, err);
    int rc = log->fd >= 0 ? read_file(log, about, err) : err->code;
    if (rc != 0)
        tune_log_close(log);
    return rc;
}

void tune_log_close(struct tune_log *log)
{
    for (size_t i = 0; i < log->entry_count; i++)
        mem_free(log->entries[i].values);
    mem_free(log->entries);
    mem_free(log->path);
    if (log->fd >= 0)
        close(log->fd);
    pthread_mutex_destroy(&log->lock);
    *log = (struct tune_log){.fd = -1};
}

int tune_log_find(struct tune_log *log, const double *values, double *error)
{
    int found = 0;
    pthread_mutex_lock(&log->lock);
    for (size_t i = 0; i < log->entry_count && !found; i++)
        if (memcmp(log->entries[i].values, values, log->count * sizeof *values) == 0) {
            *error = log->entries[i].error;
            found = 1;
        }
    pthread_mutex_unlock(&log->lock);
    return found;
}

int tune_log_add(struct tune_log *log, const double *values, double error, struct err *err)
{
    struct buf line;
    int rc = 0;
    buf_init(&line);
    for (size_t i = 0; i < log->count; i++)
        buf_addf(&line, "%.6g ", values[i]);
    buf_addf(&line, "%.17g\n", error);
    pthread_mutex_lock(&log->lock);
    keep(log, values, error);
    if (log->fd >= 0 && write(log->fd, line.data, line.len) != (ssize_t)line.len)
        rc = err_set(err, ERR_SYSTEM, "cannot write '%s': %s", log->path, strerror(errno));
    pthread_mutex_unlock(&log->lock);
    buf_fini(&line);
    return rc;
}
