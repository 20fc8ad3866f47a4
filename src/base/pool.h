/*
 * pool.h - a pool of small objects in 16-byte size classes, for events, messages and requests.
 *
 *     class c holds blocks of 16*c bytes, c = 1..64; free[c] is an intrusive LIFO list
 *
 *     free[2] -> [next|..] -> [next|..] -> NULL       freed blocks, reused first
 *     chunk:  [header 64 B][block][block]...|bump ... end|   never touched beyond bump
 *
 * The caller passes the size to pool_free, so blocks carry no header. Chunks grow fourfold from
 * POOL_CHUNK_MIN to POOL_CHUNK_MAX, so that a small program stays small; they go back to the
 * system only in pool_fini.
 *
 * Larger objects come from mem_alloc. Up to POOL_KEPT_MAX bytes they are rounded up by at most an
 * eighth, and kept when they are freed, up to POOL_KEPT_BYTES in all: a program that sends messages
 * of some kilobytes frees and allocates the same sizes all the time.
 *
 * Not thread-safe: a pool belongs to one thread at a time. All blocks are 16-byte aligned.
 * Out of memory ends the process. Nothing here switches.
 *
 * In the hostile build chunks are small, memory is filled when it is allocated and when it is
 * freed, and blocks of at most POOL_MAX bytes have a tail with their size. So the process ends when
 * a block is freed with another size, or was written beyond its end; and when one that was written
 * after its release is allocated again, or its pool ends.
 */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include <stddef.h>
#include <stdint.h>

#include "base/hostile.h"

#define POOL_CHECKS HOSTILE(1, 0)
#define POOL_TAIL HOSTILE((size_t)16, (size_t)0)
#define POOL_MAX 1024
#define POOL_CLASSES ((POOL_MAX + POOL_TAIL) / 16)
#define POOL_CHUNK_MIN HOSTILE((size_t)4 << 10, (size_t)64 << 10)
#define POOL_CHUNK_MAX HOSTILE((size_t)256 << 10, (size_t)32 << 20)
#define POOL_KEPT_MAX 65536
#define POOL_KEPT_CLASSES 48 /* 8 for each doubling from POOL_MAX on */
#define POOL_KEPT_BYTES ((size_t)64 << 20)

/* Visible for the inline functions and tests only; use the functions. */
struct pool_block {
    struct pool_block *next;
};

#define POOL_CHUNK_HEADER 64 /* so that blocks of whole cache lines can start on one */
struct pool_chunk {
    struct pool_chunk *next;
    size_t size;
};

struct pool {
    char *bump, *end;
    struct pool_chunk *chunks;
    size_t chunk_size; /* of the next chunk */
    const char *name;
    struct pool_block *free[POOL_CLASSES + 1]; /* free[0] serves objects of size 0 */
    struct pool_block *kept[POOL_KEPT_CLASSES];
    size_t kept_bytes;
};

/* An empty pool; maps nothing until the first pool_alloc. `name` is borrowed, for messages. */
void pool_init(struct pool *pool, const char *name);

/* Releases all chunks and with them every block of at most POOL_MAX bytes, freed or not; of larger
 * ones those that were freed. */
void pool_fini(struct pool *pool);

/* Slow paths of the functions below. */
void *pool_alloc_slow(struct pool *pool, size_t size);
void pool_free_large(struct pool *pool, void *ptr, size_t size);
void pool_check_alloc(struct pool *pool, void *ptr, size_t size);
void pool_check_free(struct pool *pool, void *ptr, size_t size);

/* The class of objects of at most POOL_MAX bytes. */
static inline size_t pool_class(size_t size)
{
    return (size + 15) / 16 + POOL_TAIL / 16;
}

/* `size` uninitialised bytes, never NULL. Free with pool_free and the same size. */
static inline void *pool_alloc(struct pool *pool, size_t size)
{
    if (__builtin_expect(size <= POOL_MAX, 1)) {
        struct pool_block **head = &pool->free[pool_class(size)];
        struct pool_block *block = *head;
        if (__builtin_expect(block != NULL, 1)) {
            *head = block->next;
            if (POOL_CHECKS)
                pool_check_alloc(pool, block, size);
            return block;
        }
    }
    return pool_alloc_slow(pool, size);
}

/* Returns a block of exactly the size it was allocated with. `ptr` is not NULL. */
static inline void pool_free(struct pool *pool, void *ptr, size_t size)
{
    if (__builtin_expect(size <= POOL_MAX, 1)) {
        struct pool_block **head = &pool->free[pool_class(size)];
        struct pool_block *block = (struct pool_block *)ptr;
        if (POOL_CHECKS)
            pool_check_free(pool, ptr, size);
        block->next = *head;
        *head = block;
        return;
    }
    pool_free_large(pool, ptr, size);
}

/* Prefetches the memory that the next pool_alloc of this size will most likely return. */
static inline void pool_prefetch(const struct pool *pool, size_t size)
{
    if (__builtin_expect(size <= POOL_MAX, 1))
        __builtin_prefetch(pool->free[pool_class(size)], 1);
}

#endif
