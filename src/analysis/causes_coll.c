/*
 * causes_coll.c - matches the calls of a collective by all members.
 *
 * Members call the collectives of a communicator in the same order, so calls with the same number
 * are one instance. An instance lives from its first call until no member can wait in it any more.
 */
#include <string.h>

#include "analysis/causes_internal.h"

#define INSTANCES_MOST \
    65536 /* open on one communicator; beyond that the oldest is dropped: a member is missing */
#define MPI_ROOT_VALUE (-3)
#define MPI_NOBODY (-1)

/* ---- communicators ---- */

/* Members of a communicator that the trace has records of. */
static void count_members(const struct causes *r, uint32_t comm, struct comm_state *state)
{
    const struct handles_comm *c = &r->book.comms[comm];
    uint64_t own = 0, others = 0;
    if (c->rank_count + c->other_count < c->size) {
        state->size = (uint32_t)c->size;
        state->own = (uint32_t)c->rank_count;
        return;
    }
    for (uint64_t i = 0; i < c->rank_count; i++)
        own += r->is_there[c->ranks ? c->ranks[i] : (int64_t)i];
    for (uint64_t i = 0; i < c->other_count; i++)
        others += r->is_there[c->others[i]];
    state->size = (uint32_t)(own + others);
    state->own = (uint32_t)own;
}

struct comm_state *coll_state(struct causes *r, uint32_t comm)
{
    if (comm >= r->comm_count) {
        size_t count = r->book.comm_count;
        r->comms = mem_realloc(r->comms, count * sizeof *r->comms);
        memset(r->comms + r->comm_count, 0, (count - r->comm_count) * sizeof *r->comms);
        r->comm_count = count;
    }
    if (!r->comms[comm].size)
        count_members(r, comm, &r->comms[comm]);
    return &r->comms[comm];
}

struct comm_mine *coll_mine(struct lane *home, int64_t local)
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

static void instance_fini(struct causes *r, struct instance *i)
{
    for (uint32_t k = 0; k < i->waiter_count; k++)
        causes_unblock(r, i->waiters[k].blocked);
    mem_free(i->waiters);
    mem_free(i->members);
    path_let_go(&r->path, &i->latest.path);
    *i = (struct instance){0};
}

static void drop_oldest(struct causes *r, struct comm_state *c)
{
    instance_fini(r, &c->ring[c->first & (c->room - 1)]);
    c->first++;
    c->count--;
}

/* The instance with this number; NULL: it is over. */
static struct instance *instance_get(struct causes *r, struct comm_state *c, uint64_t seq)
{
    if (seq < c->first)
        return NULL;
    while (c->first + c->count <= seq) {
        if (c->count == INSTANCES_MOST)
            drop_oldest(r, c);
        ARRAY_RING_RESERVE(c->ring, c->room, c->first, c->count, 4);
        c->ring[(c->first + c->count++) & (c->room - 1)] =
            (struct instance){.first_leave = INT64_MAX, .first_end = INT64_MAX};
    }
    return &c->ring[seq & (c->room - 1)];
}

static void drop_done(struct causes *r, struct comm_state *c)
{
    while (c->count) {
        const struct instance *i = &c->ring[c->first & (c->room - 1)];
        if (i->entered < c->size || i->open || i->waiter_count)
            return;
        drop_oldest(r, c);
    }
}

static void add_waiter(struct causes *r, struct lane *l, struct instance *i, uint32_t comm,
                       uint64_t seq, uint32_t member, uint32_t local)
{
    if (i->may_end_early) {
        ARRAY_RESERVE(l->meetings, l->meeting_room, l->meeting_count + 1, 4);
        l->meetings[l->meeting_count++] = (struct meeting){seq, comm, local};
    }
    ARRAY_RESERVE(i->waiters, i->waiter_room, i->waiter_count + 1, 4);
    struct blocked *b = causes_block(r, l);
    b->must_wait = 1;
    i->waiters[i->waiter_count++] = (struct waiter){b, member, local};
}

/* ---- who waits for whom ---- */

static enum analysis_wait kind_of(const struct mpi_effect *s)
{
    if (s->step == MPI_STEP_FENCE)
        return ANALYSIS_WAIT_FENCE;
    if (s->kind == MPI_DOES_FILE)
        return ANALYSIS_WAIT_FILE;
    if (s->kind == MPI_DOES_FINALIZE)
        return ANALYSIS_WAIT_FINALIZE;
    if (calls_makes(s, MPI_ROLE_COMM) || calls_makes(s, MPI_ROLE_WIN))
        return ANALYSIS_WAIT_CREATE;
    if (calls_frees(s, MPI_ROLE_COMM) || calls_frees(s, MPI_ROLE_WIN))
        return ANALYSIS_WAIT_FREE;
    switch (s->class) {
    case MPI_CLASS_BARRIER:
        return ANALYSIS_WAIT_BARRIER;
    case MPI_CLASS_ALL_TO_ALL:
        return ANALYSIS_WAIT_NXN;
    case MPI_CLASS_ONE_TO_ALL:
        return ANALYSIS_LATE_BROADCAST;
    case MPI_CLASS_ALL_TO_ONE:
        return ANALYSIS_EARLY_REDUCE;
    default:
        return ANALYSIS_EARLY_SCAN;
    }
}

/* Whether a call can end before all members have entered: MPI lets these wait, but does not
 * demand it, or a member needs only some of the others. */
static int may_end_before(const struct instance *i)
{
    return i->may_end_early || i->kind == ANALYSIS_WAIT_FENCE || i->kind == ANALYSIS_WAIT_FILE ||
           i->kind == ANALYSIS_WAIT_CREATE || i->kind == ANALYSIS_WAIT_FREE ||
           i->kind == ANALYSIS_WAIT_FINALIZE;
}

/* Whether a member was done before this time, at which others enter: they have not synchronised. */
static int has_ended(const struct instance *i, int64_t enter)
{
    return may_end_before(i) && i->first_end < enter;
}

static void note_end(struct instance *i, int64_t leave)
{
    if (leave < i->first_end)
        i->first_end = leave;
}

static const struct delay_snapshot *then_of(const struct lane *l, uint32_t local)
{
    const struct lane *home = l;
    const struct delay_snapshot *then = local < home->comm_count ? home->comms[local].then : NULL;
    return !then || (then->epoch < home->sums.epoch && home->world) ? home->world : then;
}

/* next_epoch does this for collectives of all with all. */
static int is_epoch(const struct instance *i, const struct lane *home, uint32_t local)
{
    return local == TRACE_LOCAL_WORLD && home->handles.world.comm == HANDLES_WORLD &&
           (i->class == MPI_CLASS_BARRIER || i->class == MPI_CLASS_ALL_TO_ALL);
}

static void synchronise(struct causes *r, struct lane *l, const struct instance *i, uint32_t local)
{
    struct lane *home = &r->lanes[l->rank];
    if (r->has_delays && l == home && local < home->comm_count && !is_epoch(i, home, local))
        delays_snapshot(&r->delays, &home->comms[local].then, &l->sums);
}

static int has_completion(const struct instance *i)
{
    return i->kind == ANALYSIS_WAIT_BARRIER || i->kind == ANALYSIS_WAIT_NXN;
}

/* Ends a wait: its cause has just entered. */
static void release(struct causes *r, struct instance *i, const struct waiter *w,
                    struct lane *cause, uint32_t cause_local, struct ideal ideal)
{
    struct lane *l = &r->lanes[w->blocked->lane];
    if (may_end_before(i) && cause->enter > w->blocked->leave)
        return;
    causes_wait(r, w->blocked, i->kind, cause->enter, cause, then_of(l, w->local),
                then_of(cause, cause_local));
    if (w->blocked->is_current)
        ideal_reach(&l->ideal, ideal);
    if (has_completion(i)) {
        int64_t from = i->first_leave > w->blocked->until ? i->first_leave : w->blocked->until;
        causes_count(r, w->blocked, ANALYSIS_COMPLETION, w->blocked->leave - from);
    }
}

static void release_all(struct causes *r, struct instance *i, struct lane *cause,
                        uint32_t cause_local, struct ideal ideal)
{
    for (uint32_t k = 0; k < i->waiter_count; k++) {
        struct waiter *w = &i->waiters[k];
        release(r, i, w, cause, cause_local, ideal);
        if (!has_ended(i, cause->enter))
            synchronise(r, &r->lanes[w->blocked->lane], i, w->local);
    }
    for (uint32_t k = 0; k < i->waiter_count; k++)
        causes_unblock(r, i->waiters[k].blocked);
    i->waiter_count = 0;
}

/* All members have entered. In a collective of all with all, ranks can be compared from this time
 * on. */
static void next_epoch(struct causes *r, struct lane *l)
{
    if (!r->has_delays)
        return;
    l->sums.epoch++;
    delays_snapshot(&r->delays, &l->world, &l->sums);
}

/* Whether members may need only some of the others: those that send to them, the other group, or
 * who tells them about a new communicator. If a call ended before all had entered, it waited for
 * the last one that had. Other calls wait for all or, as fences and files, for none. */
static int may_need_some(const struct mpi_effect *s, const struct instance *i,
                         struct handles_mine mine)
{
    return i->kind == ANALYSIS_WAIT_CREATE ||
           (has_completion(i) && (mine.is_inter || s->gives == MPI_VOLUME_LIST));
}

static void note_latest(struct causes *r, struct lane *l, struct instance *i, uint32_t local)
{
    i->latest.time = l->enter;
    i->latest.lane = (uint32_t)(l - r->lanes);
    i->latest.local = local;
    if (r->has_path)
        path_keep(&r->path, &i->latest.path, &l->path);
}

uint32_t coll_settle(struct causes *r, struct lane *l)
{
    uint32_t open = 0;
    for (uint32_t k = 0; k < l->meeting_count && l->blocked; k++) {
        const struct meeting *m = &l->meetings[k];
        struct comm_state *c = &r->comms[m->comm];
        struct instance *i = m->seq < c->first ? NULL : instance_get(r, c, m->seq);
        if (!i || !i->is_used || i->entered == c->size)
            continue;
        open++;
        if (i->latest.time > l->leave || i->latest.lane == (uint32_t)(l - r->lanes))
            continue;
        struct lane *cause = &r->lanes[i->latest.lane];
        causes_wait_earlier(r, l->blocked, i->kind, i->latest.time, cause, &i->latest.path,
                            then_of(l, m->local), then_of(cause, i->latest.local));
        ideal_reach(&l->ideal, i->ideal);
    }
    l->meeting_count = 0;
    return open;
}

static void enter_all(struct causes *r, struct lane *l, struct instance *i, uint32_t size,
                      uint32_t comm, uint32_t local)
{
    ideal_reach(&i->ideal, l->ideal);
    if (i->entered < size)
        return;
    release_all(r, i, l, local, i->ideal);
    if (comm != HANDLES_WORLD || has_ended(i, l->enter))
        return;
    for (uint64_t k = 0; k < r->book.comms[HANDLES_WORLD].size; k++)
        if (r->is_there[k] && !r->lanes[k].is_over)
            next_epoch(r, &r->lanes[k]);
}

/* Files that are accessed in the order of ranks may in the end wait for all. */
static int has_end_for_all(const struct instance *i)
{
    return i->kind == ANALYSIS_WAIT_FILE;
}

/* All members up to this one have entered: those of them that wait need not wait any longer. */
static void enter_scan(struct causes *r, struct lane *l, struct instance *i, uint32_t size,
                       uint32_t member, uint32_t local)
{
    if (!i->members)
        i->members = mem_zalloc(size * sizeof *i->members);
    if (member >= size)
        return;
    uint32_t ready = i->ready;
    i->members[member] = (struct scan_member){1, l->ideal};
    while (i->ready < size && i->members[i->ready].is_in) {
        struct scan_member *m = &i->members[i->ready];
        if (i->ready)
            ideal_reach(&m->ideal, m[-1].ideal);
        i->ready++;
    }
    uint32_t kept = 0;
    for (uint32_t k = 0; k < i->waiter_count; k++) {
        struct waiter *w = &i->waiters[k];
        if (w->member >= i->ready) {
            i->waiters[kept++] = *w;
            continue;
        }
        if (i->entered == size && has_end_for_all(i))
            release(r, i, w, l, local, i->members[size - 1].ideal);
        else if (w->member >= ready)
            release(r, i, w, l, local, i->members[w->member].ideal);
        if (i->entered < size && has_end_for_all(i))
            i->waiters[kept++] = *w;
        else
            causes_unblock(r, w->blocked);
    }
    i->waiter_count = kept;
}

/* Members that take part in a call with a root: of its own group in an intercommunicator, only the
 * root. */
static uint32_t taking_part(const struct comm_state *c, struct handles_mine mine, int is_root)
{
    uint32_t here = mine.is_second ? c->size - c->own : c->own;
    return !mine.is_inter ? c->size : 1 + (is_root ? c->size - here : here);
}

/* Whether this member waits for others that have not entered. */
static int must_wait(const struct instance *i, uint32_t size, int is_root, uint32_t member)
{
    switch (i->class) {
    case MPI_CLASS_ONE_TO_ALL:
        return !is_root && !i->root_is_in;
    case MPI_CLASS_ALL_TO_ONE:
        return is_root && i->arrived < i->needs;
    case MPI_CLASS_SCAN:
        return member >= i->ready || (i->entered < size && has_end_for_all(i));
    default:
        return i->entered < size;
    }
}

/* A member that does not wait, or no longer waits, has all it needs at this ideal time. */
static void take_ideal(struct lane *l, const struct instance *i, int is_root, uint32_t member)
{
    struct ideal ideal = i->ideal;
    if (i->class == MPI_CLASS_ALL_TO_ONE && !is_root)
        return;
    if (i->class == MPI_CLASS_SCAN)
        ideal = i->members && member < i->ready ? i->members[member].ideal : (struct ideal){0, 0};
    ideal_reach(&l->ideal, ideal);
}

/* The last member completes a barrier, without having waited. */
static void count_last(struct causes *r, struct lane *l, const struct instance *i)
{
    struct blocked last = {.lane = (uint32_t)(l - r->lanes), .place = l->place};
    int64_t from = i->first_leave > l->enter ? i->first_leave : l->enter;
    if (has_completion(i))
        causes_count(r, &last, ANALYSIS_COMPLETION, l->leave - from);
}

static void enter_instance(struct causes *r, struct lane *l, struct instance *i,
                           const struct comm_state *c, struct handles_mine mine, uint32_t local,
                           int is_root)
{
    switch (i->class) {
    case MPI_CLASS_ONE_TO_ALL:
        if (is_root) {
            i->root_is_in = 1;
            i->ideal = l->ideal;
            release_all(r, i, l, local, i->ideal);
        }
        break;
    case MPI_CLASS_ALL_TO_ONE:
        ideal_reach(&i->ideal, l->ideal);
        i->needs = taking_part(c, mine, is_root);
        if (i->arrived == i->needs)
            release_all(r, i, l, local, i->ideal);
        break;
    case MPI_CLASS_SCAN:
        enter_scan(r, l, i, c->size, mine.rank, local);
        break;
    default:
        enter_all(r, l, i, c->size, mine.comm, local);
    }
}

/* Whether all members of the communicator take part, and some wait for others. */
static int is_for_all(const struct mpi_effect *s)
{
    return s->class != MPI_CLASS_APART && s->class != MPI_CLASS_GROUP;
}

/* The lane was the last to enter the call that starts more ranks: their paths continue from it. */
static void spawn(struct causes *r, struct lane *cause, const struct mpi_effect *s,
                  struct ideal ideal)
{
    struct handles_mine mine = handles_comm(&r->lanes[cause->rank].handles,
                                            s->object >= 0 ? cause->event.args[s->object].number
                                                           : -1);
    if (mine.comm == HANDLES_NONE || !mine.is_inter)
        return;
    const struct handles_comm *c = &r->book.comms[mine.comm];
    const int64_t *ranks = mine.is_second ? c->ranks : c->others;
    uint64_t count = mine.is_second ? c->rank_count : c->other_count;
    for (uint64_t i = 0; ranks && i < count; i++) {
        struct lane *l = &r->lanes[ranks[i] < r->ranks ? ranks[i] : cause->rank];
        if (l->is_begun || l->handles.world.comm == HANDLES_WORLD)
            continue;
        ideal_reach(&l->ideal, ideal);
        l->enter = l->leave = l->path_from = cause->enter;
        if (r->has_path)
            path_hop(&r->path, &l->path, &cause->path);
        if (r->has_path && r->watch && r->watch->hop)
            r->watch->hop(r->watch->context, l->rank, cause->rank, cause->enter);
    }
}

/* `local`: what the rank knows of it. */
static void enter(struct causes *r, struct lane *l, const struct mpi_effect *s,
                  struct handles_mine mine, int64_t local, int64_t root, struct request *request)
{
    struct comm_state *c = coll_state(r, mine.comm);
    struct comm_mine *here = coll_mine(&r->lanes[l->rank], local);
    uint64_t seq = here->seq++;
    struct instance *i = instance_get(r, c, seq);
    if (!i)
        return;
    int is_root = mine.is_inter ? root == MPI_ROOT_VALUE : root == (int64_t)mine.rank;
    int is_idle = mine.is_inter && root == MPI_NOBODY;
    if (!i->is_used) {
        i->is_used = 1;
        i->class = s->class;
        i->kind = (uint8_t)kind_of(s);
        i->may_end_early = (uint8_t)may_need_some(s, i, mine);
    }
    i->entered++;
    i->arrived += !is_idle;
    if (!request && l->leave < i->first_leave)
        i->first_leave = l->leave;
    if (!request)
        note_end(i, l->leave);
    if (!is_idle)
        enter_instance(r, l, i, c, mine, (uint32_t)local, is_root);
    if (s->step == MPI_STEP_SPAWN && i->entered == c->size)
        spawn(r, l, s, i->ideal);
    if (i->may_end_early && i->entered < c->size)
        note_latest(r, l, i, (uint32_t)local);
    int waits = !is_idle && must_wait(i, c->size, is_root, mine.rank);
    if (request) {
        request->in_collective = 1;
        request->coll_comm = mine.comm;
        request->coll_seq = seq;
        request->coll_rank = mine.rank;
        request->comm = local;
        request->is_root = (uint8_t)is_root;
        request->is_idle = (uint8_t)is_idle;
        i->open++;
    }
    /* MPI lets the first half of a split collective wait, too */
    int is_in_call = !request || s->form == MPI_FORM_BEGIN;
    if (is_in_call && waits) {
        add_waiter(r, l, i, mine.comm, seq, mine.rank, (uint32_t)local);
    } else if (is_in_call && !is_idle) {
        take_ideal(l, i, is_root, mine.rank);
        if (i->entered == c->size)
            count_last(r, l, i);
    }
    if (!waits && !has_ended(i, l->enter))
        synchronise(r, l, i, (uint32_t)local);
    drop_done(r, c);
}

void coll_enter(struct causes *r, struct lane *l, const struct mpi_effect *s, int64_t local,
                int64_t root, struct request *request)
{
    struct handles_mine mine = handles_comm(&r->lanes[l->rank].handles, local);
    if (s->class == MPI_CLASS_JOINT) {
        local = s->object >= 0 ? l->event.args[s->object].number : -1;
        mine = handles_comm(&r->lanes[l->rank].handles, local);
    }
    if (mine.comm == HANDLES_NONE || mine.comm == HANDLES_SELF || !is_for_all(s))
        return;
    if (s->class == MPI_CLASS_NEIGHBOURS)
        hood_enter(r, l, mine, local, request);
    else
        enter(r, l, s, mine, local, root, request);
}

void coll_enter_win(struct causes *r, struct lane *l, const struct mpi_effect *s, int64_t win)
{
    const struct handles *h = &r->lanes[l->rank].handles;
    struct handles_mine mine = handles_win(h, win);
    if (mine.comm != HANDLES_NONE && mine.comm != HANDLES_SELF && is_for_all(s))
        enter(r, l, s, mine, coll_win(h, win), NO_ROOT, NULL);
}

void coll_enter_file(struct causes *r, struct lane *l, const struct mpi_effect *s, int64_t file,
                     struct request *request)
{
    const struct handles *h = &r->lanes[l->rank].handles;
    struct handles_mine mine = handles_file(h, file);
    if (mine.comm != HANDLES_NONE && mine.comm != HANDLES_SELF && is_for_all(s))
        enter(r, l, s, mine, coll_file(h, file), NO_ROOT, request);
}

void coll_finalize(struct causes *r, struct lane *l, const struct mpi_effect *s)
{
    struct handles_mine mine = r->lanes[l->rank].handles.world;
    struct mpi_effect meeting = *s;
    meeting.class = MPI_CLASS_BARRIER;
    if (mine.comm != HANDLES_NONE)
        enter(r, l, &meeting, mine, TRACE_LOCAL_WORLD, NO_ROOT, NULL);
}

void coll_complete(struct causes *r, struct lane *l, struct request *q, int waits)
{
    if (q->hood) {
        hood_complete(r, l, q, waits);
        return;
    }
    struct comm_state *c = &r->comms[q->coll_comm];
    struct instance *i = q->coll_seq < c->first ? NULL : instance_get(r, c, q->coll_seq);
    q->in_collective = 0;
    if (!i)
        return;
    i->open--;
    note_end(i, l->leave);
    if (!q->is_idle && must_wait(i, c->size, q->is_root, q->coll_rank)) {
        if (waits)
            add_waiter(r, l, i, q->coll_comm, q->coll_seq, q->coll_rank, (uint32_t)q->comm);
    } else if (!q->is_idle) {
        take_ideal(l, i, q->is_root, q->coll_rank);
    }
    drop_done(r, c);
}

void coll_fini(struct causes *r)
{
    for (size_t i = 0; i < r->comm_count; i++) {
        while (r->comms[i].count)
            drop_oldest(r, &r->comms[i]);
        one_sided_free(r, r->comms[i].one_sided);
        mem_free(r->comms[i].ring);
    }
    mem_free(r->comms);
}
