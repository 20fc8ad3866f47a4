/*
 * route_dmodk.c - a shortest route; among equal ones the digits of the destination's number choose
 * (d-mod-k). Routes to the same node merge as early as possible, and those to different nodes stay
 * apart.
 */
#include "net/topology/topology_internal.h"

static int dmodk_choose(const struct topo *t, const struct topo_trip *trip, struct topo_route *out)
{
    return t->ops->minimal(t, trip->a, trip->b, trip->dst, out);
}

const struct topo_routing_ops topo_dmodk_ops = {
    .name = "dmodk",
    .choose = dmodk_choose,
};
