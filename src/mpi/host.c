/*
 * host.c - the library's main program: takes the process over, runs all ranks, reports.
 *
 * Binds the layers: the engine resumes entities, which are fibres of vp, which run the program,
 * whose MPI calls come back in through the generated entries.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/env.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/sys.h"
#include "base/units.h"
#include "mpi/clock.h"
#include "mpi/comm.h"
#include "mpi/entry.h"
#include "mpi/p2p/p2p_internal.h"
#include "vp/crash.h"

#define RELEASE_SECONDS 1.0 /* output is released at least this often */
#define MEMORY_LEFT ((uint64_t)384 << 20) /* with less than this free, the run ends by itself */
#define MEMORY_SECONDS 0.1                /* how often that is looked at */
#define STOP_SECONDS 1      /* how long a signal waits for the running rank to call MPI */

struct mpi_world mpi_world;

static struct {
    int first_bad; /* lowest rank that ended with a status other than 0, and its status */
    uint32_t first_bad_rank;
    uint64_t unfinalized;
    uint32_t unfinalized_rank;
    vtime last; /* largest final clock */
    double next_release, next_check;
    volatile sig_atomic_t signal; /* asks the run to end */
    int abort_status;             /* of the earliest MPI_Abort or fatal MPI error, ... */
    char abort_text[512];         /* ... and what it said */
    int dying;                    /* an internal failure is being reported */
} run;

static double wall(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- engine: entities are ranks ---- */

static void rank_ended(struct mpi_rank *r, uint32_t id)
{
    int status = vp_exit_status();

    if (status != 0 && (run.first_bad == 0 || id < run.first_bad_rank)) {
        run.first_bad = status;
        run.first_bad_rank = id;
    }
    if (r->phase == MPI_PHASE_ACTIVE && (run.unfinalized++ == 0 || id < run.unfinalized_rank))
        run.unfinalized_rank = id;
    if (r->ent.clock > run.last)
        run.last = r->ent.clock;
    mpi_stats_rank_end(r);
    mpi_world.page->now.ranks_done++;
}

/* Ranks are run in turn, each in memory long out of the cache: ask for it two and four turns ahead,
 * first for the rank itself, then for what it points to. */
static void prefetch_ready(void)
{
    int64_t far = engine_peek_ready(&mpi_world.engine, 4);
    int64_t near = engine_peek_ready(&mpi_world.engine, 2);

    if (far >= 0) {
        __builtin_prefetch(&mpi_world.ranks[far].ent, 1);
        __builtin_prefetch(&mpi_world.ranks[far].posted, 1);
    }
    if (near >= 0) {
        const struct mpi_rank *r = &mpi_world.ranks[near];

        vp_fibre_prefetch(&r->fib);
        __builtin_prefetch(r->ent.inbox);
        __builtin_prefetch(r->posted);
        __builtin_prefetch(r->pairs + r->pair_next, 1);
    }
}

static int resume(void *owner, uint32_t id)
{
    struct mpi_rank *r = &mpi_world.ranks[id];
    struct run_page *page = mpi_world.page;

    (void)owner;
    page->now.current_rank = id;
    page->now.switches++;
    prefetch_ready();
    if (mpi_world.measured)
        mpi_world.slice_start = mpi_ticks();
    if (!vp_fibre_resume(&r->fib))
        return 0;
    rank_ended(r, id);
    return 1;
}

static void explain(void *owner, uint32_t id, struct engine_wait *out)
{
    struct mpi_rank *r = &mpi_world.ranks[id];

    (void)owner;
    mpi_explanation.out = out;
    r->ent.wake = ENGINE_WAKE_EXPLAIN;
    vp_fibre_resume(&r->fib);
    mpi_explanation.out = NULL;
}

static void show_progress(void)
{
    struct run_page *page = mpi_world.page;
    const struct mpi_stats *s = mpi_world.stats;

    page->now.messages = s->messages[0] + s->messages[1];
    page->now.bytes = s->bytes[0] + s->bytes[1];
    page->now.clock = mpi_world.ranks[page->now.current_rank].ent.clock;
    page->now.ranks_started = mpi_world.engine.next_new;
}

static void finish(enum run_cause cause, int status) __attribute__((noreturn));

/* Better to end with a word than to swap, or to be killed without one. */
static void check_memory(void)
{
    uint64_t left = mem_available();
    char text[UNITS_TEXT_MAX];

    if (left == 0 || left >= MEMORY_LEFT)
        return;
    log_error("memory is running out (%s left) with %llu of %u ranks started; use fewer ranks",
              units_format_bytes(text, sizeof text, left),
              (unsigned long long)mpi_world.engine.next_new, mpi_world.size);
    finish(RUN_CAUSE_INTERNAL, 3);
}

static void idle(void *owner)
{
    int saved = errno; /* the program's: the last rank's data is still in place */
    double now = wall();

    (void)owner;
    show_progress();
    if (mpi_world.output.failed[1] == EPIPE)
        engine_stop(&mpi_world.engine); /* nobody reads on */
    if (now >= run.next_check) {
        check_memory();
        run.next_check = now + MEMORY_SECONDS;
    }
    if (now >= run.next_release) {
        output_release(&mpi_world.output, engine_lower_bound(&mpi_world.engine));
        mpi_world.engine.idle_often = !output_is_empty(&mpi_world.output);
        run.next_release = wall() + RELEASE_SECONDS;
    }
    errno = saved;
}

/* ---- vp: what a rank's program does outside MPI ---- */

static vtime hook_now(struct vp_fibre *f)
{
    return mpi_clock_read(mpi_rank_of_fibre(f));
}

static void hook_sleep(struct vp_fibre *f, vtime dt)
{
    mpi_clock_spend(mpi_rank_of_fibre(f), dt);
}

static void hook_yield(struct vp_fibre *f)
{
    mpi_clock_yield(mpi_rank_of_fibre(f));
}

static void hook_write(struct vp_fibre *f, int fd, const char *text, size_t n)
{
    struct mpi_rank *r = mpi_rank_of_fibre(f);

    if (mpi_world.measured)
        mpi_charge(r);
    output_add(&mpi_world.output, mpi_rank_id(r), r->ent.clock, fd, text, n);
    mpi_world.engine.idle_often = 1; /* turns may be long: look at the time after each */
    if (mpi_world.measured)
        mpi_world.slice_start = mpi_ticks();
}

static void hook_exiting(struct vp_fibre *f, int status, int phase)
{
    struct mpi_rank *r = mpi_rank_of_fibre(f);

    (void)status;
    if (mpi_world.measured)
        mpi_charge(r);
    if (phase == 1)
        output_end_rank(&mpi_world.output, mpi_rank_id(r), r->ent.clock);
    else if (mpi_world.measured)
        mpi_world.slice_start = mpi_ticks();
}

static uint64_t hook_rank(const struct vp_fibre *f)
{
    return mpi_rank_id(mpi_rank_of_fibre((struct vp_fibre *)f));
}

static void hook_hostname(struct vp_fibre *f, char *out, size_t n)
{
    uint64_t node = hook_rank(f) / mpi_world.opt->platform.nodes_ranks;

    snprintf(out, n, "node%llu", (unsigned long long)node);
}

/* Ranks that have not ended count with the time they reached. */
static void count_unfinished(vtime limit)
{
    for (uint32_t i = 0; i < mpi_world.engine.next_new; i++) {
        vtime t = mpi_world.ranks[i].ent.clock;

        if (t > run.last)
            run.last = t;
    }
    if (run.last > limit)
        run.last = limit;
}

static void hook_crash(struct vp_fibre *f, int sig, void *addr)
{
    static char trace[8192];
    char when[UNITS_TEXT_MAX];

    if (f) {
        struct mpi_rank *r = mpi_rank_of_fibre(f);

        units_format_time(when, sizeof when, r->ent.clock);
        count_unfinished(VTIME_NEVER);
        output_finish(&mpi_world.output);
        if (sig == SIGABRT)
            log_error("rank %u aborted at virtual time %s", mpi_rank_id(r), when);
        else
            log_error("rank %u: %s%s at virtual time %s (address %p)", mpi_rank_id(r),
                      strsignal(sig),
                      vp_stack_overflowed(f, addr) ? ", stack overflow (see --stack)," : "", when,
                      addr);
    } else {
        log_error("%s in the simulator itself (address %p); this is a bug in Orrery",
                  strsignal(sig), addr);
    }
    sys_write_all(2, trace, vp_backtrace(trace, sizeof trace));
    finish(f ? RUN_CAUSE_CRASH : RUN_CAUSE_INTERNAL, f ? 128 + sig : 3);
}

static const struct vp_hooks hooks = {
    .now = hook_now, .sleep = hook_sleep, .yield = hook_yield, .write = hook_write,
    .exiting = hook_exiting, .crash = hook_crash, .rank = hook_rank, .hostname = hook_hostname,
};

static const struct engine_ops engine_ops = {.resume = resume, .explain = explain};

/* ---- start and end ---- */

static void map_page(void)
{
    const char *text = getenv(ENV_RUN_FD);
    int fd = text ? atoi(text) : -1;
    struct run_page *page =
        mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (page == MAP_FAILED || page->magic != RUN_MAGIC || page->size != sizeof *page)
        log_fatal("the library was not started by a matching 'orrery run'; check the installation");
    sys_close(fd);
    unsetenv(ENV_RUN_FD);
    mpi_world.page = page;
    mpi_world.opt = &page->opt;
    mpi_world.size = (uint32_t)page->opt.ranks;
}

static void set_up(void)
{
    const struct run_options *o = mpi_world.opt;
    struct err err;
    struct output_config out = {.labels = o->labels, .ranks = o->ranks};
    struct vp_config vp = {.ranks = o->ranks, .stack_size = o->stack_size, .stacks = o->stacks,
                           .epoch = o->epoch, .hooks = &hooks};
    struct engine_config eng = {.entities = o->ranks, .stride = sizeof(struct mpi_rank),
                                .idle_limit = o->idle_limit, .random = o->random, .seed = o->seed,
                                .ops = &engine_ops};

    pool_init(&mpi_world.pool, "ranks' extras");
    if (net_init(&mpi_world.net, &o->platform, &err) != ERR_OK)
        log_fatal("%s", err.text);
    mpi_world.ranks = mem_map((size_t)o->ranks * sizeof(struct mpi_rank), 1);
    if (!mpi_world.ranks)
        log_fatal("cannot reserve memory for %llu ranks", (unsigned long long)o->ranks);
    eng.base = mpi_world.ranks;
    eng.lookahead = mpi_world.net.lookahead;
    engine_init(&mpi_world.engine, &eng);
    mpi_world.engine.idle = idle;
    output_init(&mpi_world.output, &out);
    mpi_clock_init(o);
    mpi_stats_init(o->detail);
    mpi_comm_init(mpi_world.size);
    if (vp_init(&vp, &err) != ERR_OK)
        log_fatal("%s", err.text);
}

static void fill_result(enum run_cause cause, int status)
{
    struct run_page *page = mpi_world.page;
    const struct vp_stats *v = vp_stats();
    struct err err;

    show_progress();
    page->end.virtual_time = run.last;
    page->end.messages = page->now.messages;
    page->end.bytes = page->now.bytes;
    page->end.switches = v->switches;
    page->end.own_stacks = v->own_stacks;
    page->end.private_bytes = v->image_bytes;
    page->end.swapped_bytes = v->hot_bytes;
    page->end.bad_rank = run.first_bad_rank;
    page->end.live_stack_max = v->live_max;
    page->end.median_slice_s = mpi_clock_median_slice();
    page->end.pairs_aggregated = mpi_world.stats->aggregated;
    if (mpi_world.opt->stats_path[0] && cause != RUN_CAUSE_CRASH &&
        mpi_stats_write(mpi_world.opt->stats_path, run.last, &err) != ERR_OK) {
        log_error("%s", err.text);
        page->end.stats_failed = 1;
        if (status == 0)
            status = 2;
    }
    page->end.exit_status = status;
    page->end.cause = cause;
}

static void finish(enum run_cause cause, int status)
{
    int lost = output_finish(&mpi_world.output);

    if (status == 0 && lost)
        status = lost == EPIPE ? 128 + SIGPIPE : 3;
    fill_result(cause, status);
    sys_exit(status);
}

/* ---- signals that ask the run to end ---- */

/* What the ranks have written is shown; the run ends as if by the signal. */
static void stopped(void) __attribute__((noreturn));
static void stopped(void)
{
    int status = run.signal ? 128 + run.signal : 128 + SIGPIPE;

    count_unfinished(VTIME_NEVER);
    finish(RUN_CAUSE_SIGNAL, status);
}

/* Lets the engine stop between two turns. If the running rank does not come back in time, shows what
 * can be shown from here; should that fail too, the alarm's default action ends the process. */
static void on_stop_signal(int sig)
{
    if (sig != SIGALRM && !run.signal) {
        run.signal = sig;
        engine_stop(&mpi_world.engine);
        sys_alarm(STOP_SECONDS);
        return;
    }
    vp_current_fibre = NULL; /* from here on libc's functions are themselves */
    signal(SIGALRM, SIG_DFL);
    sys_alarm(STOP_SECONDS);
    stopped();
}

static void catch_signals(void)
{
    static const int asked[] = {SIGINT, SIGTERM, SIGHUP, SIGALRM};
    struct sigaction act = {.sa_handler = on_stop_signal, .sa_flags = SA_RESTART | SA_ONSTACK};

    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        sigaction(asked[i], &act, NULL);
    signal(SIGPIPE, SIG_IGN);
}

/*
 * Whatever happens before the abort's virtual time happens, whatever the order in which ranks are
 * run; so the rank only leaves its word here and waits for the engine to end the run. Its network
 * interface serves the others until then.
 */
void mpi_abort_run(struct mpi_rank *self, int code, const char *why)
{
    vtime t = self->ent.clock, due;

    if (engine_abort(&mpi_world.engine, mpi_rank_id(self), t)) {
        run.abort_status = code & 0xff ? code & 0xff : 1;
        snprintf(run.abort_text, sizeof run.abort_text, "%s", why);
    }
    for (;;) {
        mpi_drain(self);
        if (!mpi_decide(self, t, &due))
            mpi_block(self, due <= t ? due : VTIME_NEVER, 1, NULL, 0);
    }
}

static void aborted(void) __attribute__((noreturn));
static void aborted(void)
{
    const struct engine_due *a = &mpi_world.engine.abort;
    char when[UNITS_TEXT_MAX];

    output_drop_after(&mpi_world.output, a->due);
    output_finish(&mpi_world.output);
    run.last = 0;
    count_unfinished(a->due);
    units_format_time(when, sizeof when, a->due);
    log_error("rank %u at virtual time %s: %s", a->id, when, run.abort_text);
    finish(RUN_CAUSE_ABORT, run.abort_status);
}

void mpi_unsupported(int fn)
{
    struct mpi_rank *self = mpi_self();

    count_unfinished(VTIME_NEVER);
    output_finish(&mpi_world.output);
    vp_current_fibre = NULL;
    log_error("%s is not supported yet (called by rank %u); 'orrery check' lists such calls",
              mpi_fn_name[fn], self ? mpi_rank_id(self) : 0);
    finish(RUN_CAUSE_INTERNAL, 3);
}

static int ended_well(void)
{
    if (run.unfinalized) {
        log_error("rank %u ended without MPI_Finalize%s", run.unfinalized_rank,
                  run.unfinalized > 1 ? " (and others)" : "");
        if (run.first_bad == 0)
            run.first_bad = 1;
    }
    return run.first_bad;
}

/* After log_fatal: what the ranks have written so far is still shown, if that works. */
static void fatal_end(int status)
{
    vp_current_fibre = NULL;
    if (run.dying++)
        sys_exit(status);
    count_unfinished(VTIME_NEVER);
    finish(RUN_CAUSE_INTERNAL, status);
}

int vp_takeover(void)
{
    double start = wall();
    enum engine_end end;

    map_page();
    set_up();
    catch_signals();
    log_set_exit(fatal_end);
    mpi_world.page->end.startup_s = wall() - start;
    end = engine_run(&mpi_world.engine);
    if (end == ENGINE_END_STOPPED)
        stopped();
    if (end == ENGINE_END_ABORTED)
        aborted();
    if (end == ENGINE_END_DONE)
        finish(RUN_CAUSE_DONE, ended_well());
    output_finish(&mpi_world.output);
    count_unfinished(VTIME_NEVER);
    engine_report_stuck(&mpi_world.engine, end);
    finish(RUN_CAUSE_STUCK, 1);
}
