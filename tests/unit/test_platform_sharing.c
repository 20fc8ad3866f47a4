/*
 * Sharing of a node: factors between and beyond the items of the list, mixtures, what is refused,
 * and ranks per node against counting them.
 */
#include "platform/sharing.h"

#include <math.h>
#include <string.h>

#include "tap.h"

static struct platform machine;
static struct err err;

static int set(const char *settings)
{
    platform_fini(&machine);
    platform_init(&machine);
    int rc = platform_set(&machine, settings, NULL, &err);
    return rc ? rc : platform_check(&machine, &err);
}

static int is_factor(uint64_t busy, double expected)
{
    return fabs(platform_sharing_factor(&machine, busy) - expected) < 1e-12;
}

#define TWO_AND_SIX                                                                         \
    "nodes.sharing[+].busy=2,nodes.sharing[-1].in_cache=1.1,nodes.sharing[-1].streaming=2," \
    "nodes.sharing[-1].random=1.5,nodes.sharing[+].busy=6,nodes.sharing[-1].in_cache=1.3,"  \
    "nodes.sharing[-1].streaming=6,nodes.sharing[-1].random=2"

static void test_factors(void)
{
    is_int(set("nodes.ranks=4"), 0, "no list");
    ok(is_factor(1, 1) && is_factor(64, 1), "nobody disturbs anybody");
    is_int(set("nodes.streaming_part=1,nodes.random_part=0," TWO_AND_SIX), 0, "streaming");
    ok(is_factor(1, 1), "a rank alone");
    ok(is_factor(2, 2) && is_factor(6, 6), "as listed");
    ok(is_factor(3, 3) && is_factor(5, 5), "linear in between");
    ok(is_factor(7, 6) && is_factor(1000, 6), "beyond the last as there");
    is_int(set("nodes.streaming_part=0,nodes.random_part=0," TWO_AND_SIX), 0, "within the caches");
    ok(is_factor(2, 1.1) && is_factor(4, 1.2), "its own factors");
    is_int(set("nodes.streaming_part=0.5,nodes.random_part=0.25," TWO_AND_SIX), 0, "a mixture");
    ok(is_factor(2, 0.5 * 2 + 0.25 * 1.5 + 0.25 * 1.1), "is the mean by parts");
    is_int(set("nodes.streaming_part=1,nodes.random_part=0,nodes.sharing[+].busy=1,"
               "nodes.sharing[-1].streaming=1.5"),
           0, "from one rank on");
    ok(is_factor(1, 1.5) && is_factor(9, 1.5), "is taken as it is");
}

static void test_refused(void)
{
    is_int(set("nodes.sharing[+].busy=2,nodes.sharing[+].busy=2"), ERR_INPUT, "the same twice");
    ok(strstr(err.text, "nodes.sharing[1].busy: 2 ranks are not more than the 2"), "is named");
    is_int(set("nodes.sharing[+].streaming=2"), ERR_INPUT, "for how many?");
    ok(strstr(err.text, "nodes.sharing[0].busy: must be given"), "is asked for");
    is_int(set("nodes.sharing[+].busy=0"), ERR_INPUT, "0 ranks");
    is_int(set("nodes.sharing[+].busy=2,nodes.sharing[-1].random=0"), ERR_INPUT, "a factor of 0");
    is_int(set("nodes.streaming_part=0.7,nodes.random_part=0.4"), ERR_INPUT, "parts above 1");
    ok(strstr(err.text, "nodes.streaming_part: 0.7 and nodes.random_part 0.4 are more than 1"),
       "both are named");
}

/* Counts ranks one by one. */
static void compare(const char *settings, uint64_t ranks)
{
    struct platform_nodes nodes;
    uint64_t on_node[64] = {0}, some = 0;
    int same = 1, even = 1;
    diag("%s, %llu ranks", settings, (unsigned long long)ranks);
    is_int(set(settings), 0, "settings");
    if (!is_int(platform_nodes_init(&nodes, &machine, ranks, &err), 0, "nodes"))
        return;
    for (uint64_t i = 0; i < ranks; i++)
        some = ++on_node[platform_node_of(&nodes, (uint32_t)i)];
    for (uint32_t i = 0; i < nodes.count; i++) {
        same &= platform_ranks_on_node(&nodes, i, ranks) == on_node[i];
        even &= on_node[i] == 0 || on_node[i] == some;
    }
    ok(same, "every node has as many as counted");
    is_int(platform_nodes_are_even(&nodes, ranks), even, "and whether all are alike");
}

static void test_nodes(void)
{
    for (uint64_t ranks = 1; ranks <= 13; ranks++) {
        compare("nodes.ranks=1", ranks);
        compare("nodes.ranks=4", ranks);
        compare("nodes.ranks=4,nodes.placement=cyclic", ranks);
        compare("nodes.ranks=4,nodes.count=9,nodes.placement=cyclic", ranks);
        compare("nodes.placement=list,nodes.map=0 0 1 2 2", ranks);
        compare("nodes.placement=list,nodes.map=3 3 1 1", ranks);
    }
}

int main(void)
{
    plan_auto();
    test_factors();
    test_refused();
    test_nodes();
    platform_fini(&machine);
    return done_testing();
}
