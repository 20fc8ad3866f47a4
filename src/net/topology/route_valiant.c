/*
 * route_valiant.c - a shortest route to a random switch, drawn for each message, and from there a
 * shortest route to the destination (Valiant, "A scheme for fast parallel communication", 1982):
 * any traffic pattern becomes uniform, at twice the length. Where detours do not help (fat tree,
 * switch), it is a random shortest route.
 */
#include "net/topology/topology_internal.h"

static int valiant_choose(const struct topo *t, const struct topo_trip *trip,
                          struct topo_route *out)
{
    return topo_choose_detour(t, trip, topo_hash(trip->src, trip->dst, trip->salt), out);
}

const struct topo_routing_ops topo_valiant_ops = {
    .name = "valiant",
    .varies = 1,
    .choose = valiant_choose,
};
