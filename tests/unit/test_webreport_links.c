/* The load of links: traffic between nodes, routed through a topology that can be followed by
 * hand. */
#include "topology_machine.h"
#include "webreport/links.h"

static double load_of(const struct links *l, const char *from, const char *to)
{
    uint32_t link;
    struct err why;
    if (topo_find_link(l->topo, from, to, &link, &why) != 0)
        return -1;
    for (size_t i = 0; i < l->count; i++)
        if (l->loads[i].link == link)
            return l->loads[i].bytes;
    return 0;
}

static void test_torus(void)
{
    struct analysis_rank ranks[12];
    /* 0 to 1 and 0 to 6 share the cable from s0 to s1; what stays on a node uses none */
    struct analysis_node_pair pairs[] = {{0, 1, 1, 100, 1},
                                         {0, 6, 1, 1000, 1},
                                         {3, 3, 1, 5000, 1},
                                         {-1, 2, 1, 7, 1}};
    struct analysis a = {.ranks = 12,
                         .rank = ranks,
                         .node_pair = pairs,
                         .node_pair_count = 4,
                         .runtime = 1};
    struct links l;
    struct err why = {0};
    memset(ranks, 0, sizeof ranks);
    for (int i = 0; i < 12; i++)
        ranks[i].node = i;
    is_int(make("kind=torus,dims=4x3", 12), 0, "a torus");
    ok(links_init(&l, &machine, &a, &why) == 0, "traffic is routed: %s", why.text);
    ok(load_of(&l, "n0", "s0") == 1100, "the node's own link carries all that it sends");
    ok(load_of(&l, "s0", "s1") == 1100, "routes share a cable");
    ok(load_of(&l, "s1", "s2") == 1000, "as far as they are the same");
    ok(load_of(&l, "s1", "n1") == 100, "one ends");
    ok(load_of(&l, "s6", "n6") == 1000, "the other goes on");
    ok(load_of(&l, "s1", "s0") == 0 && load_of(&l, "n3", "s3") == 0, "other links carry nothing");
    is_int(l.count, 6, "links in use");
    ok(l.loads[0].bytes == 1100 && l.loads[5].bytes == 100, "most first");
    links_fini(&l);
    ranks[5].node = 400;
    ok(links_init(&l, &machine, &a, &why) != 0 && *why.text, "a machine that is too small: %s",
       why.text);
    machine_fini();
}

int main(void)
{
    plan_auto();
    test_torus();
    return done_testing();
}
