/* The hash map: edge keys, and random operations against a linear array. */
#include "base/map.h"

#include "base/rng.h"
#include "tests/tap.h"

#define SEED 977
#define KEYS 300
#define STEPS 60000

static void test_basic(void)
{
    struct map map;
    int is_new = 0;
    uint64_t key, val;
    size_t it = 0;
    map_init(&map);
    ok(map_find(&map, 5) == NULL && map_find(&map, 0) == NULL, "an empty map finds nothing");
    is_int(map_remove(&map, 5), 0, "and removes nothing");
    is_int(map_next(&map, &it, &key, &val), 0, "and has nothing to iterate");
    *map_insert(&map, 5, &is_new) = 50;
    ok(is_new, "a first insertion is new");
    is_int(*map_insert(&map, 5, &is_new), 50, "a second finds the value");
    ok(!is_new, "and is not new");
    *map_insert(&map, UINT64_MAX, NULL) = 1;
    is_int(*map_find(&map, UINT64_MAX), 1, "the largest key");
    map_fini(&map);
    is_int(map_count(&map), 0, "nothing after fini");
}

static void test_zero(void)
{
    struct map map;
    int is_new = 0;
    map_init(&map);
    *map_insert(&map, 0, &is_new) = 9;
    ok(is_new, "key 0 is new");
    *map_insert(&map, 1, NULL) = 8;
    is_int(*map_find(&map, 0), 9, "key 0 is found");
    is_int(map_count(&map), 2, "and counted");
    is_int(map_remove(&map, 0), 1, "and removed");
    ok(map_find(&map, 0) == NULL, "and gone");
    is_int(map_remove(&map, 0), 0, "once");
    is_int(*map_insert(&map, 0, &is_new), 0, "it comes back as 0");
    ok(is_new, "and new");
    map_fini(&map);
}

static void test_many(void)
{
    struct map map;
    int good = 1;
    map_init(&map);
    for (uint64_t i = 0; i < 100000; i++)
        *map_insert(&map, i << 20, NULL) = i;
    is_int(map_count(&map), 100000, "many keys");
    for (uint64_t i = 0; i < 100000; i++) {
        uint64_t *val = map_find(&map, i << 20);
        good &= val && *val == i;
    }
    ok(good, "all are found after growth");
    for (uint64_t i = 0; i < 100000; i += 2)
        good &= map_remove(&map, i << 20);
    for (uint64_t i = 0; i < 100000; i++)
        good &= (map_find(&map, i << 20) != NULL) == (i % 2 == 1);
    ok(good, "half are found after removing half");
    map_fini(&map);
}

/* The oracle: one entry per key of a small set, present or not. */
struct oracle {
    uint64_t key[KEYS], val[KEYS];
    int present[KEYS];
};

static int same_content(const struct map *map, const struct oracle *oracle)
{
    size_t it = 0, seen = 0, want = 0;
    uint64_t key, val;
    while (map_next(map, &it, &key, &val)) {
        int i = 0;
        while (i < KEYS && oracle->key[i] != key)
            i++;
        if (i == KEYS || !oracle->present[i] || oracle->val[i] != val)
            return 0;
        seen++;
    }
    for (int i = 0; i < KEYS; i++)
        want += (size_t)oracle->present[i];
    return seen == want && map_count(map) == want;
}

/* One random operation on both; whether they agree. */
static int step(struct map *map, struct oracle *oracle, struct rng *rng, int insert_bias)
{
    size_t i = (size_t)rng_below(rng, KEYS);
    int is_new;
    uint64_t *val;
    if (rng_below(rng, 10) >= (uint64_t)insert_bias) {
        int had = oracle->present[i];
        oracle->present[i] = 0;
        return map_remove(map, oracle->key[i]) == had && !map_find(map, oracle->key[i]);
    }
    val = map_insert(map, oracle->key[i], &is_new);
    if (is_new == oracle->present[i] || *val != (is_new ? 0 : oracle->val[i]))
        return 0;
    oracle->present[i] = 1;
    *val = oracle->val[i] = rng_next(rng);
    return 1;
}

static void test_random(int dense)
{
    static struct oracle oracle;
    struct map map;
    struct rng rng;
    int agree = 1;
    memset(&oracle, 0, sizeof oracle);
    diag("seed %d", SEED + dense);
    rng_seed(&rng, SEED + (uint64_t)dense);
    for (uint64_t i = 0; i < KEYS; i++)
        oracle.key[i] = dense ? i : rng_next(&rng);
    map_init(&map);
    for (int i = 0; i < STEPS && agree; i++) {
        agree = step(&map, &oracle, &rng, i / 5000 % 2 ? 3 : 7);
        if (i % 500 == 0)
            agree &= same_content(&map, &oracle);
    }
    ok(agree, "random operations agree with the oracle (%s keys)", dense ? "dense" : "random");
    ok(same_content(&map, &oracle), "and so does the final content");
    map_fini(&map);
}

int main(void)
{
    plan_auto();
    test_basic();
    test_zero();
    test_many();
    test_random(0);
    test_random(1);
    return done_testing();
}
