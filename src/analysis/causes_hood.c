/*
 * causes_hood.c - neighbourhood collectives, in which a rank waits for the neighbours that send to
 * it, and for nobody else.
 *
 * A rank that enters one tells each of its destinations, which counts the sources that have entered
 * each of its calls. So a call costs as many steps as the rank has neighbours, and memory grows
 * with the calls by which neighbours are ahead of each other, whatever the size of the
 * communicator.
 */
#include "analysis/causes_internal.h"
#include "base/array.h"
#include "base/mem.h"

#define CALLS_MOST 65536 /* kept; beyond that the oldest is dropped: a neighbour is missing */

/* ---- neighbourhoods ---- */

/* The number of a communicator at a rank, which is mostly the same at all ranks; -1: none. */
static int64_t local_number(const struct handles *h, uint32_t comm, int64_t likely)
{
    if (handles_comm(h, likely).comm == comm)
        return likely;
    for (uint32_t i = 0; i < h->mine_count; i++)
        if (h->mine[i].comm == comm)
            return (int64_t)i + 2;
    return -1;
}

/* The world rank of a neighbour that the trace has; -1: there is none. */
static int64_t neighbour(const struct causes *r, const struct handles *h, struct handles_mine mine,
                         int64_t peer)
{
    int64_t rank = handles_peer(&r->book, h, mine, peer);
    return rank >= 0 && rank < (int64_t)r->ranks && r->is_there[rank] ? rank : -1;
}

/* NULL: the rank has no such communicator, or it has no topology. */
static struct hood *hood_of(struct causes *r, uint32_t rank, uint32_t comm, int64_t likely)
{
    struct lane *home = &r->lanes[rank];
    int64_t local = local_number(&home->handles, comm, likely);
    struct handles_mine mine = handles_comm(&home->handles, local);
    if (!mine.neighbours)
        return NULL;
    struct comm_mine *here = coll_mine(home, local);
    if (!here->hood) {
        struct hood *h = here->hood = mem_zalloc(sizeof *h);
        h->rank = rank;
        h->local = (uint32_t)local;
        for (uint64_t i = 0; i < mine.neighbours->in; i++)
            h->sources += neighbour(r, &home->handles, mine, mine.neighbours->sources[i]) >= 0;
    }
    return here->hood;
}

static void find_destinations(struct causes *r, struct hood *h, struct handles_mine mine)
{
    const struct handles *handles = &r->lanes[h->rank].handles;
    h->destinations = mem_zalloc((mine.neighbours->out + 1) * sizeof *h->destinations);
    h->destination_count = (uint32_t)mine.neighbours->out;
    for (uint32_t i = 0; i < h->destination_count; i++) {
        int64_t rank = neighbour(r, handles, mine, mine.neighbours->destinations[i]);
        if (rank >= 0)
            h->destinations[i] = hood_of(r, (uint32_t)rank, mine.comm, h->local);
    }
}

/* ---- calls ---- */

static void drop_oldest(struct causes *r, struct hood *h)
{
    struct hood_call *c = &h->ring[h->first & (h->room - 1)];
    if (c->waiter)
        causes_unblock(r, c->waiter);
    h->first++;
    h->count--;
}

/* The call with this number; NULL: it is over. */
static struct hood_call *call_get(struct causes *r, struct hood *h, uint64_t seq)
{
    if (seq < h->first)
        return NULL;
    while (h->first + h->count <= seq) {
        if (h->count == CALLS_MOST)
            drop_oldest(r, h);
        ARRAY_RING_RESERVE(h->ring, h->room, h->first, h->count, 2);
        h->ring[(h->first + h->count++) & (h->room - 1)] = (struct hood_call){0};
    }
    return &h->ring[seq & (h->room - 1)];
}

static void drop_done(struct causes *r, struct hood *h)
{
    while (h->count && h->first < h->entered) {
        const struct hood_call *c = &h->ring[h->first & (h->room - 1)];
        if (c->arrived < h->sources || c->is_open)
            return;
        drop_oldest(r, h);
    }
}

/* Sums are those of the first thread of a rank. */
static void snapshot(struct causes *r, const struct lane *l, struct delay_snapshot **to)
{
    if (r->has_delays && l == &r->lanes[l->rank])
        delays_snapshot(&r->delays, to, &l->sums);
}

/* The lane has all that its current call needs. */
static void have(struct causes *r, struct lane *l, struct hood *h, const struct hood_call *c)
{
    ideal_reach(&l->ideal, c->ideal);
    snapshot(r, l, &h->had);
}

/* All sources have entered the call in which the rank waits; the last one is `cause`. */
static void release(struct causes *r, struct hood *h, struct hood_call *c, struct lane *cause,
                    const struct hood *from)
{
    struct blocked *b = c->waiter;
    struct lane *l = &r->lanes[b->lane];
    const struct delay_snapshot *then, *cause_then;
    causes_last_sync(l, h->had, cause, from->told, &then, &cause_then);
    causes_wait(r, b, ANALYSIS_LATE_NEIGHBOUR, cause->enter, cause, then, cause_then);
    if (b->is_current)
        have(r, l, h, c);
    c->waiter = NULL;
    causes_unblock(r, b);
}

/* The lane, whose rank has this neighbourhood, enters its call with this number. */
static void tell(struct causes *r, struct lane *l, const struct hood *from, uint64_t seq)
{
    for (uint32_t i = 0; i < from->destination_count; i++) {
        struct hood *h = from->destinations[i];
        struct hood_call *c = h ? call_get(r, h, seq) : NULL;
        if (!c)
            continue;
        c->arrived++;
        ideal_reach(&c->ideal, l->ideal);
        if (c->waiter && c->arrived == h->sources)
            release(r, h, c, l, from);
        drop_done(r, h);
    }
}

/* The current call of the lane needs what its sources send in this call. */
static void settle(struct causes *r, struct lane *l, struct hood *h, struct hood_call *c, int waits)
{
    if (c->arrived < h->sources) {
        if (waits && !c->waiter) {
            c->waiter = causes_block(r, l);
            c->waiter->must_wait = 1;
        }
        return;
    }
    have(r, l, h, c);
}

void hood_enter(struct causes *r, struct lane *l, struct handles_mine mine, int64_t local,
                struct request *q)
{
    struct hood *h = hood_of(r, l->rank, mine.comm, local);
    if (!h)
        return;
    if (!h->destinations)
        find_destinations(r, h, mine);
    uint64_t seq = h->entered++;
    tell(r, l, h, seq);
    snapshot(r, l, &h->told);
    struct hood_call *c = call_get(r, h, seq);
    if (c && q) {
        q->in_collective = 1;
        q->hood = h;
        q->coll_seq = seq;
        c->is_open = 1;
    } else if (c) {
        settle(r, l, h, c, 1);
    }
    drop_done(r, h);
}

void hood_complete(struct causes *r, struct lane *l, struct request *q, int waits)
{
    struct hood *h = q->hood;
    struct hood_call *c = q->coll_seq < h->first ? NULL : call_get(r, h, q->coll_seq);
    q->in_collective = 0;
    q->hood = NULL;
    if (!c)
        return;
    c->is_open = 0;
    settle(r, l, h, c, waits);
    drop_done(r, h);
}

void hood_free(struct causes *r, struct hood *h)
{
    if (!h)
        return;
    while (h->count)
        drop_oldest(r, h);
    mem_free(h->told);
    mem_free(h->had);
    mem_free(h->ring);
    mem_free(h->destinations);
    mem_free(h);
}
