/*
 * engine.c - the run loop: ready entities, quiescence, decisions.
 *
 *     run ready entities until none is left            (they inject, block, end)
 *     quiescent: d = smallest due time
 *         none            -> all done, or deadlock
 *         lookahead L > 0 -> safe_until = d + L, wake every entity due before it
 *         lookahead 0     -> grant the one entity with the smallest (due, id)
 *         the medium has an event at or before d -> it advances, and others decide what is due
 *                           before anything can come out of it
 *         none, but some are busy -> wake them to look
 *
 * With several processes, "quiescent" refers to all of them, and d is the smallest of all: the
 * peers find out (engine_peers.settle), and each engine does its part of the same step.
 *
 * ready.c says in which order entities run.
 *
 * New entities start in order of their ids whenever no other is ready. So an entity's memory is
 * touched only when it starts or receives a message, and a program whose ranks do not wait for each
 * other needs the memory of one. A random schedule mixes ready and new entities. A spare starts
 * when its spawn message arrives; messages that come before wait in its inbox.
 *
 * The scheduler need not run between two turns: entities that can switch to each other do the same
 * work themselves (engine_hand_over). They return to the scheduler for what only it can do - start
 * an entity, talk to other processes, end the run - and when it is time for the idle hook. With
 * hand_ticks they also find out what follows from quiescence; else they leave that to the
 * scheduler, too.
 */
#include "engine/engine.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "base/ticks.h"
#include "engine/engine_internal.h"
#include "engine/state.h"

#define IDLE_EVERY HOSTILE(1, 16) /* resumes between two calls of the idle hook */

/* In the order of enum engine_end. */
static const char *const end_words[] = {"all ranks are done", "a deadlock", "a livelock", "stopped",
                                        "aborted"};

/* ---- turns ---- */

static void give_turn(struct engine *e, uint32_t id)
{
    assert_hot(id < e->known);
    assert_hot(e->running >= e->known ||
               engine_entity_at(e, e->running)->state != ENGINE_RUNNING); /* one has the turn */
    engine_change(e, engine_entity_at(e, id), ENGINE_RUNNING);
    e->running = id;
    e->turns++;
}

static void run_one(struct engine *e, uint32_t id)
{
    struct engine_entity *x;

    give_turn(e, id);
    if (!e->cfg.ops->resume(e->cfg.owner, id)) {
        assert_hot(engine_entity_at(e, e->running)->state != ENGINE_RUNNING);
        return;
    }
    x = engine_entity_at(e, e->running);
    engine_change(e, x, ENGINE_DONE);
    assert(!x->lingers);
    e->done++;
    assert(e->done <= e->cfg.map.count + e->spawned);
    engine_progress(e, x->clock);
    for (struct engine_msg *m; (m = engine_poll(x));)
        engine_msg_free(e, m);
}

void engine_linger(struct engine *e, struct engine_entity *x)
{
    assert(x->state == ENGINE_RUNNING && !x->lingers);
    x->lingers = 1;
    e->done++;
    assert(e->done <= e->cfg.map.count + e->spawned);
    engine_progress(e, x->clock);
}

static int is_wanted(struct engine *e)
{
    return e->cfg.ops->wanted && e->cfg.ops->wanted(e->cfg.owner);
}

/* No entity is ready, and none is out. Returns how the run ends; ENGINE_END_GOES_ON: look again. */
static enum engine_end find_work(struct engine *e)
{
    if (is_wanted(e))
        return ENGINE_END_GOES_ON;
    return engine_quiesce(e);
}

/* No entity is ready, but some are out. */
static void await_out(struct engine *e)
{
    assert(e->cfg.ops->await && engine_ready(e) == 0);
    if (!is_wanted(e))
        e->cfg.ops->await(e->cfg.owner);
}

static int wants_poll(const struct engine *e)
{
    return e->cfg.peers && (e->unsent > 1 || ticks_now() >= e->next_poll);
}

/* Should the scheduler call the idle hook? */
static inline int is_idle_due(const struct engine *e)
{
    return e->turns >= IDLE_EVERY || e->idle_often;
}

/* Is it the scheduler's turn? */
static inline int is_time(const struct engine *e)
{
    return e->cfg.hand_ticks ? ticks_now() >= e->hand_until : is_idle_due(e);
}

/* Nothing is ready: finds something, unless only the scheduler can. */
static int64_t find_ready(struct engine *e)
{
    int64_t id = -1;

    while (e->cfg.hand_ticks && (id = engine_take_ready(e)) < 0) {
        if (e->out > 0 && is_wanted(e))
            continue;
        if (e->cfg.peers || engine_is_outside(e) || e->out > 0 || e->away > 0)
            return -1;
        e->verdict = (int)find_work(e);
        if (e->verdict != ENGINE_END_GOES_ON)
            return -1;
    }
    return id;
}

int64_t engine_hand_over(struct engine *e)
{
    struct engine_entity *x;
    int64_t id;

    if (e->stop || is_time(e) || wants_poll(e))
        return -1;
    id = engine_take_ready(e);
    if (id < 0 && (id = find_ready(e)) < 0)
        return -1;
    x = engine_entity_at(e, (uint32_t)id);
    if (x->state <= ENGINE_SPAWNED) {
        e->chosen = id;
        return -1;
    }
    give_turn(e, (uint32_t)id);
    return id;
}

/* The next entity to run, or -1. One that engine_hand_over left to the scheduler comes first. */
static int64_t take_next(struct engine *e)
{
    int64_t id = e->chosen;

    if (__builtin_expect(id < 0, 1))
        return engine_take_ready(e);
    e->chosen = -1;
    return id;
}

enum engine_end engine_run(struct engine *e)
{
    while (!e->stop && e->verdict == ENGINE_END_GOES_ON) {
        int64_t id = take_next(e);

        if (id < 0) {
            if (e->out > 0)
                await_out(e);
            else
                e->verdict = (int)find_work(e);
            continue;
        }
        e->hand_until = e->cfg.hand_ticks ? ticks_now() + e->cfg.hand_ticks : 0;
        run_one(e, (uint32_t)id);
        if (is_idle_due(e) || e->cfg.hand_ticks) {
            e->turns = 0;
            if (e->idle)
                e->idle(e->cfg.owner);
        }
        if (wants_poll(e))
            e->cfg.peers->poll(e->cfg.peers->owner);
    }
    if (e->verdict == ENGINE_END_GOES_ON)
        e->verdict = ENGINE_END_STOPPED;
    LOG_LINE(ENGINE, INFO, LOG_NO_RANK, e->last_progress,
             "the run is over: %s; %llu messages, %llu quiescences", end_words[e->verdict],
             (unsigned long long)e->injected, (unsigned long long)e->rounds);
    return (enum engine_end)e->verdict;
}

void engine_stop(struct engine *e)
{
    e->stop = 1;
}

vtime engine_lower_bound(const struct engine *e)
{
    vtime low = VTIME_NEVER;

    if (e->next_new < e->cfg.map.count)
        return 0;
    assert(e->known >= e->cfg.map.count && e->known <= e->cfg.map.room);
    for (uint64_t i = 0; i < e->known; i++) {
        const struct engine_entity *x = engine_entity_at(e, (uint32_t)i);

        if (x->state != ENGINE_DONE && engine_is_started(x) && !x->lingers && x->clock < low)
            low = x->clock;
    }
    return low;
}

void engine_init(struct engine *e, const struct engine_config *cfg)
{
    memset(e, 0, sizeof *e);
    e->cfg = *cfg;
    assert(!cfg->peers || !cfg->medium || !cfg->medium->wait);
    assert(cfg->stride >= sizeof(struct engine_entity) && cfg->lookahead >= 0);
    assert(cfg->map.count <= cfg->map.room && cfg->map.proc < cfg->map.procs);
    e->is_forced = cfg->ops && cfg->ops->pace;
    e->granted_due = -1;
    e->granted = UINT32_MAX;
    e->chosen = -1;
    e->verdict = ENGINE_END_GOES_ON;
    e->progressed = 1;
    e->known = cfg->map.count;
    e->abort = (struct engine_due){VTIME_NEVER, UINT32_MAX};
    pool_init(&e->msgs, "messages");
    rng_seed(&e->rng, cfg->seed);
}
