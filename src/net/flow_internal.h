/*
 * flow_internal.h - the solver's structures, for flow_solver.c (flows and time), flow_bundle.c
 * (flows with equal rates), flow_links.c (which bundle uses which link) and flow_fill.c (the
 * rates). Never included elsewhere.
 *
 *     flow ---> bundle ---- hops[] ----> link          a hop knows the index of its use,
 *     flow ---^    ^                       |           a use the number of its hop
 *                  +-------- bundle ---- uses[]
 *
 * A link that only one flow uses can only limit that flow, so it counts as a rate limit and has no
 * uses. Flows with the same limit and the same other links always have the same rate: they form a
 * bundle, which the filling treats as one flow with a weight. So a flow without contention costs no
 * filling, and many flows that meet at one link cost as much as one.
 *
 * A bundle has a clock that counts the bytes served to each of its flows. A flow ends when that
 * clock reaches its target, whatever the rates were; so a change of the rate costs nothing per
 * flow.
 *
 * A use holds a copy of its bundle's rate, so that a link can be summed without reading its
 * bundles.
 */
#ifndef NET_FLOW_INTERNAL_H
#define NET_FLOW_INTERNAL_H

#include <stddef.h>

#include "base/array.h"
#include "base/bins.h"
#include "base/pool.h"
#include "net/flow_heap.h"
#include "net/flow_solver.h"

struct flow_link;

/* A link on the route of a flow. */
struct flow_leg {
    struct flow_link *link;
    int is_shared; /* a hop of its bundle; else part of its limit */
};

struct flow {
    uint64_t order; /* number of the start */
    void *user;
    struct flow_bundle *bundle;
    /* It ends when its bundle has served that many bytes; before it is in a bundle, its size. */
    double target;
    double own_limit;          /* given at the start */
    struct flow *child, *next; /* in the bundle's pairing heap, smallest (target, order) first */
    struct flow *prev;     /* there: its parent if it is the first child, else its elder sibling */
    struct flow_slot slot; /* among those that end now */
    uint32_t unplaced;     /* index + 1 in the list of that name; 0: not there */
    uint32_t leg_count;
    struct flow_leg legs[]; /* with a meter a struct flow_metered follows */
};

/* A link that a bundle shares with others. */
struct flow_hop {
    struct flow_link *link;
    uint32_t at; /* link->uses[at] is this hop */
};

struct flow_bundle {
    struct flow_slot slot; /* among the ends; none before the first rate */
    uint32_t weight;       /* number of flows */
    struct flow *first;    /* the flow that ends first: root of the heap */
    double served;         /* bytes of each flow, at time `since` */
    vtime since;           /* when the rate last changed */
    double rate;
    double next_rate;       /* found by the current solve */
    double limit;           /* of the rate */
    uint64_t order;         /* of all bundles */
    uint8_t is_alone;       /* its only flow has no contention, and has its rate at once */
    uint32_t fresh;         /* index + 1 in the list of that name; 0: not there */
    uint32_t hop_count;     /* one more than the links, if there is a limit */
    struct flow_hop hops[]; /* with a meter a struct flow_history follows */
};

struct flow_use {
    struct flow_bundle *bundle;
    double rate;
    uint32_t weight; /* flows that share the link through this use */
    uint32_t solve;  /* the last solve that released the bundle or set its rate */
    uint16_t hop;
    uint8_t is_own;  /* this link is what limits the bundle */
    uint8_t is_open; /* during a solve: it takes the link's level */
};

/* What a solve needs of a link is in one cache line; the rest is for flows that join and leave. */
struct flow_link {
    struct flow_slot slot; /* among the levels of a solve */
    uint32_t use_count;
    struct flow_use *uses;
    double capacity;
    uint32_t own;           /* uses with is_own */
    uint32_t open;          /* weight of those with is_open */
    double rest;            /* capacity left by the other uses */
    uint32_t solve;         /* the last solve that touched the link */
    uint8_t has_kept : 1;   /* in that solve: it may have kept flows besides its own */
    uint8_t is_watched : 1; /* in that solve: its own flows still have their old level */
    uint8_t is_dirty, is_pending, is_alarmed; /* in the list of that name */
    double level;                             /* the rate of its own flows, if it has any */
    uint64_t order; /* its number; for private links, something above all numbers */

    struct flow_link *older, *newer; /* among the idle ones */
    struct flow *sole; /* the only flow that uses it, if it is not a hop of the flow's bundle */
    uint32_t load;     /* flows that use it, whether hops or not */
    uint32_t use_cap;
};

#define FLOW_LINK_SIZE 128 /* size in the pool, where all are equal */

_Static_assert(offsetof(struct flow_link, older) == 64, "one cache line");

#define FLOW_LINK_PAGE 65536 /* links in a page of the table, and pages */

struct flow_list {
    void **items;
    uint32_t len, cap;
};

struct flow_solver {
    flow_capacity_fn *capacity;
    void *owner;
    vtime now;
    struct flow_heap ends;    /* bundles by their first end, once they have a rate */
    struct flow_heap ending;  /* flows that end now, by order; no longer in a bundle */
    struct flow_heap levels;  /* during a solve: links by the level they will fill at, or less */
    struct flow_list fresh;   /* bundles without a rate */
    struct flow_list dirty;   /* links that lost a flow or have another capacity */
    struct flow_list pending; /* during a solve: links to touch next */
    struct flow_list changed; /* during a solve: bundles released or set */
    struct flow_list alarms;  /* during a solve: links to touch when it gets near their level, */
    double alarm;             /* and a lower bound of those levels */
    uint32_t solve;           /* its number; it may wrap */
    uint64_t open;            /* open uses of all links; 0: the solve is done */
    /* Indexed by the two halves of a number; memory is touched only where links are used. */
    struct flow_link ***links;
    uint64_t bundle_count;             /* made so far */
    struct flow_list unplaced;         /* flows that are new, or must move to another bundle */
    struct flow_link *oldest, *newest; /* idle: kept for the next flow */
    uint64_t idle;
    struct pool pool, link_pool; /* links have their own pool, so that they are aligned */
    struct bins *meter;          /* what links below `metered` carry, or NULL */
    uint32_t metered;
    struct flow_counters count;
};

static inline struct flow *flow_of(struct flow_slot *slot)
{
    return (struct flow *)((char *)slot - offsetof(struct flow, slot));
}

static inline struct flow_bundle *flow_bundle_of(struct flow_slot *slot)
{
    return (struct flow_bundle *)((char *)slot - offsetof(struct flow_bundle, slot));
}

static inline void flow_list_push(struct flow_list *list, void *item)
{
    ARRAY_RESERVE(list->items, list->cap, list->len + 1, 64);
    list->items[list->len++] = item;
}

/* Marks the link to be touched by the next solve. */
static inline void flow_link_dirty(struct flow_solver *s, struct flow_link *l)
{
    if (!l->is_dirty) {
        l->is_dirty = 1;
        flow_list_push(&s->dirty, l);
    }
}

/* Creates the table of links, empty. */
void flow_link_init(struct flow_solver *);

/* The state of a link, idle or used, or NULL. */
struct flow_link *flow_link_find(struct flow_solver *, uint32_t id);

/* Adds / removes a flow that uses link `id`. */
struct flow_link *flow_link_enter(struct flow_solver *, uint32_t id);
void flow_link_leave(struct flow_solver *, struct flow_link *);

/* Attaches hop number `hop` of a bundle to a link, or to a private link that is its limit. */
void flow_link_use(struct flow_solver *, struct flow_bundle *, unsigned hop, struct flow_link *);
void flow_link_use_private(struct flow_solver *, struct flow_bundle *, unsigned hop);

/* Changes the weight of a bundle by a flow more or less. Links whose level that may change become
 * dirty. */
void flow_link_weigh(struct flow_solver *, struct flow_bundle *, int more);

/* Detaches all hops of a bundle from their links. Links whose level that may change become
 * dirty. */
void flow_link_unuse(struct flow_solver *, struct flow_bundle *);

/* Adds a flow with that many bytes left to a bundle, from now on; removes it and returns the bytes
 * left. */
void flow_bundle_join(struct flow_solver *, struct flow *, double left);
double flow_bundle_quit(struct flow_solver *, struct flow *);

/* When the first flow of a bundle ends, if the rate stays. */
vtime flow_bundle_end(const struct flow_bundle *);
/* Appends all flows of a bundle to a list. */
void flow_bundle_list(const struct flow_bundle *, struct flow_list *);
/* How many bytes each flow of a bundle has been served at a time, if the rate stays. */
double flow_bundle_served(const struct flow_bundle *, vtime);
/* Sets the rate to next_rate from now on. */
void flow_bundle_turn(struct flow_bundle *, vtime now);

/* Resets the solve numbers of all links and uses, since the counter starts again. */
void flow_link_forget(struct flow_solver *);

/* Frees all links without looking at flows. */
void flow_link_fini(struct flow_solver *);

/* ---- flow_meter.c: what links carry; only if there is a meter ---- */

/* What is counted of a flow. */
struct flow_metered {
    uint64_t bytes, counted; /* of all of it, and so far */
    double before;           /* bytes served before it joined its bundle */
    double at_join;          /* what the bundle had served then */
    vtime start, joined;
};

/* How many bytes a bundle has served at edges of bins, where its rate changed between them. */
struct flow_history {
    struct flow_point {
        vtime t;
        double served;
    } * points;
    uint32_t count, room;
};

void flow_meter_start(struct flow_solver *, struct flow *, uint64_t bytes);
/* It has joined a bundle with so many bytes left; it quits it. */
void flow_meter_join(struct flow_solver *, struct flow *, double left);
void flow_meter_quit(struct flow_solver *, struct flow *);
/* All of its bytes have left. */
void flow_meter_end(struct flow_solver *, struct flow *);
/* The rate of a bundle changes; it is made and freed. */
void flow_meter_turn(struct flow_solver *, struct flow_bundle *);
void flow_meter_begin(struct flow_bundle *);
void flow_meter_forget(struct flow_bundle *);

/* Sets next_rate of every bundle whose rate changes, and puts it into the list `changed`. */
void flow_fill(struct flow_solver *);

#endif
