/*
 * live.c - messages between ranks and the processes outside that they stand for.
 *
 * A rank that waits for its process is away (engine.h): others continue as far as that is safe.
 * While it waits it handles what arrives for it, since others may depend on that.
 */
#include "mpi/main/live.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/ticks.h"
#include "engine/live.h"
#include "engine/procs.h"
#include "mpi/entry.h"
#include "mpi/main/live_internal.h"
#include "mpi/p2p/bind.h"
#include "mpi/p2p/request.h"
#include "run/own_call.h"

#define AWAIT_NS 1000000
/* All processes wait for the simulator if they have been in calls for STUCK_NS, or STUCK_FAR_NS if
 * some are on other computers, and all have had the processor for LOOKED_NS, LOOKS times: what the
 * real MPI does may take several messages, one after the other, and each must have been found. */
#define STUCK_NS 1e6
#define STUCK_FAR_NS 30e6
#define LOOKED_NS 50000
#define LOOKS 32

ORR_EXPORT const void *orrery_own_receive(size_t *bytes);
ORR_EXPORT const void *orrery_own_outcome(const struct orrery_own_call *, size_t *bytes);
ORR_EXPORT void orrery_own_release(const void *message);
ORR_EXPORT void orrery_own_reply(const void *data, size_t bytes);
ORR_EXPORT void orrery_own_offer(const void *data, size_t bytes);
ORR_EXPORT int orrery_own_withdraw(void);
ORR_EXPORT void orrery_own_counted(unsigned how, int64_t kept);

struct item {
    struct item *next;
    uint32_t peer; /* to whom, or from whom */
    int tag;
    void *data;
    size_t bytes;
};

struct queue {
    struct item *first, **last;
};

/* What a process has sent and its rank has not taken. */
struct inbox {
    struct queue queue;
    void *taken;            /* by the rank, until it takes the next one */
    struct mpi_side *sides; /* of a process with several threads */
    void *offer;            /* the answer if the process need not wait, or NULL */
    size_t offer_bytes;
};

static struct {
    int is_open;
    uint32_t outside; /* processes, which are the first of the link */
    struct proc_link link;
    struct inbox *inboxes; /* by rank */
    struct queue replies;  /* to be sent in the scheduler's context */
    struct queue peers;    /* from other simulators */
    uint64_t shown;        /* what the processes showed when nothing had come */
    uint64_t since;        /* since when they have shown that, in ticks */
    int64_t *ran;          /* processor time of each process at the last look of all, in ns */
    uint32_t looks;        /* how often all have looked since then */
    uint64_t *answered;    /* what each process showed when it was sent its last answer; or 0 */
    uint32_t answers;      /* how many are not 0 */
    int has_shown;         /* LIVE_ANSWERED */
    uint64_t forced;       /* how often something was to be forced */
    uint64_t counted;      /* enum run_counted */
    vtime kept;            /* the longest that a process waited for a processor */
    uint32_t stuck;        /* how often in a row there was no decision to force */
} live;

int mpi_live_is_open(void)
{
    return live.is_open;
}

/* ---- queues ---- */

static void queue_init(struct queue *q)
{
    q->first = NULL;
    q->last = &q->first;
}

static struct item take(struct queue *q)
{
    struct item *first = q->first, item = *first;

    q->first = first->next;
    if (!q->first)
        q->last = &q->first;
    mem_free(first);
    return item;
}

static void add(struct queue *q, struct item what)
{
    struct item *item = mem_alloc(sizeof *item);

    *item = what;
    item->next = NULL;
    *q->last = item;
    q->last = &item->next;
}

/* What it shows changes when it notices the answer. Elsewhere this is not known. */
static void note_answer(uint32_t peer)
{
    uint64_t word = live.link.shown(live.link.owner, peer);

    if (!(word >> LIVE_PID_SHIFT))
        return;
    live.answers += !live.answered[peer];
    live.answered[peer] = word;
}

static void send_replies(void)
{
    while (live.replies.first) {
        struct item item = take(&live.replies);

        note_answer(item.peer);
        live.link.send(live.link.owner, item.peer, 0, item.data, item.bytes);
    }
}

/* Has a process an answer of ours that it has not noticed? */
static int any_is_answered(void)
{
    for (uint32_t i = 0; live.answers && i < live.outside; i++) {
        if (!live.answered[i])
            continue;
        if (live.link.shown(live.link.owner, i) == live.answered[i])
            return 1;
        live.answered[i] = 0;
        live.answers--;
    }
    return 0;
}

/* For the one of several simulators that looks whether all wait. */
static void show_answered(void)
{
    int is_answered;

    if (live.link.procs == live.outside + 1 || (!live.answers && !live.has_shown))
        return;
    is_answered = any_is_answered();
    if (is_answered == live.has_shown)
        return;
    live.has_shown = is_answered;
    live.link.show(live.link.owner, is_answered ? LIVE_ANSWERED : 0);
}

/* Takes all that has arrived, and wakes the ranks that wait for it; returns whether there was
 * one. */
static int pump(void)
{
    struct item in = {0};
    int found = 0;

    while (live.link.recv(live.link.owner, &in.peer, &in.tag, &in.data, &in.bytes)) {
        const struct engine_entity *x;
        uint32_t index;

        if (in.peer >= live.outside) {
            in.peer -= live.outside;
            add(&live.peers, in);
            continue;
        }
        live.shown = 0;
        live.stuck = 0;
        add(&live.inboxes[in.peer].queue, in);
        index = rank_map_index(mpi_rank_map(), in.peer);
        x = &mpi_world.ranks[index].ent;
        if (engine_is_away(x) || (engine_is_busy(x) && live.inboxes[in.peer].sides)) {
            engine_wake(&mpi_world.engine, index);
            found = 1;
        }
    }
    return found;
}

int mpi_live_wanted(void)
{
    send_replies();
    show_answered();
    return pump();
}

/* ---- other simulators ---- */

static void peer_send(void *owner, uint32_t to, int tag, void *data, size_t bytes)
{
    live.link.send(owner, to + live.outside, tag, data, bytes);
}

static int peer_recv(void *owner, uint32_t *from, int *tag, void **data, size_t *bytes)
{
    struct item item;

    (void)owner;
    show_answered(); /* a process may go on without a message to us */
    pump();
    if (!live.peers.first)
        return 0;
    item = take(&live.peers);
    *from = item.peer;
    *tag = item.tag;
    *data = item.data;
    *bytes = item.bytes;
    return 1;
}

static void peer_close(void *owner)
{
    (void)owner; /* mpi_live_close closes the link */
}

struct proc_link mpi_live_open(const struct run_options *o)
{
    struct proc_link peers;
    struct err err;

    if (proc_link_open(&live.link, o->native_path, &err) != ERR_OK)
        log_fatal("%s", err.text);
    live.outside = (uint32_t)o->ranks;
    if (live.link.procs != o->ranks + o->procs || live.link.proc < o->ranks)
        log_fatal("the launcher started %u processes, not %llu and the simulator behind them",
                  live.link.procs, (unsigned long long)o->ranks);
    live.inboxes = mem_zalloc(o->ranks * sizeof *live.inboxes);
    live.ran = mem_zalloc(o->ranks * sizeof *live.ran);
    live.answered = mem_zalloc(o->ranks * sizeof *live.answered);
    for (uint64_t i = 0; i < o->ranks; i++)
        queue_init(&live.inboxes[i].queue);
    queue_init(&live.replies);
    queue_init(&live.peers);
    live.is_open = 1;
    peers = live.link;
    peers.proc -= live.outside;
    peers.procs -= live.outside;
    peers.send = peer_send;
    peers.recv = peer_recv;
    peers.gather = NULL;
    peers.close = peer_close;
    return peers;
}

/* ---- processes that wait for each other ---- */

/*
 * A process that is away may be in a call of the real MPI that waits for another process, which
 * waits for a decision here: the real MPI may wait for a receiver where the simulated one need not.
 * Then nothing would ever happen. Returns a hash of what they show, or 0 if one computes, or is
 * about to.
 */
static uint64_t all_are_inside(void)
{
    uint64_t hash = 1;

    if (any_is_answered())
        return 0;
    for (uint32_t i = live.outside; i < live.link.procs; i++)
        if (live.link.shown(live.link.owner, i) & LIVE_ANSWERED)
            return 0;
    for (uint32_t i = 0; i < live.outside; i++) {
        uint64_t word = live.link.shown(live.link.owner, i);

        if (!(word & LIVE_INSIDE))
            return 0;
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    }
    return hash | 1;
}

/* Processor time of a process on this computer, in ns; -1: it is elsewhere. */
static int64_t ran_ns(uint32_t which)
{
    uint64_t word = live.link.shown(live.link.owner, which);
    struct timespec t;
    clockid_t clock = (clockid_t)(~(uint32_t)(word >> LIVE_PID_SHIFT) << 3 |
                                  2); /* man 2 clock_getres */

    if (!(word >> LIVE_PID_SHIFT) || syscall(SYS_clock_gettime, clock, &t) != 0)
        return -1;
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Processes in calls of the real MPI look for messages all the time: has each of them had the
 * processor for so long that it would have found one? */
static int all_have_looked(void)
{
    for (uint32_t i = 0; i < live.outside; i++) {
        int64_t ran = ran_ns(i);

        if (!(live.link.shown(live.link.owner, i) & (LIVE_ASKS | LIVE_LEFT)) && ran >= 0 &&
            live.ran[i] >= 0 && ran - live.ran[i] < LOOKED_NS)
            return 0;
    }
    return 1;
}

static void begin_look(void)
{
    for (uint32_t i = 0; i < live.outside; i++)
        live.ran[i] = ran_ns(i);
}

int mpi_live_asks(void *owner)
{
    (void)owner;
    for (uint32_t i = 0; i < live.outside; i++) {
        uint64_t word = live.link.shown(live.link.owner, i);

        if (word & LIVE_ASKS || !(word >> LIVE_PID_SHIFT)) /* it cannot show it */
            return 1;
    }
    return 0;
}

static int any_is_elsewhere(void)
{
    for (uint32_t i = 0; i < live.outside; i++)
        if (live.ran[i] < 0)
            return 1;
    return 0;
}

uint64_t mpi_live_is_stuck(void *owner, uint64_t serial)
{
    uint64_t shown = all_are_inside(), now = ticks_now();

    (void)owner;
    shown = shown ? (shown ^ serial * 2) | 1 : 0;
    if (!shown || shown != live.shown) {
        live.shown = shown;
        live.since = now;
        live.looks = 0;
        if (shown)
            begin_look();
        return 0;
    }
    if (live.looks < LOOKS && all_have_looked()) {
        live.looks++;
        begin_look();
    }
    if (live.looks < LOOKS || (double)(now - live.since) <
                                  (any_is_elsewhere() ? STUCK_FAR_NS : STUCK_NS) * ticks_per_ns())
        return 0;
    return shown;
}

/* All wait for each other: lets a decision be taken, in the end a message be guessed, or the run
 * end. */
static int unlock(void)
{
    live.forced++;
    if (engine_let_go(&mpi_world.engine))
        return 1;
    if (mpi_live_asks(NULL) && engine_force(&mpi_world.engine))
        return 1;
    if (++live.stuck < PROCS_LOOK_AFTER)
        return 0;
    live.stuck = 0;
    return engine_look(&mpi_world.engine) || engine_give_up(&mpi_world.engine);
}

void mpi_live_await(void)
{
    if (!mpi_live_is_stuck(NULL, live.forced) || !unlock())
        live.link.wait(live.link.owner, AWAIT_NS); /* the bell ends it earlier */
}

static void *take_offer(struct inbox *in)
{
    void *offer = in->offer;

    in->offer = NULL;
    mpi_world.engine.offers -= offer != NULL;
    return offer;
}

void mpi_live_let_go(void)
{
    for (uint32_t i = 0; i < live.outside; i++) {
        void *offer = take_offer(&live.inboxes[i]);

        if (offer)
            add(&live.replies,
                (struct item){.peer = i, .data = offer, .bytes = live.inboxes[i].offer_bytes});
    }
    send_replies();
}

struct run_live mpi_live_counts(void)
{
    return (struct run_live){.inversions = mpi_bind_inversions(),
                             .forced = mpi_world.engine.forced + mpi_bind_guesses(),
                             .late = mpi_world.engine.late,
                             .late_most = mpi_world.engine.late_most,
                             .counted = live.counted,
                             .kept = live.kept};
}

void mpi_live_close(void)
{
    send_replies();
    live.link.close(live.link.owner);
}

/* ---- what the program calls ---- */

static const struct mpi_comm *comm_of(const struct orrery_own_call *c)
{
    return mpi_comm_get((MPI_Comm)c->comm);
}

int mpi_live_is_led(struct mpi_rank *self, const struct orrery_own_call *c)
{
    if (!c)
        return 0;
    if (c->is_all && mpi_bind_are_short(self, c->count, c->requests))
        return 1;
    if (mpi_bind_any_candidate(self) ||
        (c->comm && mpi_early_find_any(self, comm_of(c)->ctx, c->tag, NULL)))
        return 0;
    for (int i = 0; i < c->count; i++) {
        const struct mpi_req *r = mpi_req_pending(self, c->requests[i]);

        if (r && (r->flags & MPI_REQ_DONE))
            return 0;
    }
    return c->comm || c->count;
}

void mpi_live_explain(struct mpi_rank *self, const struct orrery_own_call *c)
{
    self->fn = (__typeof__(self->fn))c->fn;
    if (c->comm)
        mpi_explain_recv(self, mpi_source_world(comm_of(c), c->source), c->tag, comm_of(c)->ctx,
                         (MPI_Comm)c->comm);
    else
        mpi_explain_handles(self, c->requests, c->count, !c->is_all);
}

int mpi_live_has_item(const struct mpi_rank *self)
{
    return live.inboxes[mpi_rank_id(self)].queue.first != NULL;
}

void *mpi_live_take(const struct mpi_rank *self, size_t *bytes)
{
    struct item item = take(&live.inboxes[mpi_rank_id(self)].queue);

    *bytes = item.bytes;
    return item.data;
}

struct mpi_side **mpi_live_sides(const struct mpi_rank *self)
{
    return &live.inboxes[mpi_rank_id(self)].sides;
}

/* Waits for a message of the process. */
static struct item await_item(struct mpi_rank *self, const struct orrery_own_call *c)
{
    struct queue *q = &live.inboxes[mpi_rank_id(self)].queue;
    vtime due;

    while (!q->first) {
        mpi_drain(self);
        if (mpi_decide(self, VTIME_NEVER, &due) || self->ent.inbox)
            continue;
        if (mpi_live_is_led(self, c))
            engine_block_led(&mpi_world.engine, &self->ent, mpi_rank_index(self), due,
                             mpi_bind_is_sure(self));
        else
            engine_block_away(&mpi_world.engine, &self->ent, mpi_rank_index(self), due, 1);
        vp_suspend();
        for (; self->ent.wake == ENGINE_WAKE_EXPLAIN; vp_suspend())
            mpi_live_explain(self, c); /* all that are away are led */
    }
    return take(q);
}

const void *orrery_own_receive(size_t *bytes)
{
    struct mpi_rank *self = mpi_self();
    struct inbox *in = &live.inboxes[mpi_rank_id(self)];
    struct item item;

    proc_link_free(in->taken);
    in->taken = NULL;
    item = await_item(self, NULL);
    in->taken = item.data;
    *bytes = item.bytes;
    return in->taken;
}

const void *orrery_own_outcome(const struct orrery_own_call *c, size_t *bytes)
{
    struct item item = await_item(mpi_self(), c);

    *bytes = item.bytes;
    return item.data;
}

void orrery_own_release(const void *message)
{
    struct inbox *in = &live.inboxes[mpi_rank_id(mpi_self())];

    if (in->taken == message)
        in->taken = NULL;
    proc_link_free((void *)(uintptr_t)message);
}

void orrery_own_reply(const void *data, size_t bytes)
{
    add(&live.replies, (struct item){.peer = mpi_rank_id(mpi_self()),
                                     .data = proc_link_copy(data, bytes),
                                     .bytes = bytes});
}

void orrery_own_offer(const void *data, size_t bytes)
{
    struct inbox *in = &live.inboxes[mpi_rank_id(mpi_self())];

    in->offer = proc_link_copy(data, bytes);
    in->offer_bytes = bytes;
    mpi_world.engine.offers++;
}

int orrery_own_withdraw(void)
{
    void *offer = take_offer(&live.inboxes[mpi_rank_id(mpi_self())]);

    proc_link_free(offer);
    return offer != NULL;
}

void orrery_own_counted(unsigned how, int64_t kept)
{
    live.counted |= how;
    if (kept > live.kept)
        live.kept = kept;
}
