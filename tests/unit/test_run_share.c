/* How many processes --procs auto takes, and when the summary hints at it. */
#include "run/share.h"

#include <stdio.h>

#include "tap.h"

#define GIB ((uint64_t)1 << 30)

/* The processes of three programs, as text. */
static const char *share(uint32_t a, uint32_t b, uint32_t c, uint32_t procs)
{
    static char text[64];
    struct run_app apps[] = {{.ranks = a}, {.ranks = b}, {.ranks = c}};

    run_share_apps(apps, 3, procs);
    snprintf(text, sizeof text, "%u %u %u", apps[0].procs, apps[1].procs, apps[2].procs);
    return text;
}

static void test_apps(void)
{
    is_str(share(100, 1, 1, 3), "1 1 1", "one process for each program");
    is_str(share(100, 100, 100, 6), "2 2 2", "equal programs");
    is_str(share(400, 200, 100, 7), "4 2 1", "by numbers of ranks");
    is_str(share(4, 1, 1, 6), "4 1 1", "one for each rank");
    is_str(share(2147483645, 1, 1, 1000), "998 1 1", "very many ranks");
}

int main(void)
{
    plan_auto();
    test_apps();
    ok(run_share_cores() >= 1, "there is a processor");
    is_int(run_share_choose(1, 8, GIB * 100), 1, "one rank");
    is_int(run_share_choose(31, 8, GIB * 100), 1, "few ranks stay together");
    is_int(run_share_choose(32, 8, GIB * 100), 2, "enough for two");
    is_int(run_share_choose(1000, 8, GIB * 100), 8, "one per core");
    is_int(run_share_choose(1000, 1, GIB * 100), 1, "one core");
    is_int(run_share_choose(UINT64_MAX, 64, GIB * 100), 64, "very many ranks");
    is_int(run_share_choose(1000, 8, GIB), 4, "little memory");
    is_int(run_share_choose(1000, 8, GIB / 100), 1, "next to no memory");
    is_int(run_share_choose(1000, 8, 0), 8, "memory that is not known");
    ok(run_share_idle(1) >= 0 && run_share_idle(1) <= 1, "idle processors");
    ok(run_share_is_hint(60, 7, 8), "a long run on one of many cores");
    ok(!run_share_is_hint(5, 7, 8), "a short one");
    ok(!run_share_is_hint(60, 0.2, 8), "a busy computer");
    ok(!run_share_is_hint(60, 7, 1), "too few ranks");
    return done_testing();
}
