/*
 * device_formula.c - the device of models without contention: each message takes the time that the
 * model's formula gives, whatever else is in flight.
 */
#include "net/net_internal.h"

/* The model decides whether a rank's messages wait for each other. */
static vtime arrival_of(struct device *d, const struct engine_msg *m, const struct device_send *how)
{
    struct net *net = d->owner;

    if (how->own && net->ops->arrival)
        return net->ops->arrival(net, rank_map_index(engine_map(d->engine), m->src), m->src, m->dst,
                                 how->bytes, how->t);
    return vtime_add(how->t, net_delay(net, m->src, m->dst, how->bytes, how->t));
}

struct device_sent device_formula_send(struct device *d, struct engine_msg *m,
                                       const struct device_send *how)
{
    vtime arrival = arrival_of(d, m, how), done = how->t;

    if (how->until == DEVICE_LEFT)
        done = vtime_add(done, net_drain(d->owner, m->src, m->dst, how->bytes, how->t));
    if (arrival < how->not_before)
        arrival = how->not_before;
    m->arrival = arrival;
    engine_inject(d->engine, m);
    return (struct device_sent){arrival, done};
}

const struct device_ops device_formula_ops = {.name = "formula", .send = device_formula_send};
