/*
 * scratch.c - memory of a rank: until the next record, or as long as a request.
 */
#include "base/array.h"
#include "replay/replay.h"

#define CHUNK_LEAST 256
#define ALIGNMENT 16

/* ---- scratch memory ---- */

struct replay_chunk {
    struct replay_chunk *before;
    size_t room;
    _Alignas(ALIGNMENT) char data[];
};

void *replay_scratch(struct replay_rank *k, size_t bytes)
{
    bytes = (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (!k->scratch || k->scratch_used + bytes > k->scratch->room) {
        size_t room = array_room(k->scratch ? 2 * k->scratch->room : 0, bytes, CHUNK_LEAST);
        struct replay_chunk *chunk = mem_alloc(sizeof *chunk + room);
        *chunk = (struct replay_chunk){.before = k->scratch, .room = room};
        k->scratch = chunk;
        k->scratch_used = 0;
    }
    void *at = k->scratch->data + k->scratch_used;
    k->scratch_used += bytes;
    return at;
}

/* The largest chunk stays. */
void replay_scratch_clear(struct replay_rank *k)
{
    k->scratch_used = 0;
    for (struct replay_chunk *c = k->scratch->before, *before; c; c = before) {
        before = c->before;
        mem_free(c);
    }
    k->scratch->before = NULL;
}

void replay_scratch_free(struct replay_rank *k)
{
    if (k->scratch)
        replay_scratch_clear(k);
    mem_free(k->scratch);
    k->scratch = NULL;
}

/* ---- memory of requests ---- */

struct replay_kept {
    struct replay_kept *before;
    _Alignas(ALIGNMENT) char data[];
};

void *replay_keep(struct replay_rank *k, size_t bytes)
{
    struct replay_kept *kept = mem_alloc(sizeof *kept + bytes);
    kept->before = k->kept;
    k->kept = kept;
    return kept->data;
}

void replay_kept_free(struct replay_kept *kept)
{
    for (struct replay_kept *before; kept; kept = before) {
        before = kept->before;
        mem_free(kept);
    }
}

void *replay_kept_data(struct replay_kept *kept)
{
    return kept->data;
}
