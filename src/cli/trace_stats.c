/*
 * trace_stats.c - see trace_stats.h. Members and rows have the names and the order that those of
 * src/mpi/stats_write.c have.
 */
#include "cli/trace_stats.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/analysis.h"
#include "base/json.h"
#include "cli/cli.h"
#include "mpi_effects.h"

#define BUCKETS 25 /* up to 16 bytes, 64, 256, ... */
#define GROUPS                                                                  \
    (1u << ANALYSIS_OVERALL | 1u << ANALYSIS_RANKS | 1u << ANALYSIS_FUNCTIONS | \
     1u << ANALYSIS_PAIRS)

struct stats {
    struct analysis a;
    uint64_t sizes[BUCKETS]; /* messages */
};

static uint64_t bucket_limit(unsigned i)
{
    return (uint64_t)16 << (2 * i);
}

static void see_transfer(void *context, uint32_t from, uint32_t to, uint64_t bytes, int64_t sent,
                         int64_t received)
{
    struct stats *s = context;
    unsigned i = 0;
    (void)from, (void)to, (void)sent, (void)received;
    while (i + 1 < BUCKETS && bytes > bucket_limit(i))
        i++;
    s->sizes[i]++;
}

static int is_collective(const char *name)
{
    for (unsigned i = 0; i < MPI_FN_COUNT; i++)
        if (strcmp(mpi_fn_name[i], name) == 0)
            return mpi_fn_effect[i].kind == MPI_DOES_COLLECTIVE;
    return 0;
}

/* ---- JSON ---- */

static void put_functions(struct json *j, const struct analysis *a)
{
    json_key(j, "functions");
    json_array_begin(j);
    for (size_t i = 0; i < a->function_count; i++) {
        json_object_begin(j);
        json_put_string(j, "name", a->function[i].name);
        json_key(j, "collective");
        json_bool(j, is_collective(a->function[i].name));
        json_put_uint(j, "calls", (uint64_t)a->function[i].calls);
        json_put_double(j, "time_s", a->function[i].time);
        json_object_end(j);
    }
    json_array_end(j);
}

static void put_messages(struct json *j, const struct stats *s)
{
    json_key(j, "point_to_point");
    json_object_begin(j);
    json_put_uint(j, "messages", (uint64_t)s->a.messages);
    json_put_uint(j, "bytes", (uint64_t)s->a.sent);
    json_object_end(j);
    json_key(j, "collective");
    json_object_begin(j);
    json_put_uint(j, "bytes", (uint64_t)s->a.collective_bytes);
    json_object_end(j);
    json_key(j, "sizes");
    json_array_begin(j);
    for (unsigned i = 0; i < BUCKETS; i++) {
        if (!s->sizes[i])
            continue;
        json_object_begin(j);
        json_put_uint(j, "up_to_bytes", bucket_limit(i));
        json_put_uint(j, "messages", s->sizes[i]);
        json_object_end(j);
    }
    json_array_end(j);
}

static void put_pairs(struct json *j, const struct analysis *a)
{
    static const char *const columns[] = {"source", "destination", "messages", "bytes"};
    json_key(j, "pairs");
    json_object_begin(j);
    json_key(j, "aggregated");
    json_bool(j, a->pair_width > 1);
    json_put_uint(j, "ranks_per_entry", a->pair_width ? a->pair_width : 1);
    json_key(j, "columns");
    json_array_begin(j);
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        json_string(j, columns[i]);
    json_array_end(j);
    json_key(j, "rows");
    json_array_begin(j);
    for (size_t i = 0; i < a->pair_count; i++) {
        json_array_begin(j);
        json_uint(j, a->pair[i].from / a->pair_width);
        json_uint(j, a->pair[i].to / a->pair_width);
        json_uint(j, (uint64_t)a->pair[i].messages);
        json_uint(j, (uint64_t)a->pair[i].bytes);
        json_array_end(j);
    }
    json_array_end(j);
    json_object_end(j);
}

static void put_ranks(struct json *j, const struct analysis *a)
{
    json_key(j, "per_rank");
    json_array_begin(j);
    for (uint64_t i = 0; i < a->ranks; i++) {
        json_object_begin(j);
        json_put_uint(j, "rank", i);
        json_put_double(j, "end_s", a->rank[i].end);
        json_object_end(j);
    }
    json_array_end(j);
}

static void write_json(struct buf *out, const struct stats *s)
{
    struct json j;
    json_init(&j, out);
    json_object_begin(&j);
    json_put_uint(&j, "ranks", s->a.ranks);
    json_put_double(&j, "real_time_s", s->a.runtime);
    put_functions(&j, &s->a);
    put_messages(&j, s);
    put_pairs(&j, &s->a);
    put_ranks(&j, &s->a);
    json_object_end(&j);
    json_fini(&j);
}

/* ---- CSV ---- */

static void write_csv(struct buf *out, const struct stats *s)
{
    const struct analysis *a = &s->a;
    buf_adds(out, "kind,name,source,destination,count,bytes,time_s\n");
    buf_addf(out, "run,ranks,,,%" PRIu64 ",,%.12f\n", a->ranks, a->runtime);
    for (size_t i = 0; i < a->function_count; i++)
        buf_addf(out, "function,%s,,,%.0f,,%.12f\n", a->function[i].name, a->function[i].calls,
                 a->function[i].time);
    buf_addf(out, "messages,point_to_point,,,%.0f,%.0f,\n", a->messages, a->sent);
    buf_addf(out, "messages,collective,,,,%.0f,\n", a->collective_bytes);
    for (unsigned i = 0; i < BUCKETS; i++)
        if (s->sizes[i])
            buf_addf(out, "size,up_to_%" PRIu64 ",,,%" PRIu64 ",,\n", bucket_limit(i), s->sizes[i]);
    if (a->pair_width > 1)
        buf_addf(out, "groups,ranks_per_entry,,,%" PRIu64 ",,\n", a->pair_width);
    for (size_t i = 0; i < a->pair_count; i++)
        buf_addf(out, "%s,,%" PRIu64 ",%" PRIu64 ",%.0f,%.0f,\n",
                 a->pair_width > 1 ? "group_pair" : "pair", a->pair[i].from / a->pair_width,
                 a->pair[i].to / a->pair_width, a->pair[i].messages, a->pair[i].bytes);
    for (uint64_t i = 0; i < a->ranks; i++)
        buf_addf(out, "rank,end,%" PRIu64 ",,,,%.12f\n", i, a->rank[i].end);
}

int cli_trace_stats_write(const char *trace, const char *path)
{
    struct stats s = {0};
    const struct analysis_watch watch = {.context = &s, .transfer = see_transfer};
    const struct analysis_options options = {.groups = GROUPS, .watch = &watch};
    size_t n = strlen(path);
    struct buf text;
    struct err err;
    if (analysis_run(&s.a, trace, &options, &err) != 0)
        return cli_fail(&err);
    buf_init(&text);
    if (n >= 4 && strcmp(path + n - 4, ".csv") == 0)
        write_csv(&text, &s);
    else
        write_json(&text, &s);
    analysis_fini(&s.a);
    int rc = buf_write_file(&text, path, &err);
    buf_fini(&text);
    return rc ? cli_fail(&err) : EXIT_DONE;
}
