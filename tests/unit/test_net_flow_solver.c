/*
 * The flow solver against closed forms, and its edges.
 */
#include "net/flow_solver.h"

#include <math.h>
#include <stdlib.h>

#include "flow_rate.h"
#include "tap.h"

#define B 0.001 /* bytes per picosecond: 1 GB/s, so 1000 bytes take 1 us */

enum { LINKS = 64 };
static double capacities[LINKS];
static uint64_t asked;
static struct flow_solver *s;

static double capacity(void *owner, uint32_t link)
{
    const double *table = owner;

    asked++;
    return link < LINKS ? table[link] : B;
}

static void begin(void)
{
    flow_solver_destroy(s);
    for (int i = 0; i < LINKS; i++)
        capacities[i] = B;
    asked = 0;
    s = flow_solver_create(capacity, capacities);
}

static struct flow *start(vtime t, uint64_t bytes, unsigned n, const uint32_t *links, long user)
{
    return flow_start(s, t, links, n, bytes, INFINITY, (void *)user);
}
#define ROUTE(...)                                        \
    (sizeof((uint32_t[]){__VA_ARGS__}) / 4), (uint32_t[]) \
    {                                                     \
        __VA_ARGS__                                       \
    }

static void ends(vtime t, long user, const char *name)
{
    vtime end = -1;
    void *who = (void *)-1L;

    is_int(flow_next(s), t, name);
    is_int(flow_take(s, &end, &who), 1, name);
    is_int(end, t, name);
    is_int((long)who, user, name);
}

static void is_empty(void)
{
    vtime end = -1;
    void *who = NULL;

    is_int(flow_next(s), VTIME_NEVER, "nothing ends any more");
    is_int(flow_take(s, &end, &who), 0, "nothing to take");
    is_int(end, -1, "outputs are untouched");
}

static void is_rate(const struct flow *f, double want, const char *name)
{
    double got = flow_rate(s, f);

    if (!ok(fabs(got - want) <= 1e-12 * want, "%s", name))
        diag("got %.17g, expected %.17g", got, want);
}

static void test_alone(void)
{
    begin();
    is_empty();
    start(5, 1000, ROUTE(1), 1);
    ends(5 + 1 * VTIME_US, 1, "bytes / capacity");
    is_empty();
    capacities[2] = B / 3;
    start(2 * VTIME_US, 1000, ROUTE(1, 2, 3), 2);
    ends(5 * VTIME_US, 2, "the narrowest link counts");
    start(5 * VTIME_US, 1, ROUTE(2), 3);
    ends(5 * VTIME_US + 3000, 3, "one byte");
    start(6 * VTIME_US, 1000000000000, ROUTE(1), 4);
    ends(6 * VTIME_US + 1000 * VTIME_S, 4, "10^12 bytes to the picosecond");
    is_int((long long)s->count.started, 4, "counted");
    is_int((long long)s->count.active, 0, "none is left");
    is_int((long long)s->count.in_use, 0, "no link is in use");
    is_int((long long)asked, 3, "links are asked for when they come into use");
}

static void test_rounding(void)
{
    begin();
    capacities[0] = 3;
    start(0, 4, ROUTE(0), 1);
    ends(1, 1, "4/3 ps are 1");
    start(1, 5, ROUTE(0), 2);
    ends(3, 2, "5/3 ps are 2");
}

static void test_shared(void)
{
    begin();
    for (long i = 0; i < 7; i++)
        start(0, 1000, ROUTE(1), i);
    for (long i = 0; i < 7; i++)
        ends(7 * VTIME_US, i, "equal flows end together, in order of start");
    is_int((long long)s->count.solves, 1, "and need one solve");

    begin();
    for (long i = 0; i < 4; i++)
        start(0, 1000 * (uint64_t)(i + 1), ROUTE(1), i);
    ends(4 * VTIME_US, 0, "staircase: 4 share");
    ends(7 * VTIME_US, 1, "3 share");
    ends(9 * VTIME_US, 2, "2 share");
    ends(10 * VTIME_US, 3, "the last has it alone");
}

/* n nodes send to one: its link shares, the others idle at 1/n. */
static void test_incast(void)
{
    enum { N = 50 };

    begin();
    for (long i = 0; i < N; i++)
        start(0, 1000, ROUTE((uint32_t)i + 1, 0), i);
    for (long i = 0; i < N; i++)
        ends(N * VTIME_US, i, "incast");
}

static void test_later(void)
{
    begin();
    struct flow *a = start(0, 2000, ROUTE(1, 2), 1);
    is_rate(a, B, "alone");
    struct flow *b = start(1 * VTIME_US, 500, ROUTE(2, 3), 2);
    is_rate(a, B / 2, "half");
    is_rate(b, B / 2, "half");
    ends(2 * VTIME_US, 2, "the short one");
    is_rate(a, B, "all again");
    ends(2500 * VTIME_NS, 1, "the long one");
}

/* One long flow over three links, one short flow on each: Bertsekas and Gallager's line. */
static void test_line(void)
{
    struct flow *f[5];

    begin();
    capacities[2] = B / 2;
    f[0] = start(0, 1000, ROUTE(1, 2, 3), 0);
    f[1] = start(0, 1000, ROUTE(1), 1);
    f[2] = start(0, 1000, ROUTE(2), 2);
    f[3] = start(0, 1000, ROUTE(3), 3);
    is_rate(f[0], B / 4, "the long flow is limited by the narrow link");
    is_rate(f[1], B * 3 / 4, "what it leaves on link 1");
    is_rate(f[2], B / 4, "its equal on link 2");
    is_rate(f[3], B * 3 / 4, "what it leaves on link 3");
    f[4] = start(0, 1000, ROUTE(3), 4);
    is_rate(f[3], B * 3 / 8, "a third flow on link 3");
    is_rate(f[0], B / 4, "does not concern the long one");
    flow_capacity(s, 0, 3, B / 4);
    is_rate(f[0], B / 12, "until link 3 is narrower");
    is_rate(f[1], B * 11 / 12, "link 1 has more left");
    is_rate(f[2], B * 5 / 12, "and link 2");
}

static void test_limits(void)
{
    uint32_t one[] = {1};

    begin();
    struct flow *a = flow_start(s, 0, one, 1, 1000, B / 4, (void *)1);
    is_rate(a, B / 4, "its limit");
    struct flow *b = flow_start(s, 0, one, 1, 3000, INFINITY, (void *)2);
    is_rate(b, B * 3 / 4, "the other has the rest");
    struct flow *c = flow_start(s, 0, one, 1, 1000, B, (void *)3);
    is_rate(a, B / 4, "below its share");
    is_rate(b, B * 3 / 8, "half of the rest");
    is_rate(c, B * 3 / 8, "a limit above the share does not matter");
    for (long i = 4; i < 7; i++)
        start(0, 100, ROUTE(1), i);
    is_rate(a, B / 6, "a sixth");

    begin();
    flow_start(s, 0, NULL, 0, 1000, B / 2, (void *)1);
    ends(2 * VTIME_US, 1, "a limit and no links");
    flow_start(s, 2 * VTIME_US, one, 1, 1000, 0, (void *)2);
    is_empty();
}

static void test_at_once(void)
{
    begin();
    capacities[5] = INFINITY;
    start(10, 0, ROUTE(1), 1);
    start(10, 1000, 0, NULL, 2);
    start(10, 0, 0, NULL, 3);
    start(10, UINT64_MAX, ROUTE(5, 5), 4);
    start(10, 1000, ROUTE(5, 1), 5);
    ends(10, 1, "no bytes");
    ends(10, 2, "no links");
    ends(10, 3, "no bytes and no links");
    ends(10, 4, "infinite links");
    ends(10 + VTIME_US, 5, "an infinite link does not limit");
    is_empty();
}

static void test_twice(void)
{
    begin();
    struct flow *a = start(0, 1000, ROUTE(1, 2, 1), 1);
    is_rate(a, B / 2, "a link crossed twice counts twice");
    struct flow *b = start(0, 1000, ROUTE(1), 2);
    is_rate(a, B / 3, "with another flow");
    is_rate(b, B / 3, "which has its third");
    ends(3 * VTIME_US, 1, "both end");
    ends(3 * VTIME_US, 2, "both end");
    is_empty();
}

static void test_stall(void)
{
    begin();
    capacities[1] = 0;
    struct flow *a = start(0, 1000, ROUTE(1, 2), 1);
    is_empty();
    start(0, 1000, ROUTE(2), 2);
    ends(VTIME_US, 2, "a stalled flow takes nothing from others");
    flow_capacity(s, 5 * VTIME_US, 1, B);
    ends(6 * VTIME_US, 1, "it goes on when the capacity comes");

    a = start(6 * VTIME_US, 1000, ROUTE(1), 3);
    flow_capacity(s, 6 * VTIME_US + 250 * VTIME_NS, 1, 0);
    is_empty();
    flow_capacity(s, 10 * VTIME_US, 1, 0);
    flow_capacity(s, 10 * VTIME_US, 1, B / 2);
    is_rate(a, B / 2, "degraded");
    ends(11500 * VTIME_NS, 3, "750 bytes were left");
}

static void test_capacity(void)
{
    begin();
    struct flow *a = start(0, 3000, ROUTE(1), 1), *b = start(0, 3000, ROUTE(1, 2), 2);
    flow_capacity(s, VTIME_US, 2, B / 4);
    is_rate(b, B / 4, "narrower than the share");
    is_rate(a, B * 3 / 4, "the other gains");
    flow_capacity(s, 2 * VTIME_US, 2, INFINITY);
    is_rate(b, B / 2, "infinite: no limit");
    flow_capacity(s, 2 * VTIME_US, 1, INFINITY);
    ends(2 * VTIME_US, 1, "all that is left, at once");
    ends(2 * VTIME_US, 2, "all that is left, at once");
    flow_capacity(s, 3 * VTIME_US, 1, B / 5);
    flow_capacity(s, 3 * VTIME_US, 33, B);
    start(3 * VTIME_US, 100, ROUTE(1), 3);
    ends(3500 * VTIME_NS, 3, "an idle link is told too");
}

/* 40 flows come and go on a link that one flow has all the time: no error builds up. */
static void test_drift(void)
{
    vtime t = 0, step = 1000 * VTIME_US + 7;
    double left = 1e8;

    begin();
    start(0, 100000000, ROUTE(1), -1);
    for (long i = 0; i < 40; i++) {
        start(t, 333333, ROUTE(1), i);
        ends(t + 666666 * VTIME_NS, i, "half of the link");
        left -= 333333 + (double)(step - 666666 * VTIME_NS) * B;
        t += step;
    }
    ends(t + (vtime)llround(left / B), -1, "exact after 80 changes");
}

/* What does not touch a flow costs nothing. */
static void test_selective(void)
{
    const struct flow_counters *count;

    begin();
    for (uint32_t i = 0; i < 10; i++)
        start(0, 10000, ROUTE(i, 20, 21), (long)i);
    for (uint32_t i = 0; i < 10; i++)
        start(0, 10000, ROUTE(30 + i), (long)i);
    flow_next(s);
    count = &s->count;
    uint64_t links = count->links, rates = count->rates, in_use = count->in_use;
    is_int((long long)in_use, 22, "links in use");
    start(1, 10, ROUTE(30), 100);
    flow_next(s);
    is_int((long long)(count->links - links), 1, "one link touched");
    is_int((long long)(count->rates - rates), 1, "one rate set, of both");
    is_int((long long)count->active, 21, "flows active");
}

/* A crowd that meets at one link, each flow at its own time: as much work for each as for one. */
static void test_crowd(void)
{
    enum { N = 3000 };
    const struct flow_counters *count;
    vtime last = 0, t;
    void *user;
    long n = 0;

    begin();
    count = &s->count;
    for (uint32_t i = 0; i < N; i++)
        start(i * VTIME_NS, 1000000, ROUTE(10 + i, 1), (long)i);
    while (flow_take(s, &t, &user)) {
        n += t >= last && (long)user == n;
        last = t;
    }
    is_int(n, N, "all end, in order");
    is_int(last, (long long)(N * 1e6 / B), "the link was never idle");
    ok(count->rates < 4 * N, "%lld rates set for %d flows", (long long)count->rates, N);
    ok(count->links < 6 * N, "%lld links looked at", (long long)count->links);
}

/* Flows that meet the same link one after the other, and with others on the way. */
static void test_meet(void)
{
    begin();
    struct flow *a = start(0, 100000, ROUTE(1, 2), 1);
    struct flow *b = start(0, 100000, ROUTE(3, 4), 2);
    is_rate(a, B, "alone");
    struct flow *c = start(VTIME_US, 100000, ROUTE(2, 4), 3);
    is_rate(a, B / 2, "met at one link");
    is_rate(b, B / 2, "met at another");
    is_rate(c, B / 2, "met two");
    struct flow *d = start(2 * VTIME_US, 100000, ROUTE(5, 2), 4);
    is_rate(a, B / 3, "two of the same kind: one");
    is_rate(d, B / 3, "and the other");
    is_rate(b, 2 * B / 3, "which gives room elsewhere");
    flow_capacity(s, 2 * VTIME_US, 5, B / 6);
    is_rate(d, B / 6, "a link of its own gets narrow");
    is_rate(a, 5 * B / 12, "for the others");
    flow_capacity(s, 2 * VTIME_US, 5, 0);
    is_rate(d, 0, "and is down");
    is_rate(a, B / 2, "for the others");
}

/* The number of the solve wraps, and comes to where links and flows were last seen. */
static void test_wrap(void)
{
    uint32_t route[] = {1, 2};

    begin();
    struct flow *a = flow_start(s, 0, route, 2, 10000, 2 * B, (void *)1);
    struct flow *b = flow_start(s, 0, NULL, 0, 10000, B / 8, (void *)2);
    start(0, 10000, ROUTE(7), 4);
    start(0, 10000, ROUTE(7), 5);
    is_rate(a, B, "before");
    is_int(s->solve, 1, "the first solve");
    s->solve = UINT32_MAX;
    struct flow *c = start(VTIME_US, 10000, ROUTE(2, 3), 3);
    is_rate(a, B / 2, "after");
    is_rate(b, B / 8, "after");
    is_rate(c, B / 2, "after");
    is_int(s->solve, 1, "the first again");
}

/* More links than are kept idle, and numbers up to the last. */
static void test_many_links(void)
{
    vtime t = 0, end;
    void *user;
    int wrong = 0;

    begin();
    for (uint32_t i = 0; i < 20000; i++) {
        start(t, 1000, ROUTE(UINT32_MAX - i, 1), 0);
        wrong += !flow_take(s, &end, &user) || end != t + VTIME_US;
        t = end;
    }
    is_int(wrong, 0, "links come and go");
    start(t, 1000, ROUTE(UINT32_MAX), 7);
    ends(t + VTIME_US, 7, "a recycled link is found again");
}

static void test_long_route(void)
{
    enum { N = 3000 };
    uint32_t *links = malloc(N * sizeof *links);

    begin();
    for (uint32_t i = 0; i < N; i++)
        links[i] = i;
    start(0, 1000, N, links, 1);
    start(0, 1000, N, links, 2);
    ends(2 * VTIME_US, 1, "a long route");
    start(2 * VTIME_US, 1000, N, links, 3);
    free(links);
}

int main(void)
{
    plan_auto();
    test_alone();
    test_rounding();
    test_shared();
    test_incast();
    test_later();
    test_line();
    test_limits();
    test_at_once();
    test_twice();
    test_stall();
    test_capacity();
    test_drift();
    test_selective();
    test_crowd();
    test_meet();
    test_wrap();
    test_many_links();
    test_long_route(); /* ends with unfinished flows: nothing leaks */
    flow_solver_destroy(s);
    return done_testing();
}
