/*
 * replay_answer.c - compares a replay with its original, in words (see replay_answer.h).
 */
#include "cli/replay_answer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/analysis.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/regions.h"
#include "mpi_effects.h"

#define PS_PER_S 1e12

/* Of the original and the replay. */
struct answer {
    struct analysis was, is;
    struct cli_regions was_in, is_in;
};

static const char *time_text(char *text, size_t size, double seconds)
{
    return units_format_time(text, size, (int64_t)llround(seconds * PS_PER_S));
}

/* "label   original   replay   change" */
static void add_row(struct buf *out, const char *label, double was, double is)
{
    char a[UNITS_TEXT_MAX], b[UNITS_TEXT_MAX], change[32] = "";
    if (was > 0)
        snprintf(change, sizeof change, "%+.2f %%", 100 * (is - was) / was);
    else if (is > 0)
        snprintf(change, sizeof change, "new");
    buf_addf(out, "  %-34.34s %14s %14s %11s\n", label, time_text(a, sizeof a, was),
             time_text(b, sizeof b, is), change);
}

static int is_collective(unsigned kind)
{
    return kind == MPI_DOES_COLLECTIVE;
}

static int is_point_to_point(unsigned kind)
{
    switch (kind) {
    case MPI_DOES_SEND:
    case MPI_DOES_RECEIVE:
    case MPI_DOES_EXCHANGE:
    case MPI_DOES_START:
    case MPI_DOES_PARTITION:
    case MPI_DOES_COMPLETE:
    case MPI_DOES_INQUIRE:
    case MPI_DOES_RELEASE:
    case MPI_DOES_CANCEL:
    case MPI_DOES_PROBE:
    case MPI_DOES_DRAIN:
        return 1;
    default:
        return 0;
    }
}

static double time_of(const struct analysis *a, int (*is_wanted)(unsigned kind))
{
    double sum = 0;
    for (size_t i = 0; i < a->function_count; i++)
        if (is_wanted(a->function[i].kind))
            sum += a->function[i].time;
    return sum;
}

static void add_waits(struct buf *out, const struct analysis *was, const struct analysis *is)
{
    for (int i = 0; i < ANALYSIS_WAIT_KINDS; i++) {
        char label[64];
        if (was->waits[i] <= 0 && is->waits[i] <= 0)
            continue;
        snprintf(label, sizeof label, "  %s", analysis_wait_name((enum analysis_wait)i));
        add_row(out, label, was->waits[i], is->waits[i]);
    }
}

/* What is computed in a region, on the critical path or by all. */
static double region_path(const struct analysis *a, const char *region)
{
    double sum = 0;
    for (size_t i = 0; i < a->place_count; i++)
        if (strcmp(a->place[i].region, region) == 0)
            sum += a->place[i].path;
    return sum;
}

/* A line for each region, of either trace. */
static void add_region(struct buf *out, const struct answer *a, const char *name)
{
    static const struct cli_region none;
    const struct cli_region *was = cli_regions_find(&a->was_in, name),
                            *is = cli_regions_find(&a->is_in, name);
    const char *shown = *name ? name : "outside regions";
    char label[96];
    was = was ? was : &none;
    is = is ? is : &none;
    snprintf(label, sizeof label, "  %s, computing", shown);
    add_row(out, label, (double)was->compute / PS_PER_S, (double)is->compute / PS_PER_S);
    snprintf(label, sizeof label, "  %s, in MPI", shown);
    if (was->mpi || is->mpi)
        add_row(out, label, (double)was->mpi / PS_PER_S, (double)is->mpi / PS_PER_S);
    snprintf(label, sizeof label, "  %s, critical path", shown);
    add_row(out, label, region_path(&a->was, name), region_path(&a->is, name));
}

static void add_regions(struct buf *out, const struct answer *a)
{
    for (size_t i = 0; i < a->was_in.count; i++)
        add_region(out, a, a->was_in.items[i].name);
    for (size_t i = 0; i < a->is_in.count; i++)
        if (!cli_regions_find(&a->was_in, a->is_in.items[i].name))
            add_region(out, a, a->is_in.items[i].name);
}

static void compare(struct buf *out, const struct answer *a)
{
    const struct analysis *was = &a->was, *is = &a->is;
    buf_addf(out, "  %-34s %14s %14s %11s\n", "", "original", "replay", "change");
    add_row(out, "total time", was->runtime, is->runtime);
    add_row(out, "computing, all ranks", was->compute, is->compute);
    add_row(out, "in MPI, all ranks", was->mpi, is->mpi);
    add_row(out, "  point-to-point", time_of(was, is_point_to_point),
            time_of(is, is_point_to_point));
    add_row(out, "  collective", time_of(was, is_collective), time_of(is, is_collective));
    if (was->file > 0 || is->file > 0)
        add_row(out, "  file accesses", was->file, is->file);
    buf_adds(out, "waiting, all ranks, by wait state:\n");
    add_waits(out, was, is);
    buf_adds(out, "critical path:\n");
    add_row(out, "  computing", was->path_compute, is->path_compute);
    add_row(out, "  in MPI", was->path_mpi, is->path_mpi);
    buf_adds(out, "by region, all ranks:\n");
    add_regions(out, a);
    if (a->was_in.is_threaded || a->is_in.is_threaded)
        buf_adds(out, "functions and regions have the time of all threads, other lines that of the "
                      "first one\n");
}

static int read_both(struct answer *a, const char *original, const char *replayed, int whole,
                     struct err *err)
{
    const struct analysis_options options = {.groups = whole ? ANALYSIS_ALL
                                                             : 1u << ANALYSIS_OVERALL};
    int rc = analysis_run(&a->was, original, &options, err);
    if (rc == 0)
        rc = analysis_run(&a->is, replayed, &options, err);
    if (rc == 0 && whole)
        rc = cli_regions_read(&a->was_in, original, err);
    if (rc == 0 && whole)
        rc = cli_regions_read(&a->is_in, replayed, err);
    return rc;
}

static void tell(const struct answer *a, const char *replayed, const struct cli_replay_counts *n)
{
    char was[UNITS_TEXT_MAX], is[UNITS_TEXT_MAX];
    log_note("%llu ranks replayed: %s, the original %s; the new trace is '%s'",
             (unsigned long long)a->is.ranks, time_text(is, sizeof is, a->is.runtime),
             time_text(was, sizeof was, a->was.runtime), replayed);
    if (n->remapped + n->drawn + n->forced + n->removed)
        log_note(
            "otherwise than recorded: %llu remapped, %llu moved forward, %llu forced, %llu calls left out",
            (unsigned long long)n->remapped, (unsigned long long)n->drawn,
            (unsigned long long)n->forced, (unsigned long long)n->removed);
    if (n->unfinished)
        log_note("%llu ranks end without MPI_Finalize, as in the trace",
                 (unsigned long long)n->unfinished);
    if (n->timed)
        log_note("%llu calls on files or published names take their recorded time and send no "
                 "messages: with net.model loggops, flow or packet the times of others may differ "
                 "from the recording for that reason",
                 (unsigned long long)n->timed);
    if (n->run.overcommitted_ranks)
        log_note("overcommitted up to %.3g x the link of a node (rank %llu at %s; %llu rank%s): "
                 "net.model=loggops takes this into account, flow that of other links, too",
                 n->run.overcommitted, (unsigned long long)n->run.overcommitted_rank,
                 time_text(is, sizeof is, n->run.overcommitted_at_s),
                 (unsigned long long)n->run.overcommitted_ranks,
                 n->run.overcommitted_ranks == 1 ? "" : "s");
}

int cli_replay_answer(const char *original, const char *replayed, const struct cli_replay_counts *n,
                      int whole, int quiet)
{
    struct answer a = {0};
    struct err err;
    int status = EXIT_DONE;
    if (quiet && !whole)
        return EXIT_DONE;
    if (read_both(&a, original, replayed, whole, &err) != 0) {
        status = cli_fail(&err);
        goto done;
    }
    if (!quiet)
        tell(&a, replayed, n);
    if (whole) {
        struct buf out;
        buf_init(&out);
        compare(&out, &a);
        status = cli_print(&out);
        buf_fini(&out);
    }
done:
    analysis_fini(&a.was);
    analysis_fini(&a.is);
    cli_regions_fini(&a.was_in);
    cli_regions_fini(&a.is_in);
    return status;
}
