/*
 * Placement by minimal cut: graphs whose best cut is known, limits of size on random graphs,
 * both formats, aggregated statistics, and files that must be refused.
 */
#include "partition/placement.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/rng.h"
#include "partition/graph.h"
#include "partition/refine.h"
#include "results/stats_read.h"
#include "tap.h"

#define RANKS_MAX 4096

struct edge {
    uint32_t from, to;
    uint64_t messages;
};

/* A run whose statistics are written to a file and read back. */
struct run {
    uint32_t ranks, group; /* group 0: not aggregated */
    struct edge *edges;
    size_t count;
};

static struct run run;
static uint32_t owner[RANKS_MAX];
static struct err err;
static char path[64];

static void start(uint32_t ranks, uint32_t group)
{
    free(run.edges);
    run = (struct run){.ranks = ranks, .group = group};
}

static void edge(uint32_t from, uint32_t to, uint64_t messages)
{
    if (run.count % 1024 == 0)
        run.edges = realloc(run.edges, (run.count + 1024) * sizeof *run.edges);
    run.edges[run.count++] = (struct edge){from, to, messages};
}

static void save(const struct buf *b)
{
    if (buf_write_file(b, path, &err)) {
        printf("Bail out! %s\n", err.text);
        exit(1);
    }
}

static void save_text(const char *text)
{
    struct buf b;
    buf_init(&b);
    buf_adds(&b, text);
    save(&b);
    buf_fini(&b);
}

static void save_json(void)
{
    struct buf b;
    buf_init(&b);
    buf_addf(&b,
             "{\n  \"ranks\": %u,\n  \"virtual_time_s\": 1e-05,\n"
             "  \"sizes\": [{\"messages\": 7}],\n"
             "  \"pairs\": {\n    \"aggregated\": %s,\n    \"ranks_per_entry\": %u,\n"
             "    \"columns\": [\"source\", \"destination\", \"messages\", \"bytes\"],\n"
             "    \"rows\": [",
             run.ranks, run.group ? "true" : "false", run.group ? run.group : 1);
    for (size_t i = 0; i < run.count; i++)
        buf_addf(&b, "%s\n      [%u, %u, %llu, 8]", i ? "," : "", run.edges[i].from,
                 run.edges[i].to, (unsigned long long)run.edges[i].messages);
    buf_adds(&b, "\n    ]\n  },\n  \"per_rank\": [{\"rank\": 0, \"functions\": [[]]}]\n}\n");
    save(&b);
    buf_fini(&b);
}

static void save_csv(void)
{
    struct buf b;
    buf_init(&b);
    buf_addf(&b,
             "kind,name,source,destination,count,bytes,time_s\nrun,ranks,,,%u,,0.000001\n"
             "function,MPI_Send,,,7,,0.0\n",
             run.ranks);
    if (run.group)
        buf_addf(&b, "groups,ranks_per_entry,,,%u,,\n", run.group);
    for (size_t i = 0; i < run.count; i++)
        buf_addf(&b, "%s,,%u,%u,%llu,8,\n", run.group ? "group_pair" : "pair", run.edges[i].from,
                 run.edges[i].to, (unsigned long long)run.edges[i].messages);
    buf_adds(&b, "rank,end,0,,,,0.0\n");
    save(&b);
    buf_fini(&b);
}

static uint64_t cut_of(const uint32_t *o)
{
    uint64_t cut = 0;
    uint32_t group = run.group ? run.group : 1;
    for (size_t i = 0; i < run.count; i++)
        if (o[run.edges[i].from * group] != o[run.edges[i].to * group])
            cut += run.edges[i].messages;
    return cut;
}

static uint64_t cut_of_blocks(uint32_t procs)
{
    static uint32_t blocks[RANKS_MAX];
    for (uint32_t p = 0, i = 0; p < procs; p++)
        for (uint32_t n = run.ranks / procs + (p < run.ranks % procs); n > 0; n--)
            blocks[i++] = p;
    return cut_of(blocks);
}

/* At most 3 % or one rank over the mean, none empty, numbered by the smallest rank. */
static int well_formed(uint32_t procs)
{
    static uint32_t load[RANKS_MAX];
    uint32_t most = (run.ranks + procs - 1) / procs, seen = 0;
    if (most < run.ranks * 1.03 / procs)
        most = (uint32_t)(run.ranks * 1.03 / procs);
    memset(load, 0, sizeof load);
    for (uint32_t i = 0; i < run.ranks; i++) {
        if (owner[i] > seen || owner[i] >= procs)
            return 0;
        seen += owner[i] == seen;
        if (++load[owner[i]] > most)
            return 0;
    }
    return seen == procs;
}

static int place(uint32_t procs)
{
    memset(owner, 0xff, sizeof owner);
    save_json();
    return partition_mincut(path, run.ranks, procs, owner, &err);
}

static void best_cut(const char *name, uint32_t procs, uint64_t want)
{
    int rc = place(procs);
    if (!ok(rc == 0 && well_formed(procs) && cut_of(owner) == want, "%s: the best cut", name))
        diag("code %d, well formed %d, cut %llu, best %llu, blocks %llu", rc, well_formed(procs),
             (unsigned long long)cut_of(owner), (unsigned long long)want,
             (unsigned long long)cut_of_blocks(procs));
}

/* ---- known graphs ---- */

static void clique(uint32_t first, uint32_t stride, uint32_t size, uint64_t messages)
{
    for (uint32_t i = 0; i < size; i++)
        for (uint32_t k = 0; k < size; k++)
            if (i != k)
                edge(first + i * stride, first + k * stride, messages);
}

static void ring(uint32_t ranks)
{
    start(ranks, 0);
    for (uint32_t i = 0; i < ranks; i++)
        edge(i, (i + 1) % ranks, 3);
}

/* A grid without wrap-around whose ranks are numbered by rows. */
static void grid(uint32_t rows, uint32_t columns)
{
    start(rows * columns, 0);
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t k = 0; k < columns; k++) {
            uint32_t here = i * columns + k;
            if (k + 1 < columns)
                edge(here, here + 1, 1);
            if (i + 1 < rows)
                edge(here + columns, here, 1);
        }
}

/* Ranks that are equal modulo `classes` talk to each other: blocks are the worst. */
static void cyclic(uint32_t ranks, uint32_t classes)
{
    start(ranks, 0);
    for (uint32_t i = 0; i < classes; i++)
        clique(i, classes, ranks / classes, 1);
}

static void test_known(void)
{
    start(16, 0);
    clique(0, 2, 8, 10);
    clique(1, 2, 8, 10);
    edge(0, 1, 1);
    best_cut("two interleaved cliques joined by an edge", 2, 1);
    is_int(owner[0], 0, "rank 0 is on process 0");
    is_int(owner[15], 1, "and the other clique on process 1");
    ring(64);
    best_cut("ring", 4, 4 * 3);
    ok(owner[15] == 0 && owner[16] == 1 && owner[63] == 3, "a ring stays in blocks");
    grid(8, 8);
    best_cut("grid of 8 x 8 on 4", 4, 16);
    grid(16, 16);
    best_cut("grid of 16 x 16 on 4", 4, 32);
    grid(4, 64);
    best_cut("flat grid on 4", 4, 12);
    cyclic(64, 4);
    best_cut("cyclic on 4", 4, 0);
    ok(cut_of_blocks(4) > 700, "where blocks are bad");
    ok(owner[0] == 0 && owner[1] == 1 && owner[2] == 2 && owner[60] == 0, "by classes");
    cyclic(1024, 32);
    best_cut("cyclic on 32", 32, 0);
}

/* Messages count, not pairs, and both ways together. */
static void test_weights(void)
{
    start(4, 0);
    edge(0, 1, 5);
    edge(0, 2, 4);
    edge(2, 0, 4);
    edge(1, 3, 3);
    edge(3, 1, 3);
    edge(3, 2, 2);
    best_cut("both ways are summed", 2, 7);
    ok(owner[0] == owner[2] && owner[1] == owner[3], "the heavier pairs stay together");
    start(16, 0);
    clique(0, 2, 8, INT64_MAX / 4);
    clique(1, 2, 8, INT64_MAX / 4);
    edge(0, 1, INT64_MAX / 1000);
    is_int(place(2), 0, "huge counts are accepted");
    ok(well_formed(2) && owner[0] == owner[14] && owner[1] == owner[15] && owner[0] != owner[1],
       "and scaled");
}

static void test_corners(void)
{
    ring(7);
    is_int(place(1), 0, "one process");
    ok(well_formed(1), "has all ranks");
    is_int(place(7), 0, "as many processes as ranks");
    ok(well_formed(7), "one rank each");
    is_int(place(9), 0, "more processes than ranks");
    ok(owner[0] == 0 && owner[6] == 6, "a rank each, and some empty");
    is_int(place(5), 0, "nearly as many processes as ranks");
    ok(well_formed(5), "none is empty");
    start(100, 0);
    is_int(place(8), 0, "no messages at all");
    ok(well_formed(8) && owner[12] == 0 && owner[13] == 1 && owner[51] == 3 && owner[52] == 4 &&
           owner[63] == 4 && owner[64] == 5 && owner[99] == 7,
       "gives blocks");
    start(1, 0);
    is_int(place(1), 0, "one rank");
    start(64, 0);
    edge(5, 5, 100);
    is_int(place(4), 0, "messages to oneself");
    ok(well_formed(4) && owner[16] == 1, "count for nothing");
}

/* Ranks without messages fill up the processes, so that cliques need not be cut. */
static void test_isolated(void)
{
    start(60, 0);
    clique(0, 2, 20, 1);
    clique(1, 2, 10, 1);
    best_cut("isolated ranks fill up", 2, 0);
    start(4000, 0);
    clique(0, 3, 300, 1);
    clique(1, 3, 300, 1);
    clique(2, 3, 300, 1);
    best_cut("bundles of isolated ranks fill up", 3, 0);
    start(64, 0);
    for (uint32_t i = 1; i < 40; i++)
        edge(0, i, 1);
    best_cut("star", 4, 40 - 16);
}

static void test_aggregated(void)
{
    start(64 * 8 - 3, 8);
    for (uint32_t i = 0; i < 64; i++)
        for (uint32_t k = i % 4; k < 64; k += 4)
            edge(i, k, 1 + (i == k));
    is_int(place(4), 0, "aggregated");
    ok(well_formed(4), "is balanced by ranks");
    is_int(cut_of(owner), 0, "and follows the groups");
    ok(owner[0] == owner[7] && owner[8] == 1 && owner[4 * 8] == 0, "whole ones");
    start(63 * 8, 8);
    for (uint32_t i = 0; i < 63; i++)
        edge(i, (i + 21) % 63, 1);
    is_int(place(5), 0, "groups that do not fit");
    ok(well_formed(5), "are divided");
    start(64, 16);
    clique(0, 1, 4, 1);
    is_int(place(8), 0, "fewer groups than processes");
    ok(well_formed(8) && owner[8] == 1 && owner[63] == 7, "gives blocks");
}

/* A part that METIS leaves empty although no other is too large. */
static void test_empty_part(void)
{
    static int32_t part[4000];
    struct results_stats stats;
    struct partition_graph graph;
    int load[40] = {0}, largest = 0;
    ring(4000);
    save_json();
    if (results_stats_read(&stats, path, &err) || partition_graph_init(&graph, &stats, 40, &err)) {
        ok(0, "the graph of a ring: %s", err.text);
        return;
    }
    for (int i = 0; i < 4000; i++)
        part[i] = i * 39 / 4000;
    partition_refine(&graph, 40, 103, part);
    for (int i = 0; i < 4000; i++)
        load[part[i]]++;
    for (int i = 0; i < 40; i++)
        largest = load[i] > largest ? load[i] : largest;
    ok(load[39] > 0, "an empty part is filled");
    ok(largest <= 103, "and none gets too large");
    is_int(partition_graph_cut(&graph, part), 40 * 3, "at the least price");
    partition_graph_fini(&graph);
    results_stats_fini(&stats);
}

/* ---- properties ---- */

static void random_run(struct rng *rng)
{
    uint32_t ranks = 2 + (uint32_t)rng_below(rng, rng_below(rng, 12) ? 200 : RANKS_MAX - 1);
    uint32_t group = rng_below(rng, 4) ? 0 : 1 + (uint32_t)rng_below(rng, ranks > 16 ? 16 : ranks);
    uint32_t entries = group ? (ranks + group - 1) / group : ranks;
    uint64_t edges = rng_below(rng, 1 + rng_below(rng, 8 * (uint64_t)entries));
    uint64_t near = 1 + rng_below(rng, entries), most = rng_below(rng, 3) ? 10 : UINT32_MAX;
    start(ranks, group);
    for (uint64_t i = 0; i < edges; i++) {
        uint32_t a = (uint32_t)rng_below(rng, entries);
        edge(a, (uint32_t)((a + rng_below(rng, near)) % entries), rng_below(rng, most));
    }
}

static void test_random(void)
{
    struct rng rng;
    int bad_form = 0, bad_cut = 0, differ = 0, failed = 0;
    static uint32_t first[RANKS_MAX];
    rng_seed(&rng, 20260101);
    for (int i = 0; i < 120; i++) {
        uint32_t procs;
        random_run(&rng);
        procs = 1 + (uint32_t)rng_below(&rng, rng_below(&rng, 3) ? 1 + run.ranks / 8 : run.ranks);
        if (procs > 256)
            procs = 256;
        failed += place(procs) != 0;
        if (!well_formed(procs)) {
            bad_form++;
            diag("round %d: %u ranks, group %u, %zu edges, %u processes", i, run.ranks, run.group,
                 run.count, procs);
        }
        bad_cut += !run.group && cut_of(owner) > cut_of_blocks(procs);
        memcpy(first, owner, sizeof owner);
        memset(owner, 0xff, sizeof owner);
        save_csv();
        srand((unsigned)i);
        failed += partition_mincut(path, run.ranks, procs, owner, &err) != 0;
        differ += memcmp(first, owner, sizeof owner) != 0;
    }
    is_int(failed, 0, "random graphs: all are placed");
    is_int(bad_form, 0, "balanced, none empty, in order");
    is_int(bad_cut, 0, "never worse than blocks");
    is_int(differ, 0, "JSON and CSV, and a second time, give the same");
}

/* The order of the pairs in the file does not matter. */
static void test_order(void)
{
    static uint32_t first[RANKS_MAX];
    grid(12, 12);
    is_int(place(6), 0, "a grid");
    memcpy(first, owner, sizeof owner);
    for (size_t i = 0; i < run.count / 2; i++) {
        struct edge e = run.edges[i];
        run.edges[i] = run.edges[run.count - 1 - i];
        run.edges[run.count - 1 - i] = e;
    }
    is_int(place(6), 0, "its pairs backwards");
    ok(memcmp(first, owner, sizeof owner) == 0, "give the same");
}

/* ---- refusals ---- */

static void refuse(const char *text, const char *says)
{
    int rc;
    uint32_t untouched = 77;
    save_text(text);
    err = (struct err){0};
    rc = partition_mincut(path, 1, 1, &untouched, &err);
    if (!ok(rc == ERR_INPUT && err.code == rc && strstr(err.text, path) && strstr(err.text, says) &&
                strstr(err.text, "orrery run") && untouched == 77,
            "refused: %s", says))
        diag("code %d text '%s'", rc, err.text);
}

#define HEAD "kind,name,source,destination,count,bytes,time_s\n"
#define PAIRS(rows) "{\"ranks\": 4,\n\"pairs\": {\"ranks_per_entry\": 1,\n\"rows\": [" rows "]}}"

static void test_refused_json(void)
{
    refuse("", "it is empty");
    refuse(" \n ", "it is empty");
    refuse("\n\nhello\n", "line 3: neither a JSON object nor the titles");
    refuse("[1, 2]", "neither a JSON object");
    refuse("{}", "no member 'ranks'");
    refuse("{\"ranks\": 4}", "no member 'pairs'");
    refuse("{\"ranks\": 4, \"pairs\": {\"rows\": []}}", "no member 'ranks_per_entry'");
    refuse("{\"ranks\": 4,\n\"pairs\": [\n", "line 2: not the kind of value");
    refuse("{\"ranks\": \"4\"}", "line 1: not the kind of value");
    refuse("{\"ranks\": 0}", "not a number of ranks");
    refuse("{\"ranks\": 4294967296}", "not a number of ranks");
    refuse("{\"ranks\": 99999999999999999999}", "line 1: ");
    refuse("{\n\"ranks\": 4,,\n", "line 2: parse error");
    refuse("{\n\"ranks\": 4,\n\"pairs\": {\"rows\": [[0, 1,", "line 3: parse error: premature EOF");
    refuse("{\n\"ranks\": 4}\n}", "line 3: parse error: trailing garbage");
    refuse(PAIRS("[0, 1, 2, 3],\n[0, 1, 2]"), "line 4: not a row of source");
    refuse(PAIRS("[0, 1, 2, 3, 4]"), "line 3: not a row of source");
    refuse(PAIRS("[0, -1, 2, 3]"), "line 3: not a row of source");
    refuse(PAIRS("[0, 4294967296, 2, 3]"), "line 3: not a row of source");
    refuse(PAIRS("[0, 1.5, 2, 3]"), "line 3: not the kind of value");
    refuse(PAIRS("[0, [], 2, 3]"), "line 3: not the kind of value");
    refuse(PAIRS("0, 1, 2, 3"), "line 3: not the kind of value");
    refuse(PAIRS("[0, 1, 2, 3], [0, 4, 1, 1]"), "pair 2: no rank 4 in a run of 4 ranks");
    refuse("{\"pairs\": {\"columns\": [\"from\"]}}", "the columns are not source");
    refuse("{\"pairs\": {\"rows\": [], \"ranks_per_entry\": 5}, \"ranks\": 4}",
           "groups of 5 ranks in a run of 4");
}

static void test_refused_csv(void)
{
    refuse(HEAD, "no row 'run,ranks'");
    refuse(HEAD "run,ranks,,,x,,\n", "line 2: not a number of ranks: 'x'");
    refuse(HEAD "run,ranks,,,0,,\n", "line 2: not a number of ranks: '0'");
    refuse(HEAD "run,ranks,,,4,,\npair,,0,1,2\n", "line 3: not 7 fields");
    refuse(HEAD "run,ranks,,,4,,\npair,,0,1,2,3,,\n", "line 3: not 7 fields");
    refuse(HEAD "run,ranks,,,4,,\npair,,0,,2,3,\n", "line 3: a pair needs");
    refuse(HEAD "run,ranks,,,4,,\npair,,0,1,9223372036854775808,3,\n", "line 3: a pair needs");
    refuse(HEAD "run,ranks,,,4,,\npair,,0,1,1", "line 3: the file ends in the middle");
    refuse(HEAD "run,ranks,,,4,,\npair,,7,1,1,1,\n", "pair 1: no rank 7 in a run of 4 ranks");
    refuse(HEAD "run,ranks,,,4,,\ngroup_pair,,0,1,1,1,\n", "line 3: the size of the groups");
    refuse(HEAD "run,ranks,,,4,,\ngroups,ranks_per_entry,,,2,,\ngroup_pair,,0,2,1,1,\n",
           "pair 1: no group 2 in a run of 4 ranks");
    refuse(HEAD "run,ranks,,,64,,\n", "made with 64 ranks, this run has 1;");
    save_text(HEAD "run,ranks,,,3,,\r\npair,,0,2,1,1,\r\n");
    is_int(partition_mincut(path, 3, 3, owner, &err), 0, "lines that end in CR LF");
}

static void test_unreadable(void)
{
    int rc;
    unlink(path);
    rc = partition_mincut(path, 4, 2, owner, &err);
    ok(rc == ERR_SYSTEM && strstr(err.text, path) && strstr(err.text, "No such file"),
       "a file that is not there");
    rc = partition_mincut("/", 4, 2, owner, &err);
    ok(rc == ERR_INPUT && strstr(err.text, "not a regular file"), "a directory");
}

int main(void)
{
    plan_auto();
    snprintf(path, sizeof path, "/tmp/test_partition.%d", (int)getpid());
    test_known();
    test_weights();
    test_corners();
    test_isolated();
    test_aggregated();
    test_empty_part();
    test_random();
    test_order();
    test_refused_json();
    test_refused_csv();
    test_unreadable();
    free(run.edges);
    return done_testing();
}
