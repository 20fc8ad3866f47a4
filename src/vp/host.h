/*
 * host.h - a host runs ranks: one table of operations per host, one file each.
 *
 *     name       file        a rank is ...
 *     fibre      fibre.c     a fibre of this process, which it shares with the other ranks
 *     process    process.c   a process; the scheduler's process starts it and gives it its turns
 *
 * host.c names them all and does what does not depend on the host. To add one, copy fibre.c and add a line
 * to the table there. Nobody else asks which host it is: they call what vp.h and this table offer, and ask
 * at most whether a rank has its process to itself.
 *
 * Contexts: the *scheduler* runs the engine and resumes ranks, one at a time. A *rank* runs the program.
 */
#ifndef VP_HOST_H
#define VP_HOST_H

#include "vp/vp.h"

struct vp_host {
    const char *name; /* as in ENV_HOST */

    /* The rank has its process to itself: its data, libc, descriptors, signal handlers and threads are real.
     * Otherwise it shares them with other ranks: image.c swaps its data, libc/ makes the rest virtual. */
    int own_process;

    /* A rank that suspends itself passes its turn on to the one that the hook `next` names, without the
     * scheduler. */
    int passes_turns;

    /* The library is being loaded: nothing has been allocated yet. */
    void (*load)(void);
    /* Set-up, before the first rank; the private data of the program has its first content. A rank begins
     * with vp_rank_main, on a stack. Scheduler. */
    int (*init)(const struct vp_config *, struct err *);
    /* There will be so many ranks; whoever counts processors has done so. Scheduler. */
    void (*expect)(uint64_t ranks);

    /* Starts a rank / lets it go on, until it, or the last of those that got its turn, suspends itself
     * (returns 0) or has ended (returns 1). The host drops what it has of that one. Scheduler. */
    int (*start)(struct vp_rank *);
    int (*resume)(struct vp_rank *);
    /* The running rank gives up its turn; returns when it has the next one. Rank. */
    void (*suspend)(void);
    /* The running rank has ended, and gives up its turn for good. Rank. */
    void (*end)(void) __attribute__((noreturn));

    /* Has the scheduler call fn, and returns after it. Any context. */
    void (*call)(void (*fn)(void));
    /* Has the scheduler call fn, which does not return, when the ranks have been killed. Any context. */
    void (*leave)(void (*fn)(void)) __attribute__((noreturn));
    /* Ends all ranks: nobody but the scheduler touches its memory from here on. Scheduler, also in a signal
     * handler. */
    void (*kill)(void);
    /* Ends the run if a rank has died (hook `died`). Scheduler. */
    void (*check)(void);
    /* Has a rank its turn? Scheduler, in a signal handler. */
    int (*is_running)(void);
    /* Has the running rank call the hook `where`, soon; returns 0 if it cannot, since it is the code that the
     * signal has interrupted. Scheduler, in a signal handler. */
    int (*ask_where)(const struct vp_rank *);

    /* Memory that all ranks can read and write, at the same address; NULL: there is none. Freed by
     * mem_free. Rank. */
    void *(*peer_memory)(size_t bytes);

    /* The rank is about to start its first thread. */
    void (*unpin)(void);
    /* Only called if ranks have threads. A thread of the suspended rank needs a turn / the rank has got it. Rank. */
    void (*request_turn)(void);
    void (*withdraw_request)(void);
    /* The two halves of `suspend`: passes the turn on, unless it stays with the caller (returns 0); waits for
     * the next one. In between the process runs without a turn. Rank. */
    int (*pass_turn)(void);
    void (*await_turn)(void);
    /* Until a rank has requested a turn, or for a short while. Scheduler. */
    void (*await_request)(void);
    /* A rank that has requested one, or NULL; each request is told once. NULL: there are none. Scheduler. */
    struct vp_rank *(*next_request)(void);

    /* The rank's process, if it has one to itself; the process that starts them, or 0. */
    int32_t (*pid)(const struct vp_rank *);
    int32_t (*starter)(void);
    /* Where the rank's stack begins. */
    char *(*stack_top)(const struct vp_rank *);
    /* Adds what the host has counted. */
    void (*stats)(struct vp_stats *);
};

extern const struct vp_host vp_fibre_host, vp_process_host;

/* The host of this run. */
extern const struct vp_host *vp_host;

/* By its name, and lets it prepare; fatal if there is none. Constructor time. */
void vp_host_load(const char *name);

/* What every rank runs: constructors and main. On the rank's stack; does not return. */
void vp_rank_main(void);

/* vp_resume by the table: starts the rank or resumes it. */
int vp_host_resume(struct vp_rank *);

/* What most hosts do. */
void vp_host_nothing(void);
void *vp_host_peer_memory(size_t bytes);

/* ---- stacks (stack.c) ---- */
/* How large they are, and whether code runs there (gcc's nested functions). */
void vp_stack_init(size_t size, int exec);
size_t vp_stack_size(void);
/* Maps one, with a guard below it; returns its top, or NULL and fills err (may be NULL). */
char *vp_stack_map(struct err *err);

#endif
