/*
 * state.h - the one place that changes the state of an entity (engine.h draws the states).
 *
 * The engine counts entities that are busy, out or away. Most changes concern none of them.
 */
#ifndef ENGINE_STATE_H
#define ENGINE_STATE_H

#include "base/hostile.h"
#include "base/log_module.h"
#include "engine/engine.h"

/* May an entity change from one state to the other? */
int engine_may_change(enum engine_state from, enum engine_state to);

/* Compares the states of all entities with what the engine counts, and with its heap of decisions,
 * when none is ready. O(entities); only the hostile build does it. */
void engine_audit(const struct engine *);

/* Logs a change. */
void engine_say_change(const struct engine *, const struct engine_entity *, enum engine_state from)
    __attribute__((cold));

static inline void engine_count(struct engine *e, enum engine_state s, int by)
{
    if (s == ENGINE_BUSY)
        e->busy += (uint64_t)by;
    else if (s == ENGINE_OUT)
        e->out += (uint64_t)by;
    else if (s >= ENGINE_AWAY)
        e->away += (uint64_t)by;
}

static inline void engine_change(struct engine *e, struct engine_entity *x, enum engine_state to)
{
    enum engine_state from = (enum engine_state)x->state;

    assert_hot(engine_may_change(from, to));
    x->state = (uint8_t)to;
    if (LOG_WANTS(ENGINE, DEBUG))
        engine_say_change(e, x, from);
    engine_count(e, to, 1);
    /* all that are counted become ready next */
    if (to == ENGINE_READY && __builtin_expect(from != ENGINE_BLOCKED, 0))
        engine_count(e, from, -1);
}

#endif
