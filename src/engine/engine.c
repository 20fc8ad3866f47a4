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
 *
 * Decisions are in a heap of (due, id). The entity holds its position, so that an arrival can
 * remove it.
 */
#include "engine/engine.h"

#include <assert.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/ticks.h"

#define NEW_AFTER 4096 /* resumes of others after which a new entity starts anyway */
#define IDLE_EVERY 16  /* resumes between two calls of the idle hook */

/* ---- decisions ---- */

static inline int due_before(const struct engine_due *a, const struct engine_due *b)
{
    return a->due < b->due || (a->due == b->due && a->id < b->id);
}

/* Each entity knows where its decision is. */
static inline void due_moved(struct engine_decisions *d, uint32_t at)
{
    struct engine *e = (struct engine *)((char *)d - offsetof(struct engine, decisions));

    engine_entity_at(e, d->at[at].id)->heap_pos = at + 1;
}

HEAP_FUNCTIONS(engine_decisions, struct engine_due, 2, 64, due_before, due_moved);

/* ---- ready entities ---- */

static void make_ready(struct engine *e, struct engine_entity *x, uint32_t id, enum engine_wake why)
{
    assert(x->state == ENGINE_BLOCKED);
    x->state = ENGINE_READY;
    x->wake = (uint8_t)why;
    if (x->heap_pos) {
        engine_decisions_remove(&e->decisions, x->heap_pos - 1);
        x->heap_pos = 0;
    }
    ARRAY_RING_RESERVE(e->ready, e->ready_cap, e->ready_head, e->ready_tail - e->ready_head, 64);
    e->ready[e->ready_tail++ & (e->ready_cap - 1)] = id;
}

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

/* A blocked entity has a decision due at `due`, unless it had an earlier one. */
static void due_by(struct engine *e, struct engine_entity *x, uint32_t id, vtime due)
{
    if (due < e->safe_until)
        make_ready(e, x, id, ENGINE_WAKE_DECIDE);
    else if (!x->heap_pos)
        engine_decisions_push(&e->decisions, (struct engine_due){due, id});
    else if (due < e->decisions.at[x->heap_pos - 1].due)
        engine_decisions_up(&e->decisions, x->heap_pos - 1, (struct engine_due){due, id});
}

/* Starts a spare at this time. */
static void begin(struct engine *e, struct engine_entity *x, uint32_t id, vtime when)
{
    assert(x->state == ENGINE_NEW && id >= e->cfg.map.count);
    x->clock = when;
    x->fresh = 1;
    x->state = ENGINE_BLOCKED;
    make_ready(e, x, id, ENGINE_WAKE_ARRIVAL);
    e->spawned++;
    if (id >= e->known)
        e->known = (uint64_t)id + 1;
}

static inline void deliver(struct engine *e, struct engine_msg *m)
{
    uint32_t index = rank_map_index(&e->cfg.map, m->dst);
    struct engine_entity *x = engine_entity_at(e, index);

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
    if (x->state != ENGINE_BLOCKED) {
        if (__builtin_expect(m->flags & ENGINE_MSG_SPAWN, 0))
            begin(e, x, index, m->arrival);
        return;
    }
    if (__builtin_expect(m->flags & ENGINE_MSG_DUE, 0)) {
        due_by(e, x, index, m->arrival);
        return;
    }
    if (x->wake_after > 1 && !(m->flags & ENGINE_MSG_URGENT)) {
        x->wake_after--;
        return;
    }
    make_ready(e, x, index, ENGINE_WAKE_ARRIVAL);
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
    e->cfg.medium->submit(e->cfg.medium->owner, m, call);
}

static inline void pass_on(struct engine *e, struct engine_msg *m)
{
    engine_progress(e, m->arrival);
    if (__builtin_expect(rank_map_is_here(&e->cfg.map, m->dst), 1))
        deliver(e, m);
    else
        e->cfg.peers->send(e->cfg.peers->owner, m, NULL);
}

void engine_emerge(struct engine *e, struct engine_msg *m)
{
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

static void forget_asking(struct engine *e)
{
    for (uint32_t i = 0; i < e->asking_len; i++)
        engine_entity_at(e, e->asking[i].id)->asking = 0;
    e->asking_len = 0;
}

void engine_submit(struct engine *e, struct engine_msg *m, const struct engine_call *call)
{
    e->injected++;
    engine_progress(e, m->arrival);
    if (call->cookie)
        note_asking(e, rank_map_index(&e->cfg.map, m->src), m->arrival);
    if (e->cfg.medium) {
        e->cfg.medium->submit(e->cfg.medium->owner, m, call);
        return;
    }
    m->flags |= ENGINE_MSG_MEDIUM;
    e->cfg.peers->send(e->cfg.peers->owner, m, call);
}

void engine_notify(struct engine *e, uint32_t sender, uint64_t cookie, vtime t)
{
    struct engine_msg *m = e->cfg.ops->notice(e->cfg.owner, cookie);

    m->src = m->dst = sender;
    m->arrival = t;
    m->flags |= ENGINE_MSG_URGENT;
    pass_on(e, m);
}

void engine_block(struct engine *e, struct engine_entity *x, uint32_t id, vtime due,
                  uint32_t wake_after)
{
    x->state = ENGINE_BLOCKED;
    x->wake_after = wake_after;
    if (id == e->granted)
        e->granted_due = -1;
    if (due != VTIME_NEVER)
        engine_decisions_push(&e->decisions, (struct engine_due){due, id});
}

void engine_block_busy(struct engine *e, struct engine_entity *x, uint32_t id, vtime due,
                       uint32_t wake_after)
{
    x->busy = 1;
    e->busy++;
    engine_block(e, x, id, due, wake_after);
}

void engine_unbusy(struct engine *e, struct engine_entity *x)
{
    e->busy -= x->busy;
    x->busy = 0;
}

void engine_go_out(struct engine *e, struct engine_entity *x)
{
    x->out = 1;
    e->out++;
}

void engine_wake(struct engine *e, uint32_t id)
{
    struct engine_entity *x = engine_entity_at(e, id);

    if (x->out) {
        x->out = 0;
        e->out--;
        x->state = ENGINE_BLOCKED;
    }
    if (x->state == ENGINE_BLOCKED)
        make_ready(e, x, id, ENGINE_WAKE_ARRIVAL);
}

void engine_yield(struct engine *e, struct engine_entity *x, uint32_t id)
{
    x->state = ENGINE_BLOCKED;
    make_ready(e, x, id, ENGINE_WAKE_ARRIVAL);
}

/* ---- quiescence ---- */

void engine_status_merge(struct engine_status *into, const struct engine_status *from)
{
    if (due_before(&from->first, &into->first))
        into->first = from->first;
    if (due_before(&from->abort, &into->abort))
        into->abort = from->abort;
    if (from->medium < into->medium)
        into->medium = from->medium;
    into->notices += from->notices;
    if (from->last_progress > into->last_progress)
        into->last_progress = from->last_progress;
    into->done += from->done;
    into->spawned += from->spawned;
    into->progressed |= from->progressed;
    into->busy += from->busy;
}

/* The status of this process; resets `progressed`. */
static void status(struct engine *e, struct engine_status *s)
{
    *s = (struct engine_status){.first = {VTIME_NEVER, UINT32_MAX},
                                .abort = e->abort,
                                .medium = VTIME_NEVER,
                                .last_progress = e->last_progress,
                                .done = e->done,
                                .spawned = e->spawned,
                                .progressed = (uint64_t)e->progressed,
                                .busy = e->busy};
    if (e->decisions.len)
        s->first = (struct engine_due){e->decisions.at[0].due,
                                       rank_map_number(&e->cfg.map, e->decisions.at[0].id)};
    if (e->cfg.medium && !e->cfg.medium->wait) {
        s->medium = e->cfg.medium->next(e->cfg.medium->owner);
        s->notices = e->cfg.medium->notices(e->cfg.medium->owner);
    }
}

/* Does the medium have its own clock? */
static int is_outside(const struct engine *e)
{
    return e->cfg.medium && e->cfg.medium->wait;
}

/* May the search for a livelock be skipped? */
static int may_idle(const struct engine *e, const struct engine_status *s)
{
    return e->cfg.idle_limit <= 0 || s->first.due == VTIME_NEVER || s->medium != VTIME_NEVER ||
           s->busy > 0 || is_outside(e);
}

void engine_status_complete(const struct engine *e, struct engine_status *all)
{
    all->idle_since = all->progressed && !may_idle(e, all) ? all->first.due : e->idle_since;
}

/* Are all entities of all processes blocked or done, and no message in flight? If so, e->all is the
 * status of all. */
static int quiescent(struct engine *e)
{
    struct engine_status mine;

    status(e, &mine);
    if (e->cfg.peers)
        return e->cfg.peers->settle(e->cfg.peers->owner, &mine, &e->all);
    engine_status_complete(e, &mine);
    e->all = mine;
    e->progressed = 0;
    return 1;
}

/* Nothing is due. Only busy entities can cause anything: wakes them to look. */
static void wake_busy(struct engine *e)
{
    for (uint64_t i = 0; e->busy > 0 && i < e->known; i++) {
        struct engine_entity *x = engine_entity_at(e, (uint32_t)i);

        if (x->busy && x->state == ENGINE_BLOCKED)
            make_ready(e, x, (uint32_t)i, ENGINE_WAKE_ARRIVAL);
    }
}

static void wake_first(struct engine *e)
{
    uint32_t id = e->decisions.at[0].id;

    make_ready(e, engine_entity_at(e, id), id, ENGINE_WAKE_DECIDE);
}

/* Lookahead 0: only the entity with the first decision may take it. */
static void grant_one(struct engine *e)
{
    const struct engine_due *first = &e->all.first;

    if (!rank_map_is_here(&e->cfg.map, first->id))
        return;
    e->granted = e->decisions.at[0].id;
    e->granted_due = first->due;
    wake_first(e);
}

static void grant_until(struct engine *e, vtime safe)
{
    if (safe > e->safe_until)
        e->safe_until = safe;
    while (e->decisions.len && e->decisions.at[0].due < e->safe_until)
        wake_first(e);
}

void engine_learn(struct engine *e, vtime safe_until, vtime reached)
{
    if (reached > e->reached)
        e->reached = reached;
    if (safe_until > e->safe_until)
        grant_until(e, safe_until);
}

/* How far the medium advances in this step: by events of up to one lookahead, none after
 * `first`. */
static void reach(struct engine *e, vtime medium, vtime first)
{
    vtime ahead = medium < first ? vtime_add(medium, e->cfg.lookahead) : first;

    if (ahead > first)
        ahead = first;
    if (ahead > e->reached)
        e->reached = ahead;
}

/* Waits for a medium with its own clock. What is due up to that clock may be decided. */
static int attend(struct engine *e)
{
    vtime past = e->cfg.medium->wait(e->cfg.medium->owner, e->all.first.due);

    e->rounds++;
    grant_until(e, past);
    return past != VTIME_NEVER || e->ready_head != e->ready_tail;
}

/*
 * Lets the medium advance and wakes all that may decide now. Returns 0 when nothing is due at all.
 *
 * Let d be the first due decision, m the medium's next event, L the lookahead. What decisions cause
 * is submitted at d or later. What is in the medium comes out at m + L or later, notices at m. So
 * if m <= d, everything that the medium may handle up to d is known, and nothing comes out, or is
 * caused by what comes out, before m + L, or m if there are notices. If d < m, the medium stays
 * where it is, and what decisions cause comes out at d + L or later. (For notices of what is
 * submitted from now on: invariant 7.)
 */
static int grant(struct engine *e)
{
    vtime first = e->all.first.due, medium = e->all.medium, safe;

    e->granted_due = -1;
    forget_asking(e);
    if (is_outside(e))
        return attend(e);
    if (first == VTIME_NEVER && medium == VTIME_NEVER)
        return 0;
    e->rounds++;
    reach(e, medium, first);
    if (medium <= first) {
        if (e->cfg.medium)
            e->cfg.medium->advance(e->cfg.medium->owner, medium, first);
        if (!e->all.notices)
            grant_until(e, vtime_add(medium, e->cfg.lookahead));
    } else if (e->cfg.lookahead <= 0) {
        grant_one(e);
    } else {
        safe = vtime_add(first, e->cfg.lookahead);
        grant_until(e, e->all.notices && medium < safe ? medium : safe);
    }
    return 1;
}

/* Decisions keep falling due, but nothing has happened since the first of them was due. (Not since
 * the last progress: an entity may have computed for a long time since then.) */
static int is_livelock(const struct engine *e, const struct engine_status *s)
{
    return !may_idle(e, s) && s->first.due > vtime_add(s->idle_since, e->cfg.idle_limit) &&
           s->first.due > vtime_add(s->last_progress, e->cfg.idle_limit);
}

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

int engine_abort(struct engine *e, uint32_t id, vtime when)
{
    struct engine_due d = {when, rank_map_number(&e->cfg.map, id)};

    engine_progress(e, when); /* for every abort: which one comes first here is arbitrary */
    if (!due_before(&d, &e->abort))
        return 0;
    e->abort = d;
    return 1;
}

void engine_abort_elsewhere(struct engine *e, struct engine_due d)
{
    if (due_before(&d, &e->abort))
        e->abort = d;
}

/* Does the status of all say that the run is over, whatever is due? Else ENGINE_END_GOES_ON. */
static enum engine_end is_over(const struct engine *e, const struct engine_status *s)
{
    if (s->done == e->cfg.map.world + s->spawned)
        return ENGINE_END_DONE;
    /* has everything due before the abort happened? */
    if (s->abort.due != VTIME_NEVER && due_before(&s->abort, &s->first) && s->abort.due < s->medium)
        return ENGINE_END_ABORTED;
    return is_livelock(e, s) ? ENGINE_END_LIVELOCK : ENGINE_END_GOES_ON;
}

/* How the run ends according to the status of all; ENGINE_END_GOES_ON: some entities continue. */
static enum engine_end conclude(struct engine *e)
{
    enum engine_end end = is_over(e, &e->all);

    e->idle_since = e->all.idle_since;
    if (end != ENGINE_END_GOES_ON || grant(e))
        return end;
    if (e->all.busy == 0)
        return ENGINE_END_DEADLOCK;
    wake_busy(e);
    return ENGINE_END_GOES_ON;
}

/* With a medium all take part, since most of their messages wait for it. */
int engine_status_skips(const struct engine *e, const struct engine_status *all,
                        const struct engine_status *part)
{
    if (e->cfg.medium || part->busy || all->first.due == VTIME_NEVER ||
        is_over(e, all) != ENGINE_END_GOES_ON)
        return 0;
    if (e->cfg.lookahead <= 0)
        return part->first.id != all->first.id;
    return part->first.due >= vtime_add(all->first.due, e->cfg.lookahead);
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
    return quiescent(e) ? conclude(e) : ENGINE_END_GOES_ON;
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
        if (e->cfg.peers || is_outside(e) || e->out > 0)
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

void engine_fini(struct engine *e)
{
    pool_fini(&e->msgs);
    mem_free(e->decisions.at);
    mem_free(e->asking);
    mem_free(e->ready);
}
