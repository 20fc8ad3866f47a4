/*
 * state.c - which state of an entity may follow which.
 */
#include "engine/state.h"

#define TO(state) (1u << ENGINE_##state)

/* By state: those that may follow. */
static const uint16_t next_states[ENGINE_STATES] = {
    [ENGINE_NEW] = TO(RUNNING) | TO(SPAWNED),
    [ENGINE_SPAWNED] = TO(RUNNING),
    [ENGINE_READY] = TO(RUNNING),
    [ENGINE_RUNNING] = TO(READY) | TO(OUT) | TO(DONE) | TO(BLOCKED) | TO(BUSY) | TO(AWAY) |
                       TO(LED) | TO(SURELY_LED),
    [ENGINE_OUT] = TO(READY),
    [ENGINE_DONE] = 0,
    [ENGINE_BLOCKED] = TO(READY),
    [ENGINE_BUSY] = TO(READY),
    [ENGINE_AWAY] = TO(READY),
    [ENGINE_LED] = TO(READY),
    [ENGINE_SURELY_LED] = TO(READY),
};

int engine_may_change(enum engine_state from, enum engine_state to)
{
    return from < ENGINE_STATES && (next_states[from] >> to & 1);
}

/* An entity has a position in the heap if its decision is there, which only blocked ones have. */
static void audit_decision(const struct engine *e, const struct engine_entity *x, uint32_t id)
{
    if (!x->heap_pos)
        return;
    assert(engine_is_blocked(x) && x->heap_pos <= e->decisions.len);
    assert(e->decisions.at[x->heap_pos - 1].id == id);
}

void engine_audit(const struct engine *e)
{
    uint64_t seen[ENGINE_STATES] = {0}, lingering = 0, due = 0;

    for (uint32_t i = 0; i < e->known; i++) {
        const struct engine_entity *x = engine_entity_at(e, i);

        assert(x->state < ENGINE_STATES);
        seen[x->state]++;
        lingering += x->lingers;
        due += x->heap_pos != 0;
        audit_decision(e, x, i);
    }
    assert(seen[ENGINE_READY] == 0 && seen[ENGINE_RUNNING] == 0 && seen[ENGINE_SPAWNED] == 0);
    assert(seen[ENGINE_OUT] == e->out && seen[ENGINE_BUSY] == e->busy);
    assert(seen[ENGINE_AWAY] + seen[ENGINE_LED] + seen[ENGINE_SURELY_LED] == e->away);
    assert(seen[ENGINE_DONE] + lingering == e->done && due == e->decisions.len);
}
