/*
 * vp.h - virtual ranks. A host (host.h) runs them as fibres of one process, or as processes.
 *
 * Fibres share one program image at one address; switching ranks swaps what is private: writable
 * data of the program and its libraries (image.c), thread-local storage, errno, and the stack
 * (fibre.c). The libc shims (libc/) make per-process state of libc per-rank and turn clocks
 * virtual.
 *
 * While a fibre is suspended, its globals, TLS and (on the shared stack) locals are not at their
 * addresses. So everything above this layer touches a rank's memory only in that rank's own
 * context.
 */
#ifndef VP_VP_H
#define VP_VP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/oncpu.h"
#include "base/plain.h"
#include "base/vtime.h"

struct arena_guard;
struct guard;
struct handling;
struct vp_carrier;
struct vp_extra;
struct vp_host;
struct vp_proxy;
struct vp_remote;
struct vp_seat;
struct vp_threads_seen;
struct vp_saved;
struct vp_thread;

/* One rank as its host sees it; 32 bytes; all-zero memory is a rank that has not started. */
struct vp_rank {
    void *state;            /* owned by the host: a stack (fibre.c), a process (process.c) */
    struct vp_saved *saved; /* private data that differs from the base image; NULL: none */
    struct vp_extra *extra; /* exit handlers, libc state, cwd ...; NULL until needed */
    uint32_t live;          /* of a fibre: live stack bytes while suspended */
    uint8_t own_stack;      /* of a fibre: it does not run on the shared stack */
    uint8_t started;
    uint8_t ended;
    uint8_t finishing; /* destructors are running or have run */
};

/* Upcalls; made in the rank's context unless stated otherwise. */
struct vp_hooks {
    /* The virtual clock, with all program time so far charged. */
    vtime (*now)(struct vp_rank *);
    /* Lets virtual time pass (sleep). */
    void (*sleep)(struct vp_rank *, vtime dt);
    /* The rank is about to wait for something outside the simulation (1), or has waited (0): the
     * time in between is neither computed nor lost. Not called if the rank has threads. */
    void (*outside)(struct vp_rank *, int begins);
    /* sched_yield: lets ranks with earlier clocks go first; may switch. */
    void (*yield)(struct vp_rank *);
    /* Output of the program on descriptor 1 or 2. */
    void (*write)(struct vp_rank *, int fd, const char *text, size_t n);
    /* The program ends its rank (exit, return from main), before exit handlers run (phase 0) and
     * after them (phase 1). May switch. */
    void (*exiting)(struct vp_rank *, int status, int phase);
    /* The rank is suspended: returns the rank that gets the turn, which may be the same one and has
     * run before, or NULL for the scheduler. The scheduler's context for fibres. May be NULL. */
    struct vp_rank *(*next)(struct vp_rank *);
    /* The rank is about to run its program with these arguments; the hook may replace them (by
     * memory that is never freed). May be NULL. May switch. */
    void (*starting)(struct vp_rank *, int *argc, char ***argv);
    /* The rank's own process is about to run the program. */
    void (*process_started)(struct vp_rank *);
    /* The rank's process is about to start its first thread. */
    void (*threads)(struct vp_rank *);
    /* The rank's process could not be started because of this errno; scheduler context; does not
     * return. */
    void (*start_failed)(struct vp_rank *, int error);
    /* The rank's process has died with this waitpid status; scheduler context; does not return. */
    void (*died)(struct vp_rank *, int status);
    /* A fatal signal has come, and a core file may be written before `crash`; may be NULL. */
    void (*crashing)(void);
    /* A fatal signal in a rank or in the simulator (f NULL), with the interrupted context or NULL;
     * signal stack; does not return. */
    void (*crash)(struct vp_rank *f, int sig, void *addr, const void *context);
    /* The rank's process reports where it is (vp_ask_where); signal stack. */
    void (*where)(const void *context);
    /* The rank made a call that fails because ranks are simulated; the failure has been
     * reported. */
    void (*refused)(struct vp_rank *);
    /* Rank number, for messages and for the virtual pid and host name. */
    uint64_t (*rank)(const struct vp_rank *);
    /* Host name as the program sees it. */
    void (*hostname)(struct vp_rank *, char *out, size_t n);
    /* The rest is for ranks on other computers. Its process is lost, for this reason; context of
     * its proxy, as of `died` then; does not return. */
    void (*lost)(struct vp_rank *, const char *why);
    /* Own threads of the proxy and of the process talk to each other by this connection, until it
     * is closed. */
    void (*serve_clock)(int fd);
    void (*follow_clock)(int fd);
    /* The program's thread needs the turn for a moment (1), and no longer (0), wherever it is. */
    void (*alone)(int begins);
};

/* Ranks whose process is on another computer (remote.h): each has VP_CHANNELS connections. */
#define VP_CHANNELS 5
#define VP_CHANNEL_STATUS 4 /* not for the process, but for who has started it */
struct vp_remotes {
    uint32_t first, count; /* which ranks */
    int fd;                /* the first connection of the first of them; the others follow */
    int is_here;     /* this process is to become one of them, and has its connections alone */
    uint32_t others; /* from this rank on, they are of other programs than the simulator's */
};

struct vp_config {
    size_t stack_size; /* per fibre; 0: 8 MiB */
    int stacks;        /* enum vp_stacks */
    int64_t epoch;     /* start date seen by programs, seconds since 1970 */
    int entropy_real;  /* the system's random bytes are real; 0: derived from entropy_seed */
    uint64_t entropy_seed;
    int concurrent; /* ranks, which must be processes, may run at the same time (vp_go_out) */
    struct vp_remotes remotes;
    const struct vp_hooks *hooks;
};
enum vp_stacks { VP_STACKS_AUTO = 0, VP_STACKS_OWN, VP_STACKS_SHARED };

/* Once, in the process's main context, before the first resume. If ranks are processes, this forks
 * the process that will fork them: open descriptors that they must not inherit after this call. */
int vp_init(const struct vp_config *, struct err *);
/* How many ranks this process will run. */
void vp_expect(uint64_t ranks);

/* Does each rank have its own process? Then it also has its own descriptors, threads and processor
 * time. */
int vp_ranks_are_processes(void);
/* Do ranks pass turns directly to each other (hook `next`)? Then the scheduler rarely gets a
 * turn. */
int vp_passes_turns(void);
/* Memory that all ranks here can read and write at the same address, or NULL. Freed by mem_free. */
void *vp_peer_memory(size_t bytes);
/* The number of threads of the rank's process; whether the caller is the first of them. */
uint32_t vp_thread_count(void);
int vp_is_main_thread(void);
/* Are `others` and the threads that wait in a join all the threads there are? */
int vp_threads_idle(uint32_t others);
/* Does the system report all threads of the rank's process as asleep, except those for which `skip`
 * returns 1? Takes a few microseconds per thread. 0 means no or unknown. */
int vp_threads_sleep(int (*skip)(const void *arg, long tid), const void *arg);
/* Threads that only take turns at short calls are faster on one processor. Pins the calling thread
 * to that of the turns; returns 0 if the program has bound it elsewhere. The second tells whether
 * the threads of the rank are pinned: the scheduler unpins them if they keep the turn for long. The
 * third unpins all of them. */
int vp_thread_pin(void);
int vp_threads_are_pinned(void);
void vp_threads_unpin(void);
/* The number of the system's thread that runs the calling one. */
long vp_thread_tid(void);

/*
 * Threads of a rank that take turns can be switched without the system (carrier.h). The caller
 * holds vp_private.inside. A parked thread continues on the caller's carrier, with the lock, or on
 * an idle one, where it has to take the lock itself.
 */
struct vp_parked { /* on the stack of the thread */
    void *sp, *tls;
    struct vp_seat *seat;
    uint64_t mask; /* of blocked signals */
    int is_parked; /* now */
    int locked;    /* it continues with the lock */
    int masked;    /* it continues with more signals blocked than in `mask` */
};
/* How deep the calling thread is in the layer above; that may have the lock while it is not 0. */
extern __thread int vp_thread_depth;
/* May the calling thread be parked? */
int vp_thread_may_park(void);
/* Parks the calling thread, and its carrier continues with `next`. */
void vp_thread_switch(struct vp_parked *me, struct vp_parked *next);
/* Parks the calling thread. Its carrier is idle: it releases the lock, wakes those that sleep on
 * `ring`, if that is not NULL, and from then on calls `watch` every few milliseconds, unless that
 * is NULL, until it returns 0. `watch` has no thread-local data. */
typedef int vp_watch(void);
void vp_thread_park(struct vp_parked *me, plain_word *ring, vp_watch *watch);
/* Gives `next` an idle carrier. The caller wakes it by the result, when it has released the lock.
 * The one that watches is the last to be given a thread. */
plain_word *vp_thread_resume(struct vp_parked *next);

/* A thread of a suspended rank needs a turn. The scheduler learns of it from vp_next_request, which
 * returns each such rank once, then NULL. */
void vp_request_turn(void);
struct vp_rank *vp_next_request(void);
/* The rank has got its turn. */
void vp_withdraw_request(void);
/* Waits until there is such a rank, but for at most this many nanoseconds. Scheduler context. */
void vp_await_request(int64_t ns);
/* The two halves of vp_suspend, in a rank's process: passes the turn on (returns 0 if it stays with
 * the caller); waits until it is back. In between, the process runs without the turn. */
int vp_pass_turn(void);
void vp_await_turn(void);

/* Ranks that run at the same time (vp_config.concurrent): the rank gives its turn to the scheduler,
 * but its program continues / the rank waits for its turn again. In between, a turn that the
 * scheduler gives the rank goes to its helper, a thread of its process that calls fn for each. Rank
 * context; the helper is made once, before the program begins. */
void vp_go_out(void);
void vp_come_back(void);
void vp_help(void (*fn)(void));

/* Makes the scheduler call fn. Neither the calling rank nor any other resumes. */
_Noreturn void vp_leave(void (*fn)(void));
/* Calls fn where the scheduler's descriptors are open, and returns after it. Any context, no
 * switch. */
void vp_call(void (*fn)(void));
/* Ends the run if a rank's process has died (hook `died`). Scheduler context. */
void vp_check(void);
/* No rank will run any more: kills the ranks' processes. Scheduler context. */
void vp_kill(void);
/* Does a rank have the turn, and not the scheduler? Signal handler of the scheduler's process. */
int vp_is_rank_running(void);
/* Makes the running rank call the hook `where`. Returns 0 if the rank is the code that the signal
 * interrupted. Signal handler of the scheduler's process. */
int vp_ask_where(const struct vp_rank *);
/* Is the process of the rank with this number on another computer? */
int vp_is_remote(uint64_t number);
/* The caller is about to have the system read or write this memory, which may not be here. */
void vp_touch(void *ptr, size_t bytes);
/* Process id of a rank with its own process, else 0. */
int32_t vp_rank_pid(const struct vp_rank *);
/* Process id of the process that starts the ranks' processes, or 0. */
int32_t vp_starter_pid(void);

/* Runs the rank until it suspends itself (returns 0) or ends (returns 1). Scheduler context. The
 * first call runs constructors and main. Ended ranks hold no memory. If ranks pass turns on (hook
 * `next`), the result is for the last one that had the turn. */
int vp_resume(struct vp_rank *);

/* Suspends the running rank. Its context; returns when resumed. */
void vp_suspend(void);
/* vp_suspend for a rank whose other threads compute, except `waiting` ones. They may be stopped
 * until it is resumed, so nothing that happens before may depend on them. */
void vp_suspend_computing(uint32_t waiting);

/* Ends the running rank at once, without exit handlers (as _exit). Its context. */
_Noreturn void vp_rank_end(int status);

/* exit() of the running rank: handlers, destructors, output, end. Its context. */
_Noreturn void vp_rank_exit(int status);

/*
 * A strand of a rank: library code that waits for something while the rank continues (strand.c). It
 * runs in the rank's context, inside vp_strand_start or _resume, until it suspends or ends, and
 * must not suspend the rank. Pointers into its stack are valid only while it runs.
 */
struct vp_strand {
    void *copy; /* live bytes while suspended */
    uint32_t live;
    uint32_t ended;
};
/* Runs fn(arg) as a strand; resumes a strand. Both return 1 when it has ended, 0 when it is
 * suspended. */
int vp_strand_start(struct vp_strand *, void (*fn)(void *), void *arg);
int vp_strand_resume(struct vp_strand *);
/* Suspends the running strand. Returns when it is resumed. */
void vp_strand_suspend(void);

/*
 * A side of a rank: code that waits while the rank continues, on a stack of its own (side.c). It
 * runs in the rank's context, inside vp_side_run, and must not suspend the rank.
 */
struct vp_side {
    void (*fn)(void *); /* what it runs */
    void *arg;
    void *sp;  /* while it is suspended */
    char *top; /* of its stack; NULL: it has none */
    int ended;
};
/* Starts a side, or continues it; returns 1 when it has ended, 0 when it is suspended. */
int vp_side_run(struct vp_side *);
/* Suspends the running side. Returns when it continues. */
void vp_side_suspend(void);

/* Exit status of the rank that ended last. */
int vp_exit_status(void);

/* State that stays private to each process if ranks are processes (host.h). It fills a page, so
 * that the page can be left out of the sharing. */
struct vp_private {
    struct vp_rank *current;               /* the running rank, NULL in scheduler context */
    struct vp_rank *parent;                /* the rank that has forked this process, or NULL */
    const struct vp_host *host;            /* what runs ranks (host.h) */
    struct vp_remote *remote;              /* of a process on another computer (remote.h) */
    struct vp_proxy *proxy;                /* of the proxy of such a process */
    uint8_t is_other;                      /* the process has another program than the simulator */
    const struct arena_guard *arena_guard; /* how the former allocates shared memory */
    uint8_t owns[3];                       /* the rank has replaced descriptor 0, 1, 2 */
    uint8_t handles;                       /* the rank has handlers for asynchronous signals */
    uint8_t threaded;                      /* the rank has started threads */
    int32_t dying;                         /* the thread that crashed */
    uint32_t threads;                      /* how many there are besides the first */
    uint32_t thread_changes;               /* how often a thread started or ended */
    uint32_t joining;                      /* threads that wait in a join */
    uint64_t threads_lock[5];              /* a mutex for these fields and for `known` */
    struct vp_thread *known;      /* the threads that the program started (libc/thread.c) */
    unsigned ending;              /* the key by which a thread learns that it ends */
    struct vp_threads_seen *seen; /* what the last look at the threads found (thread_sleep.c) */
    plain_word inside;            /* a lock: one thread is in the layer above */
    uint32_t settled;             /* threads are not parked any more (carrier.c) */
    struct vp_carrier *idle;      /* carriers without a thread */
    /* a bit for each descriptor that gives random bytes (libc/entropy.c) */
    uint64_t entropy_fds[16];
    struct guard *guard;       /* where a fault is expected (crash.c) */
    struct handling *handling; /* the program's handler that is about to run */
    /* bits of the signals for which the rank, in its own process, set a handler */
    uint64_t own_signals;
    struct oncpu oncpu; /* how long the rank really ran, for the layer above */
    uint64_t room[64];  /* for the same */
} __attribute__((aligned(4096)));
extern struct vp_private vp_private;

/* A variable that every process has for itself, where ranks are processes and share the others of
 * this library: it depends on the program, or on where a library is. Set before the first rank
 * starts, or when first needed. */
#define VP_OWN __attribute__((section("orrery_own")))

/* The running rank, NULL in scheduler context. The single global of its kind. */
static inline struct vp_rank *vp_current(void)
{
    return vp_private.current;
}

/* Prefetches the memory that resuming the rank will touch. */
void vp_rank_prefetch(const struct vp_rank *);
/* The second step, some turns later: follows the pointers that the first one has fetched. */
void vp_rank_prefetch_rest(const struct vp_rank *);

/* Counters for the run summary. */
struct vp_stats {
    uint64_t switches;
    uint64_t image_bytes; /* all private data of one rank */
    uint64_t hot_bytes;   /* the part of it that some rank has changed */
    uint64_t live_max;    /* the largest live stack seen */
    uint64_t live_sum, live_count;
    uint64_t own_stacks;    /* fibres that got a stack of their own */
    uint64_t process_bytes; /* unshared memory of all ranks' processes at their end */
};
const struct vp_stats *vp_stats(void);

/* Called once on the process's own stack instead of the program's main; returns the exit status of
 * the process. Defined by the user of this module (mpi/main/takeover.c). */
int vp_takeover(void);

/* Where the program called the library: "0x11f2 in app", an address for addr2line(1). Returns 0 if
 * that is unknown. Rank context; takes some microseconds. */
int vp_caller(char *out, size_t n);
/* The text of vp_caller for an address. */
int vp_frame(const void *address, char *out, size_t n);
/* The address in this process for such a text, of this or of another process; 0 if the library is
 * not loaded here. */
uintptr_t vp_caller_address(const char *text);

#endif
