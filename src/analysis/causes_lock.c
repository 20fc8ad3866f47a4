/*
 * causes_lock.c - lock contention: a rank waits in MPI_Win_lock until others that have the lock
 * unlock it.
 *
 * When a rank unlocks, those that cannot have had the lock with it are still waiting, whatever the
 * order of the calls: only the end of a call shows who got the lock. A rank that gets it leaves its
 * call before it unlocks, and the next one after that. So the calls that end first have got it from
 * this one: one that is exclusive, or all that are shared and end before the next exclusive one.
 * Each call is looked at once, when it gets the lock, however many wait.
 */
#include "analysis/causes_internal.h"
#include "base/mem.h"

static inline int lock_before(const struct lock_call *a, const struct lock_call *b)
{
    return a->leave < b->leave;
}
HEAP_FUNCTIONS(lock_heap, struct lock_call, 2, 4, lock_before, HEAP_UNTRACKED);

static struct lock *lock_get(struct causes *r, uint32_t win, uint32_t target)
{
    int is_new;
    uint64_t *at = map_insert(&one_sided_get(r, win)->locks, target, &is_new);
    if (is_new)
        *at = (uint64_t)(uintptr_t)mem_zalloc(sizeof(struct lock));
    return (struct lock *)(uintptr_t)*at;
}

static void free_calls(struct causes *r, struct lock_heap *h)
{
    for (uint32_t i = 0; i < h->len; i++)
        causes_unblock(r, h->at[i].blocked);
    mem_free(h->at);
}

void lock_free(struct causes *r, struct lock *lock)
{
    free_calls(r, &lock->exclusive);
    free_calls(r, &lock->shared);
    mem_free(lock);
}

/* The first call that still waits at this time, or NULL. */
static const struct lock_call *first(struct causes *r, struct lock_heap *h, int64_t now)
{
    while (h->len && (h->at[0].leave < now || !h->at[0].blocked->is_current))
        causes_unblock(r, lock_heap_pop(h).blocked);
    return h->len ? &h->at[0] : NULL;
}

/* The call has waited for this lane, which unlocks. */
static void wait_for(struct causes *r, const struct lock_call *c, struct lane *cause)
{
    struct lane *l = &r->lanes[c->blocked->lane];
    causes_wait(r, c->blocked, ANALYSIS_LOCK_CONTENTION, cause->enter, cause, l->world,
                cause->world);
    ideal_reach(&l->ideal, cause->ideal);
}

static void pop(struct causes *r, struct lock_heap *h, struct lane *cause)
{
    struct lock_call c = lock_heap_pop(h);
    wait_for(r, &c, cause);
    causes_unblock(r, c.blocked);
}

void lock_begin(struct causes *r, struct lane *l, uint32_t win, uint32_t target, int is_exclusive)
{
    struct lock *lock = lock_get(r, win, target);
    struct lock_heap *h = is_exclusive ? &lock->exclusive : &lock->shared;
    lock->epochs++;
    first(r, h, l->enter);
    if (l->leave == l->enter)
        return;
    struct blocked *b = causes_block(r, l);
    b->must_wait = 1;
    lock_heap_push(h, (struct lock_call){l->leave, b});
}

/* A shared lock may have other owners, so it is not known whether the exclusive call gets it. */
void lock_end(struct causes *r, struct lane *l, uint32_t win, uint32_t target, int is_exclusive)
{
    struct lock *lock = lock_get(r, win, target);
    const struct lock_call *exclusive = first(r, &lock->exclusive, l->enter), *shared;
    if (exclusive && !is_exclusive) {
        wait_for(r, exclusive, l);
    } else if (is_exclusive) {
        shared = first(r, &lock->shared, l->enter);
        if (exclusive && (!shared || exclusive->leave <= shared->leave))
            pop(r, &lock->exclusive, l);
        else
            for (; shared && (!exclusive || shared->leave < exclusive->leave);
                 shared = first(r, &lock->shared, l->enter))
                pop(r, &lock->shared, l);
    }
    if (--lock->epochs)
        return;
    map_remove(&one_sided_get(r, win)->locks, target);
    lock_free(r, lock);
}
