/*
 * The flow model as the engine's medium, against closed forms: what limits a message, who is told
 * when it has left, and which messages wait for each other.
 */
#include "net/net.h"

#include <string.h>

#include "engine_fini.h"
#include "tap.h"

enum { RANKS = 4, PROGRAM = 1, AGENT };

struct note {
    struct engine_msg em;
    uint64_t cookie; /* of a notice; 0: a message */
};

static struct net net;
static struct err err;
static struct platform machine;
static struct engine engine;
static struct engine_medium medium;
static struct engine_entity entities[RANKS];

static struct engine_msg *notice(void *owner, uint64_t cookie)
{
    struct note *n = (struct note *)engine_msg_alloc(&engine, sizeof *n);

    (void)owner;
    n->cookie = cookie;
    return &n->em;
}

static const struct engine_ops ops = {.notice = notice};

static void set_up(const char *settings)
{
    struct engine_config cfg = {.base = entities, .stride = sizeof *entities, .ops = &ops};

    platform_init(&machine);
    memset(entities, 0, sizeof entities);
    is_int(platform_set(&machine, settings, NULL, &err) || net_init(&net, &machine, RANKS, &err), 0,
           settings);
    rank_map_init(&cfg.map, RANK_MAP_BLOCK, RANKS, 1, 0, NULL);
    engine_init(&engine, &cfg);
    net.ops->medium(&net, &engine, &medium);
}

static void tear_down(void)
{
    for (int i = 0; i < RANKS; i++)
        ok(!entities[i].inbox, "nothing else came to rank %d", i);
    engine_fini(&engine);
    net_fini(&net);
    platform_fini(&machine);
    memset(&machine, 0, sizeof machine);
}

static void submit(uint32_t src, uint32_t dst, uint64_t bytes, vtime t, uint64_t order,
                   uint64_t cookie)
{
    struct note *n = (struct note *)engine_msg_alloc(&engine, sizeof *n);

    n->em.src = src;
    n->em.dst = dst;
    n->em.arrival = t;
    n->cookie = 0;
    medium.submit(medium.owner, &n->em,
                  &(struct engine_call){.load = bytes, .order = order, .cookie = cookie});
}

static void advance_all(void)
{
    for (vtime t; (t = medium.next(medium.owner)) != VTIME_NEVER;)
        medium.advance(medium.owner, t, t);
}

/* The next message of a rank's inbox, or notice: its time, or -1. */
static vtime take(uint32_t rank, uint64_t *cookie)
{
    struct note *n = (struct note *)engine_poll(&entities[rank]);
    vtime t = n ? n->em.arrival : -1;

    *cookie = n ? n->cookie : 0;
    if (n)
        engine_msg_free(&engine, &n->em);
    return t;
}

static void is_next(uint32_t rank, vtime t, uint64_t cookie, const char *what)
{
    uint64_t got;

    is_int(take(rank, &got), t, what);
    is_int((long long)got, (long long)cookie, "its cookie");
}

#define NET "net.model=flow,net.latency=1us,net.bandwidth=8Gbps,net.hop_latency=0"

/* A curve of one piece limits messages as one of several does. */
static void test_limit(void)
{
    set_up(NET);
    submit(0, 1, 1000000, 0, 0, 0);
    advance_all();
    is_next(1, 1001 * VTIME_US, 0, "the bandwidth of the links");
    tear_down();

    set_up(NET ",net.segments[+].from=0,net.segments[-1].bandwidth=1Gbps");
    submit(0, 1, 1000000, 0, 0, 0);
    advance_all();
    is_next(1, 8001 * VTIME_US, 0, "the bandwidth of the only piece");
    tear_down();

    set_up(NET
           ",net.segments[+].from=0,net.segments[-1].bandwidth=1Gbps,net.segments[+].from=500KB");
    submit(0, 1, 1000, 0, 0, 0);
    submit(2, 3, 1000000, 0, 0, 0);
    advance_all();
    is_next(1, 9 * VTIME_US, 0, "the bandwidth of the first of two pieces");
    is_next(3, 1001 * VTIME_US, 0, "and of the second");
    tear_down();
}

/* Two notices of one rank, in the order of events, which is not that of submission. */
static void test_notices(void)
{
    set_up(NET);
    submit(0, 1, 3000, 0, 0, 77);
    submit(0, 2, 1000, 0, 0, 99);
    is_int((long long)medium.notices(medium.owner), 2, "two notices are under way");
    advance_all();
    is_next(0, 2 * VTIME_US, 99, "the small message has left");
    is_next(0, 4 * VTIME_US, 77, "the large one has left");
    is_next(2, 3 * VTIME_US, 0, "the small message arrives");
    is_next(1, 5 * VTIME_US, 0, "the large one arrives");
    is_int((long long)medium.notices(medium.owner), 0, "no notice is under way");
    tear_down();
}

static void test_order(void)
{
    set_up(NET);
    submit(0, 1, 8000, 0, PROGRAM, 0);
    submit(0, 1, 0, 0, PROGRAM, 0);
    advance_all();
    is_next(1, 9 * VTIME_US, 0, "a message");
    is_next(1, 9 * VTIME_US, 0, "a small one behind it waits");
    tear_down();

    set_up(NET);
    submit(0, 1, 8000, 5 * VTIME_US, PROGRAM, 0);
    submit(0, 1, 0, 0, AGENT, 0);
    submit(0, 1, 0, 0, 0, 0);
    advance_all();
    is_next(1, 1 * VTIME_US, 0, "the agent's does not wait for the program's");
    is_next(1, 1 * VTIME_US, 0, "nor does one without order");
    is_next(1, 14 * VTIME_US, 0, "the program's");
    submit(0, 1, 0, 10 * VTIME_US, PROGRAM, 0);
    submit(0, 1, 0, 10 * VTIME_US, AGENT, 0);
    is_next(1, 14 * VTIME_US, 0, "what has gone out is not overtaken");
    is_next(1, 11 * VTIME_US, 0, "each order remembers its own");
    tear_down();
}

int main(void)
{
    test_limit();
    test_notices();
    test_order();
    return done_testing();
}
