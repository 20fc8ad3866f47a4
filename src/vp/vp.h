/*
 * vp.h - virtual ranks, which a host runs (host.h): as fibres of one process, or as processes.
 *
 * Fibres share one program image at one address; switching ranks swaps what is private: writable data of
 * the program and its libraries (image.c), thread-local storage, errno, and the stack (fibre.c). The libc
 * shims (libc/) make per-process state of libc per-rank and turn clocks virtual.
 *
 * A suspended fibre's globals, TLS and (on the shared stack) locals are not where its pointers say.
 * Everything above this layer therefore touches a rank's memory only in that rank's own context.
 */
#ifndef VP_VP_H
#define VP_VP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/oncpu.h"
#include "base/vtime.h"

struct guard;
struct handling;
struct vp_extra;
struct vp_threads_seen;
struct vp_saved;
struct vp_thread;

/* One rank as its host sees it; 32 bytes; all-zero memory is a rank that has not started. */
struct vp_rank {
    void *state;            /* the host's: a stack (fibre.c), a process (process.c) */
    struct vp_saved *saved; /* private data that differs from the base image; NULL: none */
    struct vp_extra *extra; /* exit handlers, libc state, cwd ...; NULL until needed */
    uint32_t live;          /* of a fibre: live stack bytes while suspended */
    uint8_t own_stack;      /* of a fibre: it does not run on the shared one */
    uint8_t started;
    uint8_t ended;
    uint8_t finishing; /* destructors are running or have run */
};

/* Upcalls, all made in the rank's context unless said otherwise. */
struct vp_hooks {
    /* The virtual clock, program time so far charged. */
    vtime (*now)(struct vp_rank *);
    /* Lets virtual time pass (sleep). */
    void (*sleep)(struct vp_rank *, vtime dt);
    /* sched_yield: lets ranks with earlier clocks go first; may switch. */
    void (*yield)(struct vp_rank *);
    /* Output of the program on descriptor 1 or 2. */
    void (*write)(struct vp_rank *, int fd, const char *text, size_t n);
    /* The program ends its rank (exit, return from main), before exit handlers run (phase 0) and
     * after them (phase 1). May switch. */
    void (*exiting)(struct vp_rank *, int status, int phase);
    /* The rank is suspended: the one that gets its turn, which may be itself, or NULL: the scheduler. Only
     * asked by hosts that pass turns on. */
    struct vp_rank *(*next)(struct vp_rank *);
    /* The rank is about to run its program with these arguments, and may be given others (memory that
     * stays). May be NULL. May switch. */
    void (*starting)(struct vp_rank *, int *argc, char ***argv);
    /* The process that the rank has to itself is about to run its program. */
    void (*process_started)(struct vp_rank *);
    /* The rank's process is about to start its first thread. */
    void (*threads)(struct vp_rank *);
    /* The rank's process could not be started, for this errno; scheduler context; does not return. */
    void (*start_failed)(struct vp_rank *, int error);
    /* The rank's process has died, with this status of waitpid; scheduler context; does not return. */
    void (*died)(struct vp_rank *, int status);
    /* A fatal signal in a rank or in the simulator (f NULL), and the context that it interrupted, or
     * NULL; signal stack; does not return. */
    void (*crash)(struct vp_rank *f, int sig, void *addr, const void *context);
    /* The rank's process was asked where it is (vp_ask_where); signal stack. */
    void (*where)(const void *context);
    /* The rank made a call that fails because ranks are simulated, and was told so. */
    void (*refused)(struct vp_rank *);
    /* Rank number, for messages and for virtual pid and host name. */
    uint64_t (*rank)(const struct vp_rank *);
    /* Host name as the program sees it. */
    void (*hostname)(struct vp_rank *, char *out, size_t n);
};

struct vp_config {
    size_t stack_size; /* per fibre; 0: 8 MiB */
    int stacks;        /* enum vp_stacks */
    int64_t epoch;     /* start date seen by programs, seconds since 1970 */
    int entropy_real;  /* random bytes of the system are the system's; 0: they follow from ... */
    uint64_t entropy_seed;
    const struct vp_hooks *hooks;
};
enum vp_stacks { VP_STACKS_AUTO = 0, VP_STACKS_OWN, VP_STACKS_SHARED };

/* Once, in the process's main context, before the first resume. If ranks are processes, the process
 * that will fork them is forked here: open what they should not have later. */
int vp_init(const struct vp_config *, struct err *);
/* How many ranks there will be here. */
void vp_expect(uint64_t ranks);

/* Has each rank a process to itself? Then descriptors, threads and time on the processor are its own, too. */
int vp_ranks_are_processes(void);
/* Do ranks pass their turns on to each other (hook `next`)? Then the scheduler's own turns are rare. */
int vp_passes_turns(void);
/* Memory that all ranks here can read and write, at the same address, or NULL. mem_free frees it. */
void *vp_peer_memory(size_t bytes);
/* Threads of the rank's process; is the caller the first of them? */
uint32_t vp_thread_count(void);
int vp_is_main_thread(void);
/* Are `others` and those that are known to rest (they join one that lives) all threads there are? */
int vp_threads_idle(uint32_t others);
/* Do all threads of the rank's process sleep, as the system sees it, besides those that `skip` names?
 * Some microseconds per thread. May have looked in vain: 0 says nothing. */
int vp_threads_sleep(int (*skip)(const void *arg, long tid), const void *arg);
/* A thread of a rank that is suspended needs a turn; the scheduler learns of it by vp_next_request, which
 * returns such a rank once, or NULL. */
void vp_request_turn(void);
struct vp_rank *vp_next_request(void);
/* The rank has got its turn. */
void vp_withdraw_request(void);
/* Until there is such a rank, or for a short while. Scheduler context. */
void vp_await_request(void);
/* The two halves of vp_suspend, in a rank's process: the turn goes to another (0: to the caller); and until
 * it is back. In between the process runs without it. */
int vp_pass_turn(void);
void vp_await_turn(void);

/* Has fn run in scheduler context; the rank that calls it does not go on, nor does any other. */
_Noreturn void vp_leave(void (*fn)(void));
/* Has fn run where descriptors are the scheduler's, and returns after it. Any context, no switch. */
void vp_call(void (*fn)(void));
/* Ends the run if a rank's process has died (hook `died`). Scheduler context. */
void vp_check(void);
/* No rank will run any more: kills their processes. Scheduler context. */
void vp_kill(void);
/* Has a rank its turn, or does the scheduler do something itself? Signal handler of the scheduler's process. */
int vp_is_rank_running(void);
/* Asks a rank that is running where it is, for the hook `where`. Returns 0 if it is the code that the signal
 * has interrupted. The same. */
int vp_ask_where(const struct vp_rank *);
/* The process of a rank that has one of its own, else 0. */
int32_t vp_rank_pid(const struct vp_rank *);
/* The process that starts those of ranks, or 0. */
int32_t vp_starter_pid(void);

/* Runs the rank until it suspends itself (returns 0) or ends (returns 1). Scheduler context. The first
 * call runs constructors and main. Ended ranks hold no memory. If ranks pass turns on (hook `next`), the
 * result is that of the last one that had the turn. */
int vp_resume(struct vp_rank *);

/* Suspends the running rank. Its context; returns when resumed. */
void vp_suspend(void);

/* Ends the running rank at once, without exit handlers (_exit). Its context. */
_Noreturn void vp_rank_end(int status);

/* exit() of the running rank: handlers, destructors, output, end. Its context. */
_Noreturn void vp_rank_exit(int status);

/*
 * A strand of a rank: library code that waits for something while the rank goes on (strand.c). It
 * runs in the rank's context, inside vp_strand_start or _resume, until it suspends or ends, and must
 * not suspend the rank. What it points to on its stack is there only while it runs.
 */
struct vp_strand {
    void *copy; /* live bytes while suspended */
    uint32_t live;
    uint32_t ended;
};
/* Runs fn(arg) as a strand; return 1 when it has ended, 0 when it is suspended. */
int vp_strand_start(struct vp_strand *, void (*fn)(void *), void *arg);
int vp_strand_resume(struct vp_strand *);
/* Suspends the running strand. Returns when it is resumed. */
void vp_strand_suspend(void);

/* Exit status of the rank that ended last. */
int vp_exit_status(void);

/* What stays a process's own if ranks are processes (host.h): a page, so that it can. */
struct vp_private {
    struct vp_rank *current;      /* the running rank, NULL in scheduler context */
    uint8_t owns[3];              /* the rank has put its own in the place of descriptors 0 to 2 */
    uint8_t handles;              /* the rank has handlers for signals that come at any time */
    uint8_t threaded;             /* the rank has started threads */
    uint8_t is_child;             /* this process is no rank, but one that a rank has forked */
    int32_t dying;                /* the one of them that crashed */
    uint32_t threads;             /* how many there are now besides the first */
    uint32_t thread_changes;      /* how often one started or ended */
    uint32_t joining;             /* of them all, those that join one that has not ended */
    uint64_t threads_lock[5];     /* a mutex, for these and for ... */
    struct vp_thread *known;      /* ... those that the program started (libc/thread.c) */
    struct vp_threads_seen *seen; /* what the last look at all of them found (thread_sleep.c) */
    uint64_t entropy_fds[16]; /* a bit for each descriptor that gives random bytes (libc/entropy.c) */
    struct guard *guard;      /* where a fault is expected (crash.c) */
    struct handling *handling; /* the program's handler that is about to run ... */
    uint64_t handled;          /* ... and how many have run */
    uint64_t own_signals;      /* bits of those that the rank has set, in a process to itself */
    struct oncpu oncpu;        /* what the rank has really run, for the layer above */
    uint64_t room[64];         /* for the same */
} __attribute__((aligned(4096)));
extern struct vp_private vp_private;

/* The running rank, NULL in scheduler context. The single global of its kind. */
static inline struct vp_rank *vp_current(void)
{
    return vp_private.current;
}

/* Asks the cache for what resuming the rank will touch. */
void vp_rank_prefetch(const struct vp_rank *);

/* What the run summary tells. */
struct vp_stats {
    uint64_t switches;
    uint64_t image_bytes; /* private data in all, per rank, if all of it changed */
    uint64_t hot_bytes;   /* part of it that some rank changed */
    uint64_t live_max;    /* largest live stack seen */
    uint64_t live_sum, live_count;
    uint64_t own_stacks;    /* fibres that got a stack of their own */
    uint64_t process_bytes; /* memory of ranks' processes at their end, in all, that no other has */
};
const struct vp_stats *vp_stats(void);

/* Called on the process's own stack instead of the program's main, once; its value is the exit
 * status of the process. Provided by the library's owner (mpi/main/takeover.c). */
int vp_takeover(void);

/* Where the program called the library: "0x11f2 in app", an address that addr2line(1) understands. Returns 0
 * if it cannot be told. Rank context; some microseconds. */
int vp_caller(char *out, size_t n);

#endif
