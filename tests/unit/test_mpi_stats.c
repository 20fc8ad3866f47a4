/*
 * Statistics: limits of the size buckets, exact pairs against a plain matrix, and the aggregation
 * by groups when there are too many pairs.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "mpi/ext.h"
#include "mpi/stats_internal.h"
#include "tap.h"

struct mpi_world mpi_world;
struct vp_private vp_private;
static struct run_options options;

static void world(uint32_t size, uint64_t per_node)
{
    options.platform.nodes_ranks = per_node;
    mpi_world.opt = &options;
    mpi_world.size = mpi_world.room = size;
    mpi_world.engine.known = size;
    rank_map_init(&mpi_world.engine.cfg.map, RANK_MAP_BLOCK, size, 1, 0, NULL);
    mpi_world.ranks = mem_map(size * sizeof(struct mpi_rank), 1);
    pool_init(&mpi_world.pool, "extras");
    mpi_stats_init(0);
}

static void test_buckets(void)
{
    int wrong = 0;

    is_int(mpi_stats_bucket(0), 0, "0 bytes");
    is_int(mpi_stats_bucket(16), 0, "16 bytes");
    is_int(mpi_stats_bucket(17), 1, "17 bytes");
    is_int(mpi_stats_bucket(UINT64_MAX), MPI_STATS_BUCKETS - 1, "the largest number");
    for (unsigned i = 0; i < MPI_STATS_BUCKETS - 1; i++) {
        uint64_t limit = (uint64_t)16 << 2 * i;
        wrong += mpi_stats_bucket(limit) != i;
        wrong += mpi_stats_bucket(limit + 1) != i + 1;
        wrong += mpi_stats_bucket(limit - 1) != i;
    }
    is_int(wrong, 0, "every limit and its neighbours");
}

/* ---- pairs ---- */

enum { SMALL = 150 };
static uint64_t messages[SMALL][SMALL], bytes[SMALL][SMALL];

/* What the rank has counted for dst, wherever it keeps it. */
static struct mpi_cell counted(const struct mpi_rank *r, uint32_t dst)
{
    struct mpi_cell c = {0, 0};

    if (r->pair.messages && r->pair.dst == dst)
        c = (struct mpi_cell){r->pair.messages, r->pair.bytes};
    for (uint32_t i = 0; i < r->pair_count; i++)
        if (r->pairs[i].dst == dst) {
            c.messages += r->pairs[i].messages;
            c.bytes += r->pairs[i].bytes;
        }
    return c;
}

static void test_pairs(void)
{
    struct rng r;
    int wrong = 0;
    uint64_t distinct = 0, total[2] = {0, 0};

    world(SMALL, 1);
    rng_seed(&r, 5);
    for (int i = 0; i < 40000; i++) {
        uint32_t src = (uint32_t)rng_below(&r, SMALL), n = (uint32_t)rng_below(&r, 5000);
        uint32_t dst = (uint32_t)rng_below(&r, 1 + src);
        int coll = (int)rng_below(&r, 2);

        mpi_stats_send(&mpi_world.ranks[src], dst, n, coll);
        distinct += messages[src][dst]++ == 0;
        bytes[src][dst] += n;
        total[coll] += n;
    }
    for (uint32_t s = 0; s < SMALL; s++)
        for (uint32_t d = 0; d < SMALL; d++) {
            struct mpi_cell c = counted(&mpi_world.ranks[s], d);
            wrong += c.messages != messages[s][d] || c.bytes != bytes[s][d];
        }
    is_int(wrong, 0, "every pair is exact");
    is_int((long long)mpi_world.stats->pairs, (long long)distinct, "the number of pairs");
    ok(mpi_world.stats->bytes[0] == total[0] && mpi_world.stats->bytes[1] == total[1],
       "point-to-point and collective bytes apart");
    is_int(mpi_world.stats->aggregated, 0, "not aggregated");
}

/* ---- aggregation: one pair more than the limit, in groups of two nodes of two ranks ---- */

enum { BIG = 8000, PEERS = 510 };

static void test_aggregation(void)
{
    struct mpi_stats *s;
    uint64_t sent = 0, in_matrix = 0, weight = 0, want = 0;

    world(BIG, 2);
    s = mpi_world.stats;
    is_int(s->group, 4, "8000 ranks on 4000 nodes: groups of two nodes");
    is_int(s->groups, 2000, "2000 groups");
    for (uint32_t round = 0; round < 2; round++)
        for (uint32_t k = 0; k < PEERS; k++)
            for (uint32_t i = 0; i < BIG; i++) {
                mpi_stats_send(&mpi_world.ranks[i], (i + 7 * k) % BIG, k, 0);
                sent++;
            }
    is_int(s->aggregated, 1, "above the limit pairs are aggregated");
    mpi_stats_fold_inline();
    for (uint32_t g = 0; g < s->groups; g++)
        for (uint32_t h = 0; h < s->groups; h++) {
            in_matrix += s->matrix[(size_t)g * s->groups + h].messages;
            weight += s->matrix[(size_t)g * s->groups + h].bytes * (1 + g % 13 + h % 17);
        }
    is_int((long long)in_matrix, (long long)sent, "no message is lost or counted twice");
    for (uint32_t k = 0; k < PEERS; k++)
        for (uint32_t i = 0; i < BIG; i++)
            want += 2ull * k * (1 + i / 4 % 13 + (i + 7 * k) % BIG / 4 % 17);
    ok(weight == want, "and each is in the cell of its groups");
}

/* ---- time per function ---- */

static void test_times(void)
{
    struct mpi_stats *s;

    world(4, 1);
    s = mpi_world.stats;
    mpi_stats_call(&mpi_world.ranks[0], (enum mpi_fn)0, 5);
    mpi_stats_call(&mpi_world.ranks[1], (enum mpi_fn)0, 7);
    is_int(s->time[0], 12, "times add up");
    is_int((long long)s->calls[0], 2, "calls too");
    for (int i = 0; i < 3; i++)
        mpi_stats_call(&mpi_world.ranks[2], (enum mpi_fn)1, VTIME_LIMIT - 1);
    ok(s->time[1] >= VTIME_LIMIT - 1, "the sum over all ranks saturates");
}

int main(void)
{
    plan_auto();
    test_buckets();
    test_pairs();
    test_aggregation();
    test_times();
    return done_testing();
}
