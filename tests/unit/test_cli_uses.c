/* Which settings a machine uses: the tables name settings that there are, and what they leave out
 * makes no difference. */
#include "cli/uses.h"

#include <string.h>

#include "cli/collectives.h"
#include "net/net.h"
#include "net/topology/topology.h"
#include "tap.h"

static struct err err;

static int exists(const char *pattern)
{
    size_t length = strlen(pattern) - (pattern[strlen(pattern) - 1] == '*');
    for (size_t i = 0; i < platform_config_count(); i++)
        if (strncmp(platform_config_key(i), pattern, length) == 0 &&
            (pattern[length] || !platform_config_key(i)[length]))
            return 1;
    for (int i = 0; i < PLATFORM_LISTS; i++) {
        const char *key = platform_list_key((enum platform_list_kind)i);
        if (key && strcmp(key, pattern) == 0)
            return 1;
    }
    return 0;
}

static void test_table(const char *what, const char *(*name)(unsigned),
                       const char *const *(*uses)(unsigned))
{
    for (unsigned i = 0; name(i); i++)
        for (const char *const *setting = uses(i); *setting; setting++)
            ok(exists(*setting), "%s %s: there is a setting %s", what, name(i), *setting);
}

/* Delays of a few messages between ranks on 2 nodes of 2 ranks. */
static int measure(const char *model, const char *more, vtime out[4])
{
    struct platform p;
    struct net net;
    char text[200];
    platform_init(&p);
    snprintf(text, sizeof text, "nodes.ranks=2,net.model=%s%s%s", model, more ? "," : "",
             more ? more : "");
    int rc = platform_set(&p, text, NULL, &err);
    if (rc == 0)
        rc = net_init(&net, &p, 4, &err);
    if (rc == 0) {
        for (uint32_t i = 0; i < 4; i++)
            out[i] = net_delay(&net, 0, i & 1 ? 1 : 2, i & 2 ? 100000 : 0, 0) +
                     net_send_cost(&net, 0, i & 1 ? 1 : 2, 8);
        net_fini(&net);
    }
    platform_fini(&p);
    return rc;
}

/* The value of each is far from its default. */
static void test_effects(void)
{
    static const char *const settings[] = {
        "net.hop_latency=1s",       "net.intra.latency=1s",
        "net.intra.bandwidth=1bps", "net.intra.segments[+].send_overhead=1s",
        "net.latency=1s",           "net.bandwidth=1bps",
    };
    for (unsigned m = 0; net_model_name(m); m++)
        for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
            vtime before[4], after[4];
            char name[40];
            struct platform p;
            snprintf(name, sizeof name, "%.*s", (int)strcspn(settings[i], "=["), settings[i]);
            platform_init(&p);
            snprintf(p.config.net_model, sizeof p.config.net_model, "%s", net_model_name(m));
            if (measure(net_model_name(m), NULL, before) ||
                measure(net_model_name(m), settings[i], after))
                ok(0, "%s, %s: %s", net_model_name(m), settings[i], err.text);
            else
                is_int(memcmp(before, after, sizeof before) != 0, cli_uses_setting(&p, name),
                       settings[i]);
            platform_fini(&p);
        }
}

static void test_who(void)
{
    struct buf text;
    buf_init(&text);
    cli_uses_who("net.hop_latency", &text);
    is_str(buf_str(&text), "net.model hops, flow, packet", "who uses a setting of a model");
    buf_clear(&text);
    cli_uses_who("net.topology.file", &text);
    is_str(buf_str(&text), "net.model hops, flow, packet; net.topology.kind graph",
           "and of a topology");
    buf_clear(&text);
    cli_uses_who("net.latency", &text);
    is_int((long long)text.len, 0, "all use the latency");
    buf_fini(&text);
}

int main(void)
{
    plan_auto();
    test_table("model", net_model_name, net_model_uses);
    test_table("topology", topo_kind_name, topo_kind_uses);
    test_table("collectives", cli_collectives_name, cli_collectives_uses);
    test_effects();
    test_who();
    return done_testing();
}
