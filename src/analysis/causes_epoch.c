/*
 * causes_epoch.c - epochs of windows: post, start, complete and wait; locks (causes_lock.c). Fences
 * are collectives (causes_coll.c).
 *
 * An origin waits for the posts of its targets in MPI_Win_start or, if that does not wait, in
 * MPI_Win_complete: a late post. A target waits in MPI_Win_wait for the MPI_Win_complete of its
 * origins. As long as an origin still accesses the window, this is an early wait; afterwards the
 * complete is late.
 */
#include "analysis/causes_internal.h"
#include "base/mem.h"

#define LOCK_EXCLUSIVE 234 /* of MPICH's ABI, as in traces */

/* ---- windows ---- */

static void free_epoch(struct causes *r, struct epoch *e)
{
    if (e->origin)
        causes_unblock(r, e->origin);
    if (e->target)
        causes_unblock(r, e->target);
    mem_free(e->origin_then);
    mem_free(e->target_then);
    pool_free(&r->pool, e, sizeof *e);
}

struct one_sided *one_sided_get(struct causes *r, uint32_t win)
{
    struct comm_state *c = coll_state(r, win);
    if (!c->one_sided) {
        c->one_sided = mem_alloc(sizeof *c->one_sided);
        map_init(&c->one_sided->epochs);
        map_init(&c->one_sided->locks);
    }
    return c->one_sided;
}

void one_sided_free(struct causes *r, struct one_sided *o)
{
    size_t it = 0;
    uint64_t at;
    if (!o)
        return;
    while (map_next(&o->epochs, &it, NULL, &at))
        free_epoch(r, (struct epoch *)(uintptr_t)at);
    for (it = 0; map_next(&o->locks, &it, NULL, &at);)
        lock_free(r, (struct lock *)(uintptr_t)at);
    map_fini(&o->epochs);
    map_fini(&o->locks);
    mem_free(o);
}

static struct win_mine *mine_of(struct lane *home, int64_t win)
{
    struct comm_mine *here = coll_mine(home, coll_win(&home->handles, win));
    if (!here->win) {
        here->win = mem_zalloc(sizeof *here->win);
        map_init(&here->win->locked);
    }
    return here->win;
}

void epoch_free(struct win_mine *w)
{
    if (!w)
        return;
    map_fini(&w->locked);
    mem_free(w);
}

/* ---- post, start, complete, wait ---- */

/* What an origin and a target have; NULL: one of them is not in the trace. */
static struct epoch *epoch_of(struct causes *r, uint32_t win, int64_t origin, int64_t target)
{
    int is_new;
    if (origin < 0 || target < 0 || origin >= r->ranks || target >= r->ranks ||
        !r->is_there[origin] || !r->is_there[target])
        return NULL;
    uint64_t *at = map_insert(&one_sided_get(r, win)->epochs,
                              (uint64_t)origin << 32 | (uint64_t)target, &is_new);
    if (is_new) {
        struct epoch *e = pool_alloc(&r->pool, sizeof *e);
        *e = (struct epoch){0};
        *at = (uint64_t)(uintptr_t)e;
    }
    return (struct epoch *)(uintptr_t)*at;
}

/* Sums are those of the first thread of a rank. */
static void snapshot(struct causes *r, const struct lane *l, struct delay_snapshot **to)
{
    if (r->has_delays && l == &r->lanes[l->rank])
        delays_snapshot(&r->delays, to, &l->sums);
}

static void drop(struct causes *r, struct blocked **b)
{
    if (*b)
        causes_unblock(r, *b);
    *b = NULL;
}

/* The origin has the post that its current call needs, or waits for it. */
static void need_post(struct causes *r, struct lane *l, struct epoch *e)
{
    drop(r, &e->origin);
    if (e->posts < e->starts) {
        e->origin = causes_block(r, l);
        e->origin->must_wait = 1;
        return;
    }
    ideal_reach(&l->ideal, e->posted);
    snapshot(r, l, &e->origin_then);
}

static void release_origin(struct causes *r, struct lane *target, struct epoch *e)
{
    struct blocked *b = e->origin;
    const struct delay_snapshot *then, *target_then;
    if (!b || e->posts < e->starts)
        return;
    struct lane *l = &r->lanes[b->lane];
    if (target->enter <= b->leave) {
        causes_last_sync(l, e->origin_then, target, e->target_then, &then, &target_then);
        causes_wait(r, b, ANALYSIS_LATE_POST, target->enter, target, then, target_then);
        if (b->is_current) {
            ideal_reach(&l->ideal, e->posted);
            snapshot(r, l, &e->origin_then);
        }
    }
    drop(r, &e->origin);
}

static void release_target(struct causes *r, struct lane *origin, struct epoch *e, int64_t accessed)
{
    struct blocked *b = e->target;
    const struct delay_snapshot *then, *origin_then;
    if (!b || e->completes < e->posts)
        return;
    struct lane *l = &r->lanes[b->lane];
    causes_last_sync(l, e->target_then, origin, e->origin_then, &then, &origin_then);
    causes_wait_parts(r, b, ANALYSIS_EARLY_WAIT, accessed, ANALYSIS_LATE_COMPLETE, origin->enter,
                      origin, then, origin_then);
    if (b->is_current) {
        ideal_reach(&l->ideal, e->completed);
        snapshot(r, l, &e->target_then);
    }
    drop(r, &e->target);
}

static void post(struct causes *r, struct lane *l, uint32_t win, struct win_mine *w)
{
    for (uint64_t i = 0; w->exposure && i < w->exposure->count; i++) {
        struct epoch *e = epoch_of(r, win, w->exposure->ranks[i], l->rank);
        if (!e)
            continue;
        e->posts++;
        e->posted = l->ideal;
        release_origin(r, l, e);
        snapshot(r, l, &e->target_then);
    }
}

static void start(struct causes *r, struct lane *l, uint32_t win, struct win_mine *w)
{
    w->accessed = l->leave;
    for (uint64_t i = 0; w->access && i < w->access->count; i++) {
        struct epoch *e = epoch_of(r, win, l->rank, w->access->ranks[i]);
        if (!e)
            continue;
        e->starts++;
        need_post(r, l, e);
    }
}

static void finish(struct causes *r, struct lane *l, uint32_t win, struct win_mine *w)
{
    for (uint64_t i = 0; w->access && i < w->access->count; i++) {
        struct epoch *e = epoch_of(r, win, l->rank, w->access->ranks[i]);
        if (!e)
            continue;
        if (e->origin || e->posts < e->starts)
            need_post(r, l, e);
        e->completes++;
        e->completed = l->ideal;
        release_target(r, l, e, w->accessed);
        snapshot(r, l, &e->origin_then);
    }
    w->access = NULL;
}

static void await(struct causes *r, struct lane *l, uint32_t win, struct win_mine *w, int waits)
{
    for (uint64_t i = 0; w->exposure && i < w->exposure->count; i++) {
        struct epoch *e = epoch_of(r, win, w->exposure->ranks[i], l->rank);
        if (!e)
            continue;
        drop(r, &e->target);
        if (e->completes >= e->posts) {
            ideal_reach(&l->ideal, e->completed);
            snapshot(r, l, &e->target_then);
        } else if (waits) {
            e->target = causes_block(r, l);
            e->target->must_wait = 1;
        }
    }
    w->exposure = NULL;
}

/* ---- locks ---- */

static void lock(struct causes *r, struct lane *l, uint32_t win, struct win_mine *w, int64_t target,
                 int is_exclusive)
{
    int is_new;
    if (target < 0 || target >= r->ranks)
        return;
    uint64_t *type = map_insert(&w->locked, (uint64_t)target, &is_new);
    if (!is_new)
        return;
    *type = (uint64_t)is_exclusive;
    lock_begin(r, l, win, (uint32_t)target, is_exclusive);
}

static void unlock(struct causes *r, struct lane *l, uint32_t win, struct win_mine *w,
                   int64_t target)
{
    const uint64_t *type = target < 0 ? NULL : map_find(&w->locked, (uint64_t)target);
    if (!type)
        return;
    lock_end(r, l, win, (uint32_t)target, (int)*type);
    map_remove(&w->locked, (uint64_t)target);
}

static void unlock_all(struct causes *r, struct lane *l, uint32_t win, struct win_mine *w)
{
    size_t it = 0;
    uint64_t target, type;
    while (map_next(&w->locked, &it, &target, &type))
        lock_end(r, l, win, (uint32_t)target, (int)type);
    map_fini(&w->locked);
    map_init(&w->locked);
    w->is_all_locked = 0;
}

/* ---- all calls ---- */

static int64_t number(const struct lane *l, int8_t at)
{
    return at >= 0 ? l->event.args[at].number : -1;
}

void epoch_access(struct causes *r, struct lane *l, const struct mpi_effect *s)
{
    struct lane *home = &r->lanes[l->rank];
    int64_t win = number(l, s->win);
    struct handles_mine mine = handles_win(&home->handles, win);
    if (mine.comm == HANDLES_NONE || mine.comm == HANDLES_SELF)
        return;
    struct win_mine *w = mine_of(home, win);
    w->accessed = l->leave;
    if (w->is_all_locked) /* a target may be locked only when it is used */
        lock(r, l, mine.comm, w, handles_peer(&r->book, &home->handles, mine, number(l, s->target)),
             0);
}

void epoch_call(struct causes *r, struct lane *l, const struct mpi_effect *s)
{
    struct lane *home = &r->lanes[l->rank];
    int64_t win = number(l, s->win), target = -1;
    struct handles_mine mine = handles_win(&home->handles, win);
    if (mine.comm == HANDLES_NONE || mine.comm == HANDLES_SELF)
        return;
    if (s->class != MPI_CLASS_APART) {
        coll_enter_win(r, l, s, win);
        return;
    }
    struct win_mine *w = mine_of(home, win);
    if (s->target >= 0)
        target = handles_peer(&r->book, &home->handles, mine, number(l, s->target));
    switch (s->step) {
    case MPI_STEP_POST:
        w->exposure = handles_group(&home->handles, number(l, s->group));
        post(r, l, mine.comm, w);
        break;
    case MPI_STEP_ACCESS:
        w->access = handles_group(&home->handles, number(l, s->group));
        start(r, l, mine.comm, w);
        break;
    case MPI_STEP_FINISH:
        finish(r, l, mine.comm, w);
        break;
    case MPI_STEP_AWAIT:
        if (s->flag < 0 || number(l, s->flag))
            await(r, l, mine.comm, w, s->form == MPI_FORM_BLOCKING);
        break;
    case MPI_STEP_LOCK:
        if (s->amount == MPI_AMOUNT_ALL)
            w->is_all_locked = 1;
        else
            lock(r, l, mine.comm, w, target, number(l, s->lock_type) == LOCK_EXCLUSIVE);
        break;
    case MPI_STEP_UNLOCK:
        if (s->amount == MPI_AMOUNT_ALL)
            unlock_all(r, l, mine.comm, w);
        else
            unlock(r, l, mine.comm, w, target);
        break;
    default:
        break;
    }
}
