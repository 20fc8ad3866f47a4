/*
 * Placement against a table: who has which entity, in which order, and how many of a range.
 */
#include <stdlib.h>

#include "base/rng.h"
#include "engine/rank_map.h"
#include "engine_fini.h"
#include "tap.h"

enum { WORLD_MAX = 300, SPARES_MAX = 100, TRIALS = 400 };
#define HUGE_WORLD 2147483647u

static uint32_t
    table[WORLD_MAX + SPARES_MAX]; /* process of each entity, as the drawing in rank_map.h says */

static void fill_table(enum rank_map_kind kind, uint32_t world, uint32_t procs, struct rng *rng)
{
    uint32_t at = 0;

    for (uint32_t i = 0; i < world; i++)
        table[i] = kind == RANK_MAP_CYCLIC ? i % procs : (uint32_t)rng_below(rng, procs);
    for (uint32_t p = 0; kind == RANK_MAP_LIST && p < procs; p++) /* everyone has something */
        table[world - 1 - p] = p;
    for (uint32_t p = 0; kind == RANK_MAP_BLOCK && p < procs; p++)
        for (uint32_t i = 0; i < world / procs + (p < world % procs); i++)
            table[at++] = p;
}

/* Compares one process's view with the table; returns the number of differences. */
static int check_view(const struct rank_map *p, uint32_t world, uint32_t proc)
{
    uint32_t index = 0;
    int bad = 0;

    for (uint32_t i = 0; i < world; i++) {
        bad += rank_map_proc(p, i) != table[i];
        bad += rank_map_is_here(p, i) != (table[i] == proc);
        if (table[i] != proc)
            continue;
        bad += index >= p->count || rank_map_number(p, index) != i; /* rising numbers */
        bad += rank_map_index(p, i) != index;
        bad += rank_map_index_slow(p, i) != index;
        index++;
    }
    return bad + (index != p->count);
}

/* Random ranges that lie within the world, in both directions, also of nothing and of one
 * entity. */
static int check_ranges(const struct rank_map *p, uint32_t world, uint32_t proc, struct rng *rng,
                        uint32_t all)
{
    int bad = 0;

    for (int i = 0; i < 30; i++) {
        int64_t first = (int64_t)rng_below(rng, world), stride = (int64_t)rng_below(rng, 7) - 3;
        int64_t room = stride > 0   ? (world - 1 - first) / stride + 1
                       : stride < 0 ? first / -stride + 1
                                    : 5;
        uint32_t n = (uint32_t)rng_below(rng, (uint64_t)room + 1), want = 0;

        for (uint32_t k = 0; k < n; k++)
            want += table[first + (int64_t)k * stride] == proc;
        bad += rank_map_count_range(p, first, stride, n) != want;
    }
    return bad + (rank_map_count_range(p, 0, 1, world) != all);
}

/* Checks spares, which follow the world and go to the process that is their number modulo procs. */
static int check_spares(struct rank_map *p, uint32_t world, uint32_t proc, struct rng *rng)
{
    uint32_t spares = (uint32_t)rng_below(rng, SPARES_MAX + 1), index = p->count, seen = 0;
    int bad = 0;

    rank_map_add_spares(p, spares);
    for (uint32_t i = world; i < world + spares; i++) {
        table[i] = i % p->procs;
        bad += rank_map_proc(p, i) != table[i];
        bad += rank_map_is_here(p, i) != (table[i] == proc);
        if (table[i] != proc)
            continue;
        bad += index >= p->room || rank_map_number(p, index) != i || rank_map_index(p, i) != index;
        index++;
        seen++;
    }
    bad += index != p->room;
    bad += check_view(p, world, proc);
    bad += check_ranges(p, world + spares, proc, rng, p->count + seen);
    return bad;
}

static void test_against_table(enum rank_map_kind kind, const char *name)
{
    int bad_views = 0, bad_ranges = 0, bad_spares = 0;
    struct rng rng;

    rng_seed(&rng, 17 + kind);
    for (int t = 0; t < TRIALS; t++) {
        uint32_t world = 1 + (uint32_t)rng_below(&rng, t % 4 ? WORLD_MAX : 8);
        uint32_t procs = 1 + (uint32_t)rng_below(&rng, world);
        uint32_t sum = 0;

        if (t % 10 == 0)
            procs = world;
        if (t % 10 == 1)
            procs = 1;
        fill_table(kind, world, procs, &rng);
        for (uint32_t proc = 0; proc < procs; proc++) {
            struct rank_map p;

            rank_map_init(&p, kind, world, procs, proc, kind == RANK_MAP_LIST ? table : NULL);
            bad_views += check_view(&p, world, proc);
            bad_ranges += check_ranges(&p, world, proc, &rng, p.count);
            bad_spares += check_spares(&p, world, proc, &rng);
            sum += p.count;
            rank_map_fini(&p);
        }
        bad_views += sum != world;
    }
    ok(bad_views == 0, "%s: every process knows who has what", name);
    ok(bad_ranges == 0, "%s: ranges are counted", name);
    ok(bad_spares == 0, "%s: spares, and ranges with spares", name);
}

/* Several parts, each a map of its own in the table. */
static void test_parts(enum rank_map_kind kind, const char *name)
{
    struct rank_map_section parts[6];
    struct rng rng;
    int bad = 0;

    rng_seed(&rng, 29 + kind);
    for (int t = 0; t < TRIALS; t++) {
        uint32_t count = 1 + (uint32_t)rng_below(&rng, 6), world = 0, procs = 0;

        for (uint32_t i = 0; i < count; i++) {
            struct rank_map_section *q = &parts[i];
            uint32_t at = 0;

            *q = (struct rank_map_section){.first = world, .proc = procs};
            q->count = 1 + (uint32_t)rng_below(&rng, WORLD_MAX / 6);
            q->procs = t % 5 ? 1 + (uint32_t)rng_below(&rng, q->count) : 1;
            for (uint32_t k = 0; kind == RANK_MAP_CYCLIC && k < q->count; k++)
                table[world + k] = procs + k % q->procs;
            for (uint32_t p = 0; kind == RANK_MAP_BLOCK && p < q->procs; p++)
                for (uint32_t k = 0; k < q->count / q->procs + (p < q->count % q->procs); k++)
                    table[world + at++] = procs + p;
            world += q->count;
            procs += q->procs;
        }
        for (uint32_t proc = 0; proc < procs; proc++) {
            struct rank_map p;

            rank_map_init_sections(&p, kind, parts, count, proc);
            rank_map_add_spares(&p, 0);
            bad += p.world != world || p.procs != procs || p.room != p.count;
            bad += check_view(&p, world, proc);
            bad += check_ranges(&p, world, proc, &rng, p.count);
            rank_map_fini(&p);
        }
    }
    ok(bad == 0, "%s: parts", name);
}

/* The first, the last and some other entities of a process of a world that no table could hold. */
static int check_huge(enum rank_map_kind kind, uint32_t procs, uint32_t proc)
{
    struct rank_map p;
    int bad = 0;

    rank_map_init(&p, kind, HUGE_WORLD, procs, proc, NULL);
    for (uint32_t i = 0; i < 9; i++) {
        uint32_t index = (uint32_t)((uint64_t)(p.count - 1) * i / 8), number;

        number = rank_map_number(&p, index);
        bad += number >= HUGE_WORLD || rank_map_proc(&p, number) != proc ||
               !rank_map_is_here(&p, number) || rank_map_index(&p, number) != index;
        if (procs > 1 && number + 1 < HUGE_WORLD)
            bad += rank_map_is_here(&p, number + 1) != (rank_map_proc(&p, number + 1) == proc);
    }
    if (kind == RANK_MAP_BLOCK) {
        bad += rank_map_count_range(&p, 0, 1, HUGE_WORLD) != p.count;
        bad += rank_map_count_range(&p, HUGE_WORLD - 1, -1, HUGE_WORLD) != p.count;
    }
    bad += p.count != HUGE_WORLD / procs + (proc < HUGE_WORLD % procs);
    rank_map_fini(&p);
    return bad;
}

static void test_huge(void)
{
    static const uint32_t procs[] = {1, 2, 3, 1000, 65536, 1000000007, HUGE_WORLD - 1, HUGE_WORLD};
    int bad = 0;

    for (size_t i = 0; i < sizeof procs / sizeof procs[0]; i++) {
        uint32_t n = procs[i];

        for (int k = RANK_MAP_BLOCK; k <= RANK_MAP_CYCLIC; k++)
            bad += check_huge((enum rank_map_kind)k, n, 0) +
                   check_huge((enum rank_map_kind)k, n, n / 2) +
                   check_huge((enum rank_map_kind)k, n, n - 1);
    }
    is_int(bad, 0, "2^31 - 1 entities");
}

/* Ranges in a huge world need not be counted one by one. */
static void test_huge_range(void)
{
    struct rank_map p;

    rank_map_init(&p, RANK_MAP_BLOCK, HUGE_WORLD, 4, 1, NULL); /* 536870912 ... 1073741823 */
    is_int(rank_map_count_range(&p, 1, 2, 1073741823), 268435456, "odd numbers");
    is_int(rank_map_count_range(&p, 2147483645, -2, 1073741823), 268435456, "from the other end");
    is_int(rank_map_count_range(&p, 0, 536870912, 4), 1, "strides as large as a process");
    is_int(rank_map_count_range(&p, 1073741823, 5, 1), 1, "its last entity");
    is_int(rank_map_count_range(&p, 1073741824, 5, 100), 0, "what is behind it");
    rank_map_fini(&p);
}

int main(void)
{
    plan_auto();
    test_against_table(RANK_MAP_BLOCK, "block");
    test_against_table(RANK_MAP_CYCLIC, "cyclic");
    test_against_table(RANK_MAP_LIST, "list");
    test_parts(RANK_MAP_BLOCK, "block");
    test_parts(RANK_MAP_CYCLIC, "cyclic");
    test_huge();
    test_huge_range();
    return done_testing();
}
