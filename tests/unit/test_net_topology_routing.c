/*
 * Routings: how they spread messages, where detours lead, and what adaptive routing avoids.
 */
#include <string.h>

#include "topology_machine.h"

static uint32_t *uses;

static void count_uses(uint32_t src, uint32_t dst, uint64_t salt)
{
    if (topo_route(topo, src, dst, salt, 0, NULL, &route, &err) == 0)
        for (uint32_t i = 0; i < route.count; i++)
            uses[route.links[i]]++;
}

static void start_count(void)
{
    free(uses);
    uses = calloc(topo_link_bound(topo), sizeof *uses);
}

/* Least and most uses of the first links of a switch. */
static void range_of(uint32_t s, uint32_t ports, uint32_t *least, uint32_t *most)
{
    *least = UINT32_MAX;
    *most = 0;
    for (uint32_t i = 0; i < ports; i++) {
        uint32_t n = uses[topo_port_at(topo, topo_nodes(topo) + s, i).link];
        *least = n < *least ? n : *least;
        *most = n > *most ? n : *most;
    }
}

/* With d-mod-k no link of a full fat tree is shared when every node sends to the one k further
 * on. */
static int shifts_are_free(void)
{
    uint32_t n = topo_nodes(topo);
    for (uint32_t shift = 1; shift < n; shift++) {
        start_count();
        for (uint32_t src = 0; src < n; src++)
            count_uses(src, (src + shift) % n, 0);
        for (uint32_t i = 0; i < topo_link_bound(topo); i++)
            if (uses[i] > 1) {
                diag("shift %u: link %u is used %u times", shift, i, uses[i]);
                return 0;
            }
    }
    return 1;
}

static void test_dmodk(void)
{
    uint32_t least, most;
    is_int(make("kind=fat-tree,down=4x4x4,!net.routing=dmodk", 64), 0, "a full fat tree");
    ok(shifts_are_free(), "dmodk: shifts are free of contention");
    is_int(make("kind=fat-tree,down=3x3x3,!net.routing=minimal", 27), 0, "another one");
    ok(shifts_are_free(), "minimal: the same");
    is_int(make("kind=fat-tree,down=4x6,up=1x2,parallel=1x2,!net.routing=dmodk", 24), 0,
           "a full fat tree with double cables");
    ok(shifts_are_free(), "dmodk: shifts are free of contention");
    is_int(make("kind=fat-tree,down=4x4x4,up=1x2x4,parallel=1x2x2,!net.routing=dmodk", 64), 0,
           "on two levels");
    ok(shifts_are_free(), "dmodk: shifts are free of contention");
    is_int(make("kind=fat-tree,down=4x6,up=1x2,!net.routing=dmodk", 24), 0, "a tapered one");
    ok(!shifts_are_free(), "dmodk: shifts are not");
    start_count();
    for (uint32_t dst = 4; dst < 24; dst++)
        for (uint32_t src = 0; src < 4; src++)
            count_uses(src, dst, 0);
    range_of(0, 2, &least, &most);
    ok(least == 40 && most == 40, "dmodk: both parents have the same load");
    is_int(make("kind=dragonfly,routers=4,global=2,groups=3,nodes=2,!net.routing=dmodk", 24), 0,
           "a dragonfly with four links between groups");
    start_count();
    for (uint32_t src = 0; src < 8; src++)
        for (uint32_t dst = 8; dst < 16; dst++)
            count_uses(src, dst, 0);
    range_of(3, 5, &least, &most);
    ok(most > 0 && most < 40, "dmodk: not all go by one of them");
    is_int(make("kind=hypercube,dims=4,!net.routing=dmodk", 16), 0, "a hypercube");
    is_str(route_text(0, 11, 0, 0), "n0 s0 s8 s9 s11 n11", "dmodk: begins with bit 11 mod 4");
    machine_fini();
}

static void test_ecmp(void)
{
    uint32_t least, most;
    is_int(make("kind=fat-tree,down=8x8,!net.routing=ecmp", 64), 0, "a fat tree");
    start_count();
    for (uint32_t src = 0; src < 8; src++)
        for (uint32_t dst = 8; dst < 64; dst++)
            count_uses(src, dst, 0);
    range_of(0, 8, &least, &most);
    ok(least > 30 && most < 90, "ecmp: 448 messages spread over 8 parents (%u to %u)", least, most);
    is_int(make("kind=torus,dims=8x8,!net.routing=ecmp", 64), 0, "a torus");
    start_count();
    for (uint32_t k = 0; k < 64; k++)
        count_uses(k, (k + 4) % 8 + k / 8 * 8, 0);
    range_of(0, 2, &least, &most);
    ok(least > 0, "ecmp: half a ring away they go both ways round");
    int same = 1;
    for (uint32_t salt = 0; salt < 20; salt++) {
        char first[2000];
        snprintf(first, sizeof first, "%s", route_text(3, 60, 0, 0));
        same = same && strcmp(first, route_text(3, 60, salt, 0)) == 0;
    }
    ok(same, "ecmp: all messages between two nodes go the same way");
    edge_add("n0", "s0", 0);
    edge_add("n1", "s9", 0);
    for (int i = 1; i < 9; i++) {
        char name[16];
        snprintf(name, sizeof name, "s%d", i);
        edge_add("s0", name, 0);
        edge_add(name, "s9", 0);
        edge_add("n0", "s0", 0); /* more cables: a router of its own, which changes nothing here */
    }
    is_int(make("kind=graph,!net.routing=valiant", 2), 0, "a graph with 8 equal ways");
    start_count();
    for (uint64_t salt = 0; salt < 4000; salt++)
        count_uses(0, 1, salt);
    range_of(0, 8, &least, &most);
    ok(least > 200, "valiant: all are used (%u to %u)", least, most);
    machine_fini();
}

static uint32_t group_of(uint32_t s)
{
    return s / 4;
}

static void test_valiant(void)
{
    unsigned groups = 0, longest = 0, good = 1, nodes;
    is_int(make("kind=dragonfly,!net.routing=valiant", 72), 0, "a dragonfly");
    nodes = topo_nodes(topo);
    for (uint64_t salt = 0; salt < 500; salt++) {
        unsigned others = 0;
        good = good && topo_route(topo, 0, 8, salt, 0, NULL, &route, &err) == 0;
        for (uint32_t i = 1; i + 1 < route.count; i++) {
            struct topo_link link;
            topo_link_at(topo, route.links[i], 0, &link);
            unsigned group = group_of(link.to - nodes);
            if (group != 0 && group != 1)
                others |= 1u << group;
        }
        good = good && __builtin_popcount(others) == 1;
        groups |= others;
        longest = route.count > longest ? route.count : longest;
    }
    ok(good, "valiant: by one other group");
    is_int(groups, 0x1fc, "valiant: by each of them");
    ok(longest <= 7, "valiant: at most five links between routers");
    is_int(make("kind=torus,dims=5x5,!net.routing=valiant", 25), 0, "a torus");
    start_count();
    for (uint64_t salt = 0; salt < 2500; salt++)
        count_uses((uint32_t)salt % 5 * 5, (uint32_t)salt % 5 * 5 + 1, salt);
    unsigned most = 0;
    for (uint32_t i = 50; i < topo_link_bound(topo); i++)
        most = uses[i] > most ? uses[i] : most;
    ok(most < 600, "valiant: five pairs do not crowd on five links (%u of 2500)", most);
    machine_fini();
}

static double load_of(void *owner, uint32_t link)
{
    return ((double *)owner)[link];
}

static void test_adaptive(void)
{
    is_int(make("kind=dragonfly,!net.routing=adaptive", 72), 0, "a dragonfly");
    double *busy = calloc(topo_link_bound(topo), sizeof *busy);
    struct topo_load load = {load_of, busy};
    is_str(route_text(6, 8, 5, 0), "n6 s3 s0 s7 s4 n8", "adaptive: shortest if nothing is known");
    int e = topo_route(topo, 6, 8, 5, 0, &load, &route, &err);
    ok(e == 0 && route.count == 5, "adaptive: shortest if nothing is busy");
    uint32_t hot = route.links[2];
    busy[hot] = 10;
    int avoided = 0;
    for (uint64_t salt = 0; salt < 100; salt++) {
        e = topo_route(topo, 6, 8, salt, 0, &load, &route, &err);
        int hit = 0;
        for (uint32_t i = 0; i < route.count; i++)
            hit |= route.links[i] == hot;
        avoided += !e && !hit;
    }
    is_int(avoided, 100, "adaptive: avoids the link between groups when it is busy");
    for (uint32_t i = 0; i < topo_link_bound(topo); i++)
        busy[i] = i == hot ? 9 : 8;
    int direct = 0;
    for (uint64_t salt = 0; salt < 100; salt++) {
        e = topo_route(topo, 6, 8, salt, 0, &load, &route, &err);
        direct += !e && route.count == 5;
    }
    is_int(direct, 100, "adaptive: a detour must be worth its length");
    free(busy);
    machine_fini();
}

static int are_different(const char *(*name)(unsigned), unsigned *count)
{
    for (*count = 0; name(*count); ++*count)
        for (unsigned i = 0; i < *count; i++)
            if (strcmp(name(i), name(*count)) == 0)
                return 0;
    return 1;
}

static void test_names(void)
{
    unsigned kinds, routings;
    ok(are_different(topo_kind_name, &kinds) && kinds > 1, "topologies have different names");
    ok(are_different(topo_routing_name, &routings) && routings > 1, "and so have routings");
}

int main(void)
{
    plan_auto();
    test_dmodk();
    test_ecmp();
    test_valiant();
    test_adaptive();
    test_names();
    free(uses);
    return done_testing();
}
