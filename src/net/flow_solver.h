/*
 * flow_solver.h - max-min fair sharing of links by flows, in virtual time.
 *
 * A fluid model: a flow moves its bytes over all links of its route at once, at one rate. At every
 * moment the rates are the max-min fair allocation: no rate can grow without making a smaller or
 * equal one smaller, under the capacities of the links and the limits of the flows. They change
 * when a flow starts or ends, or a capacity changes; between changes they are constant.
 *
 *     rate     A |======\________/=====      B starts: both get half of their link
 *              B |       ________            B ends: A has the link alone again
 *
 * Links are plain numbers. A link has state only while a flow uses it (and for a while after), so
 * machines with many millions of links cost what their busy links cost. A flow that crosses a link
 * twice counts twice there. Capacities and rates are in bytes per picosecond; INFINITY is a link
 * that never limits, 0 one that stalls its flows until its capacity changes.
 *
 * The calls advance time. All changes at one time are applied together: rates are computed once,
 * when they are first needed after the changes or when time advances, and ended flows have been
 * taken. An end is rounded to the nearest picosecond; flows that end at the same picosecond are
 * returned in the order of their starts. Results depend only on the calls, and are the same on
 * every machine.
 *
 * The solver owns the memory. Running out of it ends the process. Nothing here switches.
 */
#ifndef NET_FLOW_SOLVER_H
#define NET_FLOW_SOLVER_H

#include <stdint.h>

#include "base/vtime.h"

struct flow;
struct flow_solver;

#define FLOW_LINKS_MAX 65535 /* on one route */

/*
 * The capacity of a link. Called when a link comes into use, though not every time; after
 * flow_capacity it must return the capacity set there.
 */
typedef double flow_capacity_fn(void *owner, uint32_t link);

struct flow_counters {
    uint64_t active;  /* flows started and not yet taken */
    uint64_t started; /* in all */
    uint64_t solves;  /* times that rates were computed */
    uint64_t links;   /* links examined by them */
    uint64_t rates;   /* rates that they changed, one for each bundle */
    uint64_t in_use;  /* links that flows use now */
};

/* A solver at time 0 without flows. `owner` is borrowed, for the callback. */
struct flow_solver *flow_solver_create(flow_capacity_fn *capacity, void *owner);

/* Drops all flows and frees everything; NULL is allowed. */
void flow_solver_destroy(struct flow_solver *);

struct bins;

/* Counts the bytes that links with numbers below `links` carry, in bins of picoseconds: while rates
 * change, each bin gets what was moved in it. Before the first flow; the bins are borrowed. */
void flow_solver_meter(struct flow_solver *, struct bins *, uint32_t links);

/*
 * A flow of `bytes` over links[0..n) from time t on, never faster than rate_limit (INFINITY: as
 * fast as the links allow). No earlier call has had a later time, and every flow that ends before t
 * has been taken. A flow without bytes, or that nothing limits when it starts, ends at t. The
 * solver owns the flow, which is valid until it is taken; `links` is read only here, `user` never.
 * O(n), rates are computed later.
 */
struct flow *flow_start(struct flow_solver *, vtime t, const uint32_t *links, unsigned n,
                        uint64_t bytes, double rate_limit, void *user);

/* From time t on the link has another capacity. Times as in flow_start. */
void flow_capacity(struct flow_solver *, vtime t, uint32_t link, double capacity);

/*
 * When the next flow ends, if nothing starts or changes until then; VTIME_NEVER if none does. The
 * cost is proportional to what the changes since the last call affect: the bundles whose rate
 * changes, and their links. A flow that is alone on its links costs O(log flows).
 */
vtime flow_next(struct flow_solver *);

/*
 * Takes the flow that ends next: 1 with its end in *t and its user pointer in *user, or 0 if none
 * ends. Advances time to *t. Costs flow_next and O(n + log flows).
 */
int flow_take(struct flow_solver *, vtime *t, void **user);

/* No flow will be taken any more: counts what all have moved until t, if there is a meter. Times as
 * in flow_start. */
void flow_settle(struct flow_solver *, vtime t);

/* How many flows use a link now. */
uint32_t flow_link_load(const struct flow_solver *, uint32_t link);

#endif
