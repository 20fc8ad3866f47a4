/*
 * flow_exit.c - how messages leave the flow model: in order, with their notices.
 *
 * Messages between two ranks that must not overtake each other (engine_call.order) wait for each
 * other at the exit, like those of a connection:
 *
 *     pair   head -> [left, waits] -> [in flight] -> tail        only the head may go out
 *
 * A pair is kept while any of its messages is in flight, and until the last message that went out
 * has arrived. Pairs of the same two ranks with another order form a list, which usually has one
 * member.
 */
#include <assert.h>

#include "net/flow_model.h"

#include "base/array.h"
#include "base/hostile.h"
#include "base/log_module.h"
#include "base/mem.h"

/* ---- blocks ---- */

void *flow_block_new(struct flow_model *f)
{
    if (f->spare_count == 0)
        return pool_alloc(&f->pool, FLOW_BLOCK);
    if (f->spare_count > FLOW_AHEAD)
        __builtin_prefetch(f->spare[f->spare_count - 1 - FLOW_AHEAD], 1);
    return f->spare[--f->spare_count];
}

static void block_free(struct flow_model *f, void *block)
{
    ARRAY_RESERVE(f->spare, f->spare_room, f->spare_count + 1, 64);
    f->spare[f->spare_count++] = block;
}

/* ---- pairs ---- */

static struct flow_pair *pair_new(struct flow_model *f, uint64_t key, uint64_t order)
{
    struct flow_pair *pair = flow_block_new(f);

    *pair = (struct flow_pair){.key = key, .order = order};
    return pair;
}

static struct flow_pair *pair_get(struct flow_model *f, uint64_t key, uint64_t order)
{
    int is_new;
    uint64_t *at = map_insert(&f->pairs, key, &is_new);
    struct flow_pair *first = (struct flow_pair *)(uintptr_t)*at, *pair = first;

    while (pair && pair->order != order)
        pair = pair->other;
    if (pair)
        return pair;
    pair = pair_new(f, key, order);
    pair->other = first;
    *at = (uintptr_t)pair;
    return pair;
}

static void pair_free(struct flow_model *f, struct flow_pair *pair)
{
    uint64_t *at = map_find(&f->pairs, pair->key);
    struct flow_pair *p = (struct flow_pair *)(uintptr_t)*at;

    assert(!pair->head && pair->in_ring == 0);
    if (p == pair && !pair->other) {
        map_remove(&f->pairs, pair->key);
    } else if (p == pair) {
        *at = (uintptr_t)pair->other;
    } else {
        while (p->other != pair)
            p = p->other;
        p->other = pair->other;
    }
    block_free(f, pair);
}

void flow_pair_join(struct flow_model *f, struct flow_parcel *p, uint64_t key)
{
    struct flow_pair *pair = pair_get(f, key, p->order);

    if (pair->head)
        pair->tail->next = p;
    else
        pair->head = p;
    pair->tail = p;
    p->pair = pair;
}

static void fetch_idle(const struct flow_model *f, uint64_t at)
{
    uint64_t mask = f->idle_room - 1;

    if (at + 2 * FLOW_AHEAD < f->idle_tail)
        __builtin_prefetch(f->idle[(at + 2 * FLOW_AHEAD) & mask].pair, 1);
    if (at + FLOW_AHEAD < f->idle_tail)
        map_prefetch(&f->pairs, f->idle[(at + FLOW_AHEAD) & mask].pair->key);
}

static void forget_pairs(struct flow_model *f)
{
    while (f->idle_head < f->idle_tail) {
        struct flow_idle *i = &f->idle[f->idle_head & (f->idle_room - 1)];

        if (i->last > f->now)
            return;
        fetch_idle(f, f->idle_head);
        f->idle_head++;
        assert_hot(i->pair->in_ring > 0 && !hostile_is_stale(i->pair->head));
        if (--i->pair->in_ring || i->pair->head)
            continue; /* it was used again */
        pair_free(f, i->pair);
    }
}

static void pair_is_idle(struct flow_model *f, struct flow_pair *pair)
{
    ARRAY_RING_RESERVE(f->idle, f->idle_room, f->idle_head, f->idle_tail - f->idle_head, 64);
    pair->in_ring++;
    f->idle[f->idle_tail++ & (f->idle_room - 1)] = (struct flow_idle){pair, pair->last};
}

/* ---- leaving ---- */

static void go_out(struct flow_model *f, struct flow_parcel *p, vtime arrival)
{
    LOG_LINE(NET, DEBUG, p->msg->src, arrival, "a message arrives at rank %u", p->msg->dst);
    p->msg->arrival = arrival;
    engine_emerge(f->engine, p->msg);
    block_free(f, p);
}

/* Releases the messages at the head of the pair that have left. */
static void pair_release(struct flow_model *f, struct flow_pair *pair)
{
    struct flow_parcel *p;

    while ((p = pair->head) && p->arrival >= 0) {
        assert_hot(p->pair == pair);
        if (p->arrival > pair->last)
            pair->last = p->arrival;
        pair->head = p->next;
        go_out(f, p, pair->last);
    }
    if (!pair->head)
        pair_is_idle(f, pair);
}

void flow_leave(struct flow_model *f, struct flow_parcel *p, vtime t)
{
    assert_hot(p->arrival < 0 && t >= 0); /* it leaves once */
    p->arrival = vtime_add(t, p->latency);
    if (p->cookie) {
        assert(f->notices > 0);
        engine_notify(f->engine, p->msg->src, p->cookie, t);
        f->notices--;
    }
    if (!p->pair)
        go_out(f, p, p->arrival);
    else if (p->pair->head == p)
        pair_release(f, p->pair);
}

/* ---- many at once ---- */

void flow_leave_later(struct flow_model *f, struct flow_parcel *p, vtime t)
{
    ARRAY_RESERVE(f->gone, f->gone_room, f->gone_count + 1, 64);
    f->gone[f->gone_count++] = (struct flow_gone){p, t};
}

/* Prefetches what message i of those that have left will need: each stage follows one more
 * pointer. */
static void fetch_gone(const struct flow_model *f, uint32_t i)
{
    const struct flow_gone *gone = f->gone + i;
    uint32_t n = f->gone_count - i;
    const struct engine_entity *x;

    if (n > 4 * FLOW_AHEAD)
        __builtin_prefetch(gone[4 * FLOW_AHEAD].parcel, 1);
    if (n > 3 * FLOW_AHEAD) {
        __builtin_prefetch(gone[3 * FLOW_AHEAD].parcel->pair, 1);
        __builtin_prefetch(gone[3 * FLOW_AHEAD].parcel->msg, 1);
    }
    if (n > 2 * FLOW_AHEAD)
        __builtin_prefetch(engine_receiver(f->engine, gone[2 * FLOW_AHEAD].parcel->msg), 1);
    if (n > FLOW_AHEAD && (x = engine_receiver(f->engine, gone[FLOW_AHEAD].parcel->msg)))
        __builtin_prefetch(x->inbox, 1);
}

void flow_leave_all(struct flow_model *f)
{
    for (uint32_t i = 0; i < f->gone_count; i++) {
        fetch_gone(f, i);
        flow_leave(f, f->gone[i].parcel, f->gone[i].t);
    }
    f->gone_count = 0;
    forget_pairs(f);
}

void flow_exit_init(struct flow_model *f)
{
    map_init(&f->pairs);
    pool_init(&f->pool, "messages in the network");
}

void flow_exit_fini(struct flow_model *f)
{
    map_fini(&f->pairs);
    pool_fini(&f->pool);
    mem_free(f->gone);
    mem_free(f->spare);
    mem_free(f->idle);
}
