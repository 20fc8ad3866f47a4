/*
 * pool.c - slow paths of the pool: bump allocation, chunks, large objects and the debug checks.
 *
 * Invariants: every block on free[c] has 16*c bytes (free[0]: 16), lies in a chunk of the pool
 * and is not in use; [bump, end) of the newest chunk has never been handed out; bump is 16-byte
 * aligned. What remains of a chunk when it cannot serve a request becomes a free block. Blocks on
 * kept[c] come from mem_alloc, have the size of their class and are not in use.
 */
#include "base/pool.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"

#define FILL_ALLOCATED 0xCD
#define FILL_FREED 0xDD
#define KEPT_MIN_LOG2 10 /* of POOL_MAX */
#define KEPT_STEPS_LOG2 3
_Static_assert(POOL_MAX == 1 << KEPT_MIN_LOG2, "the first class follows the blocks in chunks");

void pool_init(struct pool *pool, const char *name)
{
    *pool = (struct pool){.chunk_size = POOL_CHUNK_MIN, .name = name};
}

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
    release_kept(pool);
    while (pool->chunks) {
        struct pool_chunk *chunk = pool->chunks;
        pool->chunks = chunk->next;
        mem_unmap(chunk, chunk->size);
    }
    pool_init(pool, pool->name);
}

static size_t block_size(size_t size)
{
    return size ? (size + 15) & ~(size_t)15 : 16;
}

/* Bytes of a freed block behind its link hold FILL_FREED. */
void pool_debug_free(struct pool *pool, void *ptr, size_t size)
{
    (void)pool;
    memset(ptr, FILL_FREED, block_size(size));
}

void pool_debug_alloc(struct pool *pool, void *ptr, size_t size)
{
    const unsigned char *bytes = ptr;
    for (size_t i = sizeof(struct pool_block); i < block_size(size); i++) {
        if (bytes[i] != FILL_FREED)
            log_fatal("pool '%s': block %p of %zu bytes was written after it was freed", pool->name,
                      ptr, size);
    }
    memset(ptr, FILL_ALLOCATED, block_size(size));
}

/* Turns [bump, end), less than one largest block, into a free block. */
static void recycle_rest(struct pool *pool)
{
    size_t rest = (size_t)(pool->end - pool->bump);
    if (rest == 0)
        return;
    struct pool_block *block = (struct pool_block *)pool->bump;
    pool->bump = pool->end;
#ifdef POOL_DEBUG
    pool_debug_free(pool, block, rest);
#endif
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
    pool->kept[class] = block->next;
    pool->kept_bytes -= bytes;
#ifdef POOL_DEBUG
    pool_debug_alloc(pool, block, bytes);
#endif
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
    pool->bump += bytes;
#ifdef POOL_DEBUG
    memset(ptr, FILL_ALLOCATED, bytes);
#endif
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
#ifdef POOL_DEBUG
    pool_debug_free(pool, ptr, bytes);
#endif
    block->next = pool->kept[class];
    pool->kept[class] = block;
    pool->kept_bytes += bytes;
}
