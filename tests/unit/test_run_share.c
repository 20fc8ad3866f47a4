/* How many processes --procs auto takes, and when the summary hints at it. */
#include "run/share.h"
#include "tap.h"

#define GIB ((uint64_t)1 << 30)

int main(void)
{
    plan_auto();
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
