/*
 * state.c - which state of an entity may follow which.
 */
#include "engine/state.h"

#include "engine/engine_internal.h"

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

static const char *const state_words[ENGINE_STATES] = {"new",  "spawned", "ready",     "running",
                                                       "out",  "done",    "blocked",   "busy",
                                                       "away", "led",     "surely led"};

void engine_say_change(const struct engine *e, const struct engine_entity *x,
                       enum engine_state from)
{
    uint32_t id = (uint32_t)((size_t)((const char *)x - (const char *)e->cfg.base) / e->cfg.stride);

    log_module_line(LOG_ENGINE, rank_map_number(&e->cfg.map, id), x->clock, "%s -> %s",
                    state_words[from], state_words[x->state]);
}

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

/* All in an inbox, a circular list, is for this entity; nothing is there of one that has ended. */
static void audit_inbox(const struct engine *e, const struct engine_entity *x, uint32_t id)
{
    const struct engine_msg *m = x->inbox;

    assert(!m || x->state != ENGINE_DONE);
    if (!m)
        return;
    do {
        m = m->next;
        assert(m && !hostile_is_stale(m));
        assert(rank_map_index(&e->cfg.map, m->dst) == id && m->arrival >= 0);
    } while (m != x->inbox);
}

/* Each decision is due no earlier than the one above it in the heap. */
static void audit_heap(const struct engine_decisions *d)
{
    for (uint32_t i = 1; i < d->len; i++)
        assert(!engine_due_before(&d->at[i], &d->at[(i - 1) / 2]));
}

/* The counts that do not follow from the states of entities. */
static void audit_counts(const struct engine *e)
{
    assert(e->known >= e->cfg.map.count && e->known <= e->cfg.map.room);
    assert(e->spawned <= e->known - e->cfg.map.count);
    assert(e->granted == UINT32_MAX || e->granted < e->known);
    assert(e->verdict == ENGINE_END_GOES_ON && e->chosen < 0);
    for (uint32_t i = 0; i < e->asking_len; i++)
        assert(engine_entity_at(e, e->asking[i].id)->asking);
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
        audit_inbox(e, x, i);
    }
    audit_heap(&e->decisions);
    audit_counts(e);
    assert(seen[ENGINE_READY] == 0 && seen[ENGINE_RUNNING] == 0 && seen[ENGINE_SPAWNED] == 0);
    assert(seen[ENGINE_OUT] == e->out && seen[ENGINE_BUSY] == e->busy);
    assert(seen[ENGINE_AWAY] + seen[ENGINE_LED] + seen[ENGINE_SURELY_LED] == e->away);
    assert(seen[ENGINE_DONE] + lingering == e->done && due == e->decisions.len);
}
