/*
 * The flow model as the engine's medium, against closed forms: what limits a message, who is told
 * when it has left, and which messages wait for each other.
 */
#include "net_medium.h"

enum { RANKS = 4 };

#define NET "net.model=flow,net.latency=1us,net.bandwidth=8Gbps,net.hop_latency=0"

/* A curve of one piece limits messages as one of several does. */
static void test_limit(void)
{
    set_up(NET, RANKS);
    submit(0, 1, 1000000, 0, 0, 0);
    advance_all();
    is_next(1, 1001 * VTIME_US, 0, "the bandwidth of the links");
    tear_down();

    set_up(NET ",net.segments[+].from=0,net.segments[-1].bandwidth=1Gbps", RANKS);
    submit(0, 1, 1000000, 0, 0, 0);
    advance_all();
    is_next(1, 8001 * VTIME_US, 0, "the bandwidth of the only piece");
    tear_down();

    set_up(NET
           ",net.segments[+].from=0,net.segments[-1].bandwidth=1Gbps,net.segments[+].from=500KB",
           RANKS);
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
    set_up(NET, RANKS);
    submit(0, 1, 3000, 0, 0, 77);
    submit(0, 2, 1000, 0, 0, 99);
    is_int((long long)medium.notices(medium.owner), 2, "two notices are pending");
    advance_all();
    is_next(0, 2 * VTIME_US, 99, "the small message has left");
    is_next(0, 4 * VTIME_US, 77, "the large one has left");
    is_next(2, 3 * VTIME_US, 0, "the small message arrives");
    is_next(1, 5 * VTIME_US, 0, "the large one arrives");
    is_int((long long)medium.notices(medium.owner), 0, "no notice is pending");
    tear_down();
}

static void test_order(void)
{
    set_up(NET, RANKS);
    submit(0, 1, 8000, 0, PROGRAM, 0);
    submit(0, 1, 0, 0, PROGRAM, 0);
    advance_all();
    is_next(1, 9 * VTIME_US, 0, "a message");
    is_next(1, 9 * VTIME_US, 0, "a small one behind it waits");
    tear_down();

    set_up(NET, RANKS);
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
