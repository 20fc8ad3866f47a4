/* How much memory must stay free, and what a few ranks say about the use of all. */
#include "run/memory_need.h"
#include "tap.h"

#define MIB ((uint64_t)1 << 20)

static void test_reserve(void)
{
    ok(run_memory_reserve(RUN_MEMORY_AUTO, 64000 * MIB) == 384 * MIB, "much memory");
    ok(run_memory_reserve(RUN_MEMORY_AUTO, 160 * MIB) == 10 * MIB, "a small control group");
    ok(run_memory_reserve(5 * MIB, 64000 * MIB) == 5 * MIB, "as asked");
    ok(run_memory_reserve(0, 64000 * MIB) == 0, "none, as asked");
}

static void test_short(void)
{
    ok(!run_memory_is_short(RUN_MEMORY_AUTO, 384 * MIB, 385 * MIB, 9000 * MIB), "enough is left");
    ok(run_memory_is_short(RUN_MEMORY_AUTO, 384 * MIB, 300 * MIB, 9000 * MIB), "the run has it");
    ok(!run_memory_is_short(RUN_MEMORY_AUTO, 384 * MIB, 300 * MIB, 200 * MIB), "others have it");
    ok(run_memory_is_short(384 * MIB, 384 * MIB, 300 * MIB, 200 * MIB), "as asked");
    ok(!run_memory_is_short(0, 0, 0, 200 * MIB), "no limit");
}

static void test_forecast(void)
{
    struct run_forecast f = {0};
    uint64_t each = 0, all = 0;

    ok(!run_forecast_add(&f, 0, 0, 0, 1000, &each, &all), "no rank yet");
    ok(!run_forecast_add(&f, 1, 900 * MIB, 0, 1000, &each, &all), "the first may differ");
    ok(!run_forecast_add(&f, 3, 1000 * MIB, 0, 1000, &each, &all), "two are few");
    ok(!run_forecast_add(&f, 5, 1100 * MIB, 201 * MIB, 1000, &each, &all), "too little to tell");
    ok(run_forecast_add(&f, 5, 1100 * MIB, 200 * MIB, 1000, &each, &all), "enough to tell");
    ok(run_forecast_add(&f, 5, 1100 * MIB, 0, 1000, &each, &all), "four are several");
    ok(each == 50 * MIB, "the first one is not among them");
    ok(all == 900 * MIB + 999 * 50 * MIB, "but it is in the sum");
    ok(run_forecast_add(&f, 5, 800 * MIB, 0, 1000, &each, &all) && each == 0, "memory was freed");
    ok(!run_forecast_add(&f, 1000, 60000 * MIB, 0, 1000, &each, &all),
       "there is nothing to foresee");
    ok(run_forecast_add(&f, 9, UINT64_MAX / 2, 0, 1000, &each, &all) && all == UINT64_MAX,
       "too much");
}

int main(void)
{
    plan_auto();
    test_reserve();
    test_short();
    test_forecast();
    return done_testing();
}
