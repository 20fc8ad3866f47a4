/*
 * host.c - the library's main program: takes the process over, runs all ranks, reports.
 *
 * Binds the layers: the engine resumes entities, which are fibres of vp, which run the program,
 * whose MPI calls come back in through the generated entries.
 *
 * With several processes each runs all of this for its own ranks; ending.c brings the result together.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/env.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/sys.h"
#include "base/units.h"
#include "engine/output_book.h"
#include "mpi/coll/coll.h"
#include "mpi/clock.h"
#include "mpi/comm/spawn.h"
#include "mpi/ending.h"
#include "mpi/entry.h"
#include "mpi/line.h"
#include "mpi/p2p/p2p_internal.h"
#include "mpi/team.h"
#include "mpi/trace.h"
#include "vp/crash.h"

#define RELEASE_SECONDS 1.0 /* output is released at least this often */
#define MEMORY_LEFT ((uint64_t)384 << 20) /* with less than this free, the run ends by itself */
#define MEMORY_SECONDS 0.1                /* how often that is looked at */
#define STOP_SECONDS 1      /* how long a signal waits for the running rank to call MPI ... */
#define CRASH_SECONDS 15    /* how long ending may take after a crash */
#define END_SECONDS 4       /* ... and how long ending may take: somebody may not read our output */
#define HAND_NS 5e6         /* ranks that are processes go on by themselves for this long */
#define TIMEOUT_STATUS 124  /* as timeout(1) has it */
#define PARK_SECONDS 2.0    /* an aborted run ends by itself, or after this long without the ranks that
                             * are beyond the time of the abort */

struct mpi_world mpi_world;

static struct {
    struct mpi_ending end; /* what this process knows of how the run ended */
    const struct mpi_rank *last_run;
    double next_release, next_check, park_at;
    volatile sig_atomic_t signal;  /* asks the run to end */
    volatile sig_atomic_t writing; /* output is being added */
    int dying;                    /* an internal failure is being reported */
    volatile sig_atomic_t overdue; /* the run was aborted, and a rank does not come to an end */
    volatile int where_known;      /* where the running rank is: where_text */
} run;

static char where_text[4096];

static double wall(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- engine: entities are ranks ---- */

static void rank_ended(struct mpi_rank *r, int status)
{
    struct mpi_ending *end = &run.end;
    uint32_t id = mpi_rank_id(r);

    if (status != 0 && (end->bad_status == 0 || id < end->bad_rank)) {
        end->bad_status = status;
        end->bad_rank = id;
    }
    if (r->phase == MPI_PHASE_ACTIVE &&
        (end->unfinalized++ == 0 || id < end->unfinalized_rank))
        end->unfinalized_rank = id;
    if (r->ent.clock > end->last)
        end->last = r->ent.clock;
    mpi_stats_rank_end(r);
    end->now.ranks_done++;
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

/* It is the rank's turn. */
static void present(const struct mpi_rank *r)
{
    struct run_page *page = mpi_world.page;

    run.last_run = r;
    page->now.current_rank = mpi_rank_id(r);
    page->now.switches++;
    page->now.current_pid = vp_fibre_pid(&r->fib);
}

static int resume(void *owner, uint32_t id)
{
    struct mpi_rank *r = &mpi_world.ranks[id];

    (void)owner;
    prefetch_ready();
    present(r);
    mpi_slice_begin();
    if (!vp_fibre_resume(&r->fib))
        return 0;
    r = &mpi_world.ranks[mpi_world.engine.running];
    rank_ended(r, vp_exit_status());
    mpi_spawn_ended(r);
    return 1;
}

static void explain(void *owner, uint32_t id, struct engine_wait *out)
{
    static struct engine_wait wait; /* where the rank's process sees it, too */
    struct mpi_rank *r = &mpi_world.ranks[id];

    (void)owner;
    memset(&wait, 0, sizeof wait);
    wait.waits_on = -1;
    mpi_explanation.out = &wait;
    r->ent.wake = ENGINE_WAKE_EXPLAIN;
    vp_fibre_resume(&r->fib);
    mpi_explanation.out = NULL;
    *out = wait;
}

static void show_progress(void)
{
    struct run_page *page = mpi_world.page;
    const struct mpi_stats *s = mpi_world.stats;
    struct mpi_team_status t = {
        .ranks_started = mpi_world.engine.next_new + mpi_world.engine.born,
        .ranks_done = run.end.now.ranks_done,
        .messages = s->messages[0] + s->messages[1],
        .bytes = s->bytes[0] + s->bytes[1],
        .clock = run.last_run ? run.last_run->ent.clock : 0,
    };

    run.end.now = t;
    mpi_team_report(&t);
    page->now.ranks_started = t.ranks_started;
    page->now.ranks_done = t.ranks_done;
    page->now.messages = t.messages;
    page->now.bytes = t.bytes;
    page->now.clock = t.clock;
    page->now.memory_elsewhere = t.memory;
    page->now.beats++;
}

static void end_early(enum run_cause cause, int status, const char *text) __attribute__((noreturn));

/* Better to end with a word than to swap, or to be killed without one. */
static void check_memory(void)
{
    uint64_t left = mem_available();
    char size[UNITS_TEXT_MAX], text[200];

    if (left == 0 || left >= MEMORY_LEFT)
        return;
    snprintf(text, sizeof text,
             "memory is running out (%s left) with %llu of %u ranks started; use fewer ranks",
             units_format_bytes(size, sizeof size, left),
             (unsigned long long)(mpi_world.engine.next_new + mpi_world.engine.born),
             mpi_place()->count + (uint32_t)mpi_world.engine.born);
    end_early(RUN_CAUSE_INTERNAL, 3, text);
}

static void idle(void *owner)
{
    int saved = errno; /* the program's: the last rank's data is still in place */
    double now = wall();

    (void)owner;
    show_progress();
    vp_check();
    if (mpi_world.output.failed[1] == EPIPE)
        engine_stop(&mpi_world.engine); /* nobody reads on */
    if (now >= run.next_check) {
        check_memory();
        run.next_check = now + MEMORY_SECONDS;
    }
    if (mpi_world.engine.abort.due != VTIME_NEVER) {
        run.park_at = run.park_at > 0 ? run.park_at : now + PARK_SECONDS;
        mpi_world.parking = now >= run.park_at;
    }
    if (now >= run.next_release) {
        mpi_team_release(engine_lower_bound(&mpi_world.engine));
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

    mpi_thread_enter();
    if (mpi_world.measured)
        mpi_charge(r, MPI_FN_COUNT);
    run.writing = 1;
    output_add(&mpi_world.output, mpi_rank_id(r), r->ent.clock, fd, text, n);
    run.writing = 0;
    mpi_world.engine.idle_often = 1; /* turns may be long: look at the time after each */
    mpi_slice_begin();
    mpi_thread_leave_quietly();
}

/* The rank has ended, but ranks to come may need its agent. */
_Noreturn static void rest(struct mpi_rank *r, int status)
{
    vtime due;

    rank_ended(r, status);
    engine_rest(&mpi_world.engine, &r->ent);
    for (;;) {
        mpi_drain(r);
        if (!mpi_decide(r, VTIME_NEVER, &due))
            mpi_block(r, due, 1, NULL, 0);
    }
}

static void hook_exiting(struct vp_fibre *f, int status, int phase)
{
    struct mpi_rank *r = mpi_rank_of_fibre(f);

    mpi_thread_enter(); /* for good: the rank ends with whatever thread ends it */
    if (mpi_world.measured)
        mpi_charge(r, MPI_FN_COUNT);
    if (phase == 1) {
        mpi_time_check(r);
        output_end_rank(&mpi_world.output, mpi_rank_id(r), r->ent.clock);
        if (mpi_spawn_serves(r))
            rest(r, status);
    } else {
        mpi_slice_begin();
    }
}

static void hook_starting(struct vp_fibre *f, int *argc, char ***argv)
{
    mpi_spawn_starting(mpi_rank_of_fibre(f), argc, argv);
}

static uint64_t hook_rank(const struct vp_fibre *f)
{
    return mpi_rank_id(mpi_rank_of_fibre((struct vp_fibre *)f));
}

static void hook_hostname(struct vp_fibre *f, char *out, size_t n)
{
    snprintf(out, n, "node%u", net_node(&mpi_world.net, (uint32_t)hook_rank(f)));
}

static struct vp_fibre *hook_next(struct vp_fibre *f)
{
    int64_t id = mpi_explanation.out ? -1 : engine_hand_over(&mpi_world.engine);

    (void)f;
    if (id < 0)
        return NULL;
    present(&mpi_world.ranks[id]);
    return &mpi_world.ranks[id].fib;
}

static void hook_begun(struct vp_fibre *f)
{
    (void)f;
    mpi_world.page->now.current_pid = sys_getpid();
    mpi_clock_watch();
    mpi_slice_begin();
}

static void hook_threads(struct vp_fibre *f)
{
    (void)f;
    mpi_thread_begin();
}

static void hook_unborn(struct vp_fibre *f, int error)
{
    static char text[sizeof ((struct mpi_team_stop *)0)->text];

    snprintf(text, sizeof text, "cannot start a process for rank %u: %s; see 'ulimit -u', or use fewer "
             "ranks, or --host fibre", mpi_rank_id(mpi_rank_of_fibre(f)), strerror(error));
    end_early(RUN_CAUSE_INTERNAL, 3, text);
}

static void hook_died(struct vp_fibre *f, int status)
{
    static char text[sizeof ((struct mpi_team_stop *)0)->text];
    const struct mpi_rank *r = mpi_rank_of_fibre(f);
    char when[UNITS_TEXT_MAX];

    units_format_time(when, sizeof when, r->ent.clock);
    if (WIFSIGNALED(status))
        snprintf(text, sizeof text, "rank %u: its process was ended by signal %d (%s) at virtual "
                 "time %s", mpi_rank_id(r), WTERMSIG(status), strsignal(WTERMSIG(status)), when);
    else
        snprintf(text, sizeof text, "rank %u: its process ended by itself, with status %d, at "
                 "virtual time %s", mpi_rank_id(r), WEXITSTATUS(status), when);
    end_early(RUN_CAUSE_CRASH, WIFSIGNALED(status) ? 128 + WTERMSIG(status) : 3, text);
}

/* The first line of a crash report. */
static void describe_crash(struct vp_fibre *f, int sig, void *addr, char *out, size_t n)
{
    const struct mpi_rank *r = f ? mpi_rank_of_fibre(f) : NULL;
    char when[UNITS_TEXT_MAX];

    if (r)
        units_format_time(when, sizeof when, r->ent.clock);
    if (!r)
        snprintf(out, n, "%s in the simulator itself (address %p); this is a bug in Orrery, or the "
                 "program has overwritten its memory", strsignal(sig), addr);
    else if (sig == SIGABRT)
        snprintf(out, n, "rank %u aborted at virtual time %s", mpi_rank_id(r), when);
    else if (!addr && sig != SIGSEGV && sig != SIGBUS)
        snprintf(out, n, "rank %u: %s at virtual time %s", mpi_rank_id(r), strsignal(sig), when);
    else
        snprintf(out, n, "rank %u: %s%s at virtual time %s (address %p)", mpi_rank_id(r),
                 strsignal(sig),
                 vp_stack_overflowed(f, addr) ? ", stack overflow (see --stack)," : "", when, addr);
}

/* The text, and below it where the context is. */
static void add_trace(const void *context, char *text, size_t size)
{
    struct vp_trace trace;
    size_t n = strlen(text);

    vp_trace_take(context, &trace);
    if (trace.count == 0 || n + 2 > size)
        return;
    text[n++] = '\n';
    n += mpi_trace_text(&trace, text + n, size - n - 1);
    text[text[n - 1] == '\n' ? n - 1 : n] = '\0';
}

/* What is said here stays even if the memory is so damaged that the run cannot end in order. */
static void hook_crash(struct vp_fibre *f, int sig, void *addr, const void *context)
{
    static char text[sizeof ((struct mpi_team_stop *)0)->text];
    struct run_page *page = mpi_world.page;
    int status = f ? 128 + sig : 3;

    describe_crash(f, sig, addr, text, sizeof text);
    snprintf(page->dying.text, sizeof page->dying.text, "%s", text);
    page->dying.status = status;
    add_trace(context, text, sizeof text);
    snprintf(page->dying.text, sizeof page->dying.text, "%s", text);
    end_early(f ? RUN_CAUSE_CRASH : RUN_CAUSE_INTERNAL, status, text);
}

static void hook_where(const void *context)
{
    add_trace(context, where_text, sizeof where_text);
    run.where_known = 1;
}

static void hook_refused(struct vp_fibre *f)
{
    (void)f;
    run.end.refused = 1;
}

static const struct vp_hooks hooks = {
    .now = hook_now, .sleep = hook_sleep, .yield = hook_yield, .write = hook_write,
    .exiting = hook_exiting, .next = hook_next, .starting = hook_starting, .begun = hook_begun,
    .threads = hook_threads,
    .unborn = hook_unborn, .died = hook_died, .crash = hook_crash,
    .where = hook_where, .refused = hook_refused,
    .rank = hook_rank, .hostname = hook_hostname,
};

/* A rank that seemed to be at rest has a thread that wants to go on. */
static int wanted(void *owner)
{
    struct vp_fibre *f = vp_wanted();

    (void)owner;
    if (f)
        engine_wake(&mpi_world.engine, mpi_rank_index(mpi_rank_of_fibre(f)));
    return f != NULL;
}

static const struct engine_ops engine_ops = {.resume = resume, .explain = explain,
                                             .wanted = wanted};

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
    mpi_world.room = (uint32_t)run_room(&page->opt);
    mpi_world.check_leaks = page->opt.check_leaks;
    mpi_world.checking = page->opt.check;
}

/* The lists stay where the command has put them. */
static void map_machine(void)
{
    int fd = mpi_world.opt->machine_fd;
    off_t size = lseek(fd, 0, SEEK_END);
    void *bytes = mmap(NULL, size > 0 ? (size_t)size : 1, PROT_READ, MAP_SHARED, fd, 0);
    struct err err;

    if (bytes == MAP_FAILED)
        log_fatal("cannot map the machine: %s", strerror(errno));
    if (platform_unpack(&mpi_world.machine, bytes, (size_t)size, &err) != ERR_OK)
        log_fatal("%s", err.text);
    sys_close(fd);
}

/* Output is shared with the watcher, which shows it if this process dies. */
static void map_book(struct output_config *out)
{
    int fd = mpi_world.opt->book_fd;
    void *book;

    if (fd < 0)
        return;
    book = mmap(NULL, OUTPUT_BOOK_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (book != MAP_FAILED)
        out->book = book;
    sys_close(fd);
}

/* The watcher opens the file, too, as long as this process has it. */
static void spill(void)
{
    int had_file = mpi_world.output.spill_fd >= 0;

    output_spill(&mpi_world.output);
    if (!had_file && mpi_world.output.spill_fd >= 0 && mpi_world.output.book)
        mpi_ask(RUN_ASK_SPILL);
}

/* The file must be open in the process that writes the output at last. */
static void make_room(void *owner)
{
    (void)owner;
    vp_call(spill);
}

/* Finds the other processes, if any, and which ranks are here. */
static void join(struct engine_config *eng)
{
    struct run_page *page = mpi_world.page;

    mpi_team_open(mpi_world.opt, &eng->place);
    eng->peers = mpi_team_peers();
    mpi_world.shared = eng->peers != NULL;
    page->now.proc = eng->place.proc;
    page->now.joined = 1;
}

static void set_up(void)
{
    const struct run_options *o = mpi_world.opt;
    struct err err;
    struct output_config out = {.labels = o->labels, .only_error = o->only_error,
                                .ranks = mpi_world.room, .full = make_room};
    struct vp_config vp = {.stack_size = o->stack_size, .stacks = o->stacks,
                           .epoch = o->epoch, .entropy_real = o->entropy_real,
                           .entropy_seed = o->entropy_seed, .hooks = &hooks};
    struct engine_config eng = {.stride = sizeof(struct mpi_rank),
                                .idle_limit = o->idle_limit, .random = o->random, .seed = o->seed,
                                .ops = &engine_ops};

    pool_init(&mpi_world.pool, "ranks' extras");
    map_book(&out);
    mpi_world.machine.later = mpi_world.room - mpi_world.size;
    if (net_init(&mpi_world.net, &mpi_world.machine, run_fit(o), &err) != ERR_OK)
        log_fatal("%s", err.text);
    mpi_world.plain_sends = mpi_world.net.uniform && !mpi_world.checking;
    if (mpi_coll_init(&mpi_world.machine, &err) != ERR_OK)
        log_fatal("%s", err.text);
    if (vp_init(&vp, &err) != ERR_OK)
        log_fatal("%s", err.text);
    mpi_world.page->now.zygote_pid = vp_process_zygote();
    join(&eng);
    vp_expect(eng.place.count);
    mpi_world.ranks = mem_map((size_t)eng.place.room * sizeof(struct mpi_rank), 1);
    if (!mpi_world.ranks)
        log_fatal("cannot reserve memory for %u ranks", eng.place.room);
    eng.base = mpi_world.ranks;
    eng.lookahead = mpi_world.net.lookahead;
    eng.contended = mpi_world.net.contended;
    if (eng.contended && eng.place.proc == 0) {
        mpi_world.net.ops->medium(&mpi_world.net, engine_emerge, &mpi_world.engine,
                                  &mpi_world.medium);
        eng.medium = &mpi_world.medium;
    }
    if (vp_ranks_are_processes())
        eng.hand_ticks = (uint64_t)(HAND_NS * ticks_per_ns());
    engine_init(&mpi_world.engine, &eng);
    mpi_world.engine.idle = idle;
    mpi_team_output(&out);
    mpi_line_init(&out);
    output_init(&mpi_world.output, &out);
    mpi_clock_init(o);
    mpi_stats_init(o->detail);
    mpi_comm_init(mpi_world.size);
}

static struct mpi_team_stop early;

static void finish_early(void)
{
    if (early.cause == RUN_CAUSE_CRASH || early.cause == RUN_CAUSE_INTERNAL)
        signal(SIGALRM, SIG_DFL); /* memory may be damaged: who knows whether this comes to an end */
    if (early.cause != RUN_CAUSE_SIGNAL)
        sys_alarm(CRASH_SECONDS);
    if (early.cause == RUN_CAUSE_ABORT)
        output_drop_after(&mpi_world.output, mpi_world.engine.abort.due);
    mpi_team_end_early(&early);
    show_progress();
    mpi_end(&run.end, ENGINE_END_STOPPED);
}

/* Whatever happens, from here on the run ends; in any context. */
static void end_early(enum run_cause cause, int status, const char *text)
{
    early.cause = cause;
    early.status = status;
    snprintf(early.text, sizeof early.text, "%s", text);
    vp_leave(finish_early);
}

/* ---- signals that ask the run to end ---- */

/* Which rank does not come back, and where it is. */
static void describe_where(const void *context)
{
    static const struct timespec pause = {.tv_nsec = 10000000};
    const struct mpi_rank *r = run.last_run;
    char when[UNITS_TEXT_MAX];

    if (!r)
        return;
    units_format_time(when, sizeof when, r->ent.clock);
    snprintf(where_text, sizeof where_text, "rank %u was running outside MPI at virtual time %s",
             mpi_rank_id(r), when);
    if (!vp_ranks_are_processes()) {
        add_trace(context, where_text, sizeof where_text);
        return;
    }
    vp_crash_ask(&r->fib);
    for (int i = 0; i < 100 * STOP_SECONDS && !run.where_known; i++)
        syscall(SYS_nanosleep, &pause, NULL);
}

/* The run ends as if by the signal, or because nobody reads its output. */
static void stopped(void) __attribute__((noreturn));
static void stopped(void)
{
    static char text[sizeof where_text + 200];

    text[0] = '\0';
    if (run.signal) {
        int n = snprintf(text, sizeof text, RUN_SIGNAL_TEXT, (int)run.signal, strsignal(run.signal));

        snprintf(text + n, sizeof text - (size_t)n, "%s%s", where_text[0] ? "\n    " : "", where_text);
        signal(SIGALRM, SIG_DFL); /* ends us: `orrery run` then says why */
        sys_alarm(END_SECONDS);
    }
    end_early(RUN_CAUSE_SIGNAL, run.signal ? 128 + run.signal : 128 + SIGPIPE, text);
}

/* The run was aborted some time ago. */
static void aborted(void) __attribute__((noreturn));
static void aborted(void)
{
    static char text[sizeof run.end.abort_text + 100];
    char when[UNITS_TEXT_MAX];

    units_format_time(when, sizeof when, mpi_world.engine.abort.due);
    snprintf(text, sizeof text, "rank %u at virtual time %s: %s", run.end.abort_rank, when,
             run.end.abort_text);
    end_early((enum run_cause)run.end.abort_cause, run.end.abort_status, text);
}

/* The watcher's word that a rank does not come back although the run was aborted. */
static void on_overdue(int in_rank)
{
    if (run.overdue || !run.end.abort_status)
        return;
    run.overdue = 1;
    engine_stop(&mpi_world.engine);
    if (in_rank && !run.writing) {
        vp_current_fibre = NULL;
        aborted();
    }
}

/* Lets the engine stop between two turns. If the running rank does not come back in time, shows what
 * can be shown from here. */
static void on_stop_signal(int sig, siginfo_t *info, void *context)
{
    int in_rank = vp_current() != NULL || vp_ranks_are_processes();

    (void)info;
    if (sig == SIGALRM && !run.signal) {
        on_overdue(in_rank);
        return;
    }
    if (sig != SIGALRM) { /* often it comes twice: to the process group, and passed on */
        if (run.signal)
            return;
        run.signal = sig;
        engine_stop(&mpi_world.engine);
        sys_alarm(STOP_SECONDS);
        return;
    }
    vp_current_fibre = NULL;
    if (!in_rank || run.writing) /* the scheduler, or output, is in the middle of something */
        sys_exit(128 + run.signal);
    describe_where(context);
    stopped();
}

/* The write that was too much fails; whoever wrote learns that, but may not tell. */
static void on_too_large(int sig)
{
    static volatile sig_atomic_t said;
    int saved = errno;

    (void)sig;
    if (!said)
        log_warn("a file has reached the size that 'ulimit -f' allows: writing more to it fails");
    said = 1;
    errno = saved;
}

static void catch_signals(void)
{
    static const int asked[] = {SIGINT, SIGTERM, SIGHUP, SIGALRM};
    struct sigaction act = {.sa_sigaction = on_stop_signal,
                            .sa_flags = SA_RESTART | SA_ONSTACK | SA_SIGINFO};
    struct sigaction large = {.sa_handler = on_too_large, .sa_flags = SA_RESTART | SA_ONSTACK};

    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        sigaction(asked[i], &act, NULL);
    sigaction(SIGXFSZ, &large, NULL);
    signal(SIGPIPE, SIG_IGN);
}

/* The rank takes no part any more; its network interface serves the others until the run ends. */
void mpi_serve(struct mpi_rank *self)
{
    vtime t = self->ent.clock, due;

    for (;;) {
        mpi_drain(self);
        if (!mpi_decide(self, t, &due))
            mpi_block(self, due <= t ? due : VTIME_NEVER, 1, NULL, 0);
    }
}

/*
 * Whatever happens before the abort's virtual time happens, whatever the order in which ranks are
 * run; so the rank only leaves its word here and waits for the engine to end the run. If others do
 * not come to an end by themselves, those that get beyond that time wait, too (mpi_enter).
 */
_Noreturn static void abort_at(struct mpi_rank *self, vtime when, enum run_cause cause, int code,
                               const char *why)
{
    if (engine_abort(&mpi_world.engine, mpi_rank_index(self), when)) {
        run.end.abort_cause = (int32_t)cause;
        run.end.abort_status = code & 0xff ? code & 0xff : 1;
        run.end.abort_rank = mpi_rank_id(self);
        snprintf(run.end.abort_text, sizeof run.end.abort_text, "%s", why);
        mpi_team_abort(mpi_world.engine.abort);
        mpi_world.page->now.aborting = 1;
    }
    mpi_serve(self);
}

_Noreturn static void abort_run(struct mpi_rank *self, enum run_cause cause, int code,
                                const char *why)
{
    abort_at(self, self->ent.clock, cause, code, why);
}

void mpi_abort_run(struct mpi_rank *self, int code, const char *why)
{
    abort_run(self, RUN_CAUSE_ABORT, code, why);
}

void mpi_timed_out(struct mpi_rank *self)
{
    vtime limit = mpi_world.opt->time_limit;
    char text[128], time[UNITS_TEXT_MAX];

    units_format_time(time, sizeof time, limit);
    snprintf(text, sizeof text, "the run has reached its limit of %s (MPIEXEC_TIMEOUT)", time);
    abort_at(self, limit, RUN_CAUSE_ABORT, TIMEOUT_STATUS, text);
}

void mpi_unsupported(int fn)
{
    struct mpi_rank *self = mpi_self();
    char text[200];

    snprintf(text, sizeof text, "%s is not supported yet; 'orrery check' lists such calls",
             mpi_fn_name[fn]);
    if (!self)
        end_early(RUN_CAUSE_INTERNAL, 3, text);
    abort_run(self, RUN_CAUSE_INTERNAL, 3, text);
}

/* After log_fatal and log_fatal_input: what the ranks have written so far is still shown, if that works. */
static void fatal_end(int status)
{
    if (run.dying++)
        sys_exit(status);
    end_early(status == 2 ? RUN_CAUSE_INPUT : RUN_CAUSE_INTERNAL, status, "");
}

int vp_takeover(void)
{
    double start = wall();
    enum engine_end end;

    map_page();
    map_machine();
    set_up();
    catch_signals();
    log_set_exit(fatal_end);
    mpi_world.page->end.startup_s = wall() - start;
    end = engine_run(&mpi_world.engine);
    if (end == ENGINE_END_STOPPED && mpi_team_stopped()->cause == RUN_CAUSE_NONE) {
        if (run.overdue && !run.signal)
            aborted();
        stopped();
    }
    show_progress();
    mpi_end(&run.end, end);
}
