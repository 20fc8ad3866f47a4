/*
 * replay_answer.c - see replay_answer.h.
 */
#include "cli/replay_answer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/analysis.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/log.h"
#include "base/units.h"
#include "cli/cli.h"

#define PS_PER_S 1e12
#define PLACES_SHOWN 10

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

static int is_collective(const char *name)
{
    static const char *const words[] = {"Barrier", "Bcast",   "bcast", "educe",  "ather",
                                        "catter",  "lltoall", "can",   "barrier"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strstr(name, words[i]))
            return strncmp(name, "MPI_Cancel", strlen("MPI_Cancel")) != 0 && !strstr(name, "_init");
    return 0;
}

static int is_point_to_point(const char *name)
{
    static const char *const words[] = {"end",  "recv",  "Recv",   "Wait",    "Test",
                                        "robe", "Start", "Pready", "Parrived"};
    if (is_collective(name) || strstr(name, "Win_") || strstr(name, "File_") ||
        strstr(name, "_cancelled"))
        return 0;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strstr(name, words[i]))
            return 1;
    return 0;
}

static double time_of(const struct analysis *a, int (*is_wanted)(const char *))
{
    double sum = 0;
    for (size_t i = 0; i < a->function_count; i++)
        if (is_wanted(a->function[i].name))
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

static int is_listed(const struct analysis *a, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (strcmp(a->place[j].region, a->place[i].region) == 0)
            return 1;
    return 0;
}

static void add_regions(struct buf *out, const struct analysis *was, const struct analysis *is)
{
    unsigned shown = 0;
    for (size_t i = 0; i < was->place_count && shown < PLACES_SHOWN; i++) {
        const char *region = was->place[i].region;
        char label[64];
        if (is_listed(was, i))
            continue;
        snprintf(label, sizeof label, "  %s", *region ? region : "outside regions");
        add_row(out, label, region_path(was, region), region_path(is, region));
        shown++;
    }
}

static void compare(struct buf *out, const struct analysis *was, const struct analysis *is)
{
    buf_addf(out, "  %-34s %14s %14s %11s\n", "", "original", "replay", "change");
    add_row(out, "total time", was->runtime, is->runtime);
    add_row(out, "computing, all ranks", was->compute, is->compute);
    add_row(out, "in MPI, all ranks", was->mpi, is->mpi);
    add_row(out, "  point-to-point", time_of(was, is_point_to_point),
            time_of(is, is_point_to_point));
    add_row(out, "  collective", time_of(was, is_collective), time_of(is, is_collective));
    buf_adds(out, "waiting, all ranks, by wait state:\n");
    add_waits(out, was, is);
    buf_adds(out, "critical path:\n");
    add_row(out, "  computing", was->path_compute, is->path_compute);
    add_row(out, "  in MPI", was->path_mpi, is->path_mpi);
    buf_adds(out, "critical path, by region:\n");
    add_regions(out, was, is);
}

int cli_replay_answer(const char *original, const char *replayed, const struct cli_replay_counts *n,
                      int whole, int quiet)
{
    const struct analysis_options options = {.groups = whole ? ANALYSIS_ALL
                                                             : 1u << ANALYSIS_OVERALL};
    struct analysis was, is;
    struct err err;
    if (quiet && !whole)
        return CLI_DONE;
    if (analysis_run(&was, original, &options, &err) != 0)
        return cli_fail(&err);
    if (analysis_run(&is, replayed, &options, &err) != 0) {
        analysis_fini(&was);
        return cli_fail(&err);
    }
    char a[UNITS_TEXT_MAX], b[UNITS_TEXT_MAX];
    if (!quiet)
        log_note("%llu ranks replayed: %s, the original %s; the new trace is '%s'",
                 (unsigned long long)is.ranks, time_text(b, sizeof b, is.runtime),
                 time_text(a, sizeof a, was.runtime), replayed);
    if (!quiet && n->remapped + n->drawn + n->forced + n->removed)
        log_note(
            "otherwise than recorded: %llu remapped, %llu drawn forward, %llu forced, %llu calls left out",
            (unsigned long long)n->remapped, (unsigned long long)n->drawn,
            (unsigned long long)n->forced, (unsigned long long)n->removed);
    int status = CLI_DONE;
    if (whole) {
        struct buf out;
        buf_init(&out);
        compare(&out, &was, &is);
        status = cli_print(&out);
        buf_fini(&out);
    }
    analysis_fini(&was);
    analysis_fini(&is);
    return status;
}
