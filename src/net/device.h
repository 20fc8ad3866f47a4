/*
 * device.h - how a message gets from rank to rank: all that the virtual MPI knows about the
 * network.
 *
 * A device takes a message at a given time, and says when it arrives and when its sender may
 * continue. What it does not know at once it reports later: the message comes out of the device by
 * itself, and the sender gets a notice (engine_notify) with the cookie of its call.
 *
 *     device      messages                                             arrival     sender
 *     uniform     all take latency + bytes / bandwidth                 at once     at once
 *     formula     each takes what its model says (net_ops.delay)       at once     at once
 *     medium      share something, in order of time (net_ops.medium)   later       by notice
 *                 unless they are direct: no contention           at once     at once
 *     adapters    wait for each other at the ends of the network   later       by notice
 *
 * A message may carry fewer bytes than it has on the network, which is `bytes`. A device that holds
 * messages back (may_hold), like a connection with a full buffer, answers DEVICE_BY_NOTICE for
 * small ones, too. A device whose other end is outside the simulation is a medium with its own
 * clock, for which the engine waits when nothing else can continue (engine_medium.wait).
 */
#ifndef NET_DEVICE_H
#define NET_DEVICE_H

#include <stdint.h>

#include "base/vtime.h"
#include "engine/engine.h"

#define DEVICE_BY_NOTICE ((vtime)-1)

/* What a sender waits for. */
enum device_until {
    DEVICE_TAKEN = 0, /* the device has taken the message: the sender's buffer is free */
    DEVICE_LEFT,      /* the last byte has left the sender's side */
};

/* How a message is sent. */
struct device_send {
    vtime t;
    /* It arrives no earlier; devices that learn the arrival later keep the order instead. */
    vtime not_before;
    uint64_t bytes;
    uint64_t order;  /* as in struct engine_call */
    uint64_t tie;    /* as in struct engine_call */
    uint64_t cookie; /* 0: nobody waits; no notice */
    uint8_t until;   /* enum device_until */
    /* The program itself sends it, and nothing else sends for this rank: so what it has sent before
     * is all that can leave before this message. */
    uint8_t alone;
};

struct device_sent {
    vtime arrival; /* 0: it is not known yet */
    vtime done;    /* when the sender may continue; DEVICE_BY_NOTICE: a notice will say */
};

struct device;

struct device_ops {
    const char *name;
    int may_hold; /* DEVICE_TAKEN may take time; otherwise it is immediate */
    /* Takes the message, whose source and destination are set. In the sender's context; does not
     * switch. */
    struct device_sent (*send)(struct device *, struct engine_msg *, const struct device_send *);
};

struct device {
    const struct device_ops *ops;
    struct engine *engine;
    void *owner; /* the device's state: a struct net for those in this folder */
};

static inline struct device_sent device_send(struct device *d, struct engine_msg *m,
                                             const struct device_send *how)
{
    return d->ops->send(d, m, how);
}

extern const struct device_ops device_uniform_ops, device_formula_ops, device_medium_ops,
    device_adapters_ops;

#endif
