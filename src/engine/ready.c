/*
 * ready.c - the order in which ready entities run.
 *
 * First come, first served would visit the memory of all entities again and again, which for many
 * entities does not stay in the cache. So entities belong to *groups* of neighbours, whose memory
 * does. The ready entities of one group, the present one, are in a ring, in the order in which they
 * became ready. Others are put off: a set of each group, and a queue of groups whose set is not
 * empty. When few are left in the ring, those of the next group follow, in order of their ids. The
 * ring never runs empty before that, so that the owner can prefetch what runs next
 * (engine_peek_ready). A group is present for a limited number of turns: its entities may have
 * messages for others that nobody takes meanwhile.
 *
 * A random schedule has one ring, which is a bag.
 */
#include <assert.h>
#include <string.h>

#include "base/array.h"
#include "base/hostile.h"
#include "base/mem.h"
#include "engine/engine_internal.h"

/* resumes of others after which a new entity starts anyway */
#define NEW_AFTER HOSTILE(3, 4096)
#define STAY_MAX HOSTILE(5, 4096) /* resumes after which the next group follows anyway */
#define FEW HOSTILE(2, 8)         /* so many are left in the ring when the next group follows */

static inline void push(struct engine *e, uint32_t id)
{
    assert_hot(engine_entity_at(e, id)->state == ENGINE_READY ||
               engine_entity_at(e, id)->state == ENGINE_SPAWNED);
    ARRAY_RING_RESERVE(e->ready, e->ready_cap, e->ready_head, e->ready_tail - e->ready_head, 64);
    e->ready[e->ready_tail++ & (e->ready_cap - 1)] = id;
}

static inline int is_empty(const struct engine_group *g)
{
    uint64_t any = 0;

    for (int i = 0; i < ENGINE_GROUP / 64; i++)
        any |= g->set[i];
    return !any;
}

/* The set of a group. */
static struct engine_group *group_at(struct engine_later *l, uint32_t number)
{
    uint64_t had = l->group_cap;

    if (__builtin_expect(number >= had, 0)) {
        ARRAY_RESERVE(l->groups, l->group_cap, (uint64_t)number + 1, 16);
        memset(l->groups + had, 0, (l->group_cap - had) * sizeof *l->groups);
    }
    return &l->groups[number];
}

static void put_off(struct engine *e, uint32_t id)
{
    struct engine_later *l = &e->later;
    uint32_t number = id / ENGINE_GROUP;
    struct engine_group *g = group_at(l, number);

    if (is_empty(g)) {
        ARRAY_RING_RESERVE(l->queue, l->queue_cap, l->head, l->tail - l->head, 16);
        l->queue[l->tail++ & (l->queue_cap - 1)] = number;
    }
    assert_hot(!(g->set[id % ENGINE_GROUP / 64] >> id % 64 & 1)); /* it is ready once */
    g->set[id % ENGINE_GROUP / 64] |= (uint64_t)1 << id % 64;
}

/* The entities of the next group join the ring. */
static void next_group(struct engine *e)
{
    struct engine_later *l = &e->later;
    struct engine_group *g;

    e->group = l->queue[l->head++ & (l->queue_cap - 1)];
    e->stay = 0;
    g = &l->groups[e->group];
    assert_hot(!is_empty(g));
    for (uint32_t i = 0; i < ENGINE_GROUP / 64; i++)
        for (; g->set[i]; g->set[i] &= g->set[i] - 1)
            push(e, e->group * ENGINE_GROUP + 64 * i + (uint32_t)__builtin_ctzll(g->set[i]));
}

void engine_add_ready(struct engine *e, uint32_t id)
{
    if (id / ENGINE_GROUP == e->group || e->cfg.random) {
        push(e, id);
    } else if (engine_ready(e) == 0) {
        e->group = id / ENGINE_GROUP;
        push(e, id);
    } else {
        put_off(e, id);
    }
}

static inline int nobody_put_off(const struct engine *e)
{
    return e->later.head == e->later.tail;
}

/* Random schedule: moves a random ready entity to the front; or chooses to start a new one instead,
 * and returns 1. */
static int shuffle(struct engine *e)
{
    uint64_t ready = engine_ready(e), mask = e->ready_cap - 1, pick;
    uint32_t id;

    assert_hot(nobody_put_off(e)); /* a bag holds all that are ready */
    pick = rng_below(&e->rng, ready + (e->next_new < e->cfg.map.count));
    if (pick == ready)
        return 1;
    id = e->ready[(e->ready_head + pick) & mask];
    e->ready[(e->ready_head + pick) & mask] = e->ready[e->ready_head & mask];
    e->ready[e->ready_head & mask] = id;
    return 0;
}

int engine_may_yield(struct engine *e)
{
    return e->cfg.random && rng_below(&e->rng, 4) == 0;
}

int64_t engine_take_ready(struct engine *e)
{
    int fresh;

    while (!nobody_put_off(e) && (engine_ready(e) < FEW || e->stay >= STAY_MAX))
        next_group(e);
    e->stay++;
    fresh = engine_ready(e) == 0;
    assert_hot(e->next_new <= e->cfg.map.count);
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
