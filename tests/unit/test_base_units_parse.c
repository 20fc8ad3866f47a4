/* Reading quantities: what is accepted, exactly, and how the rest is refused. */
#include "base/units.h"

#include <locale.h>
#include <math.h>

#include "tests/tap.h"

static struct err err;

/* -2 stands for refusal: no time is negative. */
static vtime time_of(const char *text)
{
    vtime t = -1;
    int rc = units_parse_time(text, &t, &err);
    return rc == 0 ? t : t == -1 && rc == ERR_INPUT ? -2 : -3;
}

static void test_time(void)
{
    static const struct {
        const char *text;
        vtime want;
    } cases[] = {
        {"50us", 50 * VTIME_US},
        {"1.5 ms", 1500 * VTIME_US},
        {"0", 0},
        {"0.0", 0},
        {"0s", 0},
        {"10ns", 10 * VTIME_NS},
        {"2s", 2 * VTIME_S},
        {"3ps", 3},
        {"1min", 60 * VTIME_S},
        {"2h", 7200 * VTIME_S},
        {"1\xC2\xB5s", VTIME_US},
        {" 7 us ", 7 * VTIME_US},
        {"+7us", 7 * VTIME_US},
        {".5us", 500 * VTIME_NS},
        {"5.us", 5 * VTIME_US},
        {"1e3ns", VTIME_US},
        {"1E-3s", VTIME_MS},
        {"0.1us", 100 * VTIME_NS},
        {"0.4ps", 0},
        {"0.5ps", 1},
        {"1.49ps", 1},
        {"0.00000000000000000000000000000000000000001s", 0},
        {"1e-99999999999s", 0},
        {"4611686018427387904ps", VTIME_LIMIT},
        {"4611686.018427387903s", VTIME_LIMIT - 1},
        {"4611686018427387905ps", -2},
        {"0.000000001234567890123456789s", 1235},
        {"99999999999999999999999999999ps", -2},
        {"1e99999999999s", -2},
        {"2000h", -2},
        {"50", -2},
        {"-5us", -2},
        {"", -2},
        {"   ", -2},
        {"us", -2},
        {"5 parsec", -2},
        {"5us x", -2},
        {"5u s", -2},
        {"5e", -2},
        {"1,5us", -2},
        {"0x10us", -2},
        {"nan", -2},
        {"inf", -2},
        {"5US", -2},
        {"1..5us", -2},
        {"5us5us5us5us5us5us5us5us5us5us5us5us5us", -2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        is_int(time_of(cases[i].text), cases[i].want, cases[i].text);
}

static int is_rate(const char *text, double want)
{
    double got = -1;
    return units_parse_bandwidth(text, &got, &err) == 0 && fabs(got - want) <= want * 1e-15;
}

static void test_bandwidth(void)
{
    static const struct {
        const char *text;
        double want;
    } good[] = {
        {"1Gbps", 1e9},
        {"100Mbps", 1e8},
        {"12.5GBps", 1e11},
        {"10 Gbit/s", 1e10},
        {"1GB/s", 8e9},
        {"2GiB/s", 16.0 * (1 << 30)},
        {"8bps", 8},
        {"1kbps", 1e3},
        {"1Kbps", 1e3},
        {"1Tbit/s", 1e12},
        {"3MiBps", 24.0 * (1 << 20)},
        {"5Mb/s", 5e6},
        {"1e3bps", 1e3},
        {"0.5Gbps", 5e8},
    };
    static const char *const refused[] = {"",     "1",        "1G",   "-1Gbps",  "0Gbps", "1Gbs",
                                          "Gbps", "1e400bps", "1GHz", "1Gbps x", "1gbps", "nan"};
    double rate = 0;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        ok(is_rate(good[i].text, good[i].want), "bandwidth '%s'", good[i].text);
    ok(units_parse_bandwidth("inf", &rate, &err) == 0 && isinf(rate), "bandwidth 'inf'");
    ok(units_parse_bandwidth("infinite", &rate, &err) == 0 && isinf(rate), "'infinite'");
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        rate = -1;
        ok(units_parse_bandwidth(refused[i], &rate, &err) == ERR_INPUT && rate == -1,
           "refused bandwidth '%s'", refused[i]);
    }
}

static int is_whole(int (*parse)(const char *, uint64_t *, struct err *), const char *text,
                    uint64_t want)
{
    uint64_t got = want + 1;
    return parse(text, &got, &err) == 0 && got == want;
}

static void test_whole(void)
{
    static const struct {
        const char *text;
        uint64_t want;
    } sizes[] = {
        {"64KiB", 65536},
        {"4kB", 4000},
        {"8MiB", 8 << 20},
        {"123", 123},
        {"123B", 123},
        {"1.5KiB", 1536},
        {"0", 0},
        {"1 GB", 1000000000},
        {"2TiB", 2ull << 40},
        {"1.000", 1},
        {"18446744073709551615", UINT64_MAX},
        {"1e3", 1000},
        {"0.5kB", 500},
        {"1PiB", 1ull << 50},
    };
    static const struct {
        const char *text;
        uint64_t want;
    } counts[] = {
        {"1048576", 1048576}, {"1Mi", 1 << 20},   {"1k", 1000},     {"2Ki", 2048},
        {"3M", 3000000},      {"4G", 4000000000}, {"1Gi", 1 << 30}, {"1.5k", 1500},
    };
    static const char *const bad_sizes[] =
        {"18446744073709551616",  "-1", "1.5", "64K",   "1Kb",  "1.0001kB", "20000PiB",
         "184467440737095516150", "x",  "",    "1 B B", "1e-30"};
    static const char *const bad_counts[] = {"1B", "-1", "0.5", "1kk", "1Kii", "", "1e30", "2 3"};
    uint64_t out;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        ok(is_whole(units_parse_size, sizes[i].text, sizes[i].want), "size %s", sizes[i].text);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        ok(is_whole(units_parse_count, counts[i].text, counts[i].want), "count %s", counts[i].text);
    for (size_t i = 0; i < sizeof bad_sizes / sizeof *bad_sizes; i++)
        is_int(units_parse_size(bad_sizes[i], &out, &err), ERR_INPUT, bad_sizes[i]);
    for (size_t i = 0; i < sizeof bad_counts / sizeof *bad_counts; i++)
        is_int(units_parse_count(bad_counts[i], &out, &err), ERR_INPUT, bad_counts[i]);
}

static void test_double(void)
{
    double x = -1;
    ok(units_parse_double("1.25", &x, &err) == 0 && x == 1.25, "1.25");
    ok(units_parse_double(" 2e-3 ", &x, &err) == 0 && x == 2e-3, "2e-3 in spaces");
    ok(units_parse_double("0", &x, &err) == 0 && x == 0, "0");
    static const char *const refused[] = {"-1", "1e999", "inf", "nan", "1x", "", "0x1p3", "1 2"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        is_int(units_parse_double(refused[i], &x, &err), ERR_INPUT, refused[i]);
}

static void test_messages(void)
{
    vtime t;
    double rate;
    uint64_t n;
    units_parse_time("50", &t, &err);
    is_str(err.text, "bad time '50': a unit is needed: ps, ns, us, ms, s, min or h", "no unit");
    units_parse_time("5 parsec", &t, &err);
    is_str(err.text,
           "bad time '5 parsec': unknown unit 'parsec', allowed are ps, ns, us, ms, s, min or h",
           "unknown unit");
    units_parse_time("-5us", &t, &err);
    is_str(err.text, "bad time '-5us': it must not be negative", "negative");
    units_parse_bandwidth("fast", &rate, &err);
    is_str(err.text, "bad bandwidth 'fast': it must start with a number", "no number");
    units_parse_size("1.5", &n, &err);
    is_str(err.text, "bad size '1.5': it is not a whole number", "fraction");
    is_int(units_parse_count("x", &n, NULL), ERR_INPUT, "err may be NULL");
}

int main(void)
{
    plan_auto();
    if (setlocale(LC_ALL, "de_DE.UTF-8"))
        diag("running in a locale with a decimal comma");
    test_time();
    test_bandwidth();
    test_whole();
    test_double();
    test_messages();
    return done_testing();
}
