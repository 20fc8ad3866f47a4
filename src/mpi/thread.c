/*
 * thread.c - see thread.h.
 *
 * `lock` is held by the thread that is inside; `turn` says whether the rank has its turn. Threads that
 * wait in the virtual MPI are `blocked`; each looks again when `round` has changed, that is, when
 * another thread was inside or the rank was away. Once all have looked and nobody wants in, the last
 * one gives the rank's turn away for all of them: it blocks the rank if every other thread sleeps, too,
 * else it only gives way to other ranks.
 *
 * Whether a thread outside of MPI sleeps is asked of the system, twice: a sleeping thread can only be
 * woken by a running one, so if all sleep and none was switched to in between, all of them sleep.
 *
 * All of this state is the process's own.
 */
#include "mpi/thread.h"

#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/sys.h"

#define PAUSE_NS 20000 /* while threads compute, between two looks */

struct waiter {
    struct waiter *next;
    vtime due;
    long tid;
};

struct threads {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    _Atomic uint32_t arriving; /* threads that want in */
    uint32_t blocked;          /* threads that wait inside */
    uint32_t unseen;           /* of them, those that have not looked since the last change */
    uint64_t round;
    int turn;
    struct waiter *waiters;
};
_Static_assert(sizeof(struct threads) <= sizeof vp_private.room, "fits into the private page");

static __thread int depth;

static struct threads *threads(void)
{
    return (struct threads *)vp_private.room;
}

void mpi_thread_begin(void)
{
    struct threads *t = threads();

    if (vp_private.threaded)
        return;
    *t = (struct threads){.turn = 1};
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->changed, NULL);
    vp_private.threaded = 1;
}

void mpi_thread_enter_slow(void)
{
    struct threads *t = threads();

    if (depth++)
        return;
    atomic_fetch_add(&t->arriving, 1);
    pthread_mutex_lock(&t->lock);
    while (!t->turn) {
        vp_want();
        pthread_cond_wait(&t->changed, &t->lock);
    }
    atomic_fetch_sub(&t->arriving, 1);
}

/* Those that wait are to look again. */
static void change(struct threads *t, uint32_t others)
{
    t->round++;
    t->unseen = others;
    pthread_cond_broadcast(&t->changed);
}

void mpi_thread_leave_slow(void)
{
    struct threads *t = threads();

    if (--depth)
        return;
    change(t, t->blocked);
    pthread_mutex_unlock(&t->lock);
}

/* ---- do the others sleep? ---- */

/* Adds how often a thread has run; returns 0 if it is not asleep. */
static int asleep(const char *tid, uint64_t *runs)
{
    char path[64], text[400];
    unsigned long long times;
    const char *at;

    snprintf(path, sizeof path, "/proc/self/task/%.16s/stat", tid);
    if (sys_read_text(path, text, sizeof text) < 0)
        return 1; /* it has just ended */
    at = strrchr(text, ')');
    if (!at || strncmp(at, ") S", 3) != 0)
        return 0;
    snprintf(path, sizeof path, "/proc/self/task/%.16s/schedstat", tid);
    if (sys_read_text(path, text, sizeof text) > 0 &&
        sscanf(text, "%*u %*u %llu", &times) == 1)
        *runs += times;
    return 1;
}

static int waits_inside(const struct threads *t, long tid)
{
    for (const struct waiter *w = t->waiters; w; w = w->next)
        if (w->tid == tid)
            return 1;
    return 0;
}

static int all_asleep(const struct threads *t, uint64_t *runs)
{
    DIR *dir = opendir("/proc/self/task");
    int all = dir != NULL;

    *runs = 0;
    for (struct dirent *e; all && (e = readdir(dir));)
        if (e->d_name[0] != '.' && !waits_inside(t, atol(e->d_name)))
            all = asleep(e->d_name, runs);
    if (dir)
        closedir(dir);
    return all;
}

static void pause_a_little(void)
{
    struct timespec span = {.tv_nsec = PAUSE_NS};

    syscall(SYS_nanosleep, &span, NULL);
}

static int at_rest(const struct threads *t)
{
    uint64_t first, second;

    if (t->blocked == vp_thread_count())
        return 1;
    return all_asleep(t, &first) && all_asleep(t, &second) && first == second &&
           atomic_load(&t->arriving) == 0;
}

/* ---- giving the turn away ---- */

static vtime first_due(const struct threads *t)
{
    vtime due = VTIME_NEVER;

    for (const struct waiter *w = t->waiters; w; w = w->next)
        if (w->due < due)
            due = w->due;
    return due;
}

static void give_away(struct threads *t, struct mpi_rank *self, uint32_t wake_after)
{
    uint32_t index = mpi_rank_index(self);

    if (at_rest(t)) {
        engine_block(&mpi_world.engine, &self->ent, index, first_due(t),
                     t->blocked > 1 ? 1 : wake_after);
    } else {
        pause_a_little();
        engine_yield(&mpi_world.engine, &self->ent, index);
    }
    t->turn = 0;
    pthread_mutex_unlock(&t->lock);
    vp_fibre_suspend();
    pthread_mutex_lock(&t->lock);
    t->turn = 1;
    if (mpi_world.measured)
        mpi_world.slice_start = ticks_now();
}

static void unlink_waiter(struct threads *t, struct waiter *w)
{
    struct waiter **at = &t->waiters;

    while (*at != w)
        at = &(*at)->next;
    *at = w->next;
}

void mpi_thread_block(struct mpi_rank *self, vtime due, uint32_t wake_after)
{
    struct threads *t = threads();
    struct waiter me = {.next = t->waiters, .due = due, .tid = syscall(SYS_gettid)};
    uint64_t round = t->round;

    t->waiters = &me;
    t->blocked++;
    while (t->round == round) {
        if (!t->turn || t->unseen) {
            pthread_cond_wait(&t->changed, &t->lock);
        } else if (atomic_load(&t->arriving)) { /* let those in that want to */
            pthread_mutex_unlock(&t->lock);
            pause_a_little();
            pthread_mutex_lock(&t->lock);
        } else {
            give_away(t, self, wake_after);
            change(t, t->blocked); /* this one, too */
        }
    }
    if (--t->unseen == 0)
        pthread_cond_broadcast(&t->changed);
    t->blocked--;
    unlink_waiter(t, &me);
}
