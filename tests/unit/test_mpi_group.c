/*
 * Groups: set algebra against brute force on plain arrays, interning, range detection, rank lookup,
 * handles and leaks.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/group.c" /* its table is counted */
#include "mpi/comm/group_memo.h"
#include "tap.h"

/* What group code needs of the rest of the library: no rank runs here. */
struct mpi_world mpi_world;
struct vp_private vp_private;

#define WORLD 48
#define SEED 20260101

/* Group objects, the predefined ones not counted. */
static uint32_t live(void)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < table.count; i++)
        count += table.slots[i] != NULL;
    return count;
}

/* The oracle: a group is an array of world ranks. */
struct set {
    int n;
    int at[2 * WORLD];
};

static int set_find(const struct set *s, int w)
{
    for (int i = 0; i < s->n; i++)
        if (s->at[i] == w)
            return i;
    return MPI_UNDEFINED;
}

static struct mpi_group *set_group(const struct set *s)
{
    uint32_t *list = mem_alloc((size_t)(s->n + 1) * sizeof *list);

    for (int i = 0; i < s->n; i++)
        list[i] = (uint32_t)s->at[i];
    return mpi_group_make_list(list, (uint32_t)s->n);
}

static int set_is_sequence(const struct set *s)
{
    for (int i = 2; i < s->n; i++)
        if (s->at[i] - s->at[i - 1] != s->at[1] - s->at[0])
            return 0;
    return 1;
}

/* Same members, same order, canonical form, and lookup agrees for every world rank. */
static int agrees(struct mpi_group *g, const struct set *s)
{
    if ((int)g->size != s->n || (g->kind == MPI_GROUP_RANGE) != set_is_sequence(s))
        return 0;
    for (int i = 0; i < s->n; i++)
        if ((int)mpi_group_world_rank(g, (uint32_t)i) != s->at[i])
            return 0;
    for (int w = 0; w < WORLD; w++)
        if (mpi_group_rank_of(g, (uint32_t)w) != set_find(s, w))
            return 0;
    return 1;
}

/* Random: a sequence up or down, or some ranks in any order. */
static struct set set_random(struct rng *rng)
{
    struct set s = {0};
    int shape = (int)rng_below(rng, 4);

    if (shape < 2) {
        int step = 1 + (int)rng_below(rng, 5), w = (int)rng_below(rng, WORLD);
        int want = (int)rng_below(rng, 12);

        for (step = shape ? -step : step; s.n < want && w >= 0 && w < WORLD; w += step)
            s.at[s.n++] = w;
        return s;
    }
    for (int w = 0; w < WORLD; w++)
        if (rng_below(rng, 3) == 0)
            s.at[s.n++] = w;
    for (int i = s.n - 1; shape == 3 && i > 0; i--) {
        int j = (int)rng_below(rng, (uint64_t)i + 1), t = s.at[i];

        s.at[i] = s.at[j];
        s.at[j] = t;
    }
    return s;
}

/* Of a the members whose presence in b is `keep` (-1: all); then, if asked, those of b not in a. */
static struct set set_merge(const struct set *a, const struct set *b, int keep, int with_b)
{
    struct set out = {0};

    for (int i = 0; i < a->n; i++)
        if (keep < 0 || (set_find(b, a->at[i]) >= 0) == keep)
            out.at[out.n++] = a->at[i];
    for (int i = 0; with_b && i < b->n; i++)
        if (set_find(a, b->at[i]) < 0)
            out.at[out.n++] = b->at[i];
    return out;
}

static int check_result(struct mpi_group *g, struct set want)
{
    struct mpi_group *again = set_group(&want);
    int good = agrees(g, &want) && again == g;

    mpi_group_unref(again);
    mpi_group_unref(g);
    return good;
}

static int set_compare(const struct set *a, const struct set *b)
{
    int same_order = a->n == b->n, same_members = a->n == b->n;

    for (int i = 0; i < a->n && same_members; i++) {
        same_order &= a->at[i] == b->at[i];
        same_members &= set_find(b, a->at[i]) >= 0;
    }
    return same_order && same_members ? MPI_IDENT : same_members ? MPI_SIMILAR : MPI_UNEQUAL;
}

static void test_algebra(struct rng *rng)
{
    int bad[7] = {0};

    for (int round = 0; round < 4000; round++) {
        struct set a = set_random(rng), b = round % 5 ? set_random(rng) : a;
        struct mpi_group *ga, *gb;

        if (round % 10 == 5 && b.n > 1) { /* the same members in another order */
            int t = b.at[0];

            b.at[0] = b.at[b.n - 1];
            b.at[b.n - 1] = t;
        }
        ga = set_group(&a);
        gb = set_group(&b);
        bad[0] += !agrees(ga, &a) || !agrees(gb, &b);
        bad[1] += !check_result(mpi_gset_union(ga, gb), set_merge(&a, &b, -1, 1));
        bad[2] += !check_result(mpi_gset_intersection(ga, gb), set_merge(&a, &b, 1, 0));
        bad[3] += !check_result(mpi_gset_difference(ga, gb), set_merge(&a, &b, 0, 0));
        bad[4] += mpi_gset_compare(ga, gb) != set_compare(&a, &b);
        bad[5] += mpi_gset_subset(ga, gb) != (set_merge(&a, &b, 1, 0).n == a.n);
        bad[6] += (ga == gb) != (set_compare(&a, &b) == MPI_IDENT);
        mpi_group_unref(ga);
        mpi_group_unref(gb);
    }
    is_int(bad[0], 0, "groups are what they were made from, in canonical form");
    is_int(bad[1], 0, "union");
    is_int(bad[2], 0, "intersection");
    is_int(bad[3], 0, "difference");
    is_int(bad[4], 0, "compare");
    is_int(bad[5], 0, "subset");
    is_int(bad[6], 0, "equal groups are one object");
    is_int(live(), 0, "nothing leaks");
}

static void test_selection(struct rng *rng)
{
    int bad_pick = 0, bad_omit = 0;

    for (int round = 0; round < 2000; round++) {
        struct set a = set_random(rng), want = {0}, rest = {0};
        struct mpi_group *g = set_group(&a);
        int ranks[2 * WORLD], n = 0, bad;

        for (int i = 0; i < a.n; i++) /* some ranks of the group, from the end */
            if (rng_below(rng, 2)) {
                ranks[n++] = a.n - 1 - i;
                want.at[want.n++] = a.at[a.n - 1 - i];
            }
        for (int i = 0; i < a.n; i++)
            if (set_find(&want, a.at[i]) < 0)
                rest.at[rest.n++] = a.at[i];
        bad_pick += !check_result(mpi_gset_pick(g, (uint32_t)n, ranks, &bad), want);
        bad_omit += !check_result(mpi_gset_omit(g, (uint32_t)n, ranks, &bad), rest);
        mpi_group_unref(g);
    }
    is_int(bad_pick, 0, "incl");
    is_int(bad_omit, 0, "excl");
    is_int(live(), 0, "nothing leaks");
}

static void test_refused(void)
{
    struct mpi_group *g = mpi_group_make_range(10, 2, 5);
    int twice[] = {1, 3, 1}, outside[] = {0, 5}, negative[] = {-1}, bad = 99;

    ok(!mpi_gset_pick(g, 3, twice, &bad) && bad == 1, "incl refuses a rank given twice");
    ok(!mpi_gset_pick(g, 2, outside, &bad) && bad == 5, "incl refuses a rank beyond the size");
    ok(!mpi_gset_omit(g, 1, negative, &bad) && bad == -1, "excl refuses a negative rank");
    mpi_group_unref(g);
}

static void test_canonical(void)
{
    uint32_t *one = mem_alloc(sizeof *one);
    struct mpi_group *a = mpi_group_make_range(7, 1, 1), *b = mpi_group_make_range(7, -3, 1), *c;
    struct mpi_group *e = mpi_group_make_range(5, 2, 0), *f = mpi_group_make_list(mem_alloc(4), 0);

    *one = 7;
    c = mpi_group_make_list(one, 1);
    ok(a == b && b == c, "a group of one is one object whatever its stride");
    ok(e == f && e == mpi_group_get(MPI_GROUP_EMPTY), "all empty groups are MPI_GROUP_EMPTY");
    is_int(mpi_group_rank_of(e, 0), MPI_UNDEFINED, "nobody is in the empty group");
    mpi_group_unref(a);
    mpi_group_unref(b);
    mpi_group_unref(c);
    mpi_group_unref(e);
    mpi_group_unref(f);
    a = mpi_group_make_range(0, 1, 100000000);
    ok(!a->list && !a->inverse && mpi_group_rank_of(a, 99999999) == 99999999 &&
           mpi_group_rank_of(a, 100000000) == MPI_UNDEFINED,
       "a large range costs no memory");
    mpi_group_unref(a);
}

static void test_handles(void)
{
    struct mpi_group *g = mpi_group_make_range(3, 1, 4);
    MPI_Group h = mpi_group_publish(mpi_group_ref(g)), h2 = mpi_group_publish(mpi_group_ref(g));
    MPI_Group stale = h;

    ok(h == h2 && mpi_group_get(h) == g, "two handles of one group are equal");
    mpi_group_retract(g);
    ok(mpi_group_get(h) == g, "valid until the last is freed");
    mpi_group_retract(g);
    ok(!mpi_group_get(h), "freed, although the object lives");
    h = mpi_group_publish(mpi_group_ref(g));
    ok(mpi_group_get(h) == g, "found again");
    mpi_group_retract(g);
    mpi_group_unref(g);
    g = mpi_group_make_range(4, 1, 4);
    h = mpi_group_publish(g);
    ok(h != stale && !mpi_group_get(stale), "a stale handle is not taken for a new group");
    mpi_group_retract(g);
    ok(!mpi_group_get(MPI_GROUP_NULL) && !mpi_group_get(0) && !mpi_group_get(12345) &&
           !mpi_group_get((MPI_Group)0x8bffffff) && !mpi_group_get((MPI_Group)MPI_COMM_WORLD),
       "junk is no group");
    is_int(live(), 0, "nothing leaks");
}

/* Indices come back after a rest; with thousands of groups made and freed the table stays small. */
static void test_reuse(void)
{
    MPI_Group highest = 0;

    for (int i = 0; i < 20000; i++) {
        struct mpi_group *g = mpi_group_make_range(i, 1, 2);
        MPI_Group h = mpi_group_publish(g);

        highest = (h & 0xffffff) > highest ? (h & 0xffffff) : highest;
        mpi_group_retract(g);
    }
    ok(highest < 2000, "indices are used again (highest %d)", highest);
    is_int(live(), 0, "nothing leaks");
}

static void test_memo(void)
{
    struct mpi_group *a = mpi_group_make_range(0, 1, 10), *b = mpi_group_make_range(5, 1, 10), *r;
    int args[] = {1, 2, 3}, other[] = {1, 2, 4}, value = 0;
    struct group_memo_key key = {GROUP_MEMO_INCL, a, NULL, 3, args}, key2 = key;

    ok(!group_memo_find(&key, &r, NULL), "nothing is known at first");
    group_memo_store(&key, b, 0);
    ok(group_memo_find(&key, &r, NULL) && r == b, "an operation is found again");
    mpi_group_unref(r);
    key2.args = other;
    ok(!group_memo_find(&key2, &r, NULL), "other arguments are another operation");
    key2 = key;
    key2.op = GROUP_MEMO_EXCL;
    ok(!group_memo_find(&key2, &r, NULL), "so is another kind");
    key2 = (struct group_memo_key){.op = GROUP_MEMO_COMPARE, .a = a, .b = b};
    group_memo_store(&key2, NULL, MPI_UNEQUAL);
    ok(group_memo_find(&key2, NULL, &value) && value == MPI_UNEQUAL, "values are kept too");
    mpi_group_unref(a);
    a = mpi_group_make_range(0, 1, 10);
    key.a = a;
    ok(!group_memo_find(&key, &r, NULL), "a group made anew is not the old one");
    mpi_group_unref(a);
    mpi_group_unref(b);
}

int main(void)
{
    struct rng rng;

    plan_auto();
    diag("seed %d", SEED);
    rng_seed(&rng, SEED);
    test_algebra(&rng);
    test_selection(&rng);
    test_refused();
    test_canonical();
    test_handles();
    test_reuse();
    test_memo();
    return done_testing();
}
