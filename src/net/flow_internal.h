/*
 * The solver's structures, for flow_solver.c (flows and time), flow_links.c (which flow uses which
 * link) and flow_fill.c (the rates). Never included elsewhere.
 *
 *     flow ---- hops[] ----> link          a hop knows the place of its use,
 *       ^                      |           a use the number of its hop
 *       +-------- flow ---- uses[]
 *
 * A use holds a copy of its flow's rate, so that a link is summed up without looking at its flows.
 */
#ifndef NET_FLOW_INTERNAL_H
#define NET_FLOW_INTERNAL_H

#include <stddef.h>

#include "base/map.h"
#include "base/pool.h"
#include "net/flow_heap.h"
#include "net/flow_solver.h"

struct flow_link;

struct flow_hop {
    struct flow_link *link;
    uint32_t at; /* link->uses[at] is this hop */
};

struct flow {
    uint64_t order;          /* of the start */
    double left;             /* bytes, at time `since` */
    vtime since;             /* when the rate last changed */
    void *user;
    double rate;
    double next_rate;        /* found by the solve under way */
    struct flow_place place; /* among the ends; none before the first rate */
    uint32_t hop_count;
    struct flow_hop hops[];
};

struct flow_use {
    struct flow *flow;
    double rate;
    uint32_t solve;  /* the last one that released the flow or set its rate */
    uint16_t hop;
    uint8_t is_own;  /* this link is what limits the flow */
    uint8_t is_open; /* during a solve: it takes the link's level */
};

/* What a solve needs of a link is one cache line; the rest is for coming and going. */
struct flow_link {
    struct flow_place place; /* among the levels of a solve */
    uint32_t use_count;
    struct flow_use *uses;
    double capacity;
    uint32_t own;            /* uses with is_own */
    uint32_t open;           /* uses with is_open */
    double rest;             /* capacity that the other uses leave */
    uint32_t solve;          /* the last one that touched the link */
    uint8_t has_kept : 1;    /* then: it may have flows that were kept, beside its own */
    uint8_t is_watched : 1;  /* then: its own flows still have the level of before the solve */
    uint8_t is_dirty, is_pending, is_alarmed; /* in the list of that name */
    double level;            /* the rate of its own flows, if it has any */
    uint64_t order;          /* its number; of private ones, something above all numbers */

    struct flow_link *older, *newer; /* among the idle ones */
    uint32_t use_cap;
};

#define FLOW_LINK_SIZE 128 /* in the pool, where all are of this size */

_Static_assert(offsetof(struct flow_link, older) == 64, "one cache line");

struct flow_list {
    void **items;
    uint32_t len, cap;
};

struct flow_solver {
    flow_capacity_fn *capacity;
    void *owner;
    vtime now;
    struct flow_heap ends;     /* flows by (end, order), once they have a rate */
    struct flow_heap levels;   /* during a solve: links by the level they will fill at, or less */
    struct flow_list fresh;    /* flows without a rate */
    struct flow_list dirty;    /* links that lost a flow or have another capacity */
    struct flow_list pending;  /* during a solve: links to touch next */
    struct flow_list changed;  /* during a solve: flows released or set */
    struct flow_list alarms;   /* during a solve: links to touch when it comes near their level, */
    double alarm;              /* none of which is below this */
    uint32_t solve;            /* its number; it may wrap */
    uint64_t open;             /* open uses of all links: 0 means that it is over */
    struct map links;          /* number to struct flow_link */
    struct flow_link *oldest, *newest; /* idle: kept for the next flow */
    uint64_t idle;
    struct pool pool, link_pool; /* links apart, so that they are aligned */
    struct flow_counters count;
};

static inline struct flow *flow_of(struct flow_place *place)
{
    return (struct flow *)((char *)place - offsetof(struct flow, place));
}

static inline void flow_list_push(struct flow_list *list, void *item)
{
    if (__builtin_expect(list->len == list->cap, 0)) {
        list->cap = list->cap ? 2 * list->cap : 64;
        list->items = mem_realloc(list->items, list->cap * sizeof *list->items);
    }
    list->items[list->len++] = item;
}

/* The link is to be touched by the next solve. */
static inline void flow_link_dirty(struct flow_solver *s, struct flow_link *l)
{
    if (!l->is_dirty) {
        l->is_dirty = 1;
        flow_list_push(&s->dirty, l);
    }
}

/* The state of a link, idle or used, or NULL. */
struct flow_link *flow_link_find(struct flow_solver *, uint32_t id);

/* Puts hop number `hop` of the flow on link `id`, or on a private link of the given capacity. */
void flow_link_use(struct flow_solver *, struct flow *, unsigned hop, uint32_t id);
void flow_link_use_private(struct flow_solver *, struct flow *, unsigned hop, double capacity);

/* Takes all hops of a flow off their links; links whose level that may change become dirty. */
void flow_link_leave(struct flow_solver *, struct flow *);

/* No link and no use has seen a solve: its number starts again. */
void flow_link_forget(struct flow_solver *);

/* Frees all links without looking at flows. */
void flow_link_fini(struct flow_solver *);

/* Sets next_rate of every flow whose rate changes, and puts it into the list `changed`. */
void flow_fill(struct flow_solver *);

#endif
