/*
 * What a rank sends and the link of its node: what is more than it can carry, and what is not.
 */
#include <stdlib.h>

#include "net/net.h"
#include "tap.h"

#define LONG 12500 /* bytes that take 100 us */

static struct net net;
static struct err err;

/* 1 Gbit/s, 10 us. */
static void start(const char *settings, uint64_t ranks)
{
    static struct platform machine;

    platform_config_init(&machine.config);
    if (net.ops)
        net_fini(&net);
    if (platform_set(&machine, "net.model=constant,net.latency=10us", NULL, &err) ||
        platform_set(&machine, settings, NULL, &err) || net_init(&net, &machine, ranks, &err)) {
        printf("Bail out! %s\n", err.text);
        exit(1);
    }
}

static void send(uint32_t src, uint32_t dst, uint64_t bytes, vtime t)
{
    net_overcommit_sent(&net, src, dst, bytes, t, t + net_delay(&net, src, dst, bytes, t));
}

/* Messages of 100 us, this much time from one to the next. */
static const struct net_overcommit_found *send_many(int count, vtime step)
{
    start("net.bandwidth=1Gbps", 8);
    for (int i = 0; i < count; i++)
        send(3, 4, LONG, VTIME_MS + i * step);
    return &net.overcommit.found;
}

static void test_program(void)
{
    const struct net_overcommit_found *f = send_many(100, 100 * VTIME_US);

    is_int(f->ranks, 0, "messages one after the other");
    send_many(100, 97 * VTIME_US);
    is_int(f->ranks, 0, "3%% more than the link can is little");
    send_many(2, 91 * VTIME_US);
    is_int(f->ranks, 0, "less than a latency is little");
    send_many(2, 89 * VTIME_US);
    is_int(f->ranks, 1, "more than a latency");
    is_int(f->took, 189 * VTIME_US, "in this time");
    is_int(f->needs, 200 * VTIME_US, "what takes this time");
    send_many(15, 0);
    is_int(f->ranks, 1, "all at the same time: one rank");
    is_int(f->rank, 3, "this one");
    is_int(f->at, VTIME_MS, "then");
    is_int(f->took, 100 * VTIME_US, "in the time of one");
    is_int(f->needs, 1500 * VTIME_US, "all of them");
    send(3, 4, LONG, VTIME_S);
    send(3, 4, LONG, VTIME_S);
    is_int(f->needs, 1500 * VTIME_US, "the largest factor counts");
    send(2, 4, LONG, VTIME_S);
    send(2, 4, LONG, VTIME_S);
    is_int(f->ranks, 2, "another rank");
    is_int(f->rank, 3, "did it less");
}

static void test_sizes(void)
{
    const struct net_overcommit_found *f = &net.overcommit.found;

    start("net.bandwidth=1Gbps", 8);
    send(0, 1, 100 * LONG, 0);
    send(0, 1, LONG / 10, 5);
    is_int(f->ranks, 0, "a small message while a large one leaves");
    send(0, 1, LONG / 10, 6);
    is_int(f->ranks, 0, "two are less than 5%% of it");
    start("net.bandwidth=1Gbps", 8);
    for (int i = 0; i < 10000; i++)
        send(0, 1, 19, 0);
    is_int(f->ranks, 0, "less than 1/64 of a latency does not count");
    for (int i = 0; i < 10000; i++)
        send(0, 1, 20, 0);
    is_int(f->ranks, 1, "more does");
}

static void test_where(void)
{
    const struct net_overcommit_found *f = &net.overcommit.found;

    start("net.bandwidth=1Gbps,nodes.ranks=2", NET_OVERCOMMIT_RANKS + 100);
    for (int i = 0; i < 10; i++)
        send(0, 1, LONG, 0);
    is_int(f->ranks, 0, "messages within a node");
    for (int i = 0; i < 10; i++)
        send(NET_OVERCOMMIT_RANKS, 1, LONG, 0);
    is_int(f->ranks, 0, "a rank that is not watched");
    send(0, 1, LONG, VTIME_S);
    send(0, 2, LONG, VTIME_S);
    is_int(f->ranks, 0, "only one of two leaves the node");
    send(0, 2, LONG, VTIME_S);
    is_int(f->ranks, 1, "two of three do");
    is_int(f->needs, 200 * VTIME_US, "and count");
}

static void test_models(void)
{
    ok((start("net.bandwidth=inf", 8), net.overcommit.least == UINT64_MAX), "links without limits");
    ok((start("net.model=loggops", 8), net.overcommit.least == UINT64_MAX),
       "a model with adapters");
    ok((start("net.model=hops", 8), net.overcommit.least < 100), "a model without contention");
    is_str(net_model_instead("hops"), "flow", "and one with it");
    is_str(net_model_instead("constant"), "loggops", "for the other model, too");
    ok(!net_model_instead("loggops"), "no other is needed");
}

static void test_set(void)
{
    const struct net_overcommit_found *f = &net.overcommit.found;
    struct net_overcommit_set set = {0};

    start("net.bandwidth=1Gbps", 8);
    net_overcommit_judge(&net, 0, &set);
    is_int(f->ranks, 0, "nothing");
    net_overcommit_add(&net, &set, 0, 1, LONG, VTIME_MS, VTIME_MS + 200 * VTIME_US);
    net_overcommit_add(&net, &set, 0, 2, LONG, VTIME_MS, VTIME_MS + 200 * VTIME_US);
    net_overcommit_judge(&net, 0, &set);
    is_int(f->ranks, 0, "two messages at half the rate of the link");
    net_overcommit_add(&net, &set, 0, 3, LONG, VTIME_MS - 5, VTIME_MS + 1);
    net_overcommit_add(&net, &set, 0, 0, LONG, 0, VTIME_S);
    net_overcommit_judge(&net, 0, &set);
    is_int(f->ranks, 1, "three in the time of two, in any order");
    is_int(f->at, VTIME_MS - 5, "from the first one on");
    is_int(f->took, 200 * VTIME_US + 5, "to the end of the last one");
    is_int(f->needs, 300 * VTIME_US, "without the one within the node");
}

static void test_merge(void)
{
    const struct net_overcommit_found none = {0}, less = {2, 9, 5, 100, 200},
                                      more = {3, 1, 7, 100, 300}, early = {1, 4, 6, 200, 600};
    struct net_overcommit_found a = none, b = none;

    net_overcommit_merge(&a, &none);
    is_int(a.ranks, 0, "none and none");
    net_overcommit_merge(&a, &less);
    net_overcommit_merge(&a, &more);
    net_overcommit_merge(&a, &none);
    net_overcommit_merge(&a, &early);
    net_overcommit_merge(&b, &early);
    net_overcommit_merge(&b, &more);
    net_overcommit_merge(&b, &less);
    is_int(a.ranks, 6, "ranks add up");
    is_int(a.rank, 4, "the larger factor wins, then the earlier time");
    is_int(b.ranks, a.ranks, "in any order");
    is_int(b.rank, a.rank, "the same rank");
}

int main(void)
{
    plan_auto();
    test_program();
    test_sizes();
    test_where();
    test_models();
    test_set();
    test_merge();
    net_fini(&net);
    return done_testing();
}
