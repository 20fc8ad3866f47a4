/*
 * stats_json.c - the JSON reader of statistics, using yajl: events instead of a tree, since a file
 * may hold millions of pairs. It reads
 *
 *     { "ranks": N, "pairs": { "ranks_per_entry": N, "columns": [...], "rows": [[...], ...] } }
 *
 * with members in any order. Its position in the document is given by the depth (1: in the outer
 * object, 2: in "pairs", 3: in a list of it, 4: in a row), by in_pairs and by the list; events
 * anywhere else are ignored.
 */
#include <string.h>
#include <yajl/yajl_parse.h>

#include "library/library.h"
#include "results/stats_internal.h"

#define COLUMNS 4
#define SLICE ((size_t)1 << 20) /* bytes passed to yajl at once */

enum key { KEY_OTHER, KEY_RANKS, KEY_PAIRS, KEY_GROUP, KEY_COLUMNS, KEY_ROWS };

struct reader {
    struct results_stats *stats;
    struct err err; /* set when a callback stops the reading */
    unsigned depth;
    enum key key; /* the last key, of the outer object or of "pairs" */
    int in_pairs, has_rows;
    unsigned column; /* the next column of the row or of the titles */
    uint64_t row[COLUMNS];
};

static const char *const column_name[COLUMNS] = {"source", "destination", "messages", "bytes"};

static int refuse(struct reader *r, const char *text)
{
    err_set(&r->err, ERR_INPUT, "%s", text);
    return 0;
}

static int in_list(const struct reader *r, unsigned depth, enum key key)
{
    return r->in_pairs && r->depth == depth && r->key == key;
}

/* Is a value other than a number where a number, list or object must be? */
static int misplaced(const struct reader *r)
{
    return (r->depth == 1 && (r->key == KEY_RANKS || r->key == KEY_PAIRS)) ||
           (r->in_pairs && r->depth == 2 && r->key != KEY_OTHER) || in_list(r, 3, KEY_ROWS) ||
           in_list(r, 4, KEY_ROWS) || in_list(r, 3, KEY_COLUMNS);
}

static int on_other(struct reader *r)
{
    return misplaced(r) ? refuse(r, "not the kind of value that statistics have here") : 1;
}

static int on_null(void *ctx)
{
    return on_other(ctx);
}

static int on_bool(void *ctx, int value)
{
    (void)value;
    return on_other(ctx);
}

static int on_double(void *ctx, double value)
{
    (void)value;
    return on_other(ctx);
}

static int on_string(void *ctx, const unsigned char *text, size_t len)
{
    struct reader *r = ctx;

    if (!in_list(r, 3, KEY_COLUMNS))
        return on_other(r);
    if (r->column >= COLUMNS || strlen(column_name[r->column]) != len ||
        memcmp(text, column_name[r->column], len) != 0)
        return refuse(r, "the columns are not source, destination, messages and bytes");
    r->column++;
    return 1;
}

static int set_ranks(struct reader *r, long long value, uint32_t *out)
{
    if (value < 1 || value > UINT32_MAX)
        return refuse(r, "not a number of ranks");
    *out = (uint32_t)value;
    return 1;
}

static int on_integer(void *ctx, long long value)
{
    struct reader *r = ctx;

    if (in_list(r, 4, KEY_ROWS)) {
        if (value < 0 || (r->column < 2 && value > UINT32_MAX) || r->column >= COLUMNS)
            return refuse(r, "not a row of source, destination, messages and bytes");
        r->row[r->column++] = (uint64_t)value;
        return 1;
    }
    if (r->depth == 1 && r->key == KEY_RANKS)
        return set_ranks(r, value, &r->stats->ranks);
    if (in_list(r, 2, KEY_GROUP))
        return set_ranks(r, value, &r->stats->group);
    return on_other(r);
}

static enum key key_of(const struct reader *r, const unsigned char *text, size_t len)
{
    static const struct {
        const char *name;
        unsigned depth;
        enum key key;
    } known[] = {
        {"ranks", 1, KEY_RANKS},     {"pairs", 1, KEY_PAIRS}, {"ranks_per_entry", 2, KEY_GROUP},
        {"columns", 2, KEY_COLUMNS}, {"rows", 2, KEY_ROWS},
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].depth == r->depth && strlen(known[i].name) == len &&
            memcmp(known[i].name, text, len) == 0)
            return known[i].key;
    return KEY_OTHER;
}

static int on_key(void *ctx, const unsigned char *text, size_t len)
{
    struct reader *r = ctx;

    if (r->depth == 1 || (r->in_pairs && r->depth == 2))
        r->key = key_of(r, text, len);
    return 1;
}

static int on_object(void *ctx)
{
    struct reader *r = ctx;

    if (r->depth == 1 && r->key == KEY_PAIRS)
        r->in_pairs = 1;
    else if (!on_other(r))
        return 0;
    r->depth++;
    return 1;
}

static int on_object_end(void *ctx)
{
    struct reader *r = ctx;

    r->depth--;
    if (r->depth == 1)
        r->in_pairs = 0;
    return 1;
}

static int on_array(void *ctx)
{
    struct reader *r = ctx;

    if (in_list(r, 2, KEY_ROWS))
        r->has_rows = 1;
    else if (!in_list(r, 2, KEY_COLUMNS) && !in_list(r, 3, KEY_ROWS) && !on_other(r))
        return 0;
    if (r->in_pairs)
        r->column = 0;
    r->depth++;
    return 1;
}

static int on_array_end(void *ctx)
{
    struct reader *r = ctx;

    if (in_list(r, 4, KEY_ROWS)) {
        struct results_stats_pair pair = {(uint32_t)r->row[0], (uint32_t)r->row[1], r->row[2]};

        if (r->column != COLUMNS)
            return refuse(r, "not a row of source, destination, messages and bytes");
        if (results_stats_add(r->stats, pair, &r->err))
            return 0;
    }
    r->depth--;
    return 1;
}

static const yajl_callbacks callbacks = {
    .yajl_null = on_null,
    .yajl_boolean = on_bool,
    .yajl_integer = on_integer,
    .yajl_double = on_double,
    .yajl_string = on_string,
    .yajl_start_map = on_object,
    .yajl_map_key = on_key,
    .yajl_end_map = on_object_end,
    .yajl_start_array = on_array,
    .yajl_end_array = on_array_end,
};

/* The error at an offset: from a callback, or from yajl. */
static int report(struct reader *r, yajl_handle handle, const char *data, size_t offset,
                  struct err *err)
{
    size_t line = results_stats_line(data, offset);
    unsigned char *text;

    if (r->err.code)
        return err_set(err, r->err.code, "line %zu: %s", line, r->err.text);
    text = yajl_get_error(handle, 0, NULL, 0);
    err_set(err, ERR_INPUT, "line %zu: %.*s", line, (int)strcspn((const char *)text, "\n"),
            (const char *)text);
    yajl_free_error(handle, text);
    return ERR_INPUT;
}

static int read_document(struct reader *r, const char *data, size_t size, struct err *err)
{
    yajl_handle handle;
    size_t at = 0;
    int rc = library_load(LIBRARY_yajl, err);

    if (rc)
        return rc;
    handle = yajl_alloc(&callbacks, NULL, r);
    if (!handle)
        return err_set(err, ERR_MEMORY, "no memory to read it");
    while (rc == 0 && at < size) {
        size_t n = size - at < SLICE ? size - at : SLICE;

        if (yajl_parse(handle, (const unsigned char *)data + at, n) != yajl_status_ok) {
            size_t used = yajl_get_bytes_consumed(handle);

            rc = report(r, handle, data, at + (used < n ? used : n), err);
        }
        at += n;
    }
    if (rc == 0 && yajl_complete_parse(handle) != yajl_status_ok)
        rc = report(r, handle, data, size, err);
    yajl_free(handle);
    return rc;
}

int results_stats_json(struct results_stats *stats, const char *data, size_t size, struct err *err)
{
    struct reader r = {.stats = stats};
    int rc = read_document(&r, data, size, err);

    if (rc)
        return rc;
    if (!stats->ranks)
        return err_set(err, ERR_INPUT, "no member 'ranks'");
    if (!r.has_rows)
        return err_set(err, ERR_INPUT, "no member 'pairs' with 'rows'");
    if (!stats->group)
        return err_set(err, ERR_INPUT, "no member 'ranks_per_entry' in 'pairs'");
    return 0;
}
