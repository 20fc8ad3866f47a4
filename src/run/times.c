/*
 * times.c - reads tables of times and looks up entries.
 */
#include "run/times.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/sys.h"
#include "base/units.h"

#define LINE_MAX_BYTES 4096
#define FILE_MAX_BYTES ((size_t)64 << 20)

static int read_all(const char *path, struct buf *out, struct err *err)
{
    char chunk[4096 / 4];
    ssize_t n = 0;
    int fd = sys_open(path, O_RDONLY | O_CLOEXEC, 0);

    if (fd < 0)
        return err_set(err, ERR_SYSTEM, "cannot read '%s': %s", path, strerror(errno));
    while (out->len <= FILE_MAX_BYTES && (n = sys_read(fd, chunk, sizeof chunk)) > 0)
        buf_add(out, chunk, (size_t)n);
    if (n < 0)
        err_set(err, ERR_SYSTEM, "cannot read '%s': %s", path, strerror(errno));
    sys_close(fd);
    if (n >= 0 && out->len > FILE_MAX_BYTES)
        return err_set(err, ERR_INPUT, "cannot read '%s': it is larger than 64 MiB", path);
    return n < 0 ? ERR_SYSTEM : 0;
}

/* Takes the next word from *at: up to a space, a tab or a comma, or in quotes. NULL: none. */
static char *next_word(char **at)
{
    char *word = *at + strspn(*at, " \t,\r");
    size_t length;

    if (!*word || *word == '#')
        return NULL;
    if (*word == '"') {
        word++;
        length = strcspn(word, "\"");
    } else {
        length = strcspn(word, " \t,\r");
    }
    *at = word + length;
    if (**at)
        *(*at)++ = 0;
    return word;
}

static int parse_seconds(const char *text, double *out, struct err *err)
{
    vtime t;
    struct err ignored;

    if (units_parse_double(text, out, &ignored) == 0)
        return 0;
    if (units_parse_time(text, &t, err))
        return ERR_INPUT;
    *out = vtime_to_seconds(t);
    return 0;
}

static int parse_line(char *line, enum run_times_kind kind, struct run_time *out, struct err *err)
{
    char *key = next_word(&line), *seconds = key ? next_word(&line) : NULL;
    int rc;

    if (!key)
        return 1; /* nothing there */
    if (!seconds || next_word(&line))
        return err_set(err, ERR_INPUT, "expected two entries, %s and seconds",
                       kind == RUN_TIMES_NAMES ? "a region's name" : "a count");
    rc = parse_seconds(seconds, &out->seconds, err);
    if (rc == 0 && kind == RUN_TIMES_COUNTS)
        rc = units_parse_double(key, &out->count, err);
    if (rc == 0 && kind == RUN_TIMES_NAMES)
        out->name = mem_strdup(key);
    return rc;
}

static int by_key(const void *a, const void *b)
{
    const struct run_time *x = a, *y = b;

    if (x->name)
        return strcmp(x->name, y->name);
    return (x->count > y->count) - (x->count < y->count);
}

static int check_unique(const struct run_times *t, const char *path, struct err *err)
{
    for (size_t i = 1; i < t->count; i++) {
        const struct run_time *e = &t->entries[i];
        char text[UNITS_TEXT_MAX];

        if (by_key(e - 1, e) == 0)
            return err_set(err, ERR_INPUT, "'%s': two entries for %s", path,
                           e->name ? e->name : units_format_double(text, sizeof text, e->count));
    }
    return t->count ? 0 : err_set(err, ERR_INPUT, "'%s': there are no entries", path);
}

int run_times_read(struct run_times *t, const char *path, enum run_times_kind kind, struct err *err)
{
    struct buf text;
    unsigned number = 0;
    int rc;

    *t = (struct run_times){0};
    buf_init(&text);
    rc = read_all(path, &text, err);
    for (char *line = (char *)buf_str(&text), *next; rc == 0 && *line; line = next) {
        size_t length = strcspn(line, "\n");
        struct run_time entry = {0};

        next = line + length + (line[length] != 0);
        line[length] = 0;
        number++;
        rc = length < LINE_MAX_BYTES ? parse_line(line, kind, &entry, err)
                                     : err_set(err, ERR_INPUT, "the line is too long");
        if (rc < 0) {
            err_prefix(err, "%s:%u", path, number);
            break;
        }
        if (rc == 0) {
            ARRAY_EXTEND(t->entries, t->count);
            t->entries[t->count++] = entry;
        }
        rc = 0;
    }
    buf_fini(&text);
    if (rc == 0 && t->count)
        qsort(t->entries, t->count, sizeof *t->entries, by_key);
    if (rc == 0)
        rc = check_unique(t, path, err);
    if (rc)
        run_times_fini(t);
    return rc;
}

void run_times_fini(struct run_times *t)
{
    for (size_t i = 0; i < t->count; i++)
        mem_free(t->entries[i].name);
    mem_free(t->entries);
    *t = (struct run_times){0};
}

const struct run_time *run_times_find(const struct run_times *t, const char *name)
{
    size_t low = 0, high = t->count;

    while (low < high) {
        size_t mid = low + (high - low) / 2;
        int order = strcmp(name, t->entries[mid].name);

        if (order == 0)
            return &t->entries[mid];
        if (order < 0)
            high = mid;
        else
            low = mid + 1;
    }
    return NULL;
}

double run_times_at(const struct run_times *t, double count)
{
    const struct run_time *e = t->entries, *last = &e[t->count - 1];
    struct run_time before = {0};

    if (count >= last->count)
        return last->count > 0 ? last->seconds * (count / last->count) : last->seconds;
    for (size_t i = 0; i < t->count && e[i].count <= count; i++)
        before = e[i];
    for (size_t i = 0; i < t->count; i++)
        if (e[i].count > count)
            return before.seconds + (e[i].seconds - before.seconds) *
                                        ((count - before.count) / (e[i].count - before.count));
    return before.seconds;
}
