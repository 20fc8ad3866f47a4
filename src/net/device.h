/*
 * device.h - how a message gets from rank to rank: what the virtual MPI knows of the network.
 *
 * A device takes a message at a time, and says when it arrives and when its sender need not wait any longer.
 * What it does not know at once it tells later: the message comes out of it by itself, and a notice goes to the
 * sender (engine_notify) with the cookie that was given with the message.
 *
 *     device      messages                                             arrival     sender
 *     uniform     all take latency + bytes / bandwidth                 at once     at once
 *     formula     each takes what its model says (net_ops.delay)       at once     at once
 *     medium      share something, in order of time (net_ops.medium)   later       by notice
 *                 unless they are direct: they disturb nobody          at once     at once
 *
 * Not all of a message need be there: on the network it has `bytes` bytes, however many it carries. A device
 * that holds messages back (may_hold), as a connection with a full buffer does, answers DEVICE_BY_NOTICE for small
 * ones, too. A device whose other end is outside of the simulation is a medium with a clock of its own, for which
 * the engine waits when nothing else can go on (engine_medium.wait).
 */
#ifndef NET_DEVICE_H
#define NET_DEVICE_H

#include <stdint.h>

#include "base/vtime.h"
#include "engine/engine.h"

#define DEVICE_BY_NOTICE ((vtime)-1)

/* What a sender waits for. */
enum device_until {
    DEVICE_TAKEN = 0, /* the device has the message: it need not be kept for it any longer */
    DEVICE_LEFT,      /* the last byte has left the sender's side */
};

/* How a message is sent. */
struct device_send {
    vtime t;
    vtime not_before; /* it arrives no earlier; devices that know an arrival later keep the order instead */
    uint64_t bytes;
    uint64_t order;  /* as in struct engine_call */
    uint64_t cookie; /* 0: nobody waits, there is no notice */
    uint8_t until;   /* enum device_until */
    uint8_t own; /* the program sends it now: it may have to wait for what that has sent before */
};

struct device_sent {
    vtime arrival; /* 0: it is not known yet */
    vtime done;    /* when the sender need not wait any longer; DEVICE_BY_NOTICE: it will be told */
};

struct device;

struct device_ops {
    const char *name;
    int may_hold; /* DEVICE_TAKEN may take time; else it is at once */
    /* Takes the message, whose source and destination are set. In the sender's context; does not switch. */
    struct device_sent (*send)(struct device *, struct engine_msg *, const struct device_send *);
};

struct device {
    const struct device_ops *ops;
    struct engine *engine;
    void *owner; /* the device's: a struct net for those of this folder */
};

static inline struct device_sent device_send(struct device *d, struct engine_msg *m,
                                             const struct device_send *how)
{
    return d->ops->send(d, m, how);
}

extern const struct device_ops device_uniform_ops, device_formula_ops, device_medium_ops;

#endif
