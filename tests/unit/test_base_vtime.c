/* Virtual time: rounding, saturation and the 128-bit product. */
#include "base/vtime.h"

#include <math.h>

#include "tests/tap.h"

static void test_seconds(void)
{
    is_int(vtime_from_seconds(1.0), VTIME_S, "one second");
    is_int(vtime_from_seconds(1.5e-12), 2, "half a picosecond rounds up");
    is_int(vtime_from_seconds(1.4e-12), 1, "less than half rounds down");
    is_int(vtime_from_seconds(0), 0, "zero seconds");
    is_int(vtime_from_seconds(-1), 0, "negative seconds become 0");
    is_int(vtime_from_seconds(NAN), 0, "NaN becomes 0");
    is_int(vtime_from_seconds(INFINITY), VTIME_LIMIT, "infinity saturates");
    is_int(vtime_from_seconds(1e9), VTIME_LIMIT, "30 years saturate");
    ok(vtime_to_seconds(1500 * VTIME_MS) == 1.5, "picoseconds to seconds");
    ok(vtime_to_seconds(vtime_from_seconds(4000000.0)) == 4000000.0, "large round trip");
}

static void test_add(void)
{
    is_int(vtime_add(2 * VTIME_US, 3), 2000003, "plain sum");
    is_int(vtime_add(VTIME_LIMIT - 1, 1), VTIME_LIMIT, "sum that reaches the limit");
    is_int(vtime_add(VTIME_LIMIT, VTIME_LIMIT), VTIME_LIMIT, "sum above the limit saturates");
    is_int(vtime_add(VTIME_NEVER, VTIME_NEVER), VTIME_LIMIT, "never + never saturates");
}

static void test_scale(void)
{
    is_int(vtime_scale(1000, 1.5), 1500, "scaling");
    is_int(vtime_scale(3, 0.5), 2, "scaling rounds to nearest");
    vtime odd = ((vtime)1 << 60) + 1;
    is_int(vtime_scale(odd, 1.0), odd, "a factor of 1 is exact");
    is_int(vtime_scale(VTIME_LIMIT, 2.0), VTIME_LIMIT, "scaling saturates");
    is_int(vtime_scale(VTIME_S, 0), 0, "a factor of 0");
    is_int(vtime_scale(4503599627370497, 3.0), 13510798882111492, "to the nearest double");
}

static void test_mul_q(void)
{
    uint64_t one = (uint64_t)1 << 20;
    is_int(vtime_mul_q(1000, 8 * one), 8000, "bytes at 8 ps each");
    is_int(vtime_mul_q(1, one / 2), 1, "half rounds up");
    is_int(vtime_mul_q(1, one / 2 - 1), 0, "below half rounds down");
    is_int(vtime_mul_q((uint64_t)1 << 40, 3 * one), (int64_t)3 << 40, "product beyond 64 bits");
    is_int(vtime_mul_q(UINT64_MAX, UINT64_MAX), VTIME_LIMIT, "largest product saturates");
    is_int(vtime_mul_q(0, UINT64_MAX), 0, "no bytes, no time");
}

int main(void)
{
    plan_auto();
    test_seconds();
    test_add();
    test_scale();
    test_mul_q();
    return done_testing();
}
