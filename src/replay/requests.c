/*
 * requests.c - the requests of a rank: (request number, MPI_Request), as in section 3 of Böhme et
 * al.
 *
 * After a remapping (section 3.1) a number leads to the request that was started with another one.
 * A completion that was drawn forward leaves a mark, until its record comes.
 */
#include "base/array.h"
#include "replay/replay.h"

static struct replay_request *slot_of(struct replay_rank *k, int64_t number)
{
    const uint64_t *at = number < 0 ? NULL : map_find(&k->requests, (uint64_t)number);
    return !at || *at == REPLAY_DRAWN ? NULL : &k->slots[*at - 1];
}

struct replay_request *replay_request_find(struct replay_rank *k, int64_t number)
{
    struct replay_request *r = slot_of(k, number);
    return !r || r->is_drawn ? NULL : r;
}

static uint32_t new_slot(struct replay_rank *k)
{
    if (k->slot_free) {
        uint32_t slot = k->slot_free - 1;
        k->slot_free = k->slots[slot].comm;
        return slot;
    }
    ARRAY_EXTEND(k->slots, k->slot_count);
    return k->slot_count++;
}

struct replay_request *replay_request_add(struct replay_rank *k, int64_t number, MPI_Request handle,
                                          int64_t comm, int receives)
{
    if (number < 0)
        return NULL;
    uint32_t slot = new_slot(k);
    k->slots[slot] = (struct replay_request){.handle = handle,
                                             .comm = (uint32_t)comm,
                                             .origin = number,
                                             .receives = (uint8_t)receives};
    *map_insert(&k->requests, (uint64_t)number, NULL) = (uint64_t)slot + 1;
    return &k->slots[slot];
}

static void release(struct replay_rank *k, struct replay_request *r)
{
    if (r->made)
        replay_unnamed_set(k, r->origin, *r->made);
    replay_kept_free(r->kept);
    r->comm = k->slot_free;
    k->slot_free = (uint32_t)(r - k->slots) + 1;
}

void replay_request_done(struct replay_rank *k, int64_t number)
{
    struct replay_request *r = slot_of(k, number);
    if (!r || r->handle != MPI_REQUEST_NULL)
        return;
    release(k, r);
    map_remove(&k->requests, (uint64_t)number);
}

void replay_request_draw(struct replay_rank *k, int64_t number)
{
    struct replay_request *r = slot_of(k, number);
    if (!r)
        return;
    k->replay->counts.drawn++;
    if (r->handle != MPI_REQUEST_NULL) {
        r->is_drawn = 1;
        return;
    }
    release(k, r);
    *map_find(&k->requests, (uint64_t)number) = REPLAY_DRAWN;
}

void replay_request_never(struct replay_rank *k, int64_t number)
{
    if (number >= 0)
        *map_insert(&k->requests, (uint64_t)number, NULL) = REPLAY_DRAWN;
}

int replay_request_is_drawn(const struct replay_rank *k, int64_t number)
{
    const uint64_t *at = number < 0 ? NULL : map_find(&k->requests, (uint64_t)number);
    return at && (*at == REPLAY_DRAWN || k->slots[*at - 1].is_drawn);
}

void replay_request_undraw(struct replay_rank *k, int64_t number)
{
    uint64_t *at = number < 0 ? NULL : map_find(&k->requests, (uint64_t)number);
    if (!at)
        return;
    if (*at == REPLAY_DRAWN)
        map_remove(&k->requests, (uint64_t)number);
    else
        k->slots[*at - 1].is_drawn = 0;
}

void replay_request_swap(struct replay_rank *k, int64_t a, int64_t b)
{
    uint64_t *of_a = map_find(&k->requests, (uint64_t)a),
             *of_b = map_find(&k->requests, (uint64_t)b);
    if (!of_a || !of_b)
        return;
    uint64_t kept = *of_a;
    *of_a = *of_b;
    *of_b = kept;
    k->replay->counts.remapped++;
}
