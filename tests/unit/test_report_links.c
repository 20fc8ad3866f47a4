/* Messages routed through a topology that can be followed by hand, and what a report says of
 * links. */
#include "analysis/links.h"
#include "find_link.h"
#include "library/library.h"
#include "topology_machine.h"
#include "report/links.h"
#include "report/routed.h"

#define US 1000000 /* ticks, which are picoseconds */

static double load_of(const struct analysis_links *l, const char *name)
{
    for (size_t i = 0; i < l->count; i++)
        if (strcmp(l->link[i].name, name) == 0)
            return l->link[i].bytes;
    return -1;
}

static void check_json(const struct analysis *a)
{
    struct chunks chunks;
    struct buf text;
    struct json json;
    chunks_init(&chunks);
    buf_init(&text);
    json_init(&json, &text);
    json_object_begin(&json);
    links_write(a, &chunks, &json);
    json_object_end(&json);
    json_fini(&json);
    ok(strstr(buf_str(&text), "\"used\": 6") != NULL, "how many links were used");
    ok(strstr(buf_str(&text), "\"seriesCount\": 6") != NULL, "and when, of each of them");
    is_int(chunks.count, 3, "vertices, links and what they carried when");
    buf_fini(&text);
    chunks_fini(&chunks);
}

static void test_torus(void)
{
    static int64_t nodes[12];
    struct trace t = {.header = {.ranks = 12, .tick = 1}, .definitions = {.nodes = nodes}};
    struct analysis a = {.runtime = 1};
    struct routed r;
    struct err why = {0};
    for (int i = 0; i < 12; i++)
        nodes[i] = i;
    is_int(make("kind=torus,dims=4x3", 12), 0, "a torus");
    ok(routed_init(&r, &t, &machine, &why) == 0, "the machine has the nodes: %s", why.text);
    /* 0 to 1 and 0 to 6 share the cable from s0 to s1; what stays on a node uses none */
    routed_take(&r, 0, 1, 100, 0, US);
    routed_take(&r, 0, 6, 1000, 2 * US, 4 * US);
    routed_take(&r, 3, 3, 5000, 0, US);
    routed_finish(&r, &a);
    ok(load_of(&a.links, "n0-s0") == 1100, "the node's own link carries all that it sends");
    ok(load_of(&a.links, "s0-s1") == 1100, "routes share a cable");
    ok(load_of(&a.links, "s1-s2") == 1000, "as far as they are the same");
    ok(load_of(&a.links, "s1-n1") == 100, "one ends");
    ok(load_of(&a.links, "s6-n6") == 1000, "the other goes on");
    ok(load_of(&a.links, "s1-s0") == 0 && load_of(&a.links, "n3-s3") == 0,
       "other links are there, and carried nothing");
    is_int((long long)a.links.used, 6, "links in use");
    ok(a.links.link[0].bytes == 1100 && a.links.link[5].bytes == 100, "most first");
    const struct analysis_link *first = &a.links.link[0];
    size_t peak = analysis_link_peak(&a.links, first);
    ok((double)peak * a.links.interval < 4e-6 && first->bins[peak] < 1100,
       "bytes are spread over the time of their message");
    ok(analysis_link_busy(&a, first) == 1100 / first->rate, "the share of the run time");
    check_json(&a);
    analysis_fini(&a);
    routed_fini(&r);
    nodes[5] = 400;
    ok(routed_init(&r, &t, &machine, &why) != 0 && *why.text, "a machine that is too small: %s",
       why.text);
    machine_fini();
}

int main(void)
{
    plan_auto();
    library_load(LIBRARY_zlib, NULL);
    test_torus();
    return done_testing();
}
