/* Amounts over time: what is added stays, in whatever order and by however many it is added. */
#include "base/bins.h"

#include "base/rng.h"
#include "bins_row.h"
#include "tap.h"

static uint64_t sum(const struct bins *b, uint32_t key)
{
    const uint64_t *row = bins_row(b, key);
    uint64_t all = 0;
    for (uint32_t i = 0; row && i < b->used; i++)
        all += row[i];
    return all;
}

static void test_spread(void)
{
    struct bins b;
    bins_init(&b, 10);
    ok(!bins_row(&b, 3), "no key, no bins");
    bins_add(&b, 3, 5, 25, 100);
    const uint64_t *row = bins_row(&b, 3);
    ok(row[0] == 25 && row[1] == 50 && row[2] == 25, "each bin gets its share of the time");
    bins_add(&b, 3, 20, 20, 7);
    row = bins_row(&b, 3);
    is_int(row[2], 32, "all at once");
    bins_add(&b, 3, 0, 10, 1);
    is_int(bins_row(&b, 3)[0], 26, "the end of a bin is not in the next one");
    is_int(b.used, 3, "bins in use");
    bins_add(&b, 4, 10 * BINS_MOST, 10 * BINS_MOST, 5);
    is_int(b.width, 20, "time outgrows the bins: they are twice as wide");
    row = bins_row(&b, 3);
    ok(row[0] == 76 && row[1] == 32, "two became one");
    is_int(bins_row(&b, 4)[BINS_MOST / 2], 5, "the late one is behind them");
    bins_fini(&b);
}

static int same(const struct bins *a, const struct bins *b)
{
    if (a->width != b->width || a->used != b->used || a->rows != b->rows)
        return 0;
    for (size_t i = 0; i < a->rows; i++) {
        const uint64_t *x = bins_row(a, a->keys[i]), *y = bins_row(b, a->keys[i]);
        for (uint32_t k = 0; k < a->used; k++)
            if (!y || x[k] != y[k])
                return 0;
    }
    return 1;
}

/* One that takes all, another that takes it backwards, and three that share it and are added. */
static void test_order(void)
{
    enum { ITEMS = 400, KEYS = 37, PARTS = 3 };
    struct bins forwards, backwards, parts[PARTS], all;
    struct rng rng;
    struct {
        uint32_t key;
        uint64_t from, to, amount;
    } items[ITEMS];
    uint64_t amounts[KEYS] = {0};
    rng_seed(&rng, 7);
    for (int i = 0; i < ITEMS; i++) {
        items[i].key = (uint32_t)rng_below(&rng, KEYS);
        items[i].from = rng_below(&rng, (uint64_t)1 << rng_below(&rng, 40));
        items[i].to = items[i].from + rng_below(&rng, (uint64_t)1 << rng_below(&rng, 38));
        items[i].amount = 1 + rng_below(&rng, 100000);
        amounts[items[i].key] += items[i].amount;
    }
    bins_init(&forwards, 1000);
    bins_init(&backwards, 1000);
    bins_expect(&backwards, KEYS / 2, KEYS / 4); /* the others are found otherwise */
    bins_init(&all, 0);
    int wrong = 0;
    for (int i = 0; i < PARTS; i++)
        bins_init(&parts[i], 1000);
    for (int i = 0; i < ITEMS; i++) {
        int k = ITEMS - 1 - i;
        bins_add(&forwards, items[i].key, items[i].from, items[i].to, items[i].amount);
        bins_add(&backwards, items[k].key, items[k].from, items[k].to, items[k].amount);
        bins_add(&parts[i % PARTS], items[i].key, items[i].from, items[i].to, items[i].amount);
    }
    for (int i = 0; i < PARTS; i++)
        for (size_t k = 0; k < parts[i].rows; k++)
            wrong += bins_put(&all, parts[i].keys[k], parts[i].width,
                              bins_row(&parts[i], parts[i].keys[k]), parts[i].used) != 0;
    is_int(wrong, 0, "bins are added");
    ok(same(&forwards, &backwards), "in whatever order");
    ok(same(&forwards, &all) && same(&all, &forwards), "by however many");
    for (uint32_t i = 0; i < KEYS; i++)
        if (sum(&all, i) != amounts[i])
            ok(0, "key %u has all of its amounts", i);
    for (int i = 0; i < PARTS; i++)
        bins_fini(&parts[i]);
    bins_fini(&forwards);
    bins_fini(&backwards);
    bins_fini(&all);
}

/* Memory stays within its limit, and the result does not depend on when it was reached. */
static void test_many(void)
{
    enum { KEYS = (int)(BINS_MEMORY / BINS_MOST / sizeof(uint64_t)) + 1 };
    struct bins early, late;
    bins_init(&early, 1);
    bins_init(&late, 1);
    bins_add(&early, 0, 0, BINS_MOST, 1000);
    for (uint32_t i = 1; i < KEYS; i++) {
        bins_add(&early, i, i % 3, i % 3, i);
        bins_add(&late, i, i % 3, i % 3, i);
    }
    bins_add(&late, 0, 0, BINS_MOST, 1000);
    is_int(early.count, BINS_MOST / 2, "many keys have fewer bins");
    ok(same(&early, &late), "before or after they were there");
    is_int(sum(&early, 0), 1000, "nothing is lost");
    bins_fini(&early);
    bins_fini(&late);
}

static void test_damage(void)
{
    struct bins b;
    const uint64_t amounts[] = {1, 2, 3};
    bins_init(&b, 0);
    is_int(bins_put(&b, 1, 0, amounts, 3), -1, "no width");
    is_int(bins_put(&b, 1, (uint64_t)1 << 63, amounts, 3), -1, "too wide");
    is_int(bins_put(&b, 1, 8, amounts, 3), 0, "a width");
    is_int(bins_put(&b, 1, 24, amounts, 3), -1, "three times as wide");
    is_int(bins_put(&b, 1, 2, amounts, 3), 0, "a quarter");
    ok(bins_row(&b, 1)[0] == 7 && bins_row(&b, 1)[1] == 2, "is added to the wide ones");
    is_int(bins_put(&b, 2, (uint64_t)1 << 62, amounts, 3), -1, "times beyond all clocks");
    bins_fini(&b);
}

int main(void)
{
    plan_auto();
    test_spread();
    test_order();
    test_many();
    test_damage();
    return done_testing();
}
