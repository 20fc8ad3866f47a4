/*
 * hooks.c - binds the layers: the engine resumes entities, which are ranks of vp, which run the
 * program, whose MPI calls enter through the generated entries; its other calls enter through the
 * hooks of vp.
 */
#include <stdio.h>
#include <string.h>

#include "base/sys.h"
#include "engine/waits.h"
#include "mpi/clock.h"
#include "mpi/dynamic/spawn.h"
#include "mpi/entry.h"
#include "mpi/main/emulate.h"
#include "mpi/main/live.h"
#include "mpi/main/run.h"
#include "mpi/p2p/p2p_internal.h"
#include "mpi/procs.h"

/* how long the scheduler sleeps at most while it waits for a rank to request a turn */
#define REQUEST_NS 50000000

/* ---- engine: entities are ranks ---- */

static void rank_ended(struct mpi_rank *r, int status)
{
    struct mpi_ending *end = &mpi_run.end;
    uint32_t id = mpi_rank_id(r);

    if (status != 0 && (end->bad_status == 0 || id < end->bad_rank)) {
        end->bad_status = status;
        end->bad_rank = id;
    }
    if (r->phase == MPI_PHASE_ACTIVE && (end->unfinalized++ == 0 || id < end->unfinalized_rank))
        end->unfinalized_rank = id;
    if (r->ent.clock > end->last)
        end->last = r->ent.clock;
    mpi_observe_rank_end(r, status);
    end->now.ranks_done++;
}

/*
 * Ranks run in turn, and their memory has long left the cache. So it is prefetched some turns
 * ahead, in steps: first the rank itself, then what it points to, then what that points to: the
 * rest of its stack, the message that it will take first, and the rank to which it is likely to
 * send next. The last step, in its own turn, fetches the last message in that rank's inbox, to
 * which the new one is linked.
 */
enum { AHEAD_RANK = 5, AHEAD_POINTERS = 3, AHEAD_TARGETS = 1 };

static inline void prefetch_message(const struct engine_msg *m)
{
    __builtin_prefetch(m);
    __builtin_prefetch((const char *)m + 64); /* the payload */
}

static inline void prefetch_pointers(const struct mpi_rank *r)
{
    vp_rank_prefetch(&r->vp);
    prefetch_message(r->ent.inbox);
    __builtin_prefetch(r->posted);
    __builtin_prefetch(r->pairs + r->pair_next, 1);
    if (mpi_world.prefetch)
        mpi_world.prefetch(r);
}

static inline int knows_next(const struct mpi_rank *r)
{
    return r->pair_next < r->pair_count;
}

static inline void prefetch_targets(const struct mpi_rank *r)
{
    vp_rank_prefetch_rest(&r->vp);
    if (r->ent.inbox)
        prefetch_message(r->ent.inbox->next);
    if (knows_next(r))
        mpi_rank_prefetch(r->pairs[r->pair_next].dst);
}

static inline void prefetch_tail(const struct mpi_rank *r)
{
    const struct rank_map *map = mpi_rank_map();
    uint32_t dst;

    if (!knows_next(r))
        return;
    dst = r->pairs[r->pair_next].dst;
    if (rank_map_is_here(map, dst))
        __builtin_prefetch(mpi_world.ranks[rank_map_index(map, dst)].ent.inbox, 1);
}

static void prefetch_ready(void)
{
    const struct engine *e = &mpi_world.engine;
    uint64_t ready = engine_ready(e);

    if (ready > AHEAD_RANK) {
        const struct mpi_rank *r = &mpi_world.ranks[engine_peek_ready(e, AHEAD_RANK)];

        __builtin_prefetch(&r->ent, 1);
        __builtin_prefetch(&r->posted, 1);
    }
    if (ready > AHEAD_POINTERS)
        prefetch_pointers(&mpi_world.ranks[engine_peek_ready(e, AHEAD_POINTERS)]);
    if (ready > AHEAD_TARGETS)
        prefetch_targets(&mpi_world.ranks[engine_peek_ready(e, AHEAD_TARGETS)]);
}

/* The rank gets the turn. */
static void present(const struct mpi_rank *r)
{
    struct run_page *page = mpi_world.page;

    mpi_run.last = r;
    page->now.current_rank = mpi_rank_id(r);
    page->now.switches++;
    page->now.current_pid = vp_rank_pid(&r->vp);
}

/* The rank, which is in this process, runs next. */
static inline void prepare(const struct mpi_rank *r)
{
    prefetch_ready();
    prefetch_tail(r);
    mpi_slice_begin();
}

static int resume(void *owner, uint32_t id)
{
    struct mpi_rank *r = &mpi_world.ranks[id];

    (void)owner;
    if (__builtin_expect(!r->vp.started, 0))
        mpi_run_starts();
    prepare(r);
    present(r);
    if (!vp_resume(&r->vp))
        return 0;
    r = &mpi_world.ranks[engine_running(&mpi_world.engine)];
    rank_ended(r, vp_exit_status());
    mpi_spawn_ended(r);
    return 1;
}

static void explain(void *owner, uint32_t id, struct engine_waits *out)
{
    static struct engine_waits waits; /* static, so that the rank's process sees it, too */
    struct mpi_rank *r = &mpi_world.ranks[id];

    (void)owner;
    waits.count = waits.edges = 0;
    mpi_explanation.out = &waits;
    r->ent.wake = ENGINE_WAKE_EXPLAIN;
    vp_resume(&r->vp);
    mpi_explanation.out = NULL;
    *out = waits;
}

/* ---- vp: what a rank's program does outside MPI ---- */

static vtime hook_now(struct vp_rank *f)
{
    return mpi_clock_read(mpi_rank_of(f));
}

static void hook_sleep(struct vp_rank *f, vtime dt)
{
    mpi_clock_spend(mpi_rank_of(f), dt);
}

static void hook_outside(struct vp_rank *f, int begins)
{
    if (mpi_world.paced) /* the rank has no turn, and its time is real */
        return;
    if (!begins)
        mpi_slice_begin();
    else if (mpi_world.measured)
        mpi_charge(mpi_rank_of(f), MPI_FN_COUNT);
}

static void hook_yield(struct vp_rank *f)
{
    mpi_clock_yield(mpi_rank_of(f));
}

static void hook_write(struct vp_rank *f, int fd, const char *text, size_t n)
{
    struct mpi_rank *r = mpi_rank_of(f);

    mpi_thread_enter();
    if (mpi_world.measured)
        mpi_charge(r, MPI_FN_COUNT);
    mpi_run.writing = 1;
    output_add(&mpi_world.output, mpi_rank_id(r), r->ent.clock, fd, text, n);
    mpi_run.writing = 0;
    engine_idle_often(&mpi_world.engine, 1); /* turns may be long: check the time after each */
    mpi_slice_begin();
    mpi_thread_leave_quietly();
}

/* The rank has ended, but later ranks may need its agent. */
_Noreturn static void rest(struct mpi_rank *r, int status)
{
    vtime due;

    rank_ended(r, status);
    engine_linger(&mpi_world.engine, &r->ent);
    for (;;) {
        mpi_drain(r);
        if (!mpi_decide(r, VTIME_NEVER, &due))
            mpi_block(r, due, 1, NULL);
    }
}

static void hook_exiting(struct vp_rank *f, int status, int phase)
{
    struct mpi_rank *r = mpi_rank_of(f);

    mpi_thread_enter(); /* never left: the rank ends with the thread that ends it */
    if (mpi_world.measured)
        mpi_charge(r, MPI_FN_COUNT);
    if (phase == 1) {
        output_end_rank(&mpi_world.output, mpi_rank_id(r), r->ent.clock);
        if (mpi_spawn_serves(r))
            rest(r, status);
    } else {
        mpi_slice_begin();
    }
}

static void hook_starting(struct vp_rank *f, int *argc, char ***argv)
{
    mpi_spawn_starting(mpi_rank_of(f), argc, argv);
    mpi_observe_rank_begin(mpi_rank_of(f));
    if (mpi_world.paced)
        mpi_emulate_running();
}

static uint64_t hook_rank(const struct vp_rank *f)
{
    return mpi_rank_id(mpi_rank_of((struct vp_rank *)f));
}

static void hook_hostname(struct vp_rank *f, char *out, size_t n)
{
    snprintf(out, n, "node%u", net_node(&mpi_world.net, (uint32_t)hook_rank(f)));
}

static struct vp_rank *hook_next(struct vp_rank *f)
{
    int64_t id = mpi_explanation.out ? -1 : engine_hand_over(&mpi_world.engine);

    (void)f;
    if (id < 0)
        return NULL;
    if (!vp_passes_turns())
        prepare(&mpi_world.ranks[id]);
    present(&mpi_world.ranks[id]);
    return &mpi_world.ranks[id].vp;
}

static void hook_process_started(struct vp_rank *f)
{
    if (!vp_is_remote(hook_rank(f)))
        mpi_world.page->now.current_pid = sys_getpid();
    mpi_clock_watch();
    mpi_slice_begin();
    if (mpi_world.paced)
        mpi_emulate_started();
}

/* In real time threads need no turns: they only exclude each other. */
static void hook_threads(struct vp_rank *f)
{
    (void)f;
    if (mpi_world.paced)
        return;
    mpi_procs_threads();
    mpi_thread_begin();
}

static void hook_crashing(void)
{
    mpi_world.page->now.crashing = 1;
}

static void hook_refused(struct vp_rank *f)
{
    (void)f;
    mpi_run.end.refused = 1;
}

const struct vp_hooks mpi_vp_hooks = {
    .now = hook_now,
    .sleep = hook_sleep,
    .outside = hook_outside,
    .yield = hook_yield,
    .write = hook_write,
    .exiting = hook_exiting,
    .next = hook_next,
    .starting = hook_starting,
    .process_started = hook_process_started,
    .threads = hook_threads,
    .start_failed = mpi_crash_start_failed,
    .died = mpi_crash_died,
    .crashing = hook_crashing,
    .crash = mpi_crash,
    .where = mpi_crash_where,
    .refused = hook_refused,
    .rank = hook_rank,
    .hostname = hook_hostname,
    .lost = mpi_crash_lost,
    .serve_clock = mpi_emulate_serve_clock,
    .follow_clock = mpi_emulate_follow_clock,
    .alone = mpi_emulate_alone,
};

/* A rank that counted as blocked has a thread that wants to continue. */
static int wanted(void *owner)
{
    struct vp_rank *f;

    (void)owner;
    if (mpi_live_is_open())
        return mpi_live_wanted();
    f = vp_next_request();
    if (f)
        engine_wake(&mpi_world.engine, mpi_rank_index(mpi_rank_of(f)));
    return f != NULL;
}

/* All wait for the ranks that are out: shows one to the watchdog, usually the one that ran last. */
static void show_out(void)
{
    const struct engine *e = &mpi_world.engine;
    uint32_t count = e->cfg.map.count;

    for (uint32_t i = 0; i < count; i++) {
        const struct mpi_rank *r = &mpi_world.ranks[(engine_running(e) + i) % count];

        if (r->ent.state == ENGINE_OUT) {
            mpi_world.page->now.current_rank = mpi_rank_id(r);
            mpi_world.page->now.current_pid = vp_rank_pid(&r->vp);
            return;
        }
    }
}

static void await_want(void *owner)
{
    (void)owner;
    if (mpi_live_is_open()) {
        mpi_live_await();
        return;
    }
    show_out();
    vp_await_request(REQUEST_NS);
}

static void let_go(void *owner)
{
    (void)owner;
    mpi_live_let_go();
}

const struct engine_ops mpi_engine_ops = {.resume = resume,
                                          .explain = explain,
                                          .wanted = wanted,
                                          .await = await_want,
                                          .let_go = let_go,
                                          .notice = mpi_notice};
const struct engine_ops mpi_engine_ops_paced = {.resume = resume,
                                                .explain = explain,
                                                .wanted = wanted,
                                                .pace = mpi_emulate_pace,
                                                .notice = mpi_notice};
