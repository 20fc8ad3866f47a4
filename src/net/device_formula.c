/*
 * device_formula.c - the device of models without contention: each message takes the time that the
 * model's formula gives, whatever else is in flight.
 */
#include "net/net_internal.h"

/* The model decides whether a rank's messages wait for each other. */
vtime device_formula_arrival(struct net *net, uint32_t index, uint32_t src, uint32_t dst,
                             uint64_t bytes, vtime t, int own)
{
    if (own && net->ops->arrival)
        return net->ops->arrival(net, index, src, dst, bytes, t);
    return vtime_add(t, net_delay(net, src, dst, bytes, t));
}

struct device_sent device_formula_send(struct device *d, struct engine_msg *m,
                                       const struct device_send *how)
{
    uint32_t index = rank_map_index(engine_map(d->engine), m->src);
    vtime done = how->t, arrival = device_formula_arrival(d->owner, index, m->src, m->dst,
                                                          how->bytes, how->t, how->own);

    if (how->until == DEVICE_LEFT)
        done = vtime_add(done, net_drain(d->owner, m->src, m->dst, how->bytes, how->t));
    if (arrival < how->not_before)
        arrival = how->not_before;
    m->arrival = arrival;
    engine_inject(d->engine, m);
    return (struct device_sent){arrival, done};
}

const struct device_ops device_formula_ops = {.name = "formula", .send = device_formula_send};
