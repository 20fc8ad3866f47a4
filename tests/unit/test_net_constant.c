/*
 * The constant network model against its closed form.
 */
#include "net/net.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "tap.h"

static struct net net;
static struct err err;

static int init(const char *settings)
{
    static struct platform machine;
    platform_config_init(&machine.config);
    if (settings && platform_set(&machine, settings, NULL, &err))
        return 99;
    if (net.ops)
        net_fini(&net);
    int rc = net_init(&net, &machine, 8, &err);
    if (rc)
        net.ops = NULL;
    return rc;
}

static void test_default(void)
{
    is_int(init("net.model=constant"), 0, "defaults");
    is_int(net.latency, 50 * VTIME_US, "latency");
    is_int(net.lookahead, 50 * VTIME_US, "lookahead is the latency");
    is_int(net_delay(&net, 0, 1, 0, 0), 50 * VTIME_US, "an empty message takes the latency");
    is_int(net_delay(&net, 0, 1, 1000, 0), 58 * VTIME_US, "1000 bytes at 1 Gbit/s: 8 us more");
    is_int(net_drain(&net, 0, 1, 1000, 0), 8 * VTIME_US, "the sender is busy for 8 us");
    is_int(net_drain(&net, 0, 1, 1, 0), 8000, "one byte: 8000 ps exactly");
    is_int(net_delay(&net, 7, 7, 1000, 0), 58 * VTIME_US, "all pairs are alike");
    is_int(net_drain(&net, 0, 1, (uint64_t)1 << 40, 0), (int64_t)8000 << 40, "1 TiB exactly");
}

static void test_factors(void)
{
    is_int(init("net.latency=10us,net.bandwidth=100Gbps"), 0, "100 Gbit/s");
    is_int(net_delay(&net, 0, 1, 125, 0), 10 * VTIME_US + 10 * VTIME_NS, "125 bytes: 10 ns");
    is_int(init("net.latency_factor=0.5,net.bandwidth_factor=2"), 0, "factors");
    is_int(net_delay(&net, 0, 1, 1000, 0), 29 * VTIME_US, "half of everything");
    is_int(init("net.latency=0s"), 0, "no latency");
    is_int(net_delay(&net, 0, 1, 0, 0), 0, "takes no time");
    is_int(net.lookahead, 0, "and gives no lookahead");
    is_int(init("net.latency=1us,net.bandwidth=inf"), 0, "infinite bandwidth");
    is_int(net.ps_per_byte, 0, "is 0 ps per byte");
    is_int(net_delay(&net, 0, 1, UINT64_MAX, 0), VTIME_US, "any size takes the latency");
    is_int(init("net.bandwidth=inf,net.bandwidth_factor=0.001"), 0, "a factor on infinity");
    is_int(net.ps_per_byte, 0, "is still infinite");
    is_int(init("net.latency_factor=0"), 0, "latency factor 0");
    is_int(net.latency, 0, "removes the latency");
}

static void test_limits(void)
{
    is_int(init("net.bandwidth=1bps"), 0, "1 bit/s");
    is_int(net_drain(&net, 0, 1, 1, 0), 8 * VTIME_S, "one byte takes 8 s");
    is_int(net_delay(&net, 0, 1, UINT64_MAX, 0), VTIME_LIMIT, "too long is the end of time");
    is_int(init("net.bandwidth=1bps,net.bandwidth_factor=0.01"), ERR_INPUT, "too slow is refused");
    ok(strstr(err.text, "net.bandwidth"), "and says which setting");
    is_int(init("net.latency=1h,net.latency_factor=1e9"), ERR_INPUT, "too far is refused");
    ok(strstr(err.text, "net.latency"), "and says which setting");
    is_int(init("net.model=constnt"), ERR_INPUT, "an unknown model is refused");
    ok(strstr(err.text, "did you mean 'constant'"), "with a suggestion");
    is_int(init("net.model=q"), ERR_INPUT, "a very unknown model is refused");
    ok(strstr(err.text, "constant"), "with the list");
}

/* Against long double arithmetic: at most 1 ps and the rounding of the inverse away. */
static void test_closed_form(uint64_t seed)
{
    struct rng rng;
    int good = 1;
    rng_seed(&rng, seed);
    diag("seed %llu", (unsigned long long)seed);
    for (int i = 0; i < 1000 && good; i++) {
        struct platform machine = {0};
        struct platform_config *config = &machine.config;
        platform_config_init(config);
        config->net_latency = (vtime)rng_below(&rng, 1000000000);
        config->net_bandwidth = 1e6 + rng_double(&rng) * 1e12;
        uint64_t bytes = rng_next(&rng) >> (24 + rng_below(&rng, 40));
        if (net.ops)
            net_fini(&net);
        good = net_init(&net, &machine, 2, &err) == 0;
        long double exact = (long double)bytes * 8e12L / (long double)config->net_bandwidth;
        long double got = (long double)net_drain(&net, 0, 1, bytes, 0);
        long double bound = 1 + (long double)bytes / 1048576 + exact * 1e-15L;
        good = good && fabsl(got - exact) <= bound &&
               net_delay(&net, 0, 1, bytes, 0) ==
                   config->net_latency + net_drain(&net, 0, 1, bytes, 0);
        if (!good)
            diag("%llu bytes at %g: got %Lg, exact %Lg", (unsigned long long)bytes,
                 config->net_bandwidth, got, exact);
    }
    ok(good, "delay and drain follow the closed form");
}

int main(void)
{
    plan_auto();
    test_default();
    test_factors();
    test_limits();
    test_closed_form(7);
    return done_testing();
}
