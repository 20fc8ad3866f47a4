/*
 * The models, for the table in net.c. Never included outside net/.
 */
#ifndef NET_NET_INTERNAL_H
#define NET_NET_INTERNAL_H

#include "net/net.h"

extern const struct net_ops net_constant_ops;

#endif
