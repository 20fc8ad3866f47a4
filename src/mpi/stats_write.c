/*
 * stats_write.c - the statistics file (--stats): JSON, or CSV by the file's name.
 *
 * Both hold the same: per-function calls and virtual time, messages and bytes, message sizes,
 * pairs, and per rank its end and its calls. CSV is one table with a column that names the kind of
 * row. Everything is sorted, so that equal runs give equal files.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "mpi/ext.h"
#include "mpi/stats_internal.h"

struct row {
    uint32_t src, dst;
    uint64_t messages, bytes;
};
struct rows {
    struct row *at;
    size_t count, cap;
};

static void rows_add(struct rows *l, uint32_t src, uint32_t dst, uint64_t messages, uint64_t bytes)
{
    if (l->count == l->cap) {
        l->cap = l->cap ? 2 * l->cap : 1024;
        l->at = mem_realloc(l->at, l->cap * sizeof *l->at);
    }
    l->at[l->count++] = (struct row){src, dst, messages, bytes};
}

static int by_dst(const void *a, const void *b)
{
    const struct row *x = a, *y = b;

    return x->dst < y->dst ? -1 : x->dst > y->dst;
}

static void collect_rank(struct rows *l, uint32_t rank)
{
    const struct mpi_rank *r = &mpi_world.ranks[rank];
    size_t from = l->count;

    if (r->pair.messages)
        rows_add(l, rank, r->pair.dst, r->pair.messages, r->pair.bytes);
    for (uint32_t i = 0; i < r->pair_count; i++)
        rows_add(l, rank, r->pairs[i].dst, r->pairs[i].messages, r->pairs[i].bytes);
    qsort(l->at + from, l->count - from, sizeof *l->at, by_dst);
}

/* All pairs, in order of source and destination; ranks, or groups when aggregated. */
static void collect(struct rows *l)
{
    struct mpi_stats *s = mpi_world.stats;

    if (!s->aggregated) {
        for (uint32_t i = 0; i < mpi_world.size; i++)
            collect_rank(l, i);
        return;
    }
    mpi_stats_fold_inline();
    for (uint32_t i = 0; i < s->groups; i++)
        for (uint32_t k = 0; k < s->groups; k++) {
            const struct mpi_cell *c = &s->matrix[(size_t)i * s->groups + k];

            if (c->messages)
                rows_add(l, i, k, c->messages, c->bytes);
        }
}

static uint64_t bucket_limit(unsigned i)
{
    return (uint64_t)16 << (2 * i);
}

static int by_fn(const void *a, const void *b)
{
    const struct mpi_call *x = a, *y = b;

    return x->fn < y->fn ? -1 : x->fn > y->fn;
}

static struct mpi_call_list *calls_of(uint32_t rank)
{
    const struct mpi_ext *x = mpi_world.ranks[rank].ext;

    if (!x || !x->calls)
        return NULL;
    qsort(x->calls->at, x->calls->count, sizeof x->calls->at[0], by_fn);
    return x->calls;
}

/* ---- JSON ---- */

static void json_seconds(struct json *j, const char *key, vtime t)
{
    json_key(j, key);
    json_double(j, vtime_to_seconds(t));
}

static void json_count(struct json *j, const char *key, uint64_t n)
{
    json_key(j, key);
    json_uint(j, n);
}

static void json_functions(struct json *j)
{
    const struct mpi_stats *s = mpi_world.stats;

    json_key(j, "functions");
    json_array_begin(j);
    for (unsigned i = 0; i < MPI_FN_COUNT; i++) {
        if (!s->calls[i])
            continue;
        json_object_begin(j);
        json_key(j, "name");
        json_string(j, mpi_fn_name[i]);
        json_key(j, "collective");
        json_bool(j, mpi_fn_group[i] == MPI_FNGROUP_COLL);
        json_count(j, "calls", s->calls[i]);
        json_seconds(j, "time_s", s->time[i]);
        json_object_end(j);
    }
    json_array_end(j);
}

static void json_messages(struct json *j)
{
    const struct mpi_stats *s = mpi_world.stats;
    static const char *const kind[2] = {"point_to_point", "collective"};

    for (int k = 0; k < 2; k++) {
        json_key(j, kind[k]);
        json_object_begin(j);
        json_count(j, "messages", s->messages[k]);
        json_count(j, "bytes", s->bytes[k]);
        json_object_end(j);
    }
    json_key(j, "sizes");
    json_array_begin(j);
    for (unsigned i = 0; i < MPI_STATS_BUCKETS; i++) {
        if (!s->buckets[i])
            continue;
        json_object_begin(j);
        json_count(j, "up_to_bytes", bucket_limit(i));
        json_count(j, "messages", s->buckets[i]);
        json_object_end(j);
    }
    json_array_end(j);
}

static void json_pairs(struct json *j)
{
    const struct mpi_stats *s = mpi_world.stats;
    struct rows l = {0};

    collect(&l);
    json_key(j, "pairs");
    json_object_begin(j);
    json_key(j, "aggregated");
    json_bool(j, s->aggregated);
    json_count(j, "ranks_per_entry", s->aggregated ? s->group : 1);
    json_key(j, "columns");
    json_array_begin(j);
    json_string(j, "source");
    json_string(j, "destination");
    json_string(j, "messages");
    json_string(j, "bytes");
    json_array_end(j);
    json_key(j, "rows");
    json_array_begin(j);
    for (size_t i = 0; i < l.count; i++) {
        json_array_begin(j);
        json_uint(j, l.at[i].src);
        json_uint(j, l.at[i].dst);
        json_uint(j, l.at[i].messages);
        json_uint(j, l.at[i].bytes);
        json_array_end(j);
    }
    json_array_end(j);
    json_object_end(j);
    mem_free(l.at);
}

static void json_ranks(struct json *j)
{
    json_key(j, "per_rank");
    json_array_begin(j);
    for (uint32_t i = 0; i < mpi_world.size; i++) {
        const struct mpi_call_list *l = calls_of(i);

        json_object_begin(j);
        json_count(j, "rank", i);
        json_seconds(j, "end_s", mpi_world.stats->rank_end[i]);
        json_key(j, "functions");
        json_array_begin(j);
        for (uint32_t k = 0; l && k < l->count; k++) {
            json_object_begin(j);
            json_key(j, "name");
            json_string(j, mpi_fn_name[l->at[k].fn]);
            json_count(j, "calls", l->at[k].calls);
            json_seconds(j, "time_s", l->at[k].time);
            json_object_end(j);
        }
        json_array_end(j);
        json_object_end(j);
    }
    json_array_end(j);
}

static void write_json(struct buf *b, vtime virtual_time)
{
    struct json j;

    json_init(&j, b);
    json_object_begin(&j);
    json_count(&j, "ranks", mpi_world.size);
    json_seconds(&j, "virtual_time_s", virtual_time);
    json_functions(&j);
    json_messages(&j);
    json_pairs(&j);
    json_ranks(&j);
    json_object_end(&j);
    json_fini(&j);
    buf_addf(b, "\n");
}

/* ---- CSV: kind,name,source,destination,count,bytes,time_s ---- */

static void write_csv(struct buf *b, vtime virtual_time)
{
    const struct mpi_stats *s = mpi_world.stats;
    struct rows l = {0};

    buf_addf(b, "kind,name,source,destination,count,bytes,time_s\n");
    buf_addf(b, "run,ranks,,,%" PRIu32 ",,%.12f\n", mpi_world.size,
             vtime_to_seconds(virtual_time));
    for (unsigned i = 0; i < MPI_FN_COUNT; i++)
        if (s->calls[i])
            buf_addf(b, "function,%s,,,%" PRIu64 ",,%.12f\n", mpi_fn_name[i], s->calls[i],
                     vtime_to_seconds(s->time[i]));
    buf_addf(b, "messages,point_to_point,,,%" PRIu64 ",%" PRIu64 ",\n", s->messages[0],
             s->bytes[0]);
    buf_addf(b, "messages,collective,,,%" PRIu64 ",%" PRIu64 ",\n", s->messages[1], s->bytes[1]);
    for (unsigned i = 0; i < MPI_STATS_BUCKETS; i++)
        if (s->buckets[i])
            buf_addf(b, "size,up_to_%" PRIu64 ",,,%" PRIu64 ",,\n", bucket_limit(i),
                     s->buckets[i]);
    collect(&l);
    for (size_t i = 0; i < l.count; i++)
        buf_addf(b, "%s,,%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",\n",
                 s->aggregated ? "group_pair" : "pair", l.at[i].src, l.at[i].dst, l.at[i].messages,
                 l.at[i].bytes);
    mem_free(l.at);
    for (uint32_t i = 0; i < mpi_world.size; i++) {
        const struct mpi_call_list *c = calls_of(i);

        buf_addf(b, "rank,end,%" PRIu32 ",,,,%.12f\n", i, vtime_to_seconds(s->rank_end[i]));
        for (uint32_t k = 0; c && k < c->count; k++)
            buf_addf(b, "rank_function,%s,%" PRIu32 ",,%" PRIu32 ",,%.12f\n",
                     mpi_fn_name[c->at[k].fn], i, c->at[k].calls,
                     vtime_to_seconds(c->at[k].time));
    }
}

int mpi_stats_write(const char *path, vtime virtual_time, struct err *err)
{
    size_t n = strlen(path);
    struct buf b;
    int rc;

    buf_init(&b);
    if (n >= 4 && strcmp(path + n - 4, ".csv") == 0)
        write_csv(&b, virtual_time);
    else
        write_json(&b, virtual_time);
    rc = buf_write_file(&b, path, err);
    buf_fini(&b);
    return rc;
}
