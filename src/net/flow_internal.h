/*
 * The solver's structures, for flow_solver.c (flows and time), flow_bundle.c (flows that share their
 * fate), flow_links.c (which bundle uses which link) and flow_fill.c (the rates). Never included elsewhere.
 *
 *     flow ---> bundle ---- hops[] ----> link          a hop knows the place of its use,
 *     flow ---^    ^                       |           a use the number of its hop
 *                  +-------- bundle ---- uses[]
 *
 * A link that one flow alone uses can do no more than limit that flow, so it counts as a rate limit, and
 * has no uses. Flows with the same limit and the same other links have the same rate at all times: they
 * are a bundle, which the filling sees as one flow with a weight. So a flow that meets nobody costs no
 * filling, and a crowd that meets at one link as much as one flow.
 *
 * A bundle has a clock that counts the bytes each of its flows was served. A flow ends when that clock
 * shows its target, whatever the rates are on the way; so a change of the rate costs nothing per flow.
 *
 * A use holds a copy of its bundle's rate, so that a link is summed up without looking at its bundles.
 */
#ifndef NET_FLOW_INTERNAL_H
#define NET_FLOW_INTERNAL_H

#include <stddef.h>

#include "base/array.h"
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
    uint64_t order; /* of the start */
    void *user;
    struct flow_bundle *bundle;
    double target;    /* it ends when its bundle has served so many bytes; all, before that */
    double own_limit; /* given at the start */
    struct flow *child,
        *next;             /* in the bundle's pairing heap, smallest (target, order) first ... */
    struct flow *prev;     /* ... the parent if it is its first child, else its elder sibling */
    struct flow_slot slot; /* among those that end now */
    uint32_t unplaced;     /* place + 1 in the list of that name, 0: it is not there */
    uint32_t leg_count;
    struct flow_leg legs[];
};

/* A link that a bundle shares with others. */
struct flow_hop {
    struct flow_link *link;
    uint32_t at; /* link->uses[at] is this hop */
};

struct flow_bundle {
    struct flow_slot slot; /* among the ends; none before the first rate */
    uint32_t weight;       /* number of flows */
    struct flow *first;    /* the one that ends first: root of the heap */
    double served;         /* bytes of each flow, at time `since` */
    vtime since;           /* when the rate last changed */
    double rate;
    double next_rate;   /* found by the solve under way */
    double limit;       /* of the rate */
    uint64_t order;     /* of all bundles */
    uint8_t is_alone;   /* its one flow meets nobody, and it has its rate at once */
    uint32_t fresh;     /* place + 1 in the list of that name, 0: it is not there */
    uint32_t hop_count; /* one more than the links, if there is a limit */
    struct flow_hop hops[];
};

struct flow_use {
    struct flow_bundle *bundle;
    double rate;
    uint32_t weight; /* flows that share the link by it */
    uint32_t solve;  /* the last one that released the bundle or set its rate */
    uint16_t hop;
    uint8_t is_own;  /* this link is what limits the bundle */
    uint8_t is_open; /* during a solve: it takes the link's level */
};

/* What a solve needs of a link is one cache line; the rest is for coming and going. */
struct flow_link {
    struct flow_slot slot; /* among the levels of a solve */
    uint32_t use_count;
    struct flow_use *uses;
    double capacity;
    uint32_t own;           /* uses with is_own */
    uint32_t open;          /* weight of those with is_open */
    double rest;            /* capacity that the other uses leave */
    uint32_t solve;         /* the last one that touched the link */
    uint8_t has_kept : 1;   /* then: it may have flows that were kept, beside its own */
    uint8_t is_watched : 1; /* then: its own flows still have the level of before the solve */
    uint8_t is_dirty, is_pending, is_alarmed; /* in the list of that name */
    double level;                             /* the rate of its own flows, if it has any */
    uint64_t order; /* its number; of private ones, something above all numbers */

    struct flow_link *older, *newer; /* among the idle ones */
    struct flow *sole; /* the only flow that uses it, if that is no hop of its bundle */
    uint32_t load;     /* flows that use it, whether hops or not */
    uint32_t use_cap;
};

#define FLOW_LINK_SIZE 128 /* in the pool, where all are of this size */

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
    struct flow_heap ends;     /* bundles by their first end, once they have a rate */
    struct flow_heap ending;   /* flows that end now, by order: they are in no bundle any more */
    struct flow_heap levels;   /* during a solve: links by the level they will fill at, or less */
    struct flow_list fresh;    /* bundles without a rate */
    struct flow_list dirty;    /* links that lost a flow or have another capacity */
    struct flow_list pending;  /* during a solve: links to touch next */
    struct flow_list changed;  /* during a solve: bundles released or set */
    struct flow_list alarms;   /* during a solve: links to touch when it comes near their level, */
    double alarm;              /* none of which is below this */
    uint32_t solve;            /* its number; it may wrap */
    uint64_t open;             /* open uses of all links: 0 means that it is over */
    struct flow_link ***links; /* by the halves of a number; untouched memory where none was used */
    uint64_t bundle_count;     /* made so far */
    struct flow_list unplaced; /* flows that are new, or to go to another bundle */
    struct flow_link *oldest, *newest; /* idle: kept for the next flow */
    uint64_t idle;
    struct pool pool, link_pool; /* links apart, so that they are aligned */
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

/* The link is to be touched by the next solve. */
static inline void flow_link_dirty(struct flow_solver *s, struct flow_link *l)
{
    if (!l->is_dirty) {
        l->is_dirty = 1;
        flow_list_push(&s->dirty, l);
    }
}

/* The table of links, which is empty. */
void flow_link_init(struct flow_solver *);

/* The state of a link, idle or used, or NULL. */
struct flow_link *flow_link_find(struct flow_solver *, uint32_t id);

/* One more flow uses link `id`, or one less. */
struct flow_link *flow_link_enter(struct flow_solver *, uint32_t id);
void flow_link_leave(struct flow_solver *, struct flow_link *);

/* Puts hop number `hop` of a bundle on a link, or on a private link that is its limit. */
void flow_link_use(struct flow_solver *, struct flow_bundle *, unsigned hop, struct flow_link *);
void flow_link_use_private(struct flow_solver *, struct flow_bundle *, unsigned hop);

/* One more flow, or one less, is in a bundle with uses of links. Links whose level that may change become
 * dirty. */
void flow_link_weigh(struct flow_solver *, struct flow_bundle *, int more);

/* Takes all hops of a bundle off their links; links whose level that may change become dirty. */
void flow_link_unuse(struct flow_solver *, struct flow_bundle *);

/* Puts a flow with so many bytes to go into a bundle, from now on; takes it out, which returns the bytes. */
void flow_bundle_join(struct flow_solver *, struct flow *, double left);
double flow_bundle_quit(struct flow_solver *, struct flow *);

/* The first end of a bundle, if its rate stays. */
vtime flow_bundle_end(const struct flow_bundle *);
/* When a flow of it ends, if its rate stays. */
vtime flow_bundle_end_of(const struct flow_bundle *, const struct flow *);
/* Appends all flows of a bundle to a list. */
void flow_bundle_list(const struct flow_bundle *, struct flow_list *);
/* The rate is next_rate from now on. */
void flow_bundle_turn(struct flow_bundle *, vtime now);

/* No link and no use has seen a solve: its number starts again. */
void flow_link_forget(struct flow_solver *);

/* Frees all links without looking at flows. */
void flow_link_fini(struct flow_solver *);

/* Sets next_rate of every bundle whose rate changes, and puts it into the list `changed`. */
void flow_fill(struct flow_solver *);

#endif
