/*
 * live.c - messages between ranks and the processes outside that they stand for.
 *
 * A rank that waits for its process is away (engine.h): others continue as far as that is safe.
 * While it waits it handles what arrives for it, since others may depend on that.
 */
#include "mpi/main/live.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/ticks.h"
#include "mpi/entry.h"
#include "mpi/p2p/bind.h"
#include "mpi/p2p/request.h"

#define AWAIT_NS 1000000
/* All processes have been in calls for so long; with contention, where every message is decided in
 * order of time, that happens often. */
#define STUCK_NS 30e6
#define STUCK_SHARED_NS 2e6

ORR_EXPORT const void *orrery_own_receive(size_t *bytes);
ORR_EXPORT const void *orrery_own_outcome(int count, const int *requests, uint32_t comm, int tag,
                                          size_t *bytes);
ORR_EXPORT void orrery_own_release(const void *message);
ORR_EXPORT void orrery_own_reply(const void *data, size_t bytes);

struct item {
    struct item *next;
    uint32_t to; /* of a reply */
    void *data;
    size_t bytes;
};

/* What a process has sent and its rank has not taken. */
struct queue {
    struct item *first, **last;
    void *taken; /* by the rank, until it takes the next one */
};

static struct {
    int is_open;
    struct native_link link;
    struct queue *queues;               /* by rank */
    uint64_t shown;                     /* what the processes showed when nothing had come, ... */
    uint64_t since;                     /* ... since when that is so, in ticks */
    uint64_t forced;                    /* steps that were taken before it was certain */
    struct item *replies, **last_reply; /* to be sent in the scheduler's context */
} live;

int mpi_live_is_open(void)
{
    return live.is_open;
}

void mpi_live_open(const struct run_options *o)
{
    struct err err;

    if (native_open(&live.link, o->native_path, &err) != ERR_OK)
        log_fatal("%s", err.text);
    if (live.link.procs != o->ranks + 1 || live.link.proc != o->ranks)
        log_fatal("the launcher started %u processes, not %llu and the simulator as the last",
                  live.link.procs, (unsigned long long)o->ranks);
    live.queues = mem_zalloc(o->ranks * sizeof *live.queues);
    for (uint64_t i = 0; i < o->ranks; i++)
        live.queues[i].last = &live.queues[i].first;
    live.last_reply = &live.replies;
    live.is_open = 1;
}

static struct item *take(struct item **first, struct item ***last)
{
    struct item *item = *first;

    *first = item->next;
    if (!*first)
        *last = first;
    return item;
}

static void add(struct item ***last, struct item what)
{
    struct item *item = mem_alloc(sizeof *item);

    *item = what;
    **last = item;
    *last = &item->next;
}

static void send_replies(void)
{
    while (live.replies) {
        struct item *item = take(&live.replies, &live.last_reply);

        live.link.send(live.link.owner, item->to, 0, item->data, item->bytes);
        mem_free(item);
    }
}

int mpi_live_wanted(void)
{
    uint32_t from;
    int tag, found = 0;
    void *data;
    size_t bytes;

    send_replies();
    while (live.link.recv(live.link.owner, &from, &tag, &data, &bytes)) {
        live.shown = 0;
        add(&live.queues[from].last, (struct item){.data = data, .bytes = bytes});
        if (mpi_world.ranks[from].ent.away) {
            engine_wake(&mpi_world.engine, from);
            found = 1;
        }
    }
    return found;
}

/*
 * A process that is away may be in a call of the real MPI that waits for another process, which
 * waits for a decision here: the real MPI may wait for a receiver where the simulated one need not.
 * Then nothing would ever happen. Returns a hash of what they show, or 0 if one computes.
 */
static uint64_t all_are_inside(void)
{
    uint64_t hash = 1;

    for (uint32_t i = 0; i < live.link.proc; i++) {
        uint64_t word = live.link.shown(live.link.owner, i);

        if (mpi_world.ranks[i].ent.away && !(word & 1))
            return 0;
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    }
    return hash | 1;
}

void mpi_live_await(void)
{
    uint64_t shown = all_are_inside(), now = ticks_now();
    double patience = mpi_world.net.ops->medium ? STUCK_SHARED_NS : STUCK_NS;

    if (!shown || shown != live.shown)
        live.since = now;
    live.shown = shown;
    if (shown && (double)(now - live.since) > patience * ticks_per_ns() &&
        engine_force(&mpi_world.engine)) {
        live.forced++;
        live.since = now;
        return;
    }
    live.link.wait(live.link.owner, AWAIT_NS); /* the bell ends it earlier */
}

struct run_live mpi_live_counts(void)
{
    return (struct run_live){.inversions = mpi_bind_inversions(),
                             .forced = live.forced,
                             .late = mpi_world.engine.late,
                             .late_most = mpi_world.engine.late_most};
}

void mpi_live_close(void)
{
    send_replies();
    live.link.close(live.link.owner);
}

/* ---- what the program calls ---- */

/* What a process does in the real MPI. */
struct call {
    int count;
    const MPI_Request *requests;
    const struct mpi_comm *comm; /* it receives there by itself; or NULL */
    int tag;
};

/* Does the call only return after others have sent something, as far as known here? */
static int is_led(struct mpi_rank *self, const struct call *c)
{
    if (!c || mpi_bind_any_candidate(self) ||
        (c->comm && mpi_early_find_any(self, c->comm->ctx, c->tag, NULL)))
        return 0;
    for (int i = 0; i < c->count; i++) {
        const struct mpi_req *r = mpi_req_pending(self, c->requests[i]);

        if (r && (r->flags & MPI_REQ_DONE))
            return 0;
    }
    return c->comm || c->count;
}

/* Waits for a message of the process. */
static struct item await_item(struct mpi_rank *self, const struct call *c)
{
    struct queue *q = &live.queues[mpi_rank_id(self)];
    struct item *found, item;
    vtime due;

    while (!q->first) {
        mpi_drain(self);
        if (mpi_decide(self, VTIME_NEVER, &due) || self->ent.inbox)
            continue;
        if (is_led(self, c))
            engine_block_led(&mpi_world.engine, &self->ent, mpi_rank_index(self), due);
        else
            engine_block_away(&mpi_world.engine, &self->ent, mpi_rank_index(self), due, 1);
        vp_suspend();
        engine_return(&mpi_world.engine, &self->ent);
    }
    found = take(&q->first, &q->last);
    item = *found;
    mem_free(found);
    return item;
}

const void *orrery_own_receive(size_t *bytes)
{
    struct mpi_rank *self = mpi_self();
    struct queue *q = &live.queues[mpi_rank_id(self)];
    struct item item;

    native_free(q->taken);
    q->taken = NULL;
    item = await_item(self, NULL);
    q->taken = item.data;
    *bytes = item.bytes;
    return q->taken;
}

const void *orrery_own_outcome(int count, const int *requests, uint32_t comm, int tag,
                               size_t *bytes)
{
    struct call c = {count, requests, comm ? mpi_comm_get((MPI_Comm)comm) : NULL, tag};
    struct item item = await_item(mpi_self(), &c);

    *bytes = item.bytes;
    return item.data;
}

void orrery_own_release(const void *message)
{
    native_free((void *)(uintptr_t)message);
}

void orrery_own_reply(const void *data, size_t bytes)
{
    add(&live.last_reply, (struct item){.to = mpi_rank_id(mpi_self()),
                                        .data = native_copy(data, bytes),
                                        .bytes = bytes});
}
