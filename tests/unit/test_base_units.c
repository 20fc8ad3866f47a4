/* Printing quantities: unit choice, rounding, borders; and printing then reading. */
#include "base/units.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "tests/tap.h"

#define SEED 31337

static char text[UNITS_TEXT_MAX];

static void test_time(void)
{
    static const struct {
        vtime t;
        const char *want;
    } cases[] = {
        {0, "0 s"},
        {1, "1 ps"},
        {999, "999 ps"},
        {1000, "1 ns"},
        {1234, "1.234 ns"},
        {12345 * VTIME_US, "12.345 ms"},
        {1234567, "1.23457 us"},
        {999999499, "999.999 us"},
        {999999500, "1 ms"},
        {1500 * VTIME_MS, "1.5 s"},
        {100000 * VTIME_S, "100000 s"},
        {1234567 * VTIME_S, "1234567 s"},
        {VTIME_LIMIT, "4611686 s"},
        {VTIME_NEVER, "never"},
        {-1500, "-1.5 ns"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        is_str(units_format_time(text, sizeof text, cases[i].t), cases[i].want, cases[i].want);
}

static void test_bytes(void)
{
    is_str(units_format_bytes(text, sizeof text, 0), "0 B", "no bytes");
    is_str(units_format_bytes(text, sizeof text, 1023), "1023 B", "below 1 KiB");
    is_str(units_format_bytes(text, sizeof text, 1024), "1 KiB", "1 KiB");
    is_str(units_format_bytes(text, sizeof text, 3ull << 29), "1.5 GiB", "1.5 GiB");
    is_str(units_format_bytes(text, sizeof text, (1 << 20) - 1), "1 MiB", "rounds up to a unit");
    is_str(units_format_bytes(text, sizeof text, UINT64_MAX), "16 EiB", "largest");
}

static void test_rate(void)
{
    is_str(units_format_rate(text, sizeof text, 1e9), "1 Gbit/s", "1 Gbit/s");
    is_str(units_format_rate(text, sizeof text, 12.5e6), "12.5 Mbit/s", "12.5 Mbit/s");
    is_str(units_format_rate(text, sizeof text, 0), "0 bit/s", "no rate");
    is_str(units_format_rate(text, sizeof text, 999.96e6), "1 Gbit/s", "rounds up to a unit");
    is_str(units_format_rate(text, sizeof text, INFINITY), "infinite", "infinite");
    is_str(units_format_rate(text, sizeof text, 1e300), "1e+282 Ebit/s", "very large");
}

static void test_count(void)
{
    is_str(units_format_count(text, sizeof text, 0), "0", "0");
    is_str(units_format_count(text, sizeof text, 999), "999", "999");
    is_str(units_format_count(text, sizeof text, 1000), "1,000", "1,000");
    is_str(units_format_count(text, sizeof text, 1048576), "1,048,576", "1,048,576");
    is_str(units_format_count(text, sizeof text, UINT64_MAX), "18,446,744,073,709,551,615",
           "largest");
    char small[4];
    is_str(units_format_count(small, sizeof small, 1048576), "1,0", "a small buffer is kept");
}

static void test_double(void)
{
    is_str(units_format_double(text, sizeof text, 0.1), "0.1", "0.1");
    is_str(units_format_double(text, sizeof text, 1.0 / 3), "0.3333333333333333", "a third");
    is_str(units_format_double(text, sizeof text, 5e-324), "5e-324", "smallest");
    is_str(units_format_double(text, sizeof text, -0.0), "-0", "negative zero");
    is_str(units_format_double(text, sizeof text, 1e300), "1e+300", "1e+300");
}

/* A printed time reads back within half a unit of its sixth digit, and exactly if it is short. */
static void test_round_trip(void)
{
    struct rng rng;
    int close = 1, exact = 1;
    vtime back;
    diag("seed %d", SEED);
    rng_seed(&rng, SEED);
    for (int i = 0; i < 20000; i++) {
        vtime t = (vtime)(rng_next(&rng) >> (2 + rng_below(&rng, 62)));
        units_format_time(text, sizeof text, t);
        close &= units_parse_time(text, &back, NULL) == 0 &&
                 llabs(back - t) <= (vtime)((double)t * 0.5e-5) + 1;
        t = (vtime)rng_below(&rng, 1000000);
        units_format_time(text, sizeof text, t);
        exact &= units_parse_time(text, &back, NULL) == 0 && back == t;
    }
    ok(close, "random times read back nearly the same");
    ok(exact, "times below 1 us read back exactly");
}

int main(void)
{
    plan_auto();
    if (setlocale(LC_ALL, "de_DE.UTF-8"))
        diag("running in a locale with a decimal comma");
    test_time();
    test_bytes();
    test_rate();
    test_count();
    test_double();
    test_round_trip();
    return done_testing();
}
