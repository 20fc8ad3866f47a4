/*
 * Platform files: what is read, what is refused and in which words, writing and reading back,
 * presets.
 *
 * usage: test_platform_read PRESETS
 */
#include "platform/read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tap.h"

static const char *directories[1];
static const struct platform_preset_dirs dirs = {directories, 1};
static struct platform p;
static struct err err;

static int read_yaml(const char *text)
{
    memset(&err, 0, sizeof err);
    platform_init(&p);
    return platform_read_text(&p, &dirs, "m.yaml", text, strlen(text), NULL, &err);
}

static void test_values(void)
{
    int rc = read_yaml("name: box\n"
                       "nodes: {count: 1Ki, ranks: 16, speed: 1.5, placement: cyclic}\n"
                       "net:\n"
                       "  model: hops\n"
                       "  latency: 2us\n"
                       "  bandwidth: inf\n"
                       "  segments:\n"
                       "    - from: 0\n"
                       "      latency: 1us\n"
                       "    - {from: 4KiB, bandwidth: 10Gbps}\n"
                       "  intra: {latency: 100 ns}\n"
                       "  topology:\n"
                       "    kind: torus\n"
                       "    dims: [4, 4, 2]\n"
                       "    file: g.txt\n"
                       "  links:\n"
                       "    - {from: n0, to: s0, bandwidth_factor: 0, at: 1ms, both: no}\n"
                       "mpi:\n"
                       "  eager_limit: 4KiB\n"
                       "  algorithms: [{op: bcast, algorithm: chain, from: 1MiB}]\n");
    if (!is_int(rc, 0, "a file of many forms"))
        diag("%s", err.text);
    const struct platform_segment *s = p.lists[PLATFORM_SEGMENTS].items;
    const struct platform_link *l = p.lists[PLATFORM_LINKS].items;
    const struct platform_rule *r = p.lists[PLATFORM_RULES].items;
    is_str(p.config.name, "box", "name");
    ok(p.config.nodes_count == 1024 && p.config.nodes_ranks == 16 && p.config.nodes_speed == 1.5,
       "a section in braces");
    ok(p.config.net_latency == 2 * VTIME_US && isinf(p.config.net_bandwidth),
       "a section by indent");
    ok(p.config.intra_latency == 100 * VTIME_NS, "a unit behind a space");
    ok(p.config.topo_dims.count == 3 && p.config.topo_dims.size[2] == 2, "sizes as a list");
    is_str(p.config.topo_file, "g.txt", "a path beside the file");
    ok(p.lists[PLATFORM_SEGMENTS].count == 2 && s[0].latency == VTIME_US && s[1].from == 4096 &&
           s[1].bandwidth == 1e10 && s[1].latency == VTIME_NEVER,
       "pieces");
    ok(p.lists[PLATFORM_LINKS].count == 1 && l->bandwidth_factor == 0 && l->at == VTIME_MS &&
           !l->both,
       "links");
    ok(p.lists[PLATFORM_RULES].count == 1 && r->from == 1048576 && r->to == UINT64_MAX, "rules");
    ok(p.config.mpi_test_cost == 100 * VTIME_NS, "what is not given is as before");
    platform_fini(&p);
    ok(read_yaml("nodes: {placement: [0, 0, 5]}") == 0 && p.lists[PLATFORM_MAP].count == 3 &&
           strcmp(p.config.nodes_placement, "list") == 0 && strcmp(p.config.name, "m") == 0,
       "a placement as a list; a name from the file");
    platform_fini(&p);
    ok(read_yaml("nodes: {map: 0 0 5 7}") == 0 && p.lists[PLATFORM_MAP].count == 4,
       "a map in a text");
    platform_fini(&p);
    ok(read_yaml("net: {segments: [&a {from: 0, latency: &t 3us}]}\nmpi: {send_overhead: *t}") ==
               0 &&
           p.config.mpi_send_overhead == 3 * VTIME_US,
       "anchors and aliases");
    platform_fini(&p);
}

static const struct {
    const char *text, *says;
} bad[] = {
    {"", "m.yaml:1: the file is empty"},
    {"# nothing\n", "m.yaml:1: the file is empty"},
    {"hello", "m.yaml:1: a single value was given: expected fields"},
    {"[1, 2]", "m.yaml:1: a list was given: expected fields"},
    {"net:\n  latncy: 5us\n", "m.yaml:2: net.latncy: unknown field: did you mean 'latency'?"},
    {"nett:\n  latency: 5us\n", "m.yaml:1: nett: unknown field: did you mean 'net'?"},
    {"zzz: 1",
     "m.yaml:1: zzz: unknown field: expected one of: name, description, nodes, net, mpi, io"},
    {"net:\n\n  bandwidth: 10Gb\n",
     "m.yaml:3: net.bandwidth: bad bandwidth '10Gb': unknown unit 'Gb', allowed are"},
    {"net: {latency: 5}", "m.yaml:1: net.latency: "},
    {"net: {latency: -5us}", "m.yaml:1: net.latency: "},
    {"nodes: {ranks: 0}", "m.yaml:1: nodes.ranks: must be greater than 0"},
    {"net:\n  latency: 5us\n  latency: 6us\n",
     "m.yaml:3: net: 'latency' was already given in line 2"},
    {"net: {latency: 5us}\nmpi: {}\nnet: {}", "m.yaml:3: 'net' was already given in line 1"},
    {"net: 5", "m.yaml:1: net: a single value was given: expected fields"},
    {"net: [latency]", "m.yaml:1: net: a list was given: expected fields"},
    {"net: {latency: {a: 1}}", "m.yaml:1: net.latency: a section was given: expected a time"},
    {"net: {latency: [1us]}", "m.yaml:1: net.latency: a list was given: expected a time"},
    {"net:\n  latency:\n", "net.latency: no value was given: expected a time, such as 5us"},
    {"net: {latency: ~}", "m.yaml:1: net.latency: no value was given"},
    {"net: {segments: 5}", "m.yaml:1: net.segments: a single value was given: expected a list"},
    {"net:\n  segments:\n    - 5\n",
     "m.yaml:3: net.segments[0]: a single value was given: expected fields"},
    {"net:\n  segments:\n    - {from: 0}\n    - {form: 1}\n",
     "m.yaml:4: net.segments[1].form: unknown field: did you mean 'from'?"},
    {"net:\n  segments:\n    - {from: 8}\n    - {from: 1}\n",
     "m.yaml:4: net.segments[1].from: 1 bytes are not more than the 8"},
    {"net: {links: [{from: n0}]}", "m.yaml:1: net.links[0].to: must be given"},
    {"net: {links: [{from: n0, from: n1}]}", "m.yaml:1: net.links[0]: 'from' was already given"},
    {"net.latency: 5us", "m.yaml:1: net.latency: unknown field: sections are nested"},
    {"net:\n\tlatency: 5us\n", "m.yaml:2: a tab: indent by spaces"},
    {"net: {latency: 5us", "m.yaml:2: not YAML: "},
    {"a: b: c", "m.yaml:1: not YAML: "},
    {"name: a\n---\nname: b\n", "m.yaml:3: a second document"},
    {"name: ok\nio: {stripe: \"\xff\xfe\"}\n", "m.yaml:2: the file is not UTF-8 text"},
    {"name: \"a\\0b\"", "m.yaml:1: name: the value has a NUL character"},
    {"name: abcdefghijklmnopqrstuvwxyz", "m.yaml:1: name: bad name"},
    {"base: nowhere", "m.yaml:1: base: unknown platform 'nowhere': expected a file"},
    {"base: ethernet-1", "m.yaml:1: base: unknown platform 'ethernet-1': did you mean 'ethernet-1"},
    {"base: ./nowhere.yaml", "m.yaml:1: base: cannot open './nowhere.yaml': No such file"},
    {"base: [a]", "m.yaml:1: base: a list was given"},
    {"nodes: {map: nowhere.txt}", "m.yaml:1: nodes.map: cannot open 'nowhere.txt'"},
    {"nodes: {map: [0, x]}", "m.yaml:1: nodes.map[1]: bad node 'x'"},
    {"net: {topology: {dims: [4, 0]}}", "m.yaml:1: net.topology.dims: bad sizes '4x0'"},
    {"net: {topology: {dims: [[4]]}}",
     "m.yaml:1: net.topology.dims: a list was given: expected a number"},
    {"? [a]\n: b\n", "m.yaml:1: a list was given: expected the name of a field"},
    {"&a net: {latency: *b}", "not YAML"},
    {"<<: {net: 1}", "m.yaml:1: <<: unknown field"},
};

static void test_errors(void)
{
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int rc = read_yaml(bad[i].text);
        if (!ok(rc == ERR_INPUT && strstr(err.text, bad[i].says), "case %zu: %s", i, bad[i].says))
            diag("code %d text '%s'", rc, err.text);
        platform_fini(&p);
    }
}

/* Texts that would take long, or much memory. */
static void test_bombs(void)
{
    struct buf text;
    buf_init(&text);
    buf_adds(&text, "net: &a {segments: *a}");
    ok(read_yaml(buf_str(&text)) == ERR_INPUT, "a section in itself");
    platform_fini(&p);
    buf_clear(&text);
    for (int i = 0; i < 20000; i++)
        buf_adds(&text, "[");
    ok(read_yaml(buf_str(&text)) == ERR_INPUT && strstr(err.text, "brackets within brackets"),
       "lists in lists in lists");
    platform_fini(&p);
    buf_clear(&text);
    buf_adds(&text, "nodes: {map: &a [");
    for (int i = 0; i < 50; i++)
        buf_adds(&text, "7,");
    buf_adds(&text, "7], groups: [");
    for (int i = 0; i < 1000; i++)
        buf_adds(&text, "*a,");
    buf_adds(&text, "]}");
    ok(read_yaml(buf_str(&text)) == ERR_INPUT, "aliases where they do not belong");
    platform_fini(&p);
    buf_clear(&text);
    buf_adds(&text, "net: {");
    for (int i = 0; i < 1000; i++)
        buf_addf(&text, "x%d: 1,", i);
    buf_adds(&text, "}");
    ok(read_yaml(buf_str(&text)) == ERR_INPUT, "a section with a thousand fields");
    platform_fini(&p);
    buf_fini(&text);
}

/* ---- files beside ---- */

typedef int reader(struct platform *, const char *, const char *, size_t, struct err *);

static const struct {
    reader *read;
    const char *text, *says;
} bad_files[] = {
    {platform_read_noise, "", "f: no interruption in it"},
    {platform_read_noise, "1us 2ns\n\n5us\n", "f:3: expected two words"},
    {platform_read_noise, "1us 2\n", "f:1: duration: bad time '2'"},
    {platform_read_noise, "1us 5us # first\n3us 1us\n", "f:2: start: '3us' is before the end"},
    {platform_read_noise, "1us 2us 3us 4us 5us 6us 7us 8us\n", "f:1: more than 7 words"},
    {platform_read_graph, "# none\n", "f: no link in it"},
    {platform_read_graph, "n0\n",
     "f:1: expected: FROM TO [BANDWIDTH [LATENCY [ERROR_RATE [MTU]]]]"},
    {platform_read_graph, "n0 s0\nn1 x0\n", "f:2: to: bad vertex 'x0'"},
    {platform_read_graph, "n s0\n", "f:1: from: bad vertex 'n'"},
    {platform_read_graph, "n99999999999 s0\n", "f:1: from: bad vertex"},
    {platform_read_graph, "n2147483648 s0\n", "f:1: from: bad vertex"},
    {platform_read_graph, "n0 n0\n", "f:1: to: 'n0' is where the link begins"},
    {platform_read_graph, "n0 s0 5us\n", "f:1: bandwidth: bad bandwidth '5us'"},
    {platform_read_graph, "n0 s0 5Gbps 5\n", "f:1: latency: bad time '5'"},
    {platform_read_graph, "n0 s0 5Gbps 5us 0 9000 both\n", "f:1: expected: FROM TO"},
    {platform_read_graph, "n0 s0 5Gbps 5us both\n", "f:1: error_rate: bad"},
    {platform_read_graph, "n0 s0 - - - 9 kB\n", "f:1: expected: FROM TO"},
    {platform_read_graph, "n0 s0 - - - 0\n", "f:1: mtu: must be greater than 0"},
    {platform_read_map, "  # nothing\n", "f: no node in it"},
    {platform_read_map, "0 1\n2 x 3\n", "f:2: bad node 'x'"},
    {platform_read_map, "# a\n# b\n4294967295\n", "f:3: bad node"},
};

static void test_files(void)
{
    static const char noise[] = "# t d\n1us 2us\r\n\n10us 0s";
    static const char graph[] =
        "n0 s0 10Gbps 1us\ns0 s1 - 2us 0.25 9000 oneway # back by another way\ns1 s0\n";
    static const char map[] = "0 0 1 1 2 2 3 3\n4 4 # the last\n";
    platform_init(&p);
    ok(platform_read_noise(&p, "f", noise, strlen(noise), &err) == 0 &&
           p.lists[PLATFORM_NOISE].count == 2,
       "noise is read");
    ok(platform_read_graph(&p, "f", graph, strlen(graph), &err) == 0 &&
           p.lists[PLATFORM_EDGES].count == 5,
       "a graph is read");
    const struct platform_edge *e = p.lists[PLATFORM_EDGES].items;
    ok(e[0].from == 0 && e[0].to == PLATFORM_SWITCH && e[0].bandwidth == 1e10 &&
           e[0].latency == VTIME_US && e[1].from == PLATFORM_SWITCH && e[1].to == 0,
       "both directions");
    ok(e[2].to == (PLATFORM_SWITCH | 1) && isnan(e[2].bandwidth) && e[2].latency == 2 * VTIME_US &&
           e[3].from == (PLATFORM_SWITCH | 1),
       "one direction");
    ok(e[2].error_rate == 0.25 && e[2].mtu == 9000 && isnan(e[3].error_rate) &&
           e[3].mtu == UINT64_MAX,
       "error rate and MTU of a link");
    ok(platform_read_map(&p, "f", map, strlen(map), &err) == 0 &&
           p.lists[PLATFORM_MAP].count == 10 && ((uint32_t *)p.lists[PLATFORM_MAP].items)[9] == 4,
       "a map is read");
    platform_fini(&p);
    for (size_t i = 0; i < sizeof bad_files / sizeof bad_files[0]; i++) {
        platform_init(&p);
        int rc = bad_files[i].read(&p, "f", bad_files[i].text, strlen(bad_files[i].text), &err);
        if (!ok(rc == ERR_INPUT && strstr(err.text, bad_files[i].says), "%s", bad_files[i].says))
            diag("code %d text '%s'", rc, err.text);
        platform_fini(&p);
    }
}

/* ---- there and back ---- */

static int comes_back(const struct platform *machine)
{
    struct platform again;
    struct buf text;
    buf_init(&text);
    platform_init(&again);
    platform_write(machine, NULL, &text);
    int rc = platform_read_text(&again, &dirs, "/w.yaml", buf_str(&text), text.len, NULL, &err);
    int same = rc == 0 && platform_equal(machine, &again);
    if (!same)
        diag("%s\n%s", rc ? err.text : "differs", buf_str(&text));
    platform_fini(&again);
    buf_fini(&text);
    return same;
}

static void test_round_trip(void)
{
    platform_init(&p);
    ok(comes_back(&p), "the default machine");
    platform_set(&p,
                 "name=a \"b\" \\c: #d,description=,net.bandwidth=123456789bps,net.latency=7ps,"
                 "net.topology.dims=4x4,net.topology.file=/a b/yes,mpi.eager_limit=1025,"
                 "nodes.speed=0.1,net.segments[+].from=0,net.segments[+].from=3MiB,"
                 "net.segments[1].latency=0s,nodes.groups[+].nodes=3-9,net.links[+].from=n0,"
                 "net.links[0].to=s0,net.links[0].both=false,mpi.algorithms[+].op=bcast,"
                 "mpi.algorithms[0].algorithm=no",
                 NULL, &err);
    for (uint32_t i = 0; i < 100; i++)
        *(uint32_t *)platform_list_extend(&p, PLATFORM_MAP, 1) = i * 1000;
    ok(comes_back(&p), "a machine with everything");
    platform_fini(&p);
}

static void test_presets(void)
{
    struct platform fresh;
    size_t count;
    char **names = platform_presets(&dirs, &count);
    is_int((long)count, 7, "seven presets");
    platform_init(&fresh);
    for (size_t i = 0; i < count; i++) {
        platform_init(&p);
        int rc = platform_read(&p, &dirs, names[i], NULL, &err);
        if (!ok(rc == 0 && strcmp(p.config.name, names[i]) == 0 && *p.config.description,
                "preset %s is read, has its name and a description", names[i]))
            diag("%s", err.text);
        ok(comes_back(&p), "and comes back");
        if (strcmp(names[i], "ethernet-1g") == 0)
            ok(platform_equal(&p, &fresh), "it is the default in every field");
        platform_fini(&p);
        mem_free(names[i]);
    }
    mem_free(names);
    platform_fini(&fresh);
    platform_init(&p);
    ok(platform_read_text(&p, &dirs, "x.yaml", "base: torus-3d\nnet: {latency: 9us}", 34, NULL,
                          &err) == 0 &&
           p.config.net_latency == 9 * VTIME_US && strcmp(p.config.topo_kind, "torus") == 0 &&
           strcmp(p.config.name, "x") == 0,
       "a file with a preset as its base");
    platform_fini(&p);
}

static void test_origins(void)
{
    struct platform_origins o;
    static const char text[] = "net:\n  topology: {kind: torus}\n";
    platform_init(&p);
    platform_origins_init(&o);
    platform_read_text(&p, &dirs, "m.yaml", text, strlen(text), &o, &err);
    err_set(&err, ERR_INPUT, "net.topology.kind: is wrong");
    platform_origins_explain(&o, &err);
    is_str(err.text, "m.yaml:2: net.topology.kind: is wrong", "a setting is found in its file");
    err_set(&err, ERR_INPUT, "net.topology.dims: is wrong");
    platform_origins_explain(&o, &err);
    is_str(err.text, "net.topology.dims: is wrong", "but not one that was not given");
    o.layers++;
    platform_set(&p, "net.topology.kind=mesh,net.links[+].from=n0", &o, &err);
    err_set(&err, ERR_INPUT, "net.topology.kind: is wrong");
    platform_origins_explain(&o, &err);
    is_str(err.text, "--set: net.topology.kind: is wrong", "the command line goes before the file");
    is_int(platform_origins_find(&o, "net.topology.kind")->layer, 2, "in a layer above");
    is_int(platform_origins_find(&o, "net.links")->layer, 2, "lists, too");
    is_int(platform_origins_find(&o, "net.gap")->layer, 0, "what was not given is in none");
    platform_origins_fini(&o);
    platform_fini(&p);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    directories[0] = argv[1];
    plan_auto();
    test_values();
    test_errors();
    test_bombs();
    test_files();
    test_round_trip();
    test_presets();
    test_origins();
    return done_testing();
}
