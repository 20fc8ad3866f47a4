/*
 * route_minimal.c - a shortest route, always the same for two nodes: the first among equal ones.
 * Where a topology has many equal routes (fat tree, dragonfly), the destination's number chooses,
 * as in the forwarding tables of such machines.
 */
#include "net/topology/topology_internal.h"

static int minimal_choose(const struct topo *t, const struct topo_trip *trip,
                          struct topo_route *out)
{
    return t->ops->minimal(t, trip->a, trip->b, t->ops->spread ? trip->dst : 0, out);
}

const struct topo_routing_ops topo_minimal_ops = {
    .name = "minimal",
    .choose = minimal_choose,
};
