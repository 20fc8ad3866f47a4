/*
 * causes_channel.c - channels: messages, or receives, of one source, destination, communicator and
 * tag, found by a hash of the four.
 */
#include "analysis/causes_internal.h"
#include "base/rng.h"

static uint64_t hash_of(uint32_t comm, uint32_t from, uint32_t to, int32_t tag)
{
    uint64_t state = (uint64_t)from << 32 | to;
    uint64_t hash = rng_splitmix(&state);
    state = hash ^ ((uint64_t)comm << 32 | (uint32_t)tag);
    return rng_splitmix(&state);
}

static int is_channel(const struct channel *c, uint32_t comm, uint32_t from, uint32_t to,
                      int32_t tag)
{
    return c->comm == comm && c->from == from && c->to == to && c->tag == tag;
}

struct channel *channel_find(const struct causes *r, uint32_t comm, uint32_t from, uint32_t to,
                             int32_t tag)
{
    const uint64_t *at = map_find(&r->channels, hash_of(comm, from, to, tag));
    struct channel *c = at ? (struct channel *)(uintptr_t)*at : NULL;
    while (c && !is_channel(c, comm, from, to, tag))
        c = c->chain;
    return c;
}

struct channel *channel_get(struct causes *r, uint32_t comm, uint32_t from, uint32_t to,
                            int32_t tag)
{
    uint64_t hash = hash_of(comm, from, to, tag), *at = map_insert(&r->channels, hash, NULL);
    struct channel *first = (struct channel *)(uintptr_t)*at, *c = first;
    while (c && !is_channel(c, comm, from, to, tag))
        c = c->chain;
    if (!c) {
        c = pool_alloc(&r->pool, sizeof *c);
        pool_prefetch(&r->pool, sizeof *c);
        *c = (struct channel){.chain = first,
                              .hash = hash,
                              .comm = comm,
                              .from = from,
                              .to = to,
                              .tag = tag};
        *at = (uint64_t)(uintptr_t)c;
    }
    return c;
}

void channel_prefetch(const struct causes *r, uint32_t comm, uint32_t from, uint32_t to,
                      int32_t tag)
{
    map_prefetch(&r->channels, hash_of(comm, from, to, tag));
}

void channel_release(struct causes *r, struct channel *c)
{
    if (c->first || c->first_receive)
        return;
    uint64_t *at = map_find(&r->channels, c->hash);
    struct channel *first = (struct channel *)(uintptr_t)*at;
    if (first == c && !c->chain) {
        map_remove(&r->channels, c->hash);
    } else if (first == c) {
        *at = (uint64_t)(uintptr_t)c->chain;
    } else {
        while (first->chain != c)
            first = first->chain;
        first->chain = c->chain;
    }
    pool_free(&r->pool, c, sizeof *c);
}

void channels_fini(struct causes *r)
{
    size_t it = 0;
    uint64_t at;
    while (map_next(&r->channels, &it, NULL, &at))
        for (const struct channel *c = (const struct channel *)(uintptr_t)at; c; c = c->chain) {
            for (const struct message *m = c->first; m; m = m->next)
                r->unmatched_sends++;
            for (const struct receive *v = c->first_receive; v; v = v->next)
                r->unmatched_receives += v->is_done;
        }
    map_fini(&r->channels);
}
