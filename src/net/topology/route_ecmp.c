/*
 * route_ecmp.c - a shortest route; among equal ones a hash of source and destination chooses, so
 * that messages between two nodes stay in order, and pairs of nodes collide at random.
 */
#include "net/topology/topology_internal.h"

static int ecmp_choose(const struct topo *t, const struct topo_trip *trip, struct topo_route *out)
{
    return t->ops->minimal(t, trip->a, trip->b, topo_hash(trip->src, trip->dst, 0), out);
}

const struct topo_routing_ops topo_ecmp_ops = {
    .name = "ecmp",
    .choose = ecmp_choose,
};
