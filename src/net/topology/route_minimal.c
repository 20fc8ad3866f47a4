/*
 * minimal: a shortest way, for two nodes always the same. Among equal ones the first; where a
 * topology has many equal ways (fat tree, dragonfly) the destination's number chooses, as it does
 * in the tables of such machines' switches.
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
