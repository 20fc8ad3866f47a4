/*
 * requests.c - the requests of a rank: (request number, MPI_Request), as in section 3 of Böhme et
 * al.
 *
 * After a remapping (section 3.1) a number leads to the request that was started with another one.
 * A completion that was moved forward leaves a mark, until its record comes.
 *
 * Numbers grow from call to call and most requests are short-lived, so those in use are close
 * together: the table is a hash table with linear probing whose hash is the number itself, and
 * nearly every request is where it is looked for first (Knuth, TAOCP 6.4, algorithms L and R, as
 * in base/map.c).
 */
#include "base/mem.h"
#include "replay/replay.h"

#define FIRST_ROOM 8u

/* Where a number is, or the free slot where it belongs. The table is not full. */
static struct replay_request *probe(const struct replay_rank *k, int64_t number)
{
    uint64_t mask = k->request_room - 1, i = (uint64_t)number & mask;
    while (k->requests[i].state && k->requests[i].number != number)
        i = (i + 1) & mask;
    return &k->requests[i];
}

static struct replay_request *slot_of(const struct replay_rank *k, int64_t number)
{
    if (number < 0 || !k->request_room)
        return NULL;
    struct replay_request *r = probe(k, number);
    return r->state ? r : NULL;
}

struct replay_request *replay_request_find(struct replay_rank *k, int64_t number)
{
    struct replay_request *r = slot_of(k, number);
    return r && r->state == REPLAY_REQUEST_LIVE ? r : NULL;
}

int replay_request_is_drawn(const struct replay_rank *k, int64_t number)
{
    const struct replay_request *r = slot_of(k, number);
    return r && r->state != REPLAY_REQUEST_LIVE;
}

static void grow(struct replay_rank *k)
{
    struct replay_request *old = k->requests;
    uint32_t room = k->request_room;
    k->request_room = room ? 2 * room : FIRST_ROOM;
    k->requests = mem_zalloc(k->request_room * sizeof *k->requests);
    for (uint32_t i = 0; i < room; i++)
        if (old[i].state)
            *probe(k, old[i].number) = old[i];
    mem_free(old);
}

/* The slot of a number, a new one if it has none. */
static struct replay_request *insert(struct replay_rank *k, int64_t number)
{
    if ((k->request_count + 1) * 4 > k->request_room * 3)
        grow(k);
    struct replay_request *r = probe(k, number);
    k->request_count += !r->state;
    return r;
}

/* Later numbers of the run move back into the hole, unless they would be before their home. */
static void remove_slot(struct replay_rank *k, struct replay_request *r)
{
    uint64_t mask = k->request_room - 1, hole = (uint64_t)(r - k->requests);
    for (uint64_t i = (hole + 1) & mask; k->requests[i].state; i = (i + 1) & mask) {
        uint64_t from_home = (i - (uint64_t)k->requests[i].number) & mask;
        if (from_home >= ((i - hole) & mask)) {
            k->requests[hole] = k->requests[i];
            hole = i;
        }
    }
    k->requests[hole].state = REPLAY_REQUEST_NONE;
    k->request_count--;
}

struct replay_request *replay_request_add(struct replay_rank *k, int64_t number, MPI_Request handle,
                                          int64_t comm, int receives)
{
    if (number < 0)
        return NULL;
    struct replay_request *r = insert(k, number);
    *r = (struct replay_request){.number = number,
                                 .origin = number,
                                 .handle = handle,
                                 .comm = (uint32_t)comm,
                                 .receives = receives != 0,
                                 .state = REPLAY_REQUEST_LIVE};
    return r;
}

static void release(struct replay_rank *k, struct replay_request *r)
{
    if (!r->kept)
        return;
    if (r->makes_comm)
        replay_unnamed_set(k, r->origin, *(const MPI_Comm *)replay_kept_data(r->kept));
    replay_kept_free(r->kept);
    r->kept = NULL;
}

static inline void forget(struct replay_rank *k, struct replay_request *r)
{
    int64_t number = r->number;
    release(k, r);
    remove_slot(k, r);
    if (__builtin_expect(k->persistent != NULL, 0))
        replay_persistent_forget(k, number);
}

void replay_request_done(struct replay_rank *k, int64_t number)
{
    struct replay_request *r = slot_of(k, number);
    if (r && r->state != REPLAY_REQUEST_GONE && r->handle == MPI_REQUEST_NULL)
        forget(k, r);
}

void replay_request_end(struct replay_rank *k, int64_t number, MPI_Request handle)
{
    struct replay_request *r = slot_of(k, number);
    r->handle = handle;
    if (handle == MPI_REQUEST_NULL)
        forget(k, r);
}

void replay_request_draw(struct replay_rank *k, int64_t number)
{
    struct replay_request *r = slot_of(k, number);
    if (!r || r->state == REPLAY_REQUEST_GONE)
        return;
    k->replay->counts.drawn++;
    if (r->handle != MPI_REQUEST_NULL) {
        r->state = REPLAY_REQUEST_DRAWN;
        return;
    }
    release(k, r);
    r->state = REPLAY_REQUEST_GONE;
}

void replay_request_never(struct replay_rank *k, int64_t number)
{
    if (number < 0)
        return;
    struct replay_request *r = insert(k, number);
    *r = (struct replay_request){.number = number, .state = REPLAY_REQUEST_GONE};
}

void replay_request_undraw(struct replay_rank *k, int64_t number)
{
    struct replay_request *r = slot_of(k, number);
    if (!r)
        return;
    if (r->state == REPLAY_REQUEST_GONE)
        remove_slot(k, r);
    else
        r->state = REPLAY_REQUEST_LIVE;
}

void replay_request_swap(struct replay_rank *k, int64_t a, int64_t b)
{
    struct replay_request *of_a = slot_of(k, a), *of_b = slot_of(k, b);
    if (!of_a || !of_b)
        return;
    struct replay_request was = *of_a;
    *of_a = *of_b;
    *of_b = was;
    of_a->number = a;
    of_b->number = b;
    k->replay->counts.remapped++;
}

void replay_requests_free(struct replay_rank *k)
{
    mem_free(k->requests);
    k->requests = NULL;
}
