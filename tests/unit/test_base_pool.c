/*
 * The pool: reuse, alignment, accounting; and random allocation against an oracle that keeps
 * every live block with a pattern in it, so that overlapping blocks are seen.
 */
#include "base/pool.h"

#include <stdlib.h>

#include "base/rng.h"
#include "log_caught.h"
#include "pool_live.h"
#include "tests/tap.h"

#define SEED 20240607
#define LIVE_MAX 4000
#define STEPS 200000
#define LOOK_EVERY 500

struct live {
    unsigned char *ptr;
    size_t size;
    unsigned char pattern;
};

static void test_reuse(void)
{
    struct pool pool;
    pool_init(&pool, "test");
    is_int(pool_live(&pool), 0, "a new pool is empty");
    char *a = pool_alloc(&pool, 40), *b = pool_alloc(&pool, 48);
    ok(a != b && (uintptr_t)a % 16 == 0 && (uintptr_t)b % 16 == 0, "two aligned blocks");
    is_int(pool_live(&pool), 96 + 2 * POOL_TAIL, "two blocks are in use");
    pool_free(&pool, a, 40);
    pool_free(&pool, b, 48);
    is_int(pool_live(&pool), 0, "and none once they are freed");
    ok(pool_alloc(&pool, 33) == b, "the last freed block of the class comes first");
    ok(pool_alloc(&pool, 48) == a, "then the one before");
    pool_fini(&pool);
}

static void test_borders(void)
{
    struct pool pool;
    pool_init(&pool, "test");
    char *zero = pool_alloc(&pool, 0), *one = pool_alloc(&pool, 1);
    ok(zero && zero != one, "size 0 has its own block");
    pool_free(&pool, zero, 0);
    ok(pool_alloc(&pool, 0) == zero, "and is reused");
    char *largest = pool_alloc(&pool, POOL_MAX), *above = pool_alloc(&pool, POOL_MAX + 1);
    memset(largest, 1, POOL_MAX);
    memset(above, 2, POOL_MAX + 1);
    ok(largest[POOL_MAX - 1] == 1 && above[0] == 2, "blocks around the largest class");
    is_int(pool_live(&pool), 16 + 16 + POOL_MAX + 2 * POOL_TAIL,
           "the larger one is not in a chunk");
    pool_free(&pool, above, POOL_MAX + 1);
    pool_free(&pool, largest, POOL_MAX);
    is_int(pool_live(&pool), 16 + 16 + POOL_TAIL, "a freed block is not in use");
    pool_fini(&pool);
    is_int(pool_live(&pool), 0, "nothing is in use after fini");
    ok(pool_alloc(&pool, 16) != NULL, "a pool may be used again after fini");
    pool_fini(&pool);
}

/* Blocks of some kilobytes are kept and reused; what is kept is bounded. */
static void test_kept(void)
{
    enum { COUNT = 2000 };
    struct pool pool;
    pool_init(&pool, "test");
    char *a = pool_alloc(&pool, POOL_MAX + 1), *b = pool_alloc(&pool, 8257);
    memset(a, 1, POOL_MAX + 1);
    memset(b, 2, 8257);
    pool_free(&pool, a, POOL_MAX + 1);
    pool_free(&pool, b, 8257);
    ok(pool_alloc(&pool, 9000) == b && pool_alloc(&pool, POOL_MAX + 1) == a,
       "a kept block serves its class");
    is_int((long long)pool.kept_bytes, 0, "and is not kept any longer");
    pool_free(&pool, a, POOL_MAX + 1);
    pool_free(&pool, b, 9000);
    for (size_t size = POOL_MAX + 1; size <= POOL_KEPT_MAX; size += 61) {
        char *c = pool_alloc(&pool, size);
        memset(c, 3, size);
        pool_free(&pool, c, size);
    }
    char **blocks = malloc(COUNT * sizeof *blocks);
    for (int i = 0; i < COUNT; i++)
        blocks[i] = pool_alloc(&pool, POOL_KEPT_MAX);
    for (int i = 0; i < COUNT; i++)
        pool_free(&pool, blocks[i], POOL_KEPT_MAX);
    ok(pool.kept_bytes > POOL_KEPT_BYTES - 2 * POOL_KEPT_MAX && pool.kept_bytes <= POOL_KEPT_BYTES,
       "no more than so many bytes are kept");
    free(blocks);
    pool_fini(&pool);
    is_int((long long)pool.kept_bytes, 0, "none after fini");
}

/* Through several chunk sizes: every block is distinct and writable. */
static void test_growth(void)
{
    enum { COUNT = 40000, SIZE = 1000 };
    struct pool pool;
    pool_init(&pool, "test");
    uint64_t **blocks = malloc(COUNT * sizeof *blocks);
    int intact = 1;
    for (uint64_t i = 0; i < COUNT; i++) {
        blocks[i] = pool_alloc(&pool, SIZE);
        blocks[i][0] = i;
        blocks[i][SIZE / 8 - 1] = ~i;
    }
    for (uint64_t i = 0; i < COUNT; i++)
        intact &= blocks[i][0] == i && blocks[i][SIZE / 8 - 1] == ~i;
    ok(intact, "40 MB of blocks do not overlap");
    is_int(pool_live(&pool), (long long)COUNT * ((SIZE + 15) / 16 * 16 + POOL_TAIL),
           "and all are in use");
    free(blocks);
    pool_fini(&pool);
}

static int holds_pattern(const struct live *live)
{
    for (size_t i = 0; i < live->size; i++) {
        if (live->ptr[i] != live->pattern)
            return 0;
    }
    return 1;
}

/* What a block takes of the chunks. */
static size_t block_size(size_t size)
{
    return size > POOL_MAX ? 0 : size ? (size + 15) / 16 * 16 + POOL_TAIL : 16;
}

static size_t random_size(struct rng *rng)
{
    switch (rng_below(rng, 8)) {
    case 0:
        return (size_t)rng_below(rng, 3000);
    case 1:
        return (size_t)(POOL_MAX - 2 + rng_below(rng, 5));
    default:
        return (size_t)rng_below(rng, 200);
    }
}

static void test_random(void)
{
    static struct live live[LIVE_MAX];
    struct pool pool;
    struct rng rng;
    size_t count = 0, bytes = 0;
    int intact = 1, aligned = 1, counted = 1;
    diag("seed %d", SEED);
    rng_seed(&rng, SEED);
    pool_init(&pool, "test");
    for (int step = 0; step < STEPS; step++) {
        int growing = step / 20000 % 2 == 0;
        int allocate = rng_below(&rng, 10) < (growing ? 6u : 4u);
        if (count == 0 || (allocate && count < LIVE_MAX)) {
            struct live *new = &live[count++];
            new->size = random_size(&rng);
            new->ptr = pool_alloc(&pool, new->size);
            new->pattern = (unsigned char)step;
            memset(new->ptr, new->pattern, new->size);
            bytes += block_size(new->size);
            aligned &= (uintptr_t) new->ptr % 16 == 0;
        } else {
            struct live *old = &live[rng_below(&rng, count)];
            intact &= holds_pattern(old);
            pool_free(&pool, old->ptr, old->size);
            bytes -= block_size(old->size);
            *old = live[--count];
        }
        if (step % LOOK_EVERY == 0)
            counted &= pool_live(&pool) == bytes;
    }
    while (count > 0) {
        struct live *old = &live[--count];
        intact &= holds_pattern(old);
        pool_free(&pool, old->ptr, old->size);
    }
    ok(intact, "random blocks never overlap");
    ok(aligned, "random blocks are aligned");
    ok(counted, "no block is lost");
    is_int(pool_live(&pool), 0, "all random blocks were returned");
    pool_fini(&pool);
}

/* What the hostile build alone finds. */
static void test_checks(void)
{
    struct pool pool;
    unsigned char *block;

    pool_init(&pool, "test");
    block = pool_alloc(&pool, 40);
    ok(block[0] == HOSTILE_FRESH && block[39] == HOSTILE_FRESH, "a new block is filled");
    LOG_CATCH(pool_free(&pool, block, 56));
    ok(strstr(log_caught, "another size") != NULL, "it must be freed with its size");
    block[48] = 0;
    LOG_CATCH(pool_free(&pool, block, 40));
    ok(strstr(log_caught, "beyond its end") != NULL, "what is written beyond its end is seen");
    block = pool_alloc(&pool, 40);
    pool_free(&pool, block, 40);
    ok(block[20] == HOSTILE_FREED && block[39] == HOSTILE_FREED, "a freed block is filled");
    LOG_CATCH(pool_free(&pool, block, 40));
    ok(strstr(log_caught, "is free") != NULL, "it is freed once");
    block[20] = 1;
    LOG_CATCH(pool_alloc(&pool, 40));
    ok(strstr(log_caught, "written after it was freed") != NULL, "what is written then is seen");
}

int main(void)
{
    plan_auto();
    test_reuse();
    test_borders();
    test_kept();
    test_growth();
    test_random();
    if (POOL_CHECKS)
        test_checks();
    return done_testing();
}
