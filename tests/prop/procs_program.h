/*
 * procs_program.h - entities that follow random programs, for simulations on several processes.
 *
 * An entity's program depends on its world number and the scenario's seed only; everything it
 * learns goes into its hash. What it does is what ranks do to the engine:
 *
 *     send       messages of any size, to anybody, also itself
 *     any        the first message to arrive, ties by source, within a time limit or none: a
 *                decision
 *     poll       the same at the present time; often in vain
 *     exchange   with neighbours by name, all entities in the same phases: no decision. Meanwhile a
 *                posted "any" may be decided and answered, in the past of the entity's own clock
 *     item       tell every process of a thing, then somebody of it in a message; who hears of it
 *                waits for it, and may tell others
 *     yield, abort, polling for ever, waiting for ever
 */
#ifndef PROCS_PROGRAM_H
#define PROCS_PROGRAM_H

#include "procs_actor.h"

/* ---- what entities do ---- */

static enum outcome block(struct node *n, struct actor *a, uint32_t id, vtime due, uint32_t after)
{
    a->due = due;
    engine_block(&n->engine, &a->ent, id, due, after);
    return SUSPENDED;
}

/* The message has been received: its item is needed before anything else. */
static void received(struct actor *a, const struct known *k, int what)
{
    observe(a, what, k->src, mixed(k->seq, k->value) + (uint64_t)k->arrival);
    if (!k->item)
        return;
    a->item = a->told = k->item;
}

static vtime later(vtime x, vtime y)
{
    return x > y ? x : y;
}

/* Tries to decide which message is first, of those that are there by `limit`, not before `from`.
 * Returns 1 if it is decided: *at is the message or -1. Else the decision is due at *due. */
static int decide(struct node *n, struct actor *a, uint32_t id, vtime from, vtime limit, vtime *due,
                  int *at)
{
    *at = first_of_any(a);
    *due = *at >= 0 ? later(from, a->known[*at].arrival) : VTIME_NEVER;
    if (*due > limit) {
        *due = limit;
        *at = -1;
    }
    if (*due == VTIME_NEVER || !engine_is_safe(&n->engine, id, *due)) {
        FAULT(n, a->ent.wake == ENGINE_WAKE_DECIDE && a->due == *due && *due != VTIME_NEVER,
              "woken to decide what is not safe");
        return 0;
    }
    if (*at >= 0)
        engine_progress(&n->engine, *due);
    a->ent.wake = ENGINE_WAKE_ARRIVAL; /* the grant is used */
    return 1;
}

static enum outcome any(struct node *n, struct actor *a, uint32_t id)
{
    struct known k;
    vtime due;
    int at;

    if (!decide(n, a, id, a->ent.clock, a->limit, &due, &at))
        return block(n, a, id, due, 1);
    a->ent.clock = due;
    if (a->op == OP_ANY)
        a->op = OP_NEXT;
    else
        a->limit = due + 1 + (vtime)rng_below(&a->rng, 3);
    if (at < 0) {
        observe(a, 1, 0, 0);
        return GOES_ON;
    }
    k = take(a, (uint32_t)at);
    received(a, &k, 2);
    return GOES_ON;
}

/* The posted "any": decided and answered at its own time, which may be before or after what else is
 * received. Returns 1 when there is none any more. */
static int posted(struct node *n, struct actor *a, uint32_t id, vtime *due)
{
    struct known k;
    int at;

    *due = VTIME_NEVER;
    if (a->posted < 0)
        return 1;
    if (!decide(n, a, id, a->posted, a->posted_limit, due, &at))
        return 0;
    a->posted = -1;
    a->posted_limit = *due;
    a->posted_hash = mixed(a->posted_hash, (uint64_t)*due * 2 + (at < 0));
    if (at >= 0) {
        k = take(a, (uint32_t)at);
        a->posted_hash = mixed(a->posted_hash, mixed(k.seq, k.value) + k.src);
        post(n, a, id, k.src % n->s->entities, *due, 0, 0);
    }
    *due = VTIME_NEVER;
    return 1;
}

static uint32_t offsets(const struct node *n, uint32_t phase, uint32_t *count)
{
    uint64_t r = mixed(n->s->seed, phase);

    *count = 1 + (uint32_t)(r % (n->s->entities < 3 ? n->s->entities : 3));
    return (uint32_t)(r >> 32) % n->s->entities;
}

static void begin_exchange(struct node *n, struct actor *a, uint32_t id)
{
    uint32_t count, first = offsets(n, ++a->phase, &count), all = n->s->entities;

    for (uint32_t i = 0; i < count; i++)
        post(n, a, id, (number_of(n, id) + first + i) % all, a->ent.clock, a->phase, a->told);
    a->posted = one_in(a, 2) ? a->ent.clock : -1;
    a->posted_limit = a->ent.clock;
    if (a->posted >= 0)
        a->posted_limit += (vtime)rng_below(&a->rng, 3 * (uint64_t)n->s->jitter);
    a->op = OP_EXCHANGE;
}

/* Blocks until all neighbours' messages of the phase are here. */
static enum outcome exchange(struct node *n, struct actor *a, uint32_t id)
{
    uint32_t count, first = offsets(n, a->phase, &count), all = n->s->entities, missing = 0;
    vtime due;

    posted(n, a, id, &due);
    if (a->ent.inbox) /* it has just sent to itself */
        return GOES_ON;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t src = (number_of(n, id) + 3 * all - first - i) % all;

        missing += find_phase(a, src, a->phase) < 0;
    }
    if (missing)
        return block(n, a, id, due, due == VTIME_NEVER && a->posted < 0 ? missing : 1);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t src = (number_of(n, id) + 3 * all - first - i) % all;
        struct known k = take(a, (uint32_t)find_phase(a, src, a->phase));

        a->ent.clock = later(a->ent.clock, k.arrival);
        received(a, &k, 5);
    }
    a->op = OP_POSTED;
    return GOES_ON;
}

static enum outcome end_posted(struct node *n, struct actor *a, uint32_t id)
{
    vtime due;

    if (!posted(n, a, id, &due))
        return block(n, a, id, due, 1);
    a->ent.clock = later(a->ent.clock, a->posted_limit);
    observe(a, 3, a->posted_hash, 0);
    a->op = OP_NEXT;
    return GOES_ON;
}

static enum outcome last_step(struct node *n, struct actor *a)
{
    if (one_in(a, n->s->hang_in)) {
        a->op = OP_ANY;
        a->limit = VTIME_NEVER;
        return GOES_ON;
    }
    if (n->s->idle_limit > 0 && one_in(a, n->s->poll_in)) {
        a->op = OP_POLLING;
        a->limit = a->ent.clock + 1;
        return GOES_ON;
    }
    observe(a, 6, 0, 0);
    return ENDED;
}

static void some_note(struct node *n)
{
    uint32_t to = (uint32_t)rng_below(&n->port.rng, n->port.net->procs);

    procs_note(&n->procs, to, TAG_NOTE, two_words(n->port.proc), 8);
}

static enum outcome next(struct node *n, struct actor *a, uint32_t id)
{
    uint64_t what = rng_below(&a->rng, 10);

    if (a->step++ >= n->s->steps)
        return last_step(n, a);
    a->ent.clock += (vtime)rng_below(&a->rng, 1 + (uint64_t)n->s->jitter / 2);
    if (one_in(a, n->s->item_in))
        make_item(n, a, id);
    if (one_in(a, n->s->note_in) && !n->alone)
        some_note(n);
    if (a->step % 6 == 0) {
        begin_exchange(n, a, id);
    } else if (one_in(a, n->s->abort_in)) {
        observe(a, 7, 0, 0);
        engine_abort(&n->engine, id, a->ent.clock);
        a->op = OP_STUCK;
    } else if (what < 4) {
        for (uint64_t i = rng_below(&a->rng, 4); i > 0; i--)
            post(n, a, id, (uint32_t)rng_below(&a->rng, n->s->entities), a->ent.clock, 0,
                 one_in(a, 2) ? a->told : 0);
    } else if (what < 9) {
        a->op = OP_ANY; /* for a while, or only at this time */
        a->limit = a->ent.clock +
                   (what < 7 ? (vtime)rng_below(&a->rng, 2 * (uint64_t)n->s->jitter) : 1);
    } else {
        a->op = OP_YIELD;
        engine_yield(&n->engine, &a->ent, id);
        return SUSPENDED;
    }
    return GOES_ON;
}

static enum outcome turn(struct node *n, struct actor *a, uint32_t id)
{
    switch (a->op) {
    case OP_ANY:
    case OP_POLLING:
        return any(n, a, id);
    case OP_EXCHANGE:
        return exchange(n, a, id);
    case OP_POSTED:
        return end_posted(n, a, id);
    case OP_STUCK:
        return block(n, a, id, VTIME_NEVER, 1);
    case OP_YIELD:
        a->op = OP_NEXT;
        break;
    default:
        break;
    }
    return next(n, a, id);
}

static void check_turn(struct node *n)
{
    FAULT(n, n->engine.safe_until < n->seen_safe, "safe_until went back");
    n->seen_safe = n->engine.safe_until;
    if (n->alone)
        return;
    n->engine.next_poll = rng_below(&n->port.rng, 3) ? UINT64_MAX : 0; /* by chance, not by time */
    if (rng_below(&n->port.rng, 8) == 0)
        link_step(&n->port);
}

/* Nothing else is done before an awaited item is here; there is no quiescence until then. */
static int is_waiting(struct node *n, struct actor *a, uint32_t id)
{
    if (!a->item || n->has_item[a->item]) {
        a->item = 0;
        return 0;
    }
    a->after_item = a->op;
    a->op = OP_ITEM;
    n->waiting++;
    block(n, a, id, VTIME_NEVER, 1);
    return 1;
}

static int resume(void *owner, uint32_t id)
{
    struct node *n = owner;
    struct actor *a = &n->actors[id];
    enum outcome out = GOES_ON;

    check_turn(n);
    if (a->op == OP_ITEM) {
        n->waiting--;
        a->op = a->after_item;
    }
    while (out == GOES_ON) {
        drain(n, a, id);
        out = is_waiting(n, a, id) ? SUSPENDED : turn(n, a, id);
    }
    return out == ENDED;
}

#endif
