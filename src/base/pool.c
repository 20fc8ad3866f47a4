/*
 * pool.c - slow paths of the pool: bump allocation, chunks, large objects and the debug checks.
 *
 * Invariants: every block on free[c] has 16*c bytes (free[0]: 16), lies in a chunk of the pool
 * and is not in use; [bump, end) of the newest chunk has never been handed out; bump is 16-byte
 * aligned. What remains of a chunk when it cannot serve a request becomes a free block. Blocks on
 * kept[c] come from mem_alloc, have the size of their class and are not in use.
 */
#include "base/pool.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"

#define KEPT_MIN_LOG2 10 /* of POOL_MAX */
#define KEPT_STEPS_LOG2 3
_Static_assert(POOL_MAX == 1 << KEPT_MIN_LOG2, "the first class follows the blocks in chunks");

void pool_init(struct pool *pool, const char *name)
{
    *pool = (struct pool){.chunk_size = POOL_CHUNK_MIN, .name = name};
}

static size_t block_size(size_t size)
{
    size_t bytes = ((size + 15) & ~(size_t)15) + POOL_TAIL;

    return bytes ? bytes : 16;
}

/* ---- checks of the hostile build ---- */

/* What follows a block of at most POOL_MAX bytes while it is in use. */
struct tail {
    uint64_t size;
    uint64_t mark; /* MARK ^ the block's address */
};
#define MARK UINT64_C(0x9d3c5a7be1f02846)

static struct tail *tail_of(void *ptr, size_t size)
{
    return (struct tail *)((char *)ptr + block_size(size) - POOL_TAIL);
}

/* The block, of `bytes` bytes, is free: all behind its link is as it was filled. */
static void check_free(const struct pool *pool, const void *ptr, size_t bytes)
{
    const unsigned char *at = ptr;

    for (size_t i = sizeof(struct pool_block); i < bytes; i++)
        if (at[i] != HOSTILE_FREED)
            log_fatal("pool '%s': block %p of %zu bytes was written after it was freed", pool->name,
                      ptr, bytes);
}

static void begin_use(void *ptr, size_t size, size_t bytes)
{
    memset(ptr, HOSTILE_FRESH, bytes);
    if (size <= POOL_MAX)
        *tail_of(ptr, size) = (struct tail){size, MARK ^ (uintptr_t)ptr};
}

void pool_check_free(struct pool *pool, void *ptr, size_t size)
{
    const struct tail *tail = tail_of(ptr, size);

    if (tail->size != size || tail->mark != (MARK ^ (uintptr_t)ptr))
        log_fatal("pool '%s': block %p is freed with %zu bytes, but was allocated with another "
                  "size, is free, or was written beyond its end",
                  pool->name, ptr, size);
    memset(ptr, HOSTILE_FREED, block_size(size));
}

void pool_check_alloc(struct pool *pool, void *ptr, size_t size)
{
    check_free(pool, ptr, block_size(size));
    begin_use(ptr, size, block_size(size));
}

static void check_all_free(const struct pool *pool)
{
    for (size_t c = 0; c <= POOL_CLASSES; c++)
        for (const struct pool_block *b = pool->free[c]; b; b = b->next)
            check_free(pool, b, c ? 16 * c : 16);
}

/* ---- chunks ---- */

static void release_kept(struct pool *pool)
{
    for (int i = 0; i < POOL_KEPT_CLASSES; i++)
        while (pool->kept[i]) {
            struct pool_block *block = pool->kept[i];
            pool->kept[i] = block->next;
            mem_free(block);
        }
}

void pool_fini(struct pool *pool)
{
    if (POOL_CHECKS)
        check_all_free(pool);
    release_kept(pool);
    while (pool->chunks) {
        struct pool_chunk *chunk = pool->chunks;
        pool->chunks = chunk->next;
        mem_unmap(chunk, chunk->size);
    }
    pool_init(pool, pool->name);
}

/* Turns [bump, end), less than one largest block, into a free block. */
static void recycle_rest(struct pool *pool)
{
    size_t rest = (size_t)(pool->end - pool->bump);
    if (rest == 0)
        return;
    struct pool_block *block = (struct pool_block *)pool->bump;
    pool->bump = pool->end;
    if (POOL_CHECKS)
        memset(block, HOSTILE_FREED, rest);
    assert(rest / 16 <= POOL_CLASSES);
    block->next = pool->free[rest / 16];
    pool->free[rest / 16] = block;
}

static void add_chunk(struct pool *pool)
{
    size_t size = pool->chunk_size;
    struct pool_chunk *chunk = mem_map(size, 1);
    if (!chunk)
        log_fatal("out of memory: pool '%s' cannot map %zu bytes", pool->name, size);
    chunk->next = pool->chunks;
    chunk->size = size;
    pool->chunks = chunk;
    pool->bump = (char *)chunk + POOL_CHUNK_HEADER;
    pool->end = (char *)chunk + size;
    pool->chunk_size = size < POOL_CHUNK_MAX / 4 ? size * 4 : POOL_CHUNK_MAX;
}

/* The class of objects of more than POOL_MAX bytes, at most POOL_KEPT_MAX, and the size of its
 * blocks. */
static int kept_class(size_t size, size_t *bytes)
{
    int log2 = 63 - __builtin_clzll(size - 1); /* rounded down */
    int step_log2 = log2 - KEPT_STEPS_LOG2;
    size_t step = ((size - 1) >> step_log2) + 1;

    *bytes = step << step_log2;
    return (log2 - KEPT_MIN_LOG2 - 1) * (1 << KEPT_STEPS_LOG2) + (int)step - 1;
}

static void *alloc_large(struct pool *pool, size_t size)
{
    struct pool_block *block;
    size_t bytes;
    int class;

    if (size > POOL_KEPT_MAX)
        return mem_alloc(size);
    class = kept_class(size, &bytes);
    block = pool->kept[class];
    if (!block)
        return mem_alloc(bytes);
    assert(pool->kept_bytes >= bytes);
    pool->kept[class] = block->next;
    pool->kept_bytes -= bytes;
    if (POOL_CHECKS)
        check_free(pool, block, bytes);
    return block;
}

void *pool_alloc_slow(struct pool *pool, size_t size)
{
    if (size > POOL_MAX)
        return alloc_large(pool, size);
    size_t bytes = block_size(size);
    if ((size_t)(pool->end - pool->bump) < bytes) {
        recycle_rest(pool);
        add_chunk(pool);
    }
    void *ptr = pool->bump;
    assert((uintptr_t)ptr % 16 == 0);
    pool->bump += bytes;
    if (POOL_CHECKS)
        begin_use(ptr, size, bytes);
    return ptr;
}

void pool_free_large(struct pool *pool, void *ptr, size_t size)
{
    struct pool_block *block = ptr;
    size_t bytes = 0;
    int class = size <= POOL_KEPT_MAX ? kept_class(size, &bytes) : 0;

    if (size > POOL_KEPT_MAX || pool->kept_bytes + bytes > POOL_KEPT_BYTES) {
        mem_free(ptr);
        return;
    }
    if (POOL_CHECKS)
        memset(ptr, HOSTILE_FREED, bytes);
    block->next = pool->kept[class];
    pool->kept[class] = block;
    pool->kept_bytes += bytes;
}
