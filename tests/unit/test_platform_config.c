/*
 * The table of settings: defaults, assignments, errors, printing and reading back.
 */
#include "platform/config.h"

#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "platform/lists.h"
#include "settings_text.h"
#include "tap.h"
#include "text_width.h"

static struct platform machine;
static struct err err;

static int set(const char *text)
{
    memset(&err, 0, sizeof err);
    return platform_set(&machine, text, NULL, &err);
}

static void test_defaults(void)
{
    platform_config_init(&machine.config);
    is_int(machine.config.net_latency, 50 * VTIME_US, "default latency");
    ok(machine.config.net_bandwidth == 1e9, "default bandwidth");
    is_str(machine.config.net_model, "loggops", "default model");
    is_int(machine.config.mpi_eager_limit, 65536, "default eager limit");
    is_int(machine.config.mpi_send_overhead, 0, "default send overhead");
    is_int(machine.config.mpi_recv_overhead, 0, "default receive overhead");
    is_int(machine.config.mpi_test_cost, 100 * VTIME_NS, "default test cost");
    is_int(machine.config.mpi_clock_cost, 25 * VTIME_NS, "default clock cost");
    ok(machine.config.nodes_speed == 1 && machine.config.nodes_ranks == 1, "default nodes");
    ok(machine.config.net_latency_factor == 1 && machine.config.net_bandwidth_factor == 1,
       "default factors");
}

static void test_set(void)
{
    platform_config_init(&machine.config);
    is_int(set("net.latency=10us,net.bandwidth=100Gbps,nodes.speed=2.5"), 0, "a list");
    is_int(machine.config.net_latency, 10 * VTIME_US, "latency is set");
    ok(machine.config.net_bandwidth == 1e11 && machine.config.nodes_speed == 2.5,
       "bandwidth and speed are set");
    is_int(set("net.latency=0s"), 0, "no latency");
    is_int(machine.config.net_latency, 0, "latency is 0");
    is_int(set("net.bandwidth=inf"), 0, "infinite bandwidth");
    ok(isinf(machine.config.net_bandwidth), "bandwidth is infinite");
    is_int(set("net.latency=1us,net.latency=2us"), 0, "a key twice");
    is_int(machine.config.net_latency, 2 * VTIME_US, "the last one counts");
    is_int(set("mpi.eager_limit=0"), 0, "eager limit 0: all rendezvous");
    is_int(set("nodes.ranks=4Ki"), 0, "a count with prefix");
    is_int(machine.config.nodes_ranks, 4096, "count is set");
    is_int(set("net.topology.dims=4x16x2"), 0, "sizes");
    ok(machine.config.topo_dims.count == 3 && machine.config.topo_dims.size[0] == 4 &&
           machine.config.topo_dims.size[1] == 16 && machine.config.topo_dims.size[2] == 2,
       "sizes are set");
    is_int(set("net.topology.dims="), 0, "no sizes");
    is_int(machine.config.topo_dims.count, 0, "sizes are gone");
    is_int(set("net.topology.bandwidth=0"), 0, "a bandwidth of 0 where it means something else");
}

static const struct {
    const char *text, *says;
} bad[] = {
    {"", "expected KEY=VALUE"},
    {"net.latency", "expected KEY=VALUE"},
    {"=3us", "expected KEY=VALUE"},
    {"net.latency=1us,", "expected KEY=VALUE"},
    {"net.latncy=1us", "did you mean 'net.latency'"},
    {"xyz=1", "unknown setting 'xyz'"},
    {"net.latency=5", "net.latency: "},
    {"net.latency=5foo", "'5foo'"},
    {"net.latency=-5us", "net.latency: "},
    {"net.latency=", "net.latency: "},
    {"net.bandwidth=0bps", "net.bandwidth: "},
    {"net.bandwidth=5us", "net.bandwidth: "},
    {"mpi.test_cost=0s", "greater than 0"},
    {"mpi.clock_cost=0s", "greater than 0"},
    {"nodes.speed=0", "greater than 0"},
    {"nodes.ranks=0", "greater than 0"},
    {"net.bandwidth_factor=0", "greater than 0"},
    {"nodes.speed=inf", "nodes.speed: "},
    {"net.model=", "must not be empty"},
    {"net.model=abcdefghijklmnopqrstuvwxyz", "bad name"},
    {"mpi.eager_limit=1.5", "mpi.eager_limit: "},
    {"net.topology.dims=4x", "such as 4x4x2"},
    {"net.topology.dims=x4", "such as 4x4x2"},
    {"net.topology.dims=4x0", "such as 4x4x2"},
    {"net.topology.dims=4,4", "expected KEY=VALUE"},
    {"net.topology.dims=1x1x1x1x1x1x1x1x1", "up to 8 numbers"},
    {"net.topology.dims=12345678901", "such as 4x4x2"},
    {"net.bandwidth=0", "net.bandwidth: "},
};

static void test_errors(void)
{
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        platform_config_init(&machine.config);
        int rc = set(bad[i].text);
        if (!ok(rc == ERR_INPUT && strstr(err.text, bad[i].says), "'%s' is refused", bad[i].text))
            diag("code %d text '%s'", rc, err.text);
    }
    struct platform_config fresh;
    platform_config_init(&fresh);
    platform_config_init(&machine.config);
    set("net.latency=zz");
    ok(memcmp(&fresh, &machine.config, sizeof fresh) == 0, "a bad value changes nothing");
    set("net.latency=1us,nodes.ranks=0,net.bandwidth=2Gbps");
    ok(machine.config.net_latency == VTIME_US && machine.config.nodes_ranks == 1 &&
           machine.config.net_bandwidth == 1e9,
       "what stands before the bad item is applied, what follows is not");
    char text[600];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = 0;
    is_int(set(text), ERR_INPUT, "an endless key is refused");
}

/* Random values, printed and read back, must be the same bits. */
static void test_round_trip(uint64_t seed)
{
    struct rng rng;
    int good = 1;
    rng_seed(&rng, seed);
    diag("seed %llu", (unsigned long long)seed);
    for (int i = 0; i < 500 && good; i++) {
        struct platform_config a;
        struct buf text;
        platform_config_init(&a);
        platform_config_init(&machine.config);
        a.net_latency = (vtime)(rng_next(&rng) >> (2 + rng_below(&rng, 60)));
        a.mpi_send_overhead = (vtime)rng_below(&rng, 10) * VTIME_US;
        a.mpi_test_cost = 1 + (vtime)rng_below(&rng, 1000000);
        a.net_bandwidth = rng_below(&rng, 10) ? 1 + rng_double(&rng) * 1e12 : INFINITY;
        a.nodes_speed = 1e-9 + rng_double(&rng);
        a.net_latency_factor = rng_double(&rng) * 1e-5;
        a.mpi_eager_limit = rng_next(&rng) >> rng_below(&rng, 64);
        a.nodes_ranks = 1 + rng_below(&rng, 1000);
        a.topo_dims.count = (uint32_t)rng_below(&rng, PLATFORM_DIMS_MAX + 1);
        for (uint32_t d = 0; d < a.topo_dims.count; d++)
            a.topo_dims.size[d] = 1 + (uint32_t)rng_below(&rng, 1000000);
        snprintf(a.topo_file, sizeof a.topo_file, "%llx", (unsigned long long)rng_next(&rng));
        buf_init(&text);
        print_settings(&a, &text);
        good = set(buf_str(&text)) == 0 && memcmp(&a, &machine.config, sizeof a) == 0;
        if (!good)
            diag("'%s': %s", buf_str(&text), err.text);
        buf_fini(&text);
    }
    ok(good, "printed settings read back to the same bits");
}

static void test_help(void)
{
    struct buf help;
    int all = 1;
    buf_init(&help);
    platform_config_help(&help);
    for (size_t i = 0; i < platform_config_count(); i++)
        all &= strstr(buf_str(&help), platform_config_key(i)) != NULL;
    ok(all && platform_config_count() > 40, "the help names all keys");
    size_t width = text_width(buf_str(&help));
    ok(width > 40 && width <= 80, "the help fits 80 columns");
    buf_fini(&help);
}

int main(void)
{
    plan_auto();
    test_defaults();
    test_set();
    test_errors();
    test_round_trip(20260101);
    test_help();
    return done_testing();
}
