/*
 * valiant: a shortest way to a switch drawn at random for each message, and from there a shortest
 * way to the destination (Valiant, "A scheme for fast parallel communication", 1982): any pattern
 * of messages becomes a uniform one, at twice the length. Where the topology has no use for a
 * detour (fat tree, switch) it is a shortest way drawn at random.
 */
#include "net/topology/topology_internal.h"

static int valiant_choose(const struct topo *t, const struct topo_trip *trip,
                          struct topo_route *out)
{
    return topo_choose_detour(t, trip, topo_hash(trip->src, trip->dst, trip->salt), out);
}

const struct topo_routing_ops topo_valiant_ops = {
    .name = "valiant",
    .choose = valiant_choose,
};
