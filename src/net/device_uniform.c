/*
 * device_uniform.c - the device of networks where only the size of a message matters (see
 * device_uniform.h).
 */
#include "net/device_uniform.h"

static struct device_sent uniform_send(struct device *d, struct engine_msg *m,
                                       const struct device_send *how)
{
    const struct net *net = d->owner;
    vtime arrival = device_uniform_arrival(net, how->bytes, how->t);

    m->arrival = arrival < how->not_before ? how->not_before : arrival;
    arrival = m->arrival;
    engine_inject(d->engine, m);
    return (struct device_sent){arrival,
                                how->until == DEVICE_LEFT
                                    ? vtime_add(how->t, device_uniform_drain(net, how->bytes))
                                    : how->t};
}

const struct device_ops device_uniform_ops = {.name = "uniform", .send = uniform_send};
