/*
 * Lists of a machine: assignments to items, errors, copies, bytes and back.
 */
#include "platform/lists.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tap.h"
#include "text_width.h"

static struct platform p;
static struct err err;

static int set(const char *text)
{
    memset(&err, 0, sizeof err);
    return platform_set(&p, text, NULL, &err);
}

static const struct platform_segment *segment(size_t i)
{
    return (const struct platform_segment *)p.lists[PLATFORM_SEGMENTS].items + i;
}

static void test_set(void)
{
    platform_init(&p);
    is_int(set("net.latency=7us,net.segments[+].latency=1us,net.segments[+].from=4KiB,"
               "net.segments[-1].bandwidth=10Gbps"),
           0, "items are added");
    is_int(p.config.net_latency, 7 * VTIME_US, "a setting among them");
    is_int((long)p.lists[PLATFORM_SEGMENTS].count, 2, "there are two");
    ok(segment(0)->from == 0 && segment(0)->latency == VTIME_US && isnan(segment(0)->bandwidth),
       "the first");
    ok(segment(1)->from == 4096 && segment(1)->latency == VTIME_NEVER &&
           segment(1)->bandwidth == 1e10,
       "the second");
    is_int(set("net.segments[0].latency=3us,net.segments[1].latency="), 0, "an item is changed");
    ok(segment(0)->latency == 3 * VTIME_US && segment(1)->latency == VTIME_NEVER, "it has");
    is_int(platform_check(&p, &err), 0, "that is a machine");
    is_int(set("net.segments="), 0, "a list is emptied");
    ok(p.lists[PLATFORM_SEGMENTS].count == 0 && !p.lists[PLATFORM_SEGMENTS].items, "it is empty");
    is_int(set("nodes.map=0 0 1 1 2"), 0, "plain values");
    is_int(set("nodes.map=5 6"), 0, "plain values again");
    const uint32_t *map = p.lists[PLATFORM_MAP].items;
    ok(p.lists[PLATFORM_MAP].count == 2 && map[0] == 5 && map[1] == 6, "they replace the former");
    is_int(set("nodes.map[+]=9,nodes.map[0]=3"), 0, "single plain values");
    map = p.lists[PLATFORM_MAP].items;
    ok(p.lists[PLATFORM_MAP].count == 3 && map[0] == 3 && map[2] == 9, "they are set");
    is_int(set("nodes.groups[+].nodes=4-7,nodes.groups[0].speed=0.5"), 0, "a group");
    const struct platform_group *g = p.lists[PLATFORM_GROUPS].items;
    ok(g->first == 4 && g->last == 7 && g->speed == 0.5 && g->noise_period == VTIME_NEVER, "it is");
    platform_fini(&p);
}

static const struct {
    const char *text, *says;
} bad[] = {
    {"net.segments=3", "use net.segments[+].FIELD=VALUE"},
    {"net.segments[0].from=1", "there is no item 0, the list has 0"},
    {"net.segments[x].from=1", "bad item 'x'"},
    {"net.segments[+]from=1", "expected [NUMBER].FIELD"},
    {"net.segments[+=1", "expected [NUMBER].FIELD"},
    {"net.segments[+].form=1", "did you mean 'from'"},
    {"net.segments[+]=1", "expected a field"},
    {"net.segments[+].latency=5", "net.segments[+].latency: "},
    {"net.segment[+].latency=5us", "did you mean 'net.segments'"},
    {"net.segmnts=", "did you mean 'net.segments'"},
    {"net.topology.file[+].from=1", "unknown setting"},
    {"nodes.map=0 x 1", "bad node 'x'"},
    {"nodes.map=-1", "bad node '-1'"},
    {"nodes.map[+].a=1", "unknown field 'a'"},
    {"nodes.groups[+].nodes=5-3", "bad nodes '5-3'"},
    {"nodes.groups[+].nodes=3-", "bad nodes '3-'"},
    {"nodes.groups[+].speed=0", "greater than 0"},
    {"net.links[+].both=maybe", "expected true or false"},
    {"net.links[+].from=", "must not be empty"},
};

static void test_errors(void)
{
    struct platform fresh;
    platform_init(&fresh);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        platform_init(&p);
        int rc = set(bad[i].text);
        if (!ok(rc == ERR_INPUT && strstr(err.text, bad[i].says) && platform_equal(&p, &fresh),
                "'%s' is refused and changes nothing", bad[i].text))
            diag("code %d text '%s'", rc, err.text);
        platform_fini(&p);
    }
    platform_fini(&fresh);
}

static const struct {
    const char *text, *says;
} wrong[] = {
    {"nodes.groups[+].speed=2", "nodes.groups[0].nodes: must be given"},
    {"net.links[+].from=n0", "net.links[0].to: must be given"},
    {"net.segments[+].from=4,net.segments[+].from=4", "net.segments[1].from: 4 bytes"},
    {"mpi.algorithms[+].op=bcast,mpi.algorithms[0].algorithm=x,mpi.algorithms[0].from=5,"
     "mpi.algorithms[0].to=4",
     "mpi.algorithms[0].to: is below"},
};

static void test_check(void)
{
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        platform_init(&p);
        ok(set(wrong[i].text) == 0, "each value of '%s' is right", wrong[i].text);
        if (!ok(platform_check(&p, &err) == ERR_INPUT && strstr(err.text, wrong[i].says),
                "but not all together"))
            diag("%s", err.text);
        platform_fini(&p);
    }
}

static void test_bytes(void)
{
    struct platform copy, view;
    struct buf bytes;
    platform_init(&p);
    set("net.latency=7us,net.segments[+].latency=1us,net.segments[+].from=4KiB,nodes.map=1 2 3,"
        "net.links[+].from=n0,net.links[0].to=s1,mpi.algorithms[+].op=bcast");
    platform_copy(&copy, &p);
    ok(platform_equal(&copy, &p), "a copy is equal");
    buf_init(&bytes);
    platform_pack(&p, &bytes);
    is_int(platform_unpack(&view, buf_str(&bytes), bytes.len, &err), 0, "bytes are read");
    ok(platform_equal(&view, &p), "and are the same machine");
    int refused = 0;
    for (size_t n = 0; n < bytes.len; n++)
        refused += platform_unpack(&view, buf_str(&bytes), n, &err) == ERR_INPUT;
    is_int(refused, (long)bytes.len, "bytes cut off are refused");
    ((uint32_t *)(void *)copy.lists[PLATFORM_MAP].items)[2]++;
    ok(!platform_equal(&copy, &p), "a changed item is a difference");
    buf_fini(&bytes);
    platform_fini(&copy);
    platform_fini(&p);
}

static void test_growth(void)
{
    int good = 1;
    platform_init(&p);
    for (uint32_t i = 0; i < 1000; i++)
        *(uint32_t *)platform_list_extend(&p, PLATFORM_MAP, 1) = i;
    for (uint32_t i = 0; i < 1000; i++)
        good &= ((uint32_t *)p.lists[PLATFORM_MAP].items)[i] == i;
    platform_list_cut(&p, PLATFORM_MAP, 5);
    ok(good && p.lists[PLATFORM_MAP].count == 5 &&
           ((uint32_t *)p.lists[PLATFORM_MAP].items)[4] == 4,
       "lists grow and shrink");
    platform_fini(&p);
}

static void test_help(void)
{
    struct buf help;
    buf_init(&help);
    platform_lists_help(&help);
    ok(strstr(buf_str(&help), "net.segments[+].from=0") && strstr(buf_str(&help), "nodes.map[+]=0"),
       "the help names fields");
    size_t width = text_width(buf_str(&help));
    ok(width > 40 && width <= 80, "the help fits 80 columns");
    buf_fini(&help);
}

int main(void)
{
    plan_auto();
    test_set();
    test_errors();
    test_check();
    test_bytes();
    test_growth();
    test_help();
    return done_testing();
}
