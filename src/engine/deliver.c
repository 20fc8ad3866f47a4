/*
 * deliver.c - messages to entities, and what wakes them: arrivals and decisions.
 *
 * Decisions are in a heap of (due, id). The entity holds its position, so that an arrival can
 * remove it.
 */
#include <assert.h>
#include <stddef.h>

#include "base/array.h"
#include "base/hostile.h"
#include "engine/engine_internal.h"
#include "engine/state.h"

/* Each entity knows where its decision is. */
static inline void due_moved(struct engine_decisions *d, uint32_t at)
{
    struct engine *e = (struct engine *)((char *)d - offsetof(struct engine, decisions));

    assert_hot(at < d->len && d->at[at].id < e->known);
    engine_entity_at(e, d->at[at].id)->heap_pos = at + 1;
}

HEAP_FUNCTIONS(engine_decisions, struct engine_due, 2, 64, engine_due_before, due_moved);

void engine_make_ready(struct engine *e, struct engine_entity *x, uint32_t id, enum engine_wake why)
{
    engine_change(e, x, ENGINE_READY);
    x->wake = (uint8_t)why;
    if (x->heap_pos) {
        assert_hot(e->decisions.at[x->heap_pos - 1].id == id);
        engine_decisions_remove(&e->decisions, x->heap_pos - 1);
        x->heap_pos = 0;
    }
    engine_add_ready(e, id);
}

/* A blocked entity has a decision due at `due`, unless it had an earlier one. */
static void due_by(struct engine *e, struct engine_entity *x, uint32_t id, vtime due)
{
    assert_hot(engine_is_blocked(x));
    if (due < e->safe_until)
        engine_make_ready(e, x, id, ENGINE_WAKE_DECIDE);
    else if (!x->heap_pos)
        engine_decisions_push(&e->decisions, (struct engine_due){due, id});
    else if (due < e->decisions.at[x->heap_pos - 1].due)
        engine_decisions_up(&e->decisions, x->heap_pos - 1, (struct engine_due){due, id});
}

/* Starts a spare at this time. */
static void begin(struct engine *e, struct engine_entity *x, uint32_t id, vtime when)
{
    assert(x->state == ENGINE_NEW && id >= e->cfg.map.count && id < e->cfg.map.room);
    assert(when >= x->clock && when < VTIME_LIMIT);
    x->clock = when;
    engine_change(e, x, ENGINE_SPAWNED);
    x->wake = ENGINE_WAKE_ARRIVAL;
    engine_add_ready(e, id);
    e->spawned++;
    if (id >= e->known)
        e->known = (uint64_t)id + 1;
}

/* Is the entity, which is blocked, to be woken by this message, which is not urgent? */
static inline int counts(struct engine_entity *x, const struct engine_msg *m)
{
    if (x->wake_after & ENGINE_FROM)
        return m->src == (x->wake_after & ~ENGINE_FROM);
    return x->wake_after-- <= 1;
}

static inline void deliver(struct engine *e, struct engine_msg *m)
{
    uint32_t index = rank_map_index(&e->cfg.map, m->dst);
    struct engine_entity *x = engine_entity_at(e, index);

    assert_hot(index < e->cfg.map.room && rank_map_is_here(&e->cfg.map, m->dst));
    assert_hot(m->size >= sizeof *m && m->arrival >= 0 && m->arrival <= VTIME_LIMIT);
    assert_hot(!(m->flags & ENGINE_MSG_MEDIUM));
    if (x->state == ENGINE_DONE) {
        engine_msg_free(e, m);
        return;
    }
    if (x->inbox) {
        m->next = x->inbox->next;
        x->inbox->next = m;
    } else {
        m->next = m;
    }
    x->inbox = m;
    if (!engine_is_blocked(x)) {
        if (__builtin_expect(m->flags & ENGINE_MSG_SPAWN, 0))
            begin(e, x, index, m->arrival);
        return;
    }
    if (__builtin_expect(m->flags & ENGINE_MSG_DUE, 0)) {
        due_by(e, x, index, m->arrival);
        return;
    }
    if ((m->flags & ENGINE_MSG_URGENT) || counts(x, m))
        engine_make_ready(e, x, index, ENGINE_WAKE_ARRIVAL);
}

static void enter_late(struct engine *e, struct engine_msg *m)
{
    assert(m->arrival < e->reached);
    e->late++;
    if (e->reached - m->arrival > e->late_most)
        e->late_most = e->reached - m->arrival;
    m->arrival = e->reached;
}

/* Invariant 6: the medium takes nothing in its past. */
static inline void hand_in(struct engine *e, struct engine_msg *m, const struct engine_call *call)
{
    assert(m->arrival >= e->medium_at);
    assert_hot(e->cfg.medium && !(m->flags & (ENGINE_MSG_MEDIUM | ENGINE_MSG_SPAWN)));
    e->carried++;
    e->cfg.medium->submit(e->cfg.medium->owner, m, call);
}

void engine_deliver(struct engine *e, struct engine_msg *m, const struct engine_call *call)
{
    if (!call) {
        deliver(e, m);
        return;
    }
    if (e->stop) /* the medium may have stopped the run */
        return;
    m->flags &= ~(uint64_t)ENGINE_MSG_MEDIUM;
    if (__builtin_expect(e->is_forced, 0) && m->arrival < e->reached)
        enter_late(e, m);
    hand_in(e, m, call);
}

static inline void pass_on(struct engine *e, struct engine_msg *m)
{
    engine_progress(e, m->arrival);
    if (__builtin_expect(rank_map_is_here(&e->cfg.map, m->dst), 1))
        deliver(e, m);
    else
        e->cfg.peers->send(e->cfg.peers->owner, m, NULL, rank_map_proc(&e->cfg.map, m->dst));
}

void engine_emerge(struct engine *e, struct engine_msg *m)
{
    e->carried--;
    pass_on(e, m);
}

void engine_inject(struct engine *e, struct engine_msg *m)
{
    e->injected++;
    pass_on(e, m);
}

/* Invariant 7. What is due after safe_until is not decided before the next quiescence anyway. */
static void note_asking(struct engine *e, uint32_t id, vtime when)
{
    assert_hot(id < e->known && engine_is_started(engine_entity_at(e, id)));
    if (when >= e->safe_until)
        return;
    ARRAY_RESERVE(e->asking, e->asking_cap, e->asking_len + 1, 64);
    e->asking[e->asking_len++] = (struct engine_due){when, id};
    engine_entity_at(e, id)->asking = 1;
}

int engine_asked_after(const struct engine *e, uint32_t id, vtime due)
{
    for (uint32_t i = 0; i < e->asking_len; i++)
        if (e->asking[i].id == id && e->asking[i].due <= due)
            return 0;
    return 1;
}

void engine_forget_asking(struct engine *e)
{
    for (uint32_t i = 0; i < e->asking_len; i++) {
        assert(e->asking[i].due < e->safe_until);
        engine_entity_at(e, e->asking[i].id)->asking = 0;
    }
    e->asking_len = 0;
}

/* The process whose medium takes the message. */
static inline uint32_t medium_place(const struct engine *e, const struct engine_msg *m)
{
    const struct engine_medium *medium = e->cfg.medium;

    return e->cfg.peers && medium && medium->place ? medium->place(medium->owner, m) : 0;
}

void engine_submit(struct engine *e, struct engine_msg *m, const struct engine_call *call)
{
    uint32_t proc;

    e->injected++;
    if (__builtin_expect(e->is_forced, 0) && m->arrival < e->reached)
        enter_late(e, m);
    engine_progress(e, m->arrival);
    if (call->cookie)
        note_asking(e, rank_map_index(&e->cfg.map, m->src), m->arrival);
    proc = medium_place(e, m);
    if (proc == e->cfg.map.proc) {
        hand_in(e, m, call);
        return;
    }
    m->flags |= ENGINE_MSG_MEDIUM;
    e->cfg.peers->send(e->cfg.peers->owner, m, call, proc);
}

void engine_notify(struct engine *e, uint32_t sender, uint64_t cookie, vtime t)
{
    struct engine_msg *m = e->cfg.ops->notice(e->cfg.owner, cookie);

    assert_hot(cookie && m->size >= sizeof *m);
    m->src = m->dst = sender;
    m->arrival = t;
    m->flags |= ENGINE_MSG_URGENT;
    pass_on(e, m);
}

static inline void block(struct engine *e, struct engine_entity *x, uint32_t id, vtime due,
                         uint32_t wake_after, enum engine_state as)
{
    assert_hot(wake_after > 0 && !x->heap_pos && x == engine_entity_at(e, id));
    assert_hot(due >= 0);
    engine_change(e, x, as);
    x->wake_after = wake_after;
    if (id == e->granted)
        e->granted_due = -1;
    if (due != VTIME_NEVER)
        engine_decisions_push(&e->decisions, (struct engine_due){due, id});
}

void engine_block(struct engine *e, struct engine_entity *x, uint32_t id, vtime due,
                  uint32_t wake_after)
{
    block(e, x, id, due, wake_after, ENGINE_BLOCKED);
}

void engine_block_busy(struct engine *e, struct engine_entity *x, uint32_t id, vtime due,
                       uint32_t wake_after)
{
    block(e, x, id, due, wake_after, ENGINE_BUSY);
}

void engine_block_away(struct engine *e, struct engine_entity *x, uint32_t id, vtime due,
                       uint32_t wake_after)
{
    block(e, x, id, due, wake_after, ENGINE_AWAY);
}

void engine_block_led(struct engine *e, struct engine_entity *x, uint32_t id, vtime due,
                      int is_sure)
{
    block(e, x, id, due, 1, is_sure ? ENGINE_SURELY_LED : ENGINE_LED);
}

void engine_go_out(struct engine *e, struct engine_entity *x)
{
    assert(e->cfg.ops->wanted && e->cfg.ops->await);
    engine_change(e, x, ENGINE_OUT);
}

void engine_wake(struct engine *e, uint32_t id)
{
    struct engine_entity *x = engine_entity_at(e, id);

    if (x->state == ENGINE_OUT || engine_is_blocked(x))
        engine_make_ready(e, x, id, ENGINE_WAKE_ARRIVAL);
}

void engine_yield(struct engine *e, struct engine_entity *x, uint32_t id)
{
    assert_hot(x == engine_entity_at(e, id) && id == e->running && !x->heap_pos);
    engine_make_ready(e, x, id, ENGINE_WAKE_ARRIVAL);
}
