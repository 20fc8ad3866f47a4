/*
 * stats_write.c - the statistics file (--stats): JSON, or CSV by the file's name.
 *
 * Both hold the same: per-function calls and virtual time, messages and bytes, message sizes,
 * pairs, and per rank its end and its calls. CSV is one table with a column that names the kind of
 * row. Everything is sorted, so that equal runs give equal files.
 */
#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "mpi/stats_internal.h"
#include "mpi_effects.h"

static uint64_t bucket_limit(unsigned i)
{
    return (uint64_t)16 << (2 * i);
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

static void json_functions(struct json *j, const struct mpi_stats *s)
{

    json_key(j, "functions");
    json_array_begin(j);
    for (unsigned i = 0; i < MPI_FN_COUNT; i++) {
        if (!s->calls[i])
            continue;
        json_object_begin(j);
        json_key(j, "name");
        json_string(j, mpi_fn_name[i]);
        json_key(j, "collective");
        json_bool(j, mpi_fn_effect[i].kind == MPI_DOES_COLLECTIVE);
        json_count(j, "calls", s->calls[i]);
        json_seconds(j, "time_s", s->time[i]);
        json_object_end(j);
    }
    json_array_end(j);
}

static void json_messages(struct json *j, const struct mpi_stats *s)
{
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

static void json_files(struct json *j, const struct mpi_stats *s)
{
    json_key(j, "files");
    json_object_begin(j);
    json_count(j, "reads", s->access.io_ops[0]);
    json_count(j, "writes", s->access.io_ops[1]);
    json_count(j, "read_bytes", s->access.io_bytes[0]);
    json_count(j, "written_bytes", s->access.io_bytes[1]);
    json_object_end(j);
}

static void json_pairs(struct json *j, const struct mpi_report *r)
{
    const struct mpi_stats *s = &r->sum;

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
    for (size_t i = 0; i < r->row_count; i++) {
        json_array_begin(j);
        json_uint(j, r->rows[i].src);
        json_uint(j, r->rows[i].dst);
        json_uint(j, r->rows[i].messages);
        json_uint(j, r->rows[i].bytes);
        json_array_end(j);
    }
    json_array_end(j);
    json_object_end(j);
}

static void json_ranks(struct json *j, const struct mpi_report *r)
{
    json_key(j, "per_rank");
    json_array_begin(j);
    for (uint32_t i = 0; i < r->ranks; i++) {
        const struct mpi_call_list *l = r->rank_calls[i];

        json_object_begin(j);
        json_count(j, "rank", i);
        json_seconds(j, "end_s", r->rank_end[i]);
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

static void write_json(struct buf *b, vtime virtual_time, const struct mpi_report *r,
                       const struct mpi_stats_more *more)
{
    struct json j;

    json_init(&j, b);
    json_object_begin(&j);
    json_count(&j, "ranks", r->ranks);
    json_seconds(&j, "virtual_time_s", virtual_time);
    json_functions(&j, &r->sum);
    json_messages(&j, &r->sum);
    json_files(&j, &r->sum);
    json_pairs(&j, r);
    json_ranks(&j, r);
    more->json(&j, virtual_time);
    json_object_end(&j);
    json_fini(&j);
    buf_addf(b, "\n");
}

/* ---- CSV: kind,name,source,destination,count,bytes,time_s ---- */

static void write_csv(struct buf *b, vtime virtual_time, const struct mpi_report *r,
                      const struct mpi_stats_more *more)
{
    const struct mpi_stats *s = &r->sum;

    buf_addf(b, "kind,name,source,destination,count,bytes,time_s\n");
    buf_addf(b, "run,ranks,,,%" PRIu32 ",,%.12f\n", r->ranks, vtime_to_seconds(virtual_time));
    for (unsigned i = 0; i < MPI_FN_COUNT; i++)
        if (s->calls[i])
            buf_addf(b, "function,%s,,,%" PRIu64 ",,%.12f\n", mpi_fn_name[i], s->calls[i],
                     vtime_to_seconds(s->time[i]));
    buf_addf(b, "messages,point_to_point,,,%" PRIu64 ",%" PRIu64 ",\n", s->messages[0],
             s->bytes[0]);
    buf_addf(b, "messages,collective,,,%" PRIu64 ",%" PRIu64 ",\n", s->messages[1], s->bytes[1]);
    for (int k = 0; k < 2; k++)
        buf_addf(b, "files,%s,,,%" PRIu64 ",%" PRIu64 ",\n", k ? "written" : "read",
                 s->access.io_ops[k], s->access.io_bytes[k]);
    for (unsigned i = 0; i < MPI_STATS_BUCKETS; i++)
        if (s->buckets[i])
            buf_addf(b, "size,up_to_%" PRIu64 ",,,%" PRIu64 ",,\n", bucket_limit(i), s->buckets[i]);
    if (s->aggregated)
        buf_addf(b, "groups,ranks_per_entry,,,%" PRIu32 ",,\n", s->group);
    for (size_t i = 0; i < r->row_count; i++)
        buf_addf(b, "%s,,%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",\n",
                 s->aggregated ? "group_pair" : "pair", r->rows[i].src, r->rows[i].dst,
                 r->rows[i].messages, r->rows[i].bytes);
    for (uint32_t i = 0; i < r->ranks; i++) {
        const struct mpi_call_list *c = r->rank_calls[i];

        buf_addf(b, "rank,end,%" PRIu32 ",,,,%.12f\n", i, vtime_to_seconds(r->rank_end[i]));
        for (uint32_t k = 0; c && k < c->count; k++)
            buf_addf(b, "rank_function,%s,%" PRIu32 ",,%" PRIu32 ",,%.12f\n",
                     mpi_fn_name[c->at[k].fn], i, c->at[k].calls, vtime_to_seconds(c->at[k].time));
    }
    more->csv(b);
}

int mpi_stats_write(const char *path, vtime virtual_time, const struct buf *parts,
                    const struct mpi_stats_more *more, struct err *err)
{
    size_t n = strlen(path);
    struct mpi_report *report = mem_alloc(sizeof *report);
    struct buf b;
    int rc;

    mpi_report_read(report, parts);
    buf_init(&b);
    if (n >= 4 && strcmp(path + n - 4, ".csv") == 0)
        write_csv(&b, virtual_time, report, more);
    else
        write_json(&b, virtual_time, report, more);
    rc = buf_write_file(&b, path, err);
    buf_fini(&b);
    mpi_report_fini(report);
    mem_free(report);
    return rc;
}
