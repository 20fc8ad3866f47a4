/* Times of several clocks become those of one: offset, drift, order. */
#include "trace/clocks.h"

#include "base/rng.h"
#include "tests/tap.h"
#include "trace/definitions.h"

#define SEED 2712

static void take_rank(struct trace_clocks *c, uint64_t rank, uint64_t clock, int64_t began)
{
    struct buf out;
    buf_init(&out);
    trace_clock_rank_write(&out, rank, clock, began);
    trace_clocks_take(c, TRACE_CLOCK_RANK, (const uint8_t *)out.data, out.len);
    buf_fini(&out);
}

static void take_point(struct trace_clocks *c, uint64_t clock, int64_t local, int64_t offset)
{
    struct trace_clock_point p = {local, offset, 5};
    struct buf out;
    buf_init(&out);
    trace_clock_point_write(&out, clock, &p);
    trace_clocks_take(c, TRACE_CLOCK, (const uint8_t *)out.data, out.len);
    buf_fini(&out);
}

static void test_one_clock(void)
{
    struct trace_clocks c;
    trace_clocks_init(&c);
    take_rank(&c, 0, 77, 1000);
    take_rank(&c, 1, 77, 1200);
    trace_clocks_find_origin(&c);
    is_int(trace_clocks_time(&c, 0, 1000), 0, "the first rank begins at 0");
    is_int(trace_clocks_time(&c, 1, 1200), 200, "the other one after it");
    is_int(trace_clocks_time(&c, 9, 1500), 500, "a rank that nobody knows has the same clock");
    trace_clocks_fini(&c);
}

/* Clock 2 is 5000 ahead at its 10000 and gains 1 in 1000. */
static void test_drift(void)
{
    struct trace_clocks c;
    trace_clocks_init(&c);
    take_rank(&c, 0, 1, 4000);
    take_rank(&c, 1, 2, 9500);
    take_point(&c, 2, 110000, -5100); /* the later one first */
    take_point(&c, 2, 10000, -5000);
    take_rank(&c, 1, 1, 0); /* defined before: this one is ignored */
    trace_clocks_find_origin(&c);
    is_int(trace_clocks_time(&c, 0, 4000), 0, "the origin");
    is_int(trace_clocks_time(&c, 1, 10000), 1000, "where they were compared first");
    is_int(trace_clocks_time(&c, 1, 110000), 100900, "and last");
    is_int(trace_clocks_time(&c, 1, 60000), 50950, "in between");
    is_int(trace_clocks_time(&c, 1, 210000), 200800, "and beyond");
    is_int(trace_clocks_time(&c, 1, 5000), -3995, "and before");
    trace_clocks_fini(&c);
}

static void test_one_point(void)
{
    struct trace_clocks c;
    trace_clocks_init(&c);
    take_rank(&c, 0, 1, 0);
    take_rank(&c, 3, 2, 700);
    take_point(&c, 2, 900, -600);
    trace_clocks_take(&c, TRACE_CLOCK, (const uint8_t *)"short", 5);
    trace_clocks_find_origin(&c);
    is_int(trace_clocks_time(&c, 3, 100000), 99400, "one comparison: the offset alone");
    trace_clocks_fini(&c);
}

static void test_order(void)
{
    struct rng rng;
    int good = 1;
    rng_seed(&rng, SEED);
    for (int i = 0; i < 200; i++) {
        struct trace_clocks c;
        trace_clocks_init(&c);
        take_rank(&c, 0, 1, 0);
        take_rank(&c, 1, 2, 0);
        int64_t first = (int64_t)(rng_next(&rng) % 1000000),
                offset = (int64_t)(rng_next(&rng) % 1000000);
        int64_t span = 1 + (int64_t)(rng_next(&rng) % 1000000);
        take_point(&c, 2, first, -offset);
        take_point(&c, 2, first + span, -offset + (int64_t)(rng_next(&rng) % 2001) - 1000);
        trace_clocks_find_origin(&c);
        int64_t local = first - 5000, last = trace_clocks_time(&c, 1, local);
        for (int k = 0; k < 200; k++) {
            int64_t now = trace_clocks_time(&c, 1, local += (int64_t)(rng_next(&rng) % 20));
            good &= now >= last;
            last = now;
        }
        trace_clocks_fini(&c);
    }
    ok(good, "times never go back (seed %d)", SEED);
}

int main(void)
{
    plan_auto();
    test_one_clock();
    test_drift();
    test_one_point();
    test_order();
    return done_testing();
}
