/* What a stretch really ran: the arithmetic with clocks of our own, then the system's. */
#include "base/oncpu.h"

#include <sys/resource.h>
#include <time.h>

#include "base/ticks.h"
#include "tests/tap.h"

#define US 1000

static struct oncpu_time fake; /* a tick is a nanosecond */

static void read_fake(struct oncpu_time *t)
{
    *t = fake;
}

static void pass(uint64_t ran, uint64_t off)
{
    fake.ticks += ran + off;
    fake.ns += (int64_t)ran;
}

/* A pointer that nobody clears: a test that wants it cleared calls the slow half itself. */
static struct oncpu make(int with_pointer)
{
    static _Thread_local uint64_t place;

    place = 0;
    fake = (struct oncpu_time){1000 * US, 77 * US};
    return (struct oncpu){.read = read_fake,
                          .rate = 1,
                          .pointer = with_pointer
                                         ? (char *)&place - (char *)__builtin_thread_pointer()
                                         : 0};
}

/* Ends a stretch as the clock of a rank does. */
static uint64_t end(struct oncpu *o, uint64_t ticks)
{
    return oncpu_is_whole(o) ? ticks : oncpu_end_broken(o, ticks, fake.ticks);
}

static void test_whole(void)
{
    struct oncpu o = make(1);

    ok(!oncpu_is_whole(&o), "nothing is known before the first stretch");
    oncpu_begin(&o);
    ok(oncpu_is_whole(&o), "a stretch has begun");
    pass(500 * US, 300 * US);
    is_int(end(&o, 800 * US), 800 * US, "without an interruption ticks are believed");
}

static void test_broken(void)
{
    struct oncpu o = make(1);

    oncpu_begin(&o);
    pass(700 * US, 0); /* the stretch before, and the simulator */
    pass(500 * US, 300 * US);
    is_int(oncpu_end_broken(&o, 800 * US, fake.ticks), 500 * US,
           "time off the processor is left out");
    ok(oncpu_is_whole(&o), "and the next stretch can be told");
    pass(100 * US, 0);
    is_int(oncpu_end_broken(&o, 100 * US, fake.ticks), 100 * US, "nothing is left out twice");
    pass(100 * US, 4 * US);
    is_int(oncpu_end_broken(&o, 104 * US, fake.ticks), 104 * US, "an interrupt is not left out");
    pass(10 * US, 900 * US);
    is_int(oncpu_end_broken(&o, 50 * US, fake.ticks), 0, "no more than the stretch is left out");
}

static void test_between(void)
{
    struct oncpu o = make(1);

    oncpu_begin(&o);
    pass(100 * US, 0);
    is_int(end(&o, 100 * US), 100 * US, "a whole stretch");
    pass(50 * US, 5000 * US); /* the simulator is switched out */
    oncpu_begin_late(&o);
    pass(200 * US, 100 * US);
    is_int(oncpu_end_broken(&o, 300 * US, fake.ticks), 200 * US,
           "what was missing before is not left out of it");
}

/* The thread is switched out when the clocks were read, but the pointer not yet set, once. */
static int disturbances;
static uint64_t *pointer;
static void read_disturbed(struct oncpu_time *t)
{
    read_fake(t);
    if (disturbances && disturbances--) {
        pass(0, 8000 * US);
        *pointer = 0;
    }
}

static void test_reading(void)
{
    struct oncpu o = make(1);

    o.read = read_disturbed;
    pointer = (uint64_t *)((char *)__builtin_thread_pointer() + o.pointer);
    disturbances = 1;
    oncpu_begin(&o);
    ok(oncpu_is_whole(&o), "the clocks are read again");
    pass(500 * US, 300 * US);
    uint64_t at = fake.ticks;
    pass(1 * US, 8000 * US); /* between the end and the reading */
    disturbances = 1;
    is_int(oncpu_end_broken(&o, 800 * US, at), 501 * US, "only what is missing within is left out");
    pass(500 * US, 300 * US);
    is_int(oncpu_end_broken(&o, 800 * US, fake.ticks), 500 * US, "nor is it left out of the next");
}

static void test_blind(void)
{
    struct oncpu o = make(0);
    int begun;

    oncpu_begin(&o);
    pass(500 * US, 300 * US);
    is_int(end(&o, 800 * US), 500 * US, "without a pointer long stretches are compared");
    pass(10 * US, 7000 * US); /* another rank's turn */
    oncpu_begin(&o);
    pass(5 * US, 10 * US);
    is_int(end(&o, 15 * US), 15 * US, "and short ones believed");
    pass(10 * US, 7000 * US);
    oncpu_begin(&o);
    pass(400 * US, 600 * US);
    is_int(end(&o, 1000 * US), 425 * US, "off by what ran since the last comparison");
    for (begun = 0; begun == 0 || o.late > 0; begun++)
        oncpu_begin(&o);
    ok(begun > 1 && begun < 100, "there is another before long");
    o.read = NULL;
    is_int(end(&o, 1000 * US), 1000 * US, "nothing is left out where nobody asked");
}

/* Runs for so long as the system sees it. */
static void run_for(double seconds)
{
    struct timespec t;

    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    while ((double)t.tv_sec + 1e-9 * (double)t.tv_nsec < seconds);
}

static double cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Half of the time asleep, as if another had the processor. */
static void test_system(enum oncpu_of of)
{
    struct oncpu o;
    double before, ran, spent;
    uint64_t start, stop;

    oncpu_init(&o, of);
    oncpu_begin(&o);
    start = ticks_now();
    before = cpu_seconds();
    run_for(before + 0.02);
    nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    stop = ticks_now();
    ran = (double)oncpu_end_broken(&o, stop - start, stop) / ticks_per_ns() * 1e-9;
    spent = cpu_seconds() - before;
    ok(ran >= 0.98 * spent && ran <= 1.02 * spent + 0.001, "clock %d: %g s were run, %g s are said",
       of, spent, ran);
}

static void test_pointer(void)
{
    struct oncpu o;

    oncpu_init(&o, ONCPU_THREAD);
    oncpu_begin(&o);
    if (!o.pointer) {
        ok(!oncpu_is_whole(&o), "there are no restartable sequences here");
        return;
    }
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    ok(!oncpu_is_whole(&o), "a thread that has slept is told so");
    oncpu_begin(&o);
    oncpu_init(&o, ONCPU_PROCESS);
    oncpu_begin(&o);
    ok(!oncpu_is_whole(&o), "of several threads nothing is told");
}

int main(void)
{
    plan_auto();
    test_whole();
    test_broken();
    test_between();
    test_reading();
    test_blind();
    test_pointer();
    test_system(ONCPU_THREAD);
    test_system(ONCPU_PROCESS);
    return done_testing();
}
