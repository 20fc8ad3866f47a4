/*
 * route_adaptive.c - of a shortest route and two detours (valiant), takes the one with the smallest
 * product of load and length. The load of a route is that of its busiest link between switches, its
 * length the number of those links. Ties go to the shortest (UGAL with global knowledge: Singh,
 * "Load-balanced routing in interconnection networks", 2005). If the load is unknown, it behaves
 * like minimal.
 *
 * Candidates are appended one after the other, and the chosen one is moved to the front.
 */
#include <string.h>

#include "net/topology/topology_internal.h"

#define DETOURS 2

static double cost(const struct topo_load *load, const uint32_t *links, uint32_t n)
{
    double most = 0;
    for (uint32_t i = 0; i < n; i++) {
        double busy = load->of(load->owner, links[i]);
        most = busy > most ? busy : most;
    }
    return most * n;
}

static int adaptive_choose(const struct topo *t, const struct topo_trip *trip,
                           struct topo_route *out)
{
    uint32_t start = out->count;
    if (!topo_minimal_ops.choose(t, trip, out))
        return 0;
    if (!trip->load)
        return 1;
    double best = cost(trip->load, out->links + start, out->count - start);
    for (uint32_t k = 0; k < DETOURS && best > 0; k++) {
        uint32_t next = out->count;
        uint64_t random = topo_mix(topo_hash(trip->src, trip->dst, trip->salt) + k);
        if (!topo_choose_detour(t, trip, random, out)) {
            out->count = next;
            continue;
        }
        uint32_t length = out->count - next;
        double other = cost(trip->load, out->links + next, length);
        if (other < best) {
            best = other;
            memmove(out->links + start, out->links + next, length * sizeof *out->links);
            out->count = start + length;
        } else {
            out->count = next;
        }
    }
    return 1;
}

const struct topo_routing_ops topo_adaptive_ops = {
    .name = "adaptive",
    .varies = 1,
    .choose = adaptive_choose,
};
