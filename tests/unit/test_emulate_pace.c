/*
 * Scaled real time: the line between real and simulated time, what is measured, and a factor that
 * adapts. Moments are made up, so nothing here depends on how fast the computer is.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "emulate/remote_clock.h"
#include "emulate/factor.h"
#include "emulate/pace.h"
#include "tests/tap.h"

#define MS ((int64_t)1000000) /* nanoseconds */

static void test_line(void)
{
    struct emulate_pace p = {0};

    emulate_begin(&p, 1000 * MS, 4, 0);
    ok(emulate_time_at(&p, 1000 * MS) == 0, "time 0 is at the beginning");
    ok(emulate_time_at(&p, 500 * MS) == 0, "and before it");
    ok(emulate_time_at(&p, 1004 * MS) == VTIME_MS, "4 ms of real time are 1 ms");
    ok(emulate_wall_of(&p, VTIME_MS) == 1004 * MS, "and the other way round");
    emulate_change(&p, 1008 * MS, 2);
    ok(emulate_time_at(&p, 1008 * MS) == 2 * VTIME_MS, "where it bends both pieces meet");
    ok(emulate_time_at(&p, 1010 * MS) == 3 * VTIME_MS, "then 2 ms of real time are 1 ms");
    ok(emulate_time_at(&p, 1004 * MS) == VTIME_MS, "what was before is unchanged");
    ok(emulate_wall_of(&p, 3 * VTIME_MS) == 1010 * MS, "the moment of a time behind it");
    ok(emulate_wall_of(&p, VTIME_MS) == 1004 * MS, "the moment of a time before it");
    ok(p.factor_least == 2 && p.factor_most == 4, "the smallest and largest factor are known");
    emulate_change(&p, 1012 * MS, 2);
    ok(p.now.wall == 1008 * MS, "the same factor is no change");
}

/* Time is announced before it begins, and the factor may change in between. */
static void test_early(void)
{
    struct emulate_pace p = {0};

    emulate_begin(&p, 1000 * MS, 4, 0);
    emulate_change(&p, 996 * MS, 2);
    ok(emulate_time_at(&p, 997 * MS) == 0, "before the beginning it is 0");
    ok(emulate_time_at(&p, 1000 * MS) == VTIME_MS, "a factor that changes before the beginning");
}

/* The sum of pieces is exact: every piece begins where the one before it ends. */
static void test_sum(void)
{
    struct emulate_pace p = {0};
    int64_t wall = 77 * MS;
    double sum = 0;

    emulate_begin(&p, wall, 1, 0);
    for (int i = 1; i <= 1000; i++) {
        double factor = 1 + i % 7;

        sum += 1000.0 * (double)(i * 1000) / p.now.factor;
        wall += i * 1000;
        emulate_change(&p, wall, factor);
    }
    ok(emulate_time_at(&p, wall) - (vtime)sum < 1000 &&
           (vtime)sum - emulate_time_at(&p, wall) < 1000,
       "a thousand pieces add up");
}

static void test_overhead(void)
{
    struct emulate_pace p = {0};

    emulate_begin(&p, 1000 * MS, 10, 5 * MS);
    ok(emulate_now(&p, 1015 * MS) == VTIME_MS, "the simulator's schedule is later by the overhead");
    ok(emulate_now(&p, 1010 * MS) == VTIME_MS, "it never goes back");
    ok(emulate_until(&p, 2 * VTIME_MS, 1015 * MS, 100 * MS) > 9 * MS &&
           emulate_until(&p, 2 * VTIME_MS, 1015 * MS, 100 * MS) <= 10 * MS + 1,
       "how long until an event is executed");
    ok(emulate_until(&p, 2 * VTIME_MS, 1015 * MS, MS) == MS, "at most so long");
    ok(emulate_until(&p, VTIME_NEVER, 1015 * MS, MS) == MS, "also if there is no event");
    ok(emulate_until(&p, 0, 1015 * MS, MS) == 0, "an event that is due is not waited for");
    ok(emulate_called(&p, VTIME_MS, VTIME_MS) == VTIME_MS && p.late == 0,
       "a call in time keeps its time");
    ok(emulate_called(&p, VTIME_MS, 3 * VTIME_MS) == 3 * VTIME_MS,
       "a late one gets that of its arrival");
    ok(p.late == 1 && p.max_late == 2 * VTIME_MS, "which is counted");
}

static void test_trend(void)
{
    struct emulate_pace p = {0};
    vtime most = 0;

    emulate_begin(&p, 0, 1, 0);
    for (int i = 0; i < 10000; i++)
        emulate_executed(&p, i * VTIME_MS, i * VTIME_MS + i * VTIME_NS);
    ok(p.max_behind == 9999 * VTIME_NS, "the latest event");
    ok(p.events == 10000, "all events");
    ok(p.trend.bins <= EMULATE_BINS && p.trend.bins > EMULATE_BINS / 4,
       "the run fills the intervals");
    for (uint32_t i = 1; i < p.trend.bins; i++)
        most += p.trend.most[i] > p.trend.most[i - 1];
    ok(most == (vtime)p.trend.bins - 1, "lateness that grows does so in every interval");
    ok(p.trend.most[p.trend.bins - 1] == p.max_behind, "and ends with the latest");
}

static void test_control(void)
{
    struct emulate_control c;
    struct emulate_pace p = {0};
    int64_t wall = 1000 * MS;
    double high;

    emulate_control_init(&c, 1, 10 * VTIME_US);
    emulate_begin(&p, wall, c.factor, 1000);
    for (int i = 0; i < 100; i++, wall += MS / 10)
        emulate_adapt(&c, &p, wall, 50 * VTIME_US);
    high = p.now.factor;
    ok(high > 10, "late events raise the factor: %g", high);
    for (int i = 0; i < 100; i++, wall += MS)
        emulate_adapt(&c, &p, wall, -1);
    ok(p.now.factor == 1, "without events it is the smallest");
    emulate_adapt(&c, &p, wall, 0);
    ok(p.now.factor > 1, "communication begins with what it had learned");
    for (int i = 0; i < 10000; i++, wall += MS)
        emulate_adapt(&c, &p, wall, 0);
    ok(p.now.factor == 1, "and if no event is late, it shrinks: %g", p.now.factor);
    for (int i = 0; i < 100000; i++, wall += MS)
        emulate_adapt(&c, &p, wall, VTIME_S);
    ok(p.now.factor == c.most, "it has a limit");
}

/* The simulator was interrupted for 30 ms. Then it executes what was due meanwhile, in half of the
 * time that this takes in the program's schedule. */
static void test_interruption(void)
{
    struct emulate_control c;
    struct emulate_pace p = {0};
    int64_t wall = 1000 * MS, late = 30 * MS;
    double least;

    emulate_control_init(&c, 1, 10 * VTIME_US);
    emulate_begin(&p, wall, c.factor, 1000);
    emulate_adapt(&c, &p, wall, 0);
    least = p.now.factor;
    for (; late > 0; wall += MS / 10, late -= MS / 20)
        emulate_adapt(&c, &p, wall, (vtime)((double)late * 1000 / p.now.factor));
    ok(p.now.factor <= 2 * least, "one that catches up needs no larger factor: %g", p.now.factor);
    for (int i = 0; i < 100; i++, wall += MS / 10, late += MS / 20)
        emulate_adapt(&c, &p, wall, (vtime)((double)late * 1000 / p.now.factor));
    ok(p.now.factor > 10 * least, "one that is later and later does: %g", p.now.factor);
}

/* ---- other computers ---- */

static void test_follow(void)
{
    struct emulate_pace p = {0}, mine = {0};
    int same = 1;

    emulate_begin(&p, 1000 * MS, 4, 7);
    emulate_change(&p, 1008 * MS, 2);
    emulate_follow(&mine, &p.now, &p.before, p.overhead, 5000 * MS);
    for (int64_t wall = 990 * MS; wall < 1020 * MS; wall += MS)
        same &= emulate_time_at(&p, wall) == emulate_time_at(&mine, wall + 5000 * MS);
    ok(same, "a clock that is 5 s ahead shows the same times 5 s later");
    ok(mine.overhead == 7, "the overhead is that of the simulator");
    emulate_follow(&mine, &p.now, &p.before, p.overhead, 5001 * MS);
    ok(emulate_time_at(&mine, 6011 * MS) == emulate_time_at(&p, 1010 * MS), "clocks drift");
}

struct connection {
    int fd;
    struct emulate_pace *pace;
};

static void *serve(void *arg)
{
    const struct connection *c = arg;

    emulate_clock_serve(c->fd, c->pace);
    close(c->fd);
    return NULL;
}

static void *follow(void *arg)
{
    const struct connection *c = arg;

    emulate_clock_follow(c->fd, c->pace);
    return NULL;
}

/* Both have the same clock here, so what is measured is the error: no more than it takes to ask. */
static void test_clock(void)
{
    static struct emulate_pace p, mine;
    struct connection a = {.pace = &p}, b = {.pace = &mine};
    pthread_t threads[2];
    int64_t start = emulate_wall();
    int ends[2];

    ok(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "a connection");
    a.fd = ends[0], b.fd = ends[1];
    pthread_create(&threads[0], NULL, serve, &a);
    pthread_create(&threads[1], NULL, follow, &b);
    emulate_begin(&p, emulate_wall(), 3, 11);
    emulate_sleep(&mine, 0);
    ok(mine.overhead == 11 && mine.now.factor == 3, "the line arrives when time begins");
    ok(llabs(mine.now.wall - p.now.wall) < emulate_wall() - start, "clocks agree");
    emulate_change(&p, emulate_wall(), 5);
    while (atomic_load(&mine.changes) < 4)
        usleep(1000);
    ok(mine.now.factor == 5, "and so does its change");
    shutdown(ends[1], SHUT_RDWR);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    ok(1, "both end with the connection");
}

int main(void)
{
    plan_auto();
    test_line();
    test_early();
    test_sum();
    test_overhead();
    test_trend();
    test_control();
    test_interruption();
    test_follow();
    test_clock();
    return done_testing();
}
