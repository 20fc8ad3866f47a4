/*
 * replay_coll.c - matches the calls of a collective by all members.
 *
 * Members call the collectives of a communicator in the same order, so calls with the same number
 * are one instance. An instance lives from its first call until no member can wait in it any more.
 */
#include <string.h>

#include "analysis/replay_internal.h"

#define INSTANCES_MOST \
    65536 /* open on one communicator; beyond that the oldest is dropped: a member is missing */
#define MPI_ROOT_VALUE (-3)
#define MPI_NOBODY (-1)

/* ---- communicators ---- */

/* Members of a communicator that the trace has records of. */
static uint32_t members_there(const struct replay *r, uint32_t comm)
{
    const struct handles_comm *c = &r->book.comms[comm];
    uint64_t count = 0;
    if (c->rank_count + c->other_count < c->size)
        return (uint32_t)c->size;
    for (uint64_t i = 0; i < c->rank_count; i++)
        count += r->is_there[c->ranks ? c->ranks[i] : (int64_t)i];
    for (uint64_t i = 0; i < c->other_count; i++)
        count += r->is_there[c->others[i]];
    return (uint32_t)count;
}

static struct comm_state *comm_state(struct replay *r, uint32_t comm)
{
    if (comm >= r->comm_count) {
        size_t count = r->book.comm_count;
        r->comms = mem_realloc(r->comms, count * sizeof *r->comms);
        memset(r->comms + r->comm_count, 0, (count - r->comm_count) * sizeof *r->comms);
        r->comm_count = count;
    }
    if (!r->comms[comm].size)
        r->comms[comm].size = members_there(r, comm);
    return &r->comms[comm];
}

static struct comm_mine *comm_mine(struct lane *home, int64_t local)
{
    if ((uint64_t)local >= home->comm_count) {
        uint32_t count = (uint32_t)local + 1;
        home->comms = mem_realloc(home->comms, count * sizeof *home->comms);
        memset(home->comms + home->comm_count, 0, (count - home->comm_count) * sizeof *home->comms);
        home->comm_count = count;
    }
    return &home->comms[local];
}

/* ---- instances ---- */

static void instance_fini(struct replay *r, struct instance *i)
{
    for (uint32_t k = 0; k < i->waiter_count; k++)
        replay_unblock(r, i->waiters[k].blocked);
    mem_free(i->waiters);
    mem_free(i->members);
    *i = (struct instance){0};
}

static void drop_oldest(struct replay *r, struct comm_state *c)
{
    instance_fini(r, &c->ring[c->first & (c->room - 1)]);
    c->first++;
    c->count--;
}

/* The instance with this number; NULL: it is over. */
static struct instance *instance_get(struct replay *r, struct comm_state *c, uint64_t seq)
{
    if (seq < c->first)
        return NULL;
    while (c->first + c->count <= seq) {
        if (c->count == INSTANCES_MOST)
            drop_oldest(r, c);
        ARRAY_RING_RESERVE(c->ring, c->room, c->first, c->count, 4);
        c->ring[(c->first + c->count++) & (c->room - 1)] = (struct instance){
            .first_leave = INT64_MAX};
    }
    return &c->ring[seq & (c->room - 1)];
}

static void drop_done(struct replay *r, struct comm_state *c)
{
    while (c->count) {
        const struct instance *i = &c->ring[c->first & (c->room - 1)];
        if (i->entered < c->size || i->open || i->waiter_count)
            return;
        drop_oldest(r, c);
    }
}

static void add_waiter(struct replay *r, struct lane *l, struct instance *i, uint32_t member,
                       uint32_t local)
{
    ARRAY_RESERVE(i->waiters, i->waiter_room, i->waiter_count + 1, 4);
    struct blocked *b = replay_block(r, l);
    b->must_wait = 1;
    i->waiters[i->waiter_count++] = (struct waiter){b, member, local};
}

/* ---- who waits for whom ---- */

static enum analysis_wait kind_of(unsigned class)
{
    switch (class) {
    case CALL_BARRIER:
        return ANALYSIS_WAIT_BARRIER;
    case CALL_NXN:
        return ANALYSIS_WAIT_NXN;
    case CALL_FROM_ROOT:
        return ANALYSIS_LATE_BROADCAST;
    case CALL_TO_ROOT:
        return ANALYSIS_EARLY_REDUCE;
    default:
        return ANALYSIS_EARLY_SCAN;
    }
}

static const struct delay_snapshot *then_of(const struct lane *l, uint32_t local)
{
    const struct lane *home = l;
    const struct delay_snapshot *then = local < home->comm_count ? home->comms[local].then : NULL;
    return !then || (then->epoch < home->sums.epoch && home->world) ? home->world : then;
}

/* next_epoch does this for collectives of all with all. */
static int is_epoch(const struct instance *i, uint32_t local)
{
    return local == TRACE_LOCAL_WORLD && (i->class == CALL_BARRIER || i->class == CALL_NXN);
}

static void synchronise(struct replay *r, struct lane *l, const struct instance *i, uint32_t local)
{
    struct lane *home = &r->lanes[l->rank];
    if (r->has_delays && l == home && local < home->comm_count && !is_epoch(i, local))
        delays_snapshot(&r->delays, &home->comms[local].then, &l->sums);
}

/* Ends a wait: its cause has just entered. */
static void release(struct replay *r, struct instance *i, const struct waiter *w,
                    struct lane *cause, uint32_t cause_local, int64_t ideal)
{
    struct lane *l = &r->lanes[w->blocked->lane];
    replay_wait(r, w->blocked, kind_of(i->class), cause->enter, cause, then_of(l, w->local),
                then_of(cause, cause_local));
    if (w->blocked->is_current && l->ideal < ideal)
        l->ideal = ideal;
    if (i->class == CALL_BARRIER || i->class == CALL_NXN) {
        int64_t from = i->first_leave > w->blocked->until ? i->first_leave : w->blocked->until;
        replay_count(r, w->blocked, ANALYSIS_COMPLETION, w->blocked->leave - from);
    }
}

static void release_all(struct replay *r, struct instance *i, struct lane *cause,
                        uint32_t cause_local, int64_t ideal)
{
    for (uint32_t k = 0; k < i->waiter_count; k++) {
        struct waiter *w = &i->waiters[k];
        release(r, i, w, cause, cause_local, ideal);
        synchronise(r, &r->lanes[w->blocked->lane], i, w->local);
    }
    for (uint32_t k = 0; k < i->waiter_count; k++)
        replay_unblock(r, i->waiters[k].blocked);
    i->waiter_count = 0;
}

/* All members have entered. In a collective of all with all, ranks can be compared from this time
 * on. */
static void next_epoch(struct replay *r, struct lane *l)
{
    if (!r->has_delays)
        return;
    l->sums.epoch++;
    delays_snapshot(&r->delays, &l->world, &l->sums);
}

static void enter_all(struct replay *r, struct lane *l, struct instance *i, uint32_t size,
                      uint32_t comm, uint32_t local)
{
    if (i->ideal < l->ideal)
        i->ideal = l->ideal;
    if (i->entered < size)
        return;
    release_all(r, i, l, local, i->ideal);
    if (comm != HANDLES_WORLD)
        return;
    for (uint32_t k = 0; k < r->ranks; k++)
        if (r->is_there[k] && !r->lanes[k].is_over)
            next_epoch(r, &r->lanes[k]);
}

/* All members up to this one have entered: those of them that wait need not wait any longer. */
static void enter_scan(struct replay *r, struct lane *l, struct instance *i, uint32_t size,
                       uint32_t member, uint32_t local)
{
    if (!i->members)
        i->members = mem_zalloc(size * sizeof *i->members);
    if (member >= size)
        return;
    i->members[member] = (struct scan_member){1, l->ideal};
    while (i->ready < size && i->members[i->ready].is_in) {
        struct scan_member *m = &i->members[i->ready];
        if (i->ready && m->ideal < m[-1].ideal)
            m->ideal = m[-1].ideal;
        i->ready++;
    }
    uint32_t kept = 0;
    for (uint32_t k = 0; k < i->waiter_count; k++) {
        struct waiter *w = &i->waiters[k];
        if (w->member >= i->ready) {
            i->waiters[kept++] = *w;
            continue;
        }
        release(r, i, w, l, local, i->members[w->member].ideal);
        replay_unblock(r, w->blocked);
    }
    i->waiter_count = kept;
}

/* Whether this member waits for others that have not entered. */
static int must_wait(const struct instance *i, uint32_t size, int is_root, uint32_t member)
{
    switch (i->class) {
    case CALL_FROM_ROOT:
        return !is_root && !i->root_is_in;
    case CALL_TO_ROOT:
        return is_root && i->entered < size;
    case CALL_SCAN:
        return member >= i->ready;
    default:
        return i->entered < size;
    }
}

/* A member that does not wait, or no longer waits, has all it needs at this ideal time. */
static void take_ideal(struct lane *l, const struct instance *i, int is_root, uint32_t member)
{
    int64_t ideal = i->ideal;
    if (i->class == CALL_TO_ROOT && !is_root)
        return;
    if (i->class == CALL_SCAN)
        ideal = i->members && member < i->ready ? i->members[member].ideal : 0;
    if (l->ideal < ideal)
        l->ideal = ideal;
}

/* The last member completes a barrier, without having waited. */
static void count_last(struct replay *r, struct lane *l, const struct instance *i)
{
    struct blocked last = {.lane = (uint32_t)(l - r->lanes), .place = l->place};
    int64_t from = i->first_leave > l->enter ? i->first_leave : l->enter;
    if (i->class == CALL_BARRIER || i->class == CALL_NXN)
        replay_count(r, &last, ANALYSIS_COMPLETION, l->leave - from);
}

static void enter_instance(struct replay *r, struct lane *l, struct instance *i, uint32_t size,
                           struct handles_mine mine, uint32_t local, int is_root)
{
    switch (i->class) {
    case CALL_FROM_ROOT:
        if (is_root) {
            i->root_is_in = 1;
            i->ideal = l->ideal;
            release_all(r, i, l, local, i->ideal);
        }
        break;
    case CALL_TO_ROOT:
        if (i->ideal < l->ideal)
            i->ideal = l->ideal;
        if (i->entered == size)
            release_all(r, i, l, local, i->ideal);
        break;
    case CALL_SCAN:
        enter_scan(r, l, i, size, mine.rank, local);
        break;
    default:
        enter_all(r, l, i, size, mine.comm, local);
    }
}

void coll_enter(struct replay *r, struct lane *l, const struct call_shape *s, int64_t local,
                int64_t root, struct request *request)
{
    struct handles_mine mine = handles_comm(&r->lanes[l->rank].handles, local);
    if (mine.comm == HANDLES_NONE || mine.comm == HANDLES_SELF || s->class == CALL_NO_COLLECTIVE)
        return;
    struct comm_state *c = comm_state(r, mine.comm);
    struct comm_mine *here = comm_mine(&r->lanes[l->rank], local);
    uint64_t seq = here->seq++;
    struct instance *i = instance_get(r, c, seq);
    if (!i)
        return;
    int is_root = mine.is_inter ? root == MPI_ROOT_VALUE : root == (int64_t)mine.rank;
    if (!i->is_used) {
        i->is_used = 1;
        i->class = s->class;
    }
    i->entered++;
    if (!request && l->leave < i->first_leave)
        i->first_leave = l->leave;
    enter_instance(r, l, i, c->size, mine, (uint32_t)local, is_root);
    int waits = must_wait(i, c->size, is_root, mine.rank) && !(mine.is_inter && root == MPI_NOBODY);
    if (request) {
        request->in_collective = 1;
        request->coll_comm = mine.comm;
        request->coll_seq = seq;
        request->coll_rank = mine.rank;
        request->comm = local;
        request->is_root = (uint8_t)is_root;
        i->open++;
    } else if (waits) {
        add_waiter(r, l, i, mine.rank, (uint32_t)local);
    } else {
        take_ideal(l, i, is_root, mine.rank);
        if (i->entered == c->size)
            count_last(r, l, i);
    }
    if (!waits)
        synchronise(r, l, i, (uint32_t)local);
    drop_done(r, c);
}

void coll_complete(struct replay *r, struct lane *l, struct request *q, int waits)
{
    struct comm_state *c = &r->comms[q->coll_comm];
    struct instance *i = q->coll_seq < c->first ? NULL : instance_get(r, c, q->coll_seq);
    q->in_collective = 0;
    if (!i)
        return;
    i->open--;
    if (must_wait(i, c->size, q->is_root, q->coll_rank)) {
        if (waits)
            add_waiter(r, l, i, q->coll_rank, (uint32_t)q->comm);
    } else {
        take_ideal(l, i, q->is_root, q->coll_rank);
    }
    drop_done(r, c);
}

void coll_fini(struct replay *r)
{
    for (size_t i = 0; i < r->comm_count; i++) {
        while (r->comms[i].count)
            drop_oldest(r, &r->comms[i]);
        mem_free(r->comms[i].ring);
    }
    mem_free(r->comms);
}
