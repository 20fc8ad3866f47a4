/*
 * trace_summary.c - writes --json of commands that write a trace (see trace_summary.h).
 */
#include "cli/trace_summary.h"

#include <math.h>
#include <unistd.h>

#include "analysis/analysis.h"
#include "base/json.h"
#include "cli/cli.h"

#define PS_PER_S 1e12

/* The run time of a trace, in seconds; virtual times also in picoseconds, which are exact. */
static void put_time(struct json *j, const char *seconds, const char *picoseconds,
                     const struct analysis *a)
{
    uint64_t ps = (uint64_t)llround(a->runtime * PS_PER_S);
    json_key(j, seconds);
    json_decimal(j, ps, 12);
    if (picoseconds)
        json_put_uint(j, picoseconds, ps);
}

static void put_trace(struct json *j, const struct cli_trace_summary *s, const struct analysis *a)
{
    if (s->is_virtual)
        put_time(j, "virtual_time_s", "virtual_time_ps", a);
    else
        put_time(j, "real_time_s", NULL, a);
    json_put_uint(j, "spawned", a->ranks > s->ranks ? a->ranks - s->ranks : 0);
    json_put_uint(j, "records", a->events);
    json_put_double(j, "lost", a->lost);
    json_put_double(j, "calls", a->calls);
    json_put_double(j, "point_to_point", a->messages);
    json_put_double(j, "point_to_point_bytes", a->sent);
    json_put_double(j, "collective_bytes", a->collective_bytes);
    json_put_double(j, "one_sided_bytes", a->rma_bytes);
    json_put_double(j, "compute_s", a->compute);
    json_put_double(j, "mpi_s", a->mpi);
    json_put_double(j, "file_s", a->file);
    json_put_string(j, "program", a->program);
}

static void put_counts(struct json *j, const struct cli_replay_counts *n)
{
    json_put_uint(j, "remapped", n->remapped);
    json_put_uint(j, "moved_forward", n->drawn);
    json_put_uint(j, "forced", n->forced);
    json_put_uint(j, "left_out", n->removed);
    json_put_uint(j, "unfinished", n->unfinished);
    json_put_uint(j, "timed", n->timed);
    if (!n->run.overcommitted_ranks)
        return;
    json_put_double(j, "overcommitted", n->run.overcommitted);
    json_put_uint(j, "overcommitted_ranks", n->run.overcommitted_ranks);
    json_put_uint(j, "overcommitted_rank", n->run.overcommitted_rank);
    json_put_double(j, "overcommitted_at_s", n->run.overcommitted_at_s);
}

static int read_trace(struct analysis *a, const char *path)
{
    const struct analysis_options options = {.groups = 1u << ANALYSIS_OVERALL};
    struct err err;
    return access(path, R_OK) == 0 && analysis_run(a, path, &options, &err) == 0;
}

static void put_original(struct json *j, const struct cli_trace_summary *s)
{
    struct analysis a;
    json_put_string(j, "original", s->original);
    if (!read_trace(&a, s->source))
        return;
    put_time(j, "original_time_s", "original_time_ps", &a);
    analysis_fini(&a);
}

int cli_trace_summary_write(const struct cli_trace_summary *s, const char *path)
{
    struct analysis a;
    struct json j;
    struct buf text;
    struct err err;
    int has_trace = read_trace(&a, s->trace);
    buf_init(&text);
    json_init(&j, &text);
    json_object_begin(&j);
    json_put_uint(&j, "ranks", s->ranks);
    json_put_string(&j, "trace", has_trace ? s->trace : NULL);
    if (has_trace)
        put_trace(&j, s, &a);
    if (s->original)
        put_original(&j, s);
    if (s->counts)
        put_counts(&j, s->counts);
    json_put_double(&j, "wall_s", s->wall_s);
    json_key(&j, "exit_status");
    json_int(&j, s->status);
    json_put_string(&j, "cause", s->cause);
    json_object_end(&j);
    json_fini(&j);
    if (has_trace)
        analysis_fini(&a);
    int rc = buf_write_file(&text, path, &err);
    buf_fini(&text);
    return rc ? cli_fail(&err) : EXIT_DONE;
}
