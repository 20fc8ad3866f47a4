/*
 * summary_read.c - reads the summary of a run (`orrery run --json`) as a stream, since it contains
 * the whole machine, which may be large. Only members of the outer object are read.
 */
#include "results/summary_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_parse.h>

#include "base/sys.h"
#include "library/library.h"

#define SLICE 16384

/* What every summary has, and what those of emulations and overcommitted links have. */
enum key {
    KEY_TIME,
    KEY_MESSAGES,
    KEY_BYTES,
    KEY_WALL,
    KEYS_OF_ALL,
    KEY_BEHIND = KEYS_OF_ALL,
    KEY_TOLERANCE,
    KEY_EXPECTED,
    KEY_UNEXPECTED,
    KEY_OVERCOMMITTED,
    KEY_OVERCOMMITTED_RANKS,
    KEY_OVERCOMMITTED_RANK,
    KEY_OVERCOMMITTED_AT,
    KEYS
};

static const char *const names[KEYS] = {
    "virtual_time_ps",    "messages",          "bytes",      "wall_s",        "max_behind_s",
    "tolerance_s",        "expected",          "unexpected", "overcommitted", "overcommitted_ranks",
    "overcommitted_rank", "overcommitted_at_s"};

struct summary_reader {
    yajl_handle handle;
    unsigned depth;
    int key;        /* the last key of the outer object; KEYS: any other */
    unsigned found; /* a bit for each key */
    int ended;      /* the outer object */
    struct results_summary summary;
};

static void store(struct results_summary *s, enum key key, const char *text)
{
    double *real = key == KEY_WALL               ? &s->wall_s
                   : key == KEY_BEHIND           ? &s->max_behind_s
                   : key == KEY_TOLERANCE        ? &s->tolerance_s
                   : key == KEY_OVERCOMMITTED    ? &s->overcommitted
                   : key == KEY_OVERCOMMITTED_AT ? &s->overcommitted_at_s
                                                 : NULL;
    uint64_t *count = key == KEY_TIME                  ? &s->time_ps
                      : key == KEY_MESSAGES            ? &s->messages
                      : key == KEY_BYTES               ? &s->bytes
                      : key == KEY_EXPECTED            ? &s->expected
                      : key == KEY_OVERCOMMITTED_RANKS ? &s->overcommitted_ranks
                      : key == KEY_OVERCOMMITTED_RANK  ? &s->overcommitted_rank
                                                       : &s->unexpected;
    if (real)
        *real = strtod(text, NULL);
    else
        *count = strtoull(text, NULL, 10);
}

static int on_number(void *context, const char *text, size_t length)
{
    struct summary_reader *r = context;
    char copy[64];
    if (r->depth != 1 || r->key == KEYS || length >= sizeof copy)
        return 1;
    memcpy(copy, text, length);
    copy[length] = 0;
    store(&r->summary, (enum key)r->key, copy);
    r->found |= 1u << r->key;
    return 1;
}

static int on_key(void *context, const unsigned char *text, size_t length)
{
    struct summary_reader *r = context;
    if (r->depth != 1)
        return 1;
    for (r->key = 0; r->key < KEYS; r->key++)
        if (strlen(names[r->key]) == length && memcmp(names[r->key], text, length) == 0)
            break;
    return 1;
}

static int on_begin(void *context)
{
    ((struct summary_reader *)context)->depth++;
    return 1;
}

/* After the object yajl is not called: it would accept the beginning of a text as blanks. */
static int on_end(void *context)
{
    return --((struct summary_reader *)context)->depth > 0;
}

static const yajl_callbacks callbacks = {
    .yajl_number = on_number,
    .yajl_map_key = on_key,
    .yajl_start_map = on_begin,
    .yajl_end_map = on_end,
    .yajl_start_array = on_begin,
    .yajl_end_array = on_end,
};

static void begin(struct summary_reader *r)
{
    memset(r, 0, sizeof *r);
    r->key = KEYS;
    r->handle = yajl_alloc(&callbacks, NULL, r);
}

static int is_blank(const unsigned char *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (!strchr(" \t\r\n", data[i]) || !data[i])
            return 0;
    return 1;
}

/* Parses the next bytes. 0: they are invalid. */
static int feed(struct summary_reader *r, const unsigned char *data, size_t size)
{
    if (r->ended)
        return is_blank(data, size);
    yajl_status status = yajl_parse(r->handle, data, size);
    if (status != yajl_status_client_canceled)
        return status == yajl_status_ok;
    size_t used = yajl_get_bytes_consumed(r->handle);
    r->ended = 1;
    return is_blank(data + used, size - used);
}

static int end(struct summary_reader *r, int good, struct results_summary *out)
{
    unsigned all = (1u << KEYS_OF_ALL) - 1;
    good = good && r->ended && (r->found & all) == all;
    yajl_free(r->handle);
    if (good)
        *out = r->summary;
    return good;
}

int results_summary_read(const char *path, struct results_summary *out)
{
    struct summary_reader r;
    unsigned char slice[SLICE];
    ssize_t n;
    if (library_load(LIBRARY_yajl, NULL) != 0)
        return 0;
    int fd = sys_open(path, O_RDONLY, 0), good = 1;
    if (fd < 0)
        return 0;
    begin(&r);
    while (good && ((n = sys_read(fd, slice, sizeof slice)) > 0 || (n < 0 && errno == EINTR)))
        good = n < 0 || feed(&r, slice, (size_t)n);
    sys_close(fd);
    return end(&r, good && n == 0, out);
}
