/*
 * device_formula.c - the device of models without contention: each message takes the time that the
 * model's formula gives, whatever else is in flight.
 */
#include "net/net_internal.h"

struct device_sent device_formula_send(struct device *d, struct engine_msg *m,
                                       const struct device_send *how)
{
    vtime done = how->t,
          arrival = vtime_add(how->t, net_delay(d->owner, m->src, m->dst, how->bytes, how->t));

    if (how->until == DEVICE_LEFT)
        done = vtime_add(done, net_drain(d->owner, m->src, m->dst, how->bytes, how->t));
    if (arrival < how->not_before)
        arrival = how->not_before;
    m->arrival = arrival;
    engine_inject(d->engine, m);
    return (struct device_sent){arrival, done};
}

const struct device_ops device_formula_ops = {.name = "formula", .send = device_formula_send};
