/*
 * device_medium.c - the device of models with contention: messages go to the engine's medium, which
 * releases them in order of time. Messages without contention bypass it and use the model's
 * formula.
 */
#include "base/log_module.h"
#include "net/net_internal.h"

static int is_direct(const struct net *net, const struct engine_msg *m,
                     const struct device_send *how)
{
    if (net_node(net, m->src) == net_node(net, m->dst))
        return net->direct_within;
    return how->bytes == 0 && !how->order;
}

static struct device_sent medium_send(struct device *d, struct engine_msg *m,
                                      const struct device_send *how)
{
    int waits = how->cookie && how->until == DEVICE_LEFT;
    struct engine_call call = {how->bytes, waits ? how->cookie : 0, how->order, how->tie};

    if (is_direct(d->owner, m, how))
        return device_formula_send(d, m, how);
    LOG_LINE(NET, DEBUG, m->src, how->t, "%llu bytes for rank %u enter the network",
             (unsigned long long)how->bytes, m->dst);
    m->arrival = how->t;
    engine_submit(d->engine, m, &call);
    return (struct device_sent){0, waits ? DEVICE_BY_NOTICE : how->t};
}

const struct device_ops device_medium_ops = {.name = "medium", .send = medium_send};
