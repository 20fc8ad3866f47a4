/*
 * Topologies: shapes, sizes and ways of small machines that can be followed by hand, and large
 * machines that must cost nothing. What holds for all of them is in prop_topology.c.
 */
#include <malloc.h>

#include "find_link.h"
#include "topology_machine.h"

static void test_switch(void)
{
    is_int(make("kind=switch", 5), 0, "a switch");
    is_int(topo_nodes(topo), 5, "has as many nodes as are needed");
    is_int(topo_vertices(topo), 6, "and one switch");
    is_int(topo_links(topo), 10, "and two links per node");
    is_str(route_text(0, 3, 0, 0), "n0 s0 n3", "the only way");
    is_int(topo_distance(topo, 0, 3), VTIME_NS, "one hop");
    is_int(topo_distance(topo, 3, 3), 0, "to itself");
    is_int(topo_least_latency(topo), VTIME_NS, "at least");
    is_int(topo_degree(topo, 5), 5, "ports of the switch");
    is_int(topo_port_at(topo, 5, 2).peer, 2, "lead to nodes");
    is_int(make("kind=star", 1), 0, "a star with one node");
    machine_fini();
}

static void test_grid(void)
{
    is_int(make("kind=torus,dims=4x3", 12), 0, "a torus");
    is_int(topo_links(topo), 24 + 48, "links");
    is_str(route_text(0, 1, 0, 0), "n0 s0 s1 n1", "to the neighbour");
    is_str(route_text(0, 3, 0, 0), "n0 s0 s3 n3", "round the edge");
    is_str(route_text(0, 6, 0, 0), "n0 s0 s1 s2 s6 n6", "first dimension first, a tie goes up");
    is_str(route_text(5, 8, 0, 0), "n5 s5 s4 s8 n8", "down and up");
    is_int(topo_distance(topo, 0, 6), 4 * VTIME_NS, "four switches");
    is_int(topo_least_latency(topo), 2 * VTIME_NS, "at least two: no two nodes are at one");
    is_int(make("kind=mesh,dims=4x3,nodes=2", 20), 0, "a mesh with two nodes at each router");
    is_int(topo_nodes(topo), 24, "nodes");
    is_int(topo_links(topo), 48 + 34, "links");
    is_str(route_text(0, 6, 0, 0), "n0 s0 s1 s2 s3 n6", "no route round the edge");
    is_str(route_text(0, 1, 0, 0), "n0 s0 n1", "nodes of one router");
    is_int(make("kind=torus", 100), 0, "a torus that holds 100 nodes");
    is_int(topo_nodes(topo), 5 * 5 * 4, "is 5x5x4");
    is_int(make("kind=mesh,nodes=4", 30), 0, "a mesh that holds 30 nodes, 4 at a router");
    is_int(topo_nodes(topo), 4 * 2 * 2 * 2, "is 2x2x2");
    is_int(make("kind=torus", 1), 0, "a torus of one");
    is_int(topo_links(topo), 2, "has no cables");
    machine_fini();
}

static void test_tree(void)
{
    is_int(make("kind=fat-tree,down=2x2x2", 8), 0, "a binary fat tree");
    is_int(topo_vertices(topo), 8 + 12, "of full width on each level");
    is_int(topo_links(topo), 16 + 2 * (8 + 8), "links");
    is_str(route_text(0, 1, 0, 0), "n0 s0 n1", "below one switch");
    is_str(route_text(0, 2, 0, 0), "n0 s0 s4 s1 n2", "one level up");
    is_str(route_text(0, 3, 0, 0), "n0 s0 s5 s1 n3", "by the parent of the destination's parity");
    is_str(route_text(0, 7, 0, 0), "n0 s0 s5 s11 s7 s3 n7", "by the last root");
    is_int(topo_distance(topo, 0, 7), 5 * VTIME_NS, "five switches");
    is_int(make("kind=fat-tree,down=4x4,up=1x2", 16), 0, "a tapered tree");
    is_int(topo_vertices(topo), 16 + 4 + 2, "has fewer roots");
    is_int(make("kind=fat-tree,down=4x4,up=1x2,parallel=1x2", 16), 0, "with double cables");
    is_int(topo_links(topo), 32 + 2 * 4 * 4, "it has the links of the full one");
    is_int(make("kind=fat-tree,down=16", 16), 0, "a tree of one level");
    is_int(topo_vertices(topo), 17, "is a switch");
    is_int(make("kind=fat-tree", 100), 0, "a fat tree that holds 100 nodes");
    is_int(topo_nodes(topo), 100, "has two levels of 10");
    is_int(make("kind=fat-tree", 400), 0, "a fat tree that holds 400 nodes");
    is_int(topo_nodes(topo), 512, "has three levels of 8");
    machine_fini();
}

static void test_dragonfly(void)
{
    is_int(make("kind=dragonfly", 70), 0, "a dragonfly that holds 70 nodes");
    is_int(topo_nodes(topo), 72, "is balanced: 9 groups of 4 routers with 2 nodes");
    is_int(topo_links(topo), 2 * 72 + 36 * 3 + 9 * 8, "links");
    is_str(route_text(0, 1, 0, 0), "n0 s0 n1", "nodes of one router");
    is_str(route_text(0, 7, 0, 0), "n0 s0 s3 n7", "within a group");
    /* end 0 of group 0 (router 0) is joined to end 7 of group 1 (router 3) */
    is_str(route_text(0, 8, 0, 0), "n0 s0 s7 s4 n8", "leaves at the source's router");
    is_str(route_text(6, 14, 0, 0), "n6 s3 s0 s7 n14", "enters at the destination's router");
    is_str(route_text(6, 8, 0, 0), "n6 s3 s0 s7 s4 n8", "neither");
    is_str(route_text(8, 0, 0, 0), "n8 s4 s7 s0 n0", "and back by the same cable");
    is_int(make("kind=dragonfly,routers=4,global=2,groups=3,nodes=2", 24), 0, "three groups");
    is_int(topo_links(topo), 48 + 12 * 3 + 3 * 2 * 4, "four links between two of them");
    is_str(route_text(0, 8, 0, 0), "n0 s0 s4 n8", "so that many routers are joined directly");
    is_int(make("kind=dragonfly,routers=2,global=4,groups=4", 8), 0, "8 ends for 3 groups");
    is_int(topo_links(topo), 16 + 8 + 4 * 6, "two of them are not used");
    is_int(make("kind=dragonfly,routers=3", 3), 0, "only routers given");
    is_int(topo_nodes(topo), 7 * 3, "two links each: 7 groups");
    is_int(make("kind=dragonfly,groups=1,routers=4", 4), 0, "a single group");
    is_str(route_text(0, 3, 0, 0), "n0 s0 s3 n3", "is all there is");
    is_int(make("kind=dragonfly,global_latency=100ns,routers=4,global=2", 36), 0, "long links");
    is_int(topo_distance(topo, 3, 4), 104 * VTIME_NS, "four switches and the long link");
    machine_fini();
}

static void test_hypercube(void)
{
    is_int(make("kind=hypercube", 9), 0, "a hypercube that holds 9 nodes");
    is_int(topo_nodes(topo), 16, "has 16");
    is_str(route_text(0, 11, 0, 0), "n0 s0 s1 s3 s11 n11", "lowest bit first");
    is_str(route_text(11, 0, 0, 0), "n11 s11 s10 s8 s0 n0", "and back");
    is_int(make("kind=hypercube,dims=5,nodes=3", 90), 0, "of five dimensions");
    is_int(topo_nodes(topo), 96, "with three nodes at each router");
    is_int(topo_distance(topo, 0, 95), 6 * VTIME_NS, "across");
    machine_fini();
}

static void test_graph(void)
{
    edge_add("n0", "s0", VTIME_NEVER);
    edge_add("n1", "s3", VTIME_NEVER);
    edge_add("s0", "s1",
             5 * VTIME_NS); /* two routes of two links, of which the second takes less time */
    edge_add("s1", "s3", 5 * VTIME_NS);
    edge_add("s0", "s2", 5 * VTIME_NS);
    edge_add("s2", "s3", 4 * VTIME_NS);
    edge_add("s0", "s4", 0); /* a route of three links, which takes no time */
    edge_add("s4", "s5", 0);
    edge_add("s5", "s3", 0);
    is_int(make("kind=graph", 2), 0, "a graph");
    is_int(topo_vertices(topo), 8, "vertices");
    is_int(topo_links(topo), 18, "links");
    is_str(route_text(0, 1, 0, 0), "n0 s0 s2 s3 n1", "fewest links, then least latency");
    is_int(topo_distance(topo, 0, 1), 10 * VTIME_NS, "with the hop into the first switch");
    edge_add("s0", "s6", 5 * VTIME_NS);
    edge_add("s6", "s3", 4 * VTIME_NS);
    is_int(make("kind=graph", 2), 0, "with another way as good");
    is_str(route_text(0, 1, 0, 0), "n0 s0 s2 s3 n1", "the first is taken");
    machine_fini();

    edge_add("n0", "n1", VTIME_NEVER);
    edge_add("n1", "n2", VTIME_NEVER);
    edge_add("n2", "n3", 7 * VTIME_NS);
    edge_add("n3", "n0", VTIME_NEVER);
    is_int(make("kind=graph", 4), 0, "a ring of nodes without switches");
    is_str(route_text(0, 2, 0, 0), "n0 s0 s1 s2 n2", "every node has a router of its own");
    is_int(topo_distance(topo, 1, 3), 2 * VTIME_NS, "its links have the latency of a hop");
    is_int(topo_least_latency(topo), VTIME_NS, "which is the least from node to node");
    uint32_t link = 0;
    struct topo_link at;
    is_int(find_link(topo, "n2", "n3", &link, &err), 0, "a link between nodes");
    topo_link_at(topo, link, 0, &at);
    is_int(at.latency, 7 * VTIME_NS, "is the one in the file");
    machine_fini();
}

static void expect(const char *settings, uint32_t nodes, const char *text)
{
    int e = make(settings, nodes);
    ok(e == ERR_INPUT && strstr(err.text, text), "%s: %s", settings, e ? err.text : "no error");
}

static void test_errors(void)
{
    expect("kind=tours", 1, "did you mean 'torus'");
    expect("kind=qqqqqqqq", 1, "expected one of: switch, star, torus");
    expect("!net.routing=ecpm", 1, "net.routing: unknown name 'ecpm': did you mean 'ecmp'");
    expect("kind=torus,dims=4x4", 17,
           "net.topology.dims: '4x4' has room for 16 nodes: 17 are needed");
    expect("kind=torus,dims=65536x65536", 1, "too large");
    expect("kind=mesh,nodes=5000000000", 1, "net.topology.nodes");
    expect("kind=fat-tree,down=4x4", 17, "net.topology.down: '4x4' has room for 16 nodes");
    expect("kind=fat-tree,down=4x4,up=4", 1, "net.topology.up: '4' has 1 levels: expected 2");
    expect("kind=fat-tree,down=4x4,up=2x4", 1, "net.topology.up: '2x4' begins with 2: expected 1");
    expect("kind=fat-tree,down=4x4,parallel=2x4", 1, "net.topology.parallel: '2x4' begins with 2");
    expect("kind=fat-tree,down=65536x65536", 1, "net.topology.down");
    expect("kind=dragonfly,groups=10,routers=4,global=2", 1, "net.topology.groups: 10 groups");
    expect("kind=dragonfly,groups=9,routers=4,global=2", 37, "room for 36 nodes: 37 are needed");
    expect("kind=dragonfly,routers=100000", 1, "at most");
    expect("kind=hypercube,dims=3", 9, "net.topology.dims: '3' has room for 8 nodes: 9 are needed");
    expect("kind=hypercube,dims=2x2", 1, "expected the number of its dimensions");
    expect("kind=hypercube,dims=30", 1, "too large");
    expect("kind=graph", 1, "net.topology.file: a graph needs a file");
    edge_add("n0", "s0", 0);
    expect("kind=graph", 2, "net.topology.file: the graph has 1 nodes: 2 are needed");
    edge_add("n9", "s0", 0);
    expect("kind=graph", 2, "without gaps");
    machine_fini();
    edge_add("n0", "s0", 0);
    edge_add("s1", "s1", 0);
    expect("kind=graph", 1, "'s1' to itself");
    machine_fini();
    edge_add("n0", "s0", 0);
    edge_add("n2", "s0", 0);
    expect("kind=graph", 1, "node 'n1' has no link from it");
    machine_fini();
    edge_add("n0", "s0", 0);
    edge_add("n1", "s1", 0);
    is_int(make("kind=graph", 2), 0, "a graph in two parts");
    is_str(route_text(0, 1, 0, 0), "error", "no route from one to the other");
    ok(strstr(err.text, "no route from n0 to n1"), "and says so");
    is_int(topo_distance(topo, 0, 1) == VTIME_NEVER, 1, "infinitely far");
    machine_fini();
}

/* A million nodes: nothing is stored. */
static void test_large(void)
{
    static const char *const large[] = {
        "kind=torus,dims=128x128x64",
        "kind=mesh,dims=1024x1024",
        "kind=fat-tree",
        "kind=dragonfly",
        "kind=hypercube,!net.routing=valiant",
        "kind=switch",
        "kind=dragonfly,!net.routing=valiant",
        "kind=torus,!net.routing=valiant",
    };
    for (size_t i = 0; i < sizeof large / sizeof large[0]; i++) {
        struct mallinfo2 before = mallinfo2();
        int e = make(large[i], 1048576), good = !e;
        for (uint32_t k = 0; good && k < 1000; k++) {
            uint32_t src = k * 2654435761u % 1048576, dst = (k * 40503u + 1) % 1048576;
            good = src == dst || topo_route(topo, src, dst, k, 0, NULL, &route, &err) == 0;
        }
        struct mallinfo2 after = mallinfo2();
        size_t more = after.uordblks + after.hblkhd - before.uordblks - before.hblkhd;
        ok(good && more < 65536, "%s: a million nodes in less than 64 KiB", large[i]);
        machine_fini();
    }
}

/* Everything is inside the square, and nothing on top of another thing. */
static void test_positions(void)
{
    static const char *const some[] = {"kind=switch",
                                       "kind=torus,dims=12",
                                       "kind=torus,dims=4x3",
                                       "kind=mesh,dims=3x3x2x2,nodes=2",
                                       "kind=fat-tree,down=3x4",
                                       "kind=dragonfly",
                                       "kind=hypercube",
                                       "kind=hypercube,dims=6"};
    for (size_t i = 0; i < sizeof some / sizeof some[0]; i++) {
        double x[200], y[200];
        int good = make(some[i], 12) == 0 && topo_vertices(topo) <= 200;
        for (uint32_t v = 0; good && v < topo_vertices(topo); v++) {
            topo_position(topo, v, &x[v], &y[v]);
            good = x[v] >= 0 && x[v] <= 1 && y[v] >= 0 && y[v] <= 1;
            for (uint32_t w = 0; w < v && good; w++)
                good = hypot(x[v] - x[w], y[v] - y[w]) > 0.005;
            if (!good)
                diag("vertex %u at %g, %g", v, x[v], y[v]);
        }
        ok(good, "%s: every vertex has a place", some[i]);
        machine_fini();
    }
}

/* Do two lines cross between their ends? */
static double side_of(const double a[2], const double b[2], const double c[2])
{
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

static int cross(const double l[4], const double m[4])
{
    return side_of(l, l + 2, m) * side_of(l, l + 2, m + 2) < -1e-12 &&
           side_of(m, m + 2, l) * side_of(m, m + 2, l + 2) < -1e-12;
}

/* The links of a group to others: none crosses another, and no node of any group is among them. */
static void test_dragonfly_drawing(void)
{
    static const char *const some[] = {"kind=dragonfly,groups=9,routers=4,global=2,nodes=2",
                                       "kind=dragonfly,groups=7,routers=6,global=1,nodes=3",
                                       "kind=dragonfly,groups=19,routers=6,global=3,nodes=3"};
    for (size_t i = 0; i < sizeof some / sizeof some[0]; i++) {
        double lines[64][4], nearest = 1, farthest = 0;
        uint32_t count = 0, crossed = 0, nodes, routers;
        int good = make(some[i], 12) == 0 && topo_groups(topo) > 1;
        nodes = topo_nodes(topo), routers = (topo_vertices(topo) - nodes) / topo_groups(topo);
        for (uint32_t v = nodes; good && v < nodes + routers; v++)
            for (uint32_t k = 0; k < topo_degree(topo, v) && count < 64; k++) {
                uint32_t peer = topo_port_at(topo, v, k).peer;
                if (peer < nodes + routers)
                    continue;
                topo_position(topo, v, &lines[count][0], &lines[count][1]);
                topo_position(topo, peer, &lines[count][2], &lines[count][3]);
                for (uint32_t n = 0; n < count; n++)
                    crossed += (uint32_t)cross(lines[n], lines[count]);
                count++;
            }
        for (uint32_t v = 0; good && v < topo_vertices(topo); v++) {
            double x, y, away;
            topo_position(topo, v, &x, &y);
            away = hypot(x - 0.5, y - 0.5);
            if (v < nodes)
                nearest = fmin(nearest, away);
            else
                farthest = fmax(farthest, away);
        }
        ok(good && count + 1 == topo_groups(topo) && crossed == 0 && nearest > farthest + 0.05,
           "%s: %u links between groups, %u crossings, nodes are outside", some[i], count, crossed);
        machine_fini();
    }
    make("kind=torus,dims=4x3", 12);
    ok(topo_groups(topo) == 0, "a torus has no groups");
    machine_fini();
}

int main(void)
{
    plan_auto();
    test_switch();
    test_grid();
    test_tree();
    test_dragonfly();
    test_hypercube();
    test_graph();
    test_errors();
    test_large();
    test_positions();
    test_dragonfly_drawing();
    return done_testing();
}
