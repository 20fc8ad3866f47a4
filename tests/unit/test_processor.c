/*
 * The processor models without an MPI: ranks are numbers, calls have the names that this file gives
 * them.
 */
#include "processor/processor.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/ticks.h"
#include "tap.h"

#define RANKS 4
#define DEPTH 16

static struct processor_state *states[RANKS];
static unsigned made; /* states that were asked for */
static jmp_buf failed;
static const char *reason = "";

static const char *call_name(unsigned call)
{
    return call ? "clock" : "MPI_Send";
}

static int call_polls(unsigned call)
{
    return call == 1;
}

static struct processor_state **state(uint32_t index, int make)
{
    made += make && !states[index];
    return make || states[index] ? &states[index] : NULL;
}

static void fail(uint32_t index, const char *why)
{
    (void)index;
    reason = why;
    longjmp(failed, 1);
}

static void test_slices(void)
{
    uint64_t ticks = (uint64_t)(1000 * ticks_per_ns());
    vtime here, there, dt = processor_slice(0, 0, ticks, 0, &here);
    vtime slow = processor_slice(3, 0, ticks, 0, &there);

    ok(llabs((long long)(dt - 1000000)) < 10000, "a slice takes as long as it ran");
    ok(llabs((long long)(slow - 2 * dt)) <= 2, "and twice as long on a node of half the speed");
    ok(here == dt && there == here, "on this computer both take the same");
    is_int(processor_declare(2, 5, 77), 77, "declared time is what it is without noise");
    is_int((int)made, 0, "ranks without regions keep nothing");
}

/* Two runs of 1 and 3 us: then 2 us each. */
static void test_samples(void)
{
    uint64_t us = (uint64_t)(1000 * ticks_per_ns());
    vtime dt = -1, first, second, host;

    is_int(processor_region_enter(1, 0, "other", &dt), 1, "a region that is not sampled is run");
    processor_region_leave(1);
    is_int(processor_region_enter(1, 0, "solve", &dt), 1, "a sampled one is run");
    is_int(dt, 0, "and takes what its slices take");
    first = processor_slice(1, 0, us, 0, &host);
    processor_region_leave(1);
    processor_region_enter(1, 0, "solve", &dt);
    second = processor_slice(1, 0, 3 * us, 0, &host);
    processor_region_leave(1);
    is_int(processor_region_enter(1, 0, "solve", &dt), 0, "until it was run often enough");
    ok(dt == (first + second) / 2, "then it takes the mean");
    ok(processor_is_muted(1) && !processor_is_muted(0), "its rank is muted, others are not");
    is_int(processor_slice(1, 0, us, 0, &host), 0, "so that slices in it take no time");
    processor_region_leave(1);
    ok(!processor_is_muted(1), "after it they do");
}

static void test_depth(void)
{
    volatile int i = 0;
    vtime dt;

    if (!setjmp(failed))
        for (; i <= DEPTH; i++)
            processor_region_enter(2, 0, "deep", &dt);
    is_int(i, DEPTH, "so many regions may be nested");
    ok(strstr(reason, "orrery_region_end") != NULL, "and more end the run, with a reason");
}

int main(void)
{
    struct platform_group group = {.first = 3,
                                   .last = 3,
                                   .speed = 0.5,
                                   .noise_period = VTIME_NEVER,
                                   .noise_duration = VTIME_NEVER};
    struct platform_nodes nodes = {.count = RANKS, .per_node = 1};
    static struct run_options o = {.ranks = RANKS,
                                   .compute = RUN_COMPUTE_MEASURED,
                                   .sample = "solve:2"};
    static struct platform machine;
    struct rank_map map;
    struct processor_host host = {.options = &o,
                                  .machine = &machine,
                                  .nodes = &nodes,
                                  .map = &map,
                                  .calls = 2,
                                  .call_name = call_name,
                                  .call_polls = call_polls,
                                  .state = state,
                                  .fail = fail};
    struct err err;

    rank_map_init(&map, RANK_MAP_BLOCK, RANKS, 1, 0, NULL);
    machine.config.nodes_speed = 1;
    machine.lists[PLATFORM_GROUPS].items = &group;
    machine.lists[PLATFORM_GROUPS].count = 1;
    is_int(processor_init(&host, &err), 0, "a measured model with groups and samples");
    ok(processor_is_measured() && processor_is_timed() && !processor_is_plain(),
       "is not the plain one");
    test_slices();
    test_samples();
    test_depth();
    return done_testing();
}
