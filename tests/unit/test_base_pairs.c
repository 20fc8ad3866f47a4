/* The map for few keys: edge keys, and random operations against a linear array. */
#include "base/pairs.h"

#include "base/rng.h"
#include "pool_live.h"
#include "tests/tap.h"

#define SEED 1913
#define KEYS 40
#define STEPS 40000

static struct pool pool;

static void test_basic(void)
{
    struct pairs *p = NULL;

    ok(!pairs_find(p, 0) && !pairs_remove(&p, &pool, 0), "an empty map has nothing");
    *pairs_insert(&p, &pool, 0) = 7;
    *pairs_insert(&p, &pool, UINT64_MAX) = 8;
    is_int(*pairs_insert(&p, &pool, 0), 7, "a second insertion finds the value");
    is_int(*pairs_find(p, UINT64_MAX), 8, "the largest key");
    is_int(*pairs_insert(&p, &pool, 5), 0, "a new value is 0");
    ok(p->at[0].key == 0 && p->at[1].key == 5 && p->at[2].key == UINT64_MAX, "keys are in order");
    is_int(pairs_remove(&p, &pool, 5), 1, "a key is removed");
    is_int(pairs_remove(&p, &pool, 5), 0, "once");
    pairs_remove(&p, &pool, 0);
    pairs_remove(&p, &pool, UINT64_MAX);
    ok(!p, "with the last pair the map is gone");
    is_int((long long)pool_live(&pool), 0, "and its memory with it");
}

static void test_small(void)
{
    struct pairs *p = NULL;

    pairs_insert(&p, &pool, 3);
    is_int((long long)pool_live(&pool), 32 + POOL_TAIL,
           "one pair takes 24 bytes, rounded up to a block");
    pairs_remove(&p, &pool, 3);
}

static void test_random(void)
{
    uint64_t seen[KEYS] = {0};
    struct pairs *p = NULL;
    struct rng rng;
    int good = 1, n = 0;

    rng_seed(&rng, SEED);
    for (uint64_t step = 1; step <= STEPS && good; step++) {
        uint64_t key = rng_below(&rng, KEYS), *val;

        switch (rng_below(&rng, 3)) {
        case 0:
            val = pairs_insert(&p, &pool, key);
            good = *val == seen[key];
            n += !seen[key];
            *val = seen[key] = step;
            break;
        case 1:
            good = pairs_remove(&p, &pool, key) == (seen[key] != 0);
            n -= seen[key] != 0;
            seen[key] = 0;
            break;
        default:
            val = pairs_find(p, key);
            good = val ? *val == seen[key] : !seen[key];
        }
        good &= (p ? (int)p->count : 0) == n;
        for (int i = 1; i < n; i++)
            good &= p->at[i - 1].key < p->at[i].key;
    }
    ok(good, "random operations (seed %d)", SEED);
    for (uint64_t key = 0; key < KEYS; key++)
        pairs_remove(&p, &pool, key);
    is_int((long long)pool_live(&pool), 0, "no memory is left behind");
}

int main(void)
{
    plan_auto();
    pool_init(&pool, "pairs");
    test_basic();
    test_small();
    test_random();
    pool_fini(&pool);
    return done_testing();
}
