/*
 * ending.c - one result from all processes.
 *
 *     each process    all its output -> its part: struct part | deadlock report | leaks |
 *                     findings | statistics
 *     process 0       all parts -> all output, error messages, run page, statistics file
 *
 * Process 0 sends the exit status to all, and they separate. One process does the same with itself.
 */
#include "mpi/main/ending.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/printable.h"
#include "base/sys.h"
#include "base/units.h"
#include "engine/stuck.h"
#include "mpi/clock.h"
#include "mpi/leaks.h"
#include "mpi/main/backtrace.h"
#include "mpi/main/line.h"
#include "mpi/main/emulate.h"
#include "mpi/main/live.h"
#include "mpi/main/own.h"
#include "mpi/record/record.h"
#include "mpi/stats.h"
#include "mpi/verify.h"
#include "net/vectors.h"
#include "processor/processor.h"

struct part {
    struct mpi_ending end;
    uint64_t switches, own_stacks, private_bytes, swapped_bytes, live_stack_max;
    uint64_t peak_rss, pairs, batches, spawned;
    struct run_access access;
    struct run_live live;
    struct net_overcommit_found overcommit;
    double median_slice_s, computed_s, left_out_s;
    int32_t aggregated;
    uint64_t stuck_bytes; /* of the report of a deadlock, which follows */
    uint64_t leak_bytes;  /* of leaks, which follow that */
    uint64_t check_bytes; /* of findings of --check, which follow leaks; the rest are statistics */
};

/* ---- this process's part ---- */

/* Ranks that have not ended count with the time they have reached. */
static void count_unfinished(struct mpi_ending *e, vtime limit)
{
    for (uint32_t i = 0; i < engine_known(&mpi_world.engine); i++) {
        const struct engine_entity *x = &mpi_world.ranks[i].ent;

        if (engine_is_untouched(&mpi_world.engine, i))
            continue; /* untouched memory */
        if (x->clock > e->last)
            e->last = x->clock;
    }
    if (e->last > limit)
        e->last = limit;
}

static int is_stuck(enum engine_end end)
{
    return end == ENGINE_END_DEADLOCK || end == ENGINE_END_LIVELOCK;
}

/* After an early end, what is left means nothing. */
static int wants_leaks(enum engine_end end)
{
    return mpi_world.opt->check_leaks && end == ENGINE_END_DONE;
}

static int wants_stats(void)
{
    return mpi_world.opt->stats_path[0] != 0;
}

static void collect(const struct mpi_ending *e, enum engine_end end, struct buf *out)
{
    const struct vp_stats *v = vp_stats();
    struct part p = {.end = *e,
                     .switches = v->switches,
                     .own_stacks = v->own_stacks,
                     .private_bytes = v->image_bytes,
                     .swapped_bytes = v->hot_bytes,
                     .live_stack_max = v->live_max,
                     .peak_rss = mem_peak_rss() + v->process_bytes,
                     .pairs = mpi_world.stats->pairs,
                     .batches = mpi_procs_batches(),
                     .access = mpi_stats_accesses(mpi_world.stats),
                     .live = mpi_live_counts(),
                     .overcommit = mpi_world.net.overcommit.found,
                     .spawned = engine_spares_started(&mpi_world.engine),
                     .median_slice_s = mpi_clock_median_slice(),
                     .computed_s = mpi_clock_computed(),
                     .left_out_s = mpi_clock_left_out(),
                     .aggregated = mpi_world.stats->aggregated};

    buf_add(out, &p, sizeof p);
    if (is_stuck(end))
        engine_stuck_collect(&mpi_world.engine, out);
    p.stuck_bytes = out->len - sizeof p;
    if (wants_leaks(end))
        mpi_leaks_collect(out);
    p.leak_bytes = out->len - sizeof p - p.stuck_bytes;
    if (mpi_world.checking)
        mpi_verify_collect(out);
    p.check_bytes = out->len - sizeof p - p.stuck_bytes - p.leak_bytes;
    memcpy(out->data, &p, sizeof p);
    if (wants_stats())
        mpi_stats_collect(out);
}

/* ---- all parts ---- */

/* The merged result of all processes. */
struct whole {
    struct part sum;
    uint64_t peak_rss_max;
    struct buf stuck, leaks, stats;
};

static void merge_ending(struct mpi_ending *to, const struct mpi_ending *from)
{
    const struct engine_due abort = engine_ended_by_any(&mpi_world.engine);

    if (from->bad_status && (!to->bad_status || from->bad_rank < to->bad_rank)) {
        to->bad_status = from->bad_status;
        to->bad_rank = from->bad_rank;
    }
    if (from->unfinalized && (!to->unfinalized || from->unfinalized_rank < to->unfinalized_rank))
        to->unfinalized_rank = from->unfinalized_rank;
    to->unfinalized += from->unfinalized;
    if (from->last > to->last)
        to->last = from->last;
    if (from->abort_status && from->abort_rank == abort.id) {
        to->abort_cause = from->abort_cause;
        to->abort_status = from->abort_status;
        to->abort_rank = from->abort_rank;
        memcpy(to->abort_text, from->abort_text, sizeof to->abort_text);
    }
    to->refused |= from->refused;
    to->now.messages += from->now.messages;
    to->now.bytes += from->now.bytes;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void merge(struct whole *w, const struct buf *bytes)
{
    struct part p, *to = &w->sum;
    size_t before;

    if (bytes->len < sizeof p)
        return; /* the process did not answer */
    memcpy(&p, bytes->data, sizeof p);
    merge_ending(&to->end, &p.end);
    to->switches += p.switches;
    to->own_stacks += p.own_stacks;
    to->peak_rss += p.peak_rss;
    to->pairs += p.pairs;
    to->batches += p.batches;
    run_access_add(&to->access, &p.access);
    run_live_add(&to->live, &p.live);
    net_overcommit_merge(&to->overcommit, &p.overcommit);
    to->spawned += p.spawned;
    to->private_bytes = larger(to->private_bytes, p.private_bytes);
    to->swapped_bytes = larger(to->swapped_bytes, p.swapped_bytes);
    to->live_stack_max = larger(to->live_stack_max, p.live_stack_max);
    w->peak_rss_max = larger(w->peak_rss_max, p.peak_rss);
    if (p.median_slice_s > to->median_slice_s)
        to->median_slice_s = p.median_slice_s;
    to->computed_s += p.computed_s;
    to->left_out_s += p.left_out_s;
    to->aggregated |= p.aggregated;
    buf_add(&w->stuck, bytes->data + sizeof p, p.stuck_bytes);
    buf_add(&w->leaks, bytes->data + sizeof p + p.stuck_bytes, p.leak_bytes);
    before = sizeof p + p.stuck_bytes + p.leak_bytes;
    if (p.check_bytes)
        mpi_verify_merge(bytes->data + before, p.check_bytes);
    before += p.check_bytes;
    buf_add(&w->stats, bytes->data + before, bytes->len - before);
}

/* ---- the result ---- */

_Static_assert(sizeof(struct net_traffic) <= RUN_TRAFFIC_WORDS * sizeof(uint64_t), "it has room");

/* Process 0 has the network, if it counts anything. */
static void fill_traffic(struct run_page *page)
{
    struct net_traffic t;

    page->end.has_traffic = net_traffic(&mpi_world.net, &t);
    memcpy(page->end.traffic, &t, sizeof t);
}

static void fill_page(const struct whole *w, enum run_cause cause)
{
    struct run_page *page = mpi_world.page;
    const struct part *p = &w->sum;

    page->end.virtual_time = p->end.last;
    page->end.messages = p->end.now.messages;
    page->end.bytes = p->end.now.bytes;
    page->end.switches = p->switches;
    page->end.own_stacks = p->own_stacks;
    page->end.private_bytes = p->private_bytes;
    page->end.swapped_bytes = p->swapped_bytes;
    page->end.bad_rank = p->end.bad_rank;
    page->end.live_stack_max = p->live_stack_max;
    page->end.median_slice_s = p->median_slice_s;
    page->end.computed_s = p->computed_s;
    page->end.left_out_s = p->left_out_s;
    page->end.pairs_aggregated = p->aggregated || p->pairs > MPI_STATS_PAIRS_MAX;
    page->end.rounds = engine_rounds(&mpi_world.engine);
    page->end.batches = p->batches;
    page->end.access = p->access;
    page->end.live = p->live;
    page->end.overcommit = (struct run_overcommit){p->overcommit.ranks, p->overcommit.rank,
                                                   p->overcommit.at, p->overcommit.took,
                                                   p->overcommit.needs};
    page->end.spawned = p->spawned;
    page->end.net_split = (int32_t)mpi_world.net.ops->split;
    fill_traffic(page);
    if (page->opt.factor > 0)
        mpi_emulate_result(page);
    if (mpi_rank_map()->procs > 1 || vp_ranks_are_processes()) {
        page->end.peak_rss_bytes = p->peak_rss;
        page->end.peak_rss_max = w->peak_rss_max;
    }
    page->end.cause = cause;
}

static int ended_well(const struct mpi_ending *e)
{
    if (!e->unfinalized)
        return e->bad_status;
    log_error("rank %u ended without MPI_Finalize%s", e->unfinalized_rank,
              e->unfinalized > 1 ? " (and others)" : "");
    return e->bad_status ? e->bad_status : 1;
}

static void say_abort(const struct mpi_ending *e)
{
    const struct engine_due a = engine_ended_by_any(&mpi_world.engine);
    char when[UNITS_TEXT_MAX];

    units_format_time(when, sizeof when, a.due);
    log_error("rank %u at virtual time %s: %s", a.id, when, e->abort_text);
}

/* The first line is an error; the others follow it. */
static void say_why(const char *text)
{
    size_t n = strcspn(text, "\n"), rest = text[n] ? strlen(text + n + 1) : 0;

    if (*text)
        log_error("%.*s", (int)n, text);
    if (text[n]) {
        char *shown = mem_strdup(text + n + 1);

        printable(shown, rest, 1);
        shown[rest] = '\n'; /* in place of its end */
        sys_write_all(2, shown, rest + 1);
        mem_free(shown);
    }
}

/* Reports how the run ended; returns the exit status. */
static int say(const struct whole *w, enum engine_end end, enum run_cause *cause)
{
    const struct mpi_procs_stop *stop = mpi_procs_stopped();

    switch (end) {
    case ENGINE_END_DONE:
        *cause = RUN_CAUSE_DONE;
        return ended_well(&w->sum.end);
    case ENGINE_END_ABORTED:
        *cause = (enum run_cause)w->sum.end.abort_cause;
        say_abort(&w->sum.end);
        return w->sum.end.abort_status;
    case ENGINE_END_DEADLOCK:
    case ENGINE_END_LIVELOCK:
        *cause = RUN_CAUSE_STUCK;
        engine_stuck_report(end, mpi_world.room, &w->stuck, mpi_site_text);
        return 1;
    default:
        *cause = (enum run_cause)stop->cause;
        say_why(stop->text);
        return stop->status;
    }
}

/* Leaks are a finding: they turn status 0 into 1. */
static int say_leaks(const struct whole *w, enum engine_end end, int status)
{
    uint32_t leaks = wants_leaks(end) ? mpi_leaks_merge(&w->leaks, mpi_site_text) : 0;

    if (!leaks)
        return status;
    mpi_leaks_print();
    if (status && !mpi_world.page->end.findings)
        return status;
    mpi_world.page->end.leaks = leaks;
    return status ? status : 1;
}

/* So are ranks that disagree. */
static int say_findings(enum engine_end end, int status)
{
    uint32_t findings = mpi_world.checking ? mpi_verify_conclude(end == ENGINE_END_DONE) : 0;

    if (!findings)
        return status;
    mpi_verify_print();
    mpi_world.page->end.findings = findings;
    return status ? status : 1;
}

/* The findings of the checks and the traffic of the network, for the statistics file. */
static void write_more(struct json *j, vtime virtual_time)
{
    net_traffic_json(&mpi_world.net, virtual_time, j);
    if (mpi_world.opt->check_leaks)
        mpi_leaks_json(j);
    if (mpi_world.checking)
        mpi_verify_json(j);
}

static void write_more_csv(struct buf *out)
{
    net_traffic_csv(&mpi_world.net, out);
}

static int write_stats(const struct whole *w, int status)
{
    static const struct mpi_stats_more more = {write_more, write_more_csv};
    struct err err;

    if (!wants_stats() || mpi_stats_write(mpi_world.opt->stats_path, w->sum.end.last, &w->stats,
                                          &more, &err) == ERR_OK)
        return status;
    log_error("%s", err.text);
    mpi_world.page->end.stats_failed = 1;
    return status ? status : 2;
}

/* Ends the recording of compute times; only complete runs can be replayed. */
static int write_record(enum engine_end end)
{
    struct err err;

    if (end != ENGINE_END_DONE || processor_finish(&err) == 0)
        return 0;
    log_error("%s", err.text);
    return 2;
}

/* Ends the trace, however the run ended. */
static int write_trace(vtime aborted)
{
    struct err err;

    if (!mpi_world.opt->trace_path[0] || mpi_record_end(aborted, &err) == 0)
        return 0;
    log_error("%s: the trace ends there", err.text);
    return 2;
}

/* JSON, or CSV by the name. */
static int write_vectors(int status)
{
    const char *path = mpi_world.opt->vectors_path;
    size_t n = strlen(path);
    struct buf text;
    struct err err;
    int rc;

    if (n == 0 || !mpi_world.net.vectors)
        return status;
    buf_init(&text);
    if (n >= 4 && strcmp(path + n - 4, ".csv") == 0)
        net_vectors_csv(mpi_world.net.vectors, &text);
    else
        net_vectors_json(mpi_world.net.vectors, &text);
    rc = buf_write_file(&text, path, &err);
    buf_fini(&text);
    if (rc == 0)
        return status;
    log_error("%s", err.text);
    return status ? status : 2;
}

/* Ends the capture of packets, however the run ended. */
static int write_packets(int status)
{
    struct err err;

    if (net_watch_end(&mpi_world.net, &err) == 0)
        return status;
    log_error("%s", err.text);
    return status ? status : 2;
}

/* Process 0. */
static int conclude(const struct buf *parts, enum engine_end end)
{
    static struct whole w;
    enum run_cause cause;
    int status, lost;

    for (uint32_t q = 0; q < mpi_rank_map()->procs; q++)
        merge(&w, &parts[q]);
    lost = output_finish(&mpi_world.output);
    status = say(&w, end, &cause);
    if (status == 0 && lost)
        status = lost == EPIPE ? 128 + SIGPIPE : 3;
    if (status == 0 && w.sum.end.refused)
        status = MPI_ENDING_REFUSED; /* the error was reported when it happened */
    status = say_findings(end, status);
    status = say_leaks(&w, end, status);
    status = write_stats(&w, status);
    status = write_packets(status);
    status = write_vectors(status);
    fill_page(&w, cause);
    mpi_world.page->end.exit_status = status;
    return status;
}

void mpi_end(struct mpi_ending *e, enum engine_end end)
{
    struct buf *parts = mem_zalloc(mpi_rank_map()->procs * sizeof *parts);
    vtime limit = VTIME_NEVER;
    int status = 0, complete, unwritten;

    mpi_line_end();
    mpi_own_end();
    unwritten = write_record(end);
    if (end == ENGINE_END_ABORTED) {
        limit = engine_ended_by_any(&mpi_world.engine).due;
        output_drop_after(&mpi_world.output, limit);
        e->last = 0;
    }
    unwritten = write_trace(limit) ? 2 : unwritten;
    if (end != ENGINE_END_DONE)
        count_unfinished(e, limit);
    if (mpi_rank_map()->proc != 0)
        output_finish(&mpi_world.output);
    collect(e, end, &parts[0]);
    complete = mpi_procs_gather(parts);
    if (mpi_rank_map()->proc == 0)
        status = conclude(parts, end);
    if (status == 0 && unwritten)
        status = mpi_world.page->end.exit_status = unwritten;
    complete = mpi_procs_leave(&status, complete);
    if (mpi_rank_map()->proc != 0) { /* the launcher should return the status of process 0 */
        mpi_world.page->end.exit_status = complete ? 0 : status;
        mpi_world.page->end.cause = RUN_CAUSE_DONE;
    }
    if (mpi_live_is_open() && end == ENGINE_END_DONE)
        mpi_live_close(); /* otherwise the launcher ends the processes outside */
    vp_kill();
    sys_exit(mpi_world.page->end.exit_status);
}
