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
 * New entities start in order of their ids whenever no other is ready. So an entity's memory is
 * touched only when it starts or receives a message, and a program whose ranks do not wait for each
 * other needs the memory of one. A random schedule mixes ready and new entities. A spare starts
 * when its spawn message arrives; messages that come before wait in its inbox.
 *
 * The scheduler need not run between two turns: entities that can switch to each other do the same
 * work themselves (engine_hand_over). They return to the scheduler for what only it can do - start
 * an entity, talk to other processes, end the run - and when it is time for the idle hook.
 */
#include "engine/engine.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "base/ticks.h"
#include "engine/engine_internal.h"

#define NEW_AFTER 4096 /* resumes of others after which a new entity starts anyway */
#define IDLE_EVERY 16  /* resumes between two calls of the idle hook */

/* ---- ready entities ---- */

/* Random schedule: moves a random ready entity to the front; or chooses to start a new one instead,
 * and returns 1. */
static int shuffle(struct engine *e)
{
    uint64_t ready = e->ready_tail - e->ready_head, mask = e->ready_cap - 1, pick;
    uint32_t id;

    pick = rng_below(&e->rng, ready + (e->next_new < e->cfg.map.count));
    if (pick == ready)
        return 1;
    id = e->ready[(e->ready_head + pick) & mask];
    e->ready[(e->ready_head + pick) & mask] = e->ready[e->ready_head & mask];
    e->ready[e->ready_head & mask] = id;
    return 0;
}

/* The next entity to run, or -1. */
static int64_t take_ready(struct engine *e)
{
    int fresh = e->ready_head == e->ready_tail;

    if (fresh && e->next_new == e->cfg.map.count)
        return -1;
    if (e->cfg.random)
        fresh = shuffle(e);
    else if (!fresh && e->next_new < e->cfg.map.count && ++e->held_back > NEW_AFTER)
        fresh = 1; /* entities that run for ever must not keep others from starting */
    if (fresh) {
        e->held_back = 0;
        return (int64_t)e->next_new++;
    }
    return e->ready[e->ready_head++ & (e->ready_cap - 1)];
}

/* ---- turns ---- */

static void give_turn(struct engine *e, uint32_t id)
{
    engine_entity_at(e, id)->state = ENGINE_RUNNING;
    e->running = id;
}

static void run_one(struct engine *e, uint32_t id)
{
    struct engine_entity *x;

    give_turn(e, id);
    if (!e->cfg.ops->resume(e->cfg.owner, id))
        return;
    x = engine_entity_at(e, e->running);
    x->state = ENGINE_DONE;
    e->done++;
    engine_progress(e, x->clock);
    for (struct engine_msg *m; (m = engine_poll(x));)
        engine_msg_free(e, m);
}

void engine_linger(struct engine *e, struct engine_entity *x)
{
    x->lingers = 1;
    e->done++;
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
    if (!is_wanted(e))
        e->cfg.ops->await(e->cfg.owner);
}

static int wants_poll(const struct engine *e)
{
    return e->cfg.peers && (e->unsent > 1 || ticks_now() >= e->next_poll);
}

int64_t engine_hand_over(struct engine *e)
{
    struct engine_entity *x;
    int64_t id;

    if (e->stop || ticks_now() >= e->hand_until || wants_poll(e))
        return -1;
    while ((id = take_ready(e)) < 0) {
        if (e->out > 0 && is_wanted(e))
            continue;
        if (e->cfg.peers || engine_is_outside(e) || e->out > 0 || e->away > 0)
            return -1;
        e->verdict = (int)find_work(e);
        if (e->verdict != ENGINE_END_GOES_ON)
            return -1;
    }
    x = engine_entity_at(e, (uint32_t)id);
    if (x->state == ENGINE_NEW || x->fresh) {
        x->fresh = 0; /* if it has had a turn before, it need not be started */
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
        return take_ready(e);
    e->chosen = -1;
    return id;
}

enum engine_end engine_run(struct engine *e)
{
    unsigned turns = 0;

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
        turns++;
        if ((turns % IDLE_EVERY == 0 || e->idle_often || e->cfg.hand_ticks) && e->idle)
            e->idle(e->cfg.owner);
        if (wants_poll(e))
            e->cfg.peers->poll(e->cfg.peers->owner);
    }
    return e->verdict == ENGINE_END_GOES_ON ? ENGINE_END_STOPPED : (enum engine_end)e->verdict;
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
    for (uint64_t i = 0; i < e->known; i++) {
        const struct engine_entity *x = engine_entity_at(e, (uint32_t)i);

        if (x->state != ENGINE_DONE && x->state != ENGINE_NEW && !x->lingers && x->clock < low)
            low = x->clock;
    }
    return low;
}

void engine_init(struct engine *e, const struct engine_config *cfg)
{
    memset(e, 0, sizeof *e);
    e->cfg = *cfg;
    assert(!cfg->peers || !cfg->medium || !cfg->medium->wait);
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
