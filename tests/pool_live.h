/*
 * pool_live.h - which part of a pool's chunks is in use. Blocks of more than POOL_MAX bytes are not
 * in chunks, and do not count.
 */
#ifndef POOL_LIVE_H
#define POOL_LIVE_H

#include "base/pool.h"

/* Bytes of all blocks that were not freed, each a multiple of 16. O(blocks that were freed). */
static inline size_t pool_live(const struct pool *pool)
{
    size_t live = 0;

    for (const struct pool_chunk *chunk = pool->chunks; chunk; chunk = chunk->next)
        live += chunk->size - POOL_CHUNK_HEADER;
    live -= (size_t)(pool->end - pool->bump);
    for (size_t c = 0; c <= POOL_CLASSES; c++)
        for (const struct pool_block *block = pool->free[c]; block; block = block->next)
            live -= c ? 16 * c : 16;
    return live;
}

#endif
