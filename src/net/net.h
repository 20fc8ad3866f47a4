/*
 * net.h - network models: when does a message that leaves now arrive?
 *
 * A model is one struct net_ops in one file and one line of the table in net.c. Models here are
 * free of contention: the arrival is a function of the send alone, so messages carry it and no
 * event queue is needed.
 *
 * With several processes such a model is evaluated wherever a message is sent (NET_SPLIT_FREE). A model
 * with contention has state that messages share, and sees them in order of time: an entity of the
 * engine, an agent, to which injections are messages and whose every step is a decision, due when the
 * injection is. The engine then hands it injections in windows of one lookahead, on the process that
 * place.h gives it: one process has it all (NET_SPLIT_NONE), or each has its part (NET_SPLIT_PARTS).
 */
#ifndef NET_NET_H
#define NET_NET_H

#include <stdint.h>

#include "base/err.h"
#include "base/vtime.h"
#include "platform/config.h"

struct net;

/* How a model works when the ranks are on several processes. */
enum net_split {
    NET_SPLIT_FREE = 0, /* anywhere, without order */
    NET_SPLIT_PARTS,    /* in parts, each on one process, in windows of one lookahead */
    NET_SPLIT_NONE,     /* on one process, in windows of one lookahead: it is serial */
};

struct net_ops {
    const char *name, *about;
    enum net_split split;
    /* Prepares the model from the machine description. */
    int (*init)(struct net *, const struct platform_config *, struct err *);
    /* Time from the moment the message leaves its sender to its arrival. */
    vtime (*delay)(const struct net *, uint32_t src, uint32_t dst, uint64_t bytes);
    /* Time the sender's side is busy with it. */
    vtime (*drain)(const struct net *, uint32_t src, uint32_t dst, uint64_t bytes);
};

struct net {
    const struct net_ops *ops;
    vtime latency;         /* after factors */
    uint64_t ps_per_byte;  /* 44.20 fixed point, after factors; 0: infinitely fast */
    int uniform;           /* every delay is latency + bytes * ps_per_byte: no call needed */
    vtime lookahead;       /* smallest delay between two ranks */
};

/* Chooses the model by name and prepares it. */
int net_init(struct net *, const struct platform_config *, struct err *);

static inline vtime net_delay(const struct net *n, uint32_t src, uint32_t dst, uint64_t bytes)
{
    if (n->uniform)
        return vtime_add(n->latency, vtime_mul_q(bytes, n->ps_per_byte));
    return n->ops->delay(n, src, dst, bytes);
}
static inline vtime net_drain(const struct net *n, uint32_t src, uint32_t dst, uint64_t bytes)
{
    return n->ops->drain(n, src, dst, bytes);
}

#endif
