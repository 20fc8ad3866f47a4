/*
 * device_uniform.h - the device of networks on which all messages of the same size take the same
 * time. Its formula is inlined here for the one sender that cannot afford a call.
 */
#ifndef NET_DEVICE_UNIFORM_H
#define NET_DEVICE_UNIFORM_H

#include "net/net.h"

static inline vtime device_uniform_drain(const struct net *n, uint64_t bytes)
{
    return vtime_mul_q(bytes, n->ps_per_byte);
}

static inline vtime device_uniform_arrival(const struct net *n, uint64_t bytes, vtime t)
{
    return vtime_add(t, vtime_add(n->latency, device_uniform_drain(n, bytes)));
}

#endif
