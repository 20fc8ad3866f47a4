/*
 * thread_internal.h - the state of a rank with several threads. Included by thread.c and
 * thread_call.c only; private to each process.
 */
#ifndef MPI_THREAD_INTERNAL_H
#define MPI_THREAD_INTERNAL_H

#include <stdatomic.h>

#include "base/plain.h"
#include "mpi/p2p/p2p_internal.h"
#include "mpi/thread.h"

/* A thread that waits in the virtual MPI; on its stack. */
struct waiter {
    struct waiter *next;
    vtime due;
    mpi_holds *holds; /* its condition; NULL: it has to check itself */
    const void *arg;
    long tid;
    uint64_t round;          /* it has seen */
    plain_word call;         /* enum call */
    struct vp_parked parked; /* if it is, it does not sleep on `call` */
    int late;                /* it was called, and not woken for long */
};

enum call {
    CALL_SHORT = 0, /* not called; it sleeps for a short time at most */
    CALL_LONG,      /* not called; it sleeps until it is woken */
    CALLED,         /* it must check */
};

/* A moment, by two clocks. */
struct mark {
    long pilot;  /* its thread; 0: there is none */
    int64_t cpu; /* of all other threads of the process, in nanoseconds */
    uint64_t ticks;
    uint64_t earned; /* ticks that they have computed since then */
};

/* Quick returns in a row, of all threads, after which they are first pinned. */
#define P2P_STEADY_MIN 256

struct threads {
    plain_word turned;         /* how often the rank has got its turn again */
    _Atomic uint32_t arriving; /* threads that want to enter */
    uint32_t blocked;          /* number of waiters */
    uint64_t round;
    uint64_t handled; /* its value when the present thread entered */
    int turn;
    int out;            /* no thread waits for the rank's turn: the next one that enters does */
    uint32_t generous;  /* remaining calls that pass it on */
    uint64_t left;      /* in ticks, when the last thread left and none was inside; 0: it did not */
    int restless;       /* some were computing when the system was last asked */
    uint32_t fruitless; /* sleeps of pilots since a thread was inside or the rank blocked */
    uint32_t sleeps;    /* sleeps of pilots, in all */
    uint32_t sleeps_entered; /* `sleeps` when a thread last entered */
    int spinning;            /* a computing thread is assumed to spin */
    int64_t patient_since;   /* processor time from which on patience counts; 0: not begun */
    struct mark mark;        /* up to where their computing has been counted */
    vtime computed;          /* how far they have computed, while others waited */
    struct waiter *waiters;
    struct waiter *called, *pilot; /* one of the waiters, or NULL */
    struct waiter *owed;           /* the called one, if it was not woken */
    uint32_t wary;                 /* remaining calls that wake at once */
    uint32_t disappointed;         /* how often their number doubles */
    uint32_t kept;                 /* expectations met since then */
    uint32_t pinned;               /* number of the pinning, if threads are pinned; else 0 */
    uint32_t pinnings;             /* how often threads were pinned */
    uint32_t steady;               /* quick returns since one was late, or they were pinned */
    uint32_t steady_min;           /* as many as it takes to pin them */
    int watched;                   /* parked threads are: one of them may be called and not woken */
    uint64_t entries;              /* how often a thread has entered */
    uint64_t calls;                /* how often a waiter was called */
    uint64_t calls_watched;        /* `calls` when the watch last looked */
};
_Static_assert(sizeof(struct threads) <= sizeof vp_private.room, "fits into the private page");

/* ---- calling waiters (thread_call.c); the caller is inside ---- */

/* Something may have changed. Does for all waiters what each would do first, so that none is called
 * without need. */
void p2p_thread_look(struct threads *, struct mpi_rank *self);
/* A waiter that has not seen the present round, or NULL. */
struct waiter *p2p_thread_unseen(const struct threads *);
/* A thread enters: the first measures, and does not need the lock; the second judges. */
void p2p_thread_returns(void);
void p2p_thread_pin(struct threads *);
/* Some threads have been computing for long. */
void p2p_thread_unpin(struct threads *);
/* A thread leaves: calls a waiter, if there is one to call and none has been called. Returns the
 * word by which it must be woken after the lock is released, or NULL. */
plain_word *p2p_thread_call(struct threads *);
/* A thread is going to wait. */
void p2p_thread_waits(struct threads *);
/* Sleeps until called, without the lock; if `ns` is not 0, only for that long. */
void p2p_thread_sleep(struct threads *, struct waiter *me, long ns);

#endif
