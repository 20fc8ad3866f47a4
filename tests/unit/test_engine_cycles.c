/*
 * The cycles of a graph: those of small random graphs against all simple paths, and large graphs of
 * known shapes.
 */
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "engine/cycles.h"
#include "tap.h"

#define SMALL 6
#define SEEN_MOST 512

struct seen {
    uint32_t count, lengths[SEEN_MOST], first[SEEN_MOST];
    uint64_t hashes[SEEN_MOST];
    uint32_t longest;
    int is_ordered; /* each begins with its smallest member */
};

static uint64_t hash(const uint32_t *members, uint32_t count)
{
    uint64_t h = count;
    for (uint32_t i = 0; i < count; i++)
        h = (h ^ members[i]) * 0x100000001b3u;
    return h;
}

static void see(void *context, const uint32_t *members, uint32_t count)
{
    struct seen *s = context;
    for (uint32_t i = 1; i < count; i++)
        s->is_ordered &= members[i] > members[0];
    if (count > s->longest)
        s->longest = count;
    if (s->count < SEEN_MOST) {
        s->lengths[s->count] = count;
        s->first[s->count] = members[0];
        s->hashes[s->count] = hash(members, count);
    }
    s->count++;
}

/* ---- the oracle: all simple paths ---- */

struct all {
    int edge[SMALL][SMALL];
    struct seen seen;
};

static void follow(struct all *a, uint32_t *path, uint32_t count)
{
    for (uint32_t to = path[0]; to < SMALL; to++) {
        int is_there = 0;
        if (!a->edge[path[count - 1]][to])
            continue;
        if (to == path[0])
            see(&a->seen, path, count);
        for (uint32_t i = 0; i < count; i++)
            is_there |= path[i] == to;
        if (is_there)
            continue;
        path[count] = to;
        follow(a, path, count + 1);
    }
}

static int has(const struct seen *s, uint64_t h)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (s->hashes[i] == h)
            return 1;
    return 0;
}

static int is_same(const struct seen *a, const struct seen *b)
{
    for (uint32_t i = 0; i < a->count; i++)
        if (!has(b, a->hashes[i]))
            return 0;
    return a->count == b->count;
}

static int agrees(struct rng *rng, unsigned density)
{
    struct all a = {.seen = {.is_ordered = 1}};
    struct seen got = {.is_ordered = 1};
    uint64_t row[SMALL + 1] = {0};
    uint32_t on[SMALL * SMALL], edges = 0, path[SMALL + 1];
    for (uint32_t v = 0; v < SMALL; v++) {
        for (uint32_t to = 0; to < SMALL; to++)
            if (rng_below(rng, 10) < density) {
                a.edge[v][to] = 1;
                on[edges++] = to;
            }
        row[v + 1] = edges;
    }
    for (uint32_t v = 0; v < SMALL; v++) {
        path[0] = v;
        follow(&a, path, 1);
    }
    struct cycles_graph g = {SMALL, row, on};
    struct cycles_found found = cycles_find(&g, see, &got);
    return found.is_all && found.count == a.seen.count && got.is_ordered && is_same(&a.seen, &got);
}

static void test_small(void)
{
    struct rng rng;
    int good = 1;
    rng_seed(&rng, 7);
    for (int i = 0; i < 2000; i++)
        good &= agrees(&rng, 1 + (unsigned)i % 7);
    ok(good, "2000 random graphs: every cycle once");
}

/* ---- large graphs ---- */

struct large {
    uint64_t *row;
    uint32_t *on, n;
    uint64_t edges;
};

static void begin(struct large *l, uint32_t n, uint32_t degree)
{
    *l = (struct large){mem_zalloc((n + 1) * sizeof *l->row),
                        mem_alloc((uint64_t)n * degree * sizeof *l->on), 0, 0};
}

static void edges_of_next(struct large *l, const uint32_t *on, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        l->on[l->edges++] = on[i];
    l->row[++l->n] = l->edges;
}

static struct cycles_found find(struct large *l, struct seen *s)
{
    struct cycles_graph g = {l->n, l->row, l->on};
    *s = (struct seen){.is_ordered = 1};
    struct cycles_found found = cycles_find(&g, see, s);
    mem_free(l->row);
    mem_free(l->on);
    return found;
}

static void test_large(void)
{
    enum { N = 200000, HALF = 1000 };
    struct large l;
    struct seen s;
    begin(&l, N, 2);
    for (uint32_t i = 0; i < N; i++)
        edges_of_next(&l, (uint32_t[]){(i + 1) % N}, 1);
    struct cycles_found f = find(&l, &s);
    ok(f.is_all && f.count == 1 && s.longest == N, "a long ring is one cycle");

    begin(&l, N, 2);
    for (uint32_t i = 0; i < N; i++)
        edges_of_next(&l, (uint32_t[]){(i + 1) % N, (i + N - 1) % N}, 2);
    f = find(&l, &s);
    ok(f.count >= N && s.lengths[0] == 2 && s.is_ordered,
       "neighbours that wait for each other: pairs first");

    begin(&l, 2 * HALF, 2);
    edges_of_next(&l, (uint32_t[]){1, HALF}, 2);
    for (uint32_t i = 1; i < 2 * HALF; i++)
        edges_of_next(&l, (uint32_t[]){(i + 1) % HALF ? (i + 1) % (2 * HALF) : 0}, 1);
    f = find(&l, &s);
    ok(f.count == 2 && s.lengths[0] == HALF && s.lengths[1] == HALF + 1 && s.first[1] == 0 &&
           s.is_ordered,
       "two long cycles that share a member");

    begin(&l, N, 1);
    for (uint32_t i = 0; i < N; i++)
        edges_of_next(&l, (uint32_t[]){i ^ 1}, 1);
    f = find(&l, &s);
    ok(f.is_all && f.count == N / 2 && s.first[1] == 2, "many cycles, each with its own members");

    begin(&l, N, 1);
    for (uint32_t i = 0; i < N; i++)
        edges_of_next(&l, (uint32_t[]){i + 1}, i + 1 < N);
    f = find(&l, &s);
    ok(f.is_all && f.count == 0, "a chain has none");
}

int main(void)
{
    plan_auto();
    test_small();
    test_large();
    return done_testing();
}
