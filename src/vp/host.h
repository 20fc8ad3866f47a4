/*
 * host.h - a host runs ranks. Each host is one table of operations in its own file.
 *
 *     name       file        a rank is ...
 *     fibre      fibre.c     a fibre of this process, which it shares with the other ranks
 *     process    process.c   a process; the scheduler's process starts it and gives it its turns
 *     remote     remote.c    what such a process sees if it is on another computer
 *
 * host.c lists them and holds the code that does not depend on the host. To add a host, copy
 * fibre.c and add a line to the table in host.c. No other code asks which host is in use: it calls
 * the functions of vp.h and of this table, and asks at most whether a rank has its own process.
 *
 * Contexts: the *scheduler* runs the engine and resumes ranks, one at a time. A *rank* runs the
 * program.
 */
#ifndef VP_HOST_H
#define VP_HOST_H

#include "vp/vp.h"

struct vp_host {
    const char *name; /* the value of ENV_HOST */

    /* The rank has its own process: its data, libc, descriptors, signal handlers and threads are
     * real. Otherwise ranks share a process: image.c swaps their data, libc/ makes the rest
     * virtual. */
    int own_process;

    /* A rank that suspends itself passes the turn directly to the rank that the hook `next` names,
     * without the scheduler. */
    int passes_turns;

    /* Called while the library is being loaded, before anything is allocated. */
    void (*load)(void);
    /* Set-up before the first rank starts; the private data of the program has its initial content.
     * A rank begins with vp_rank_main, on a stack. Scheduler. */
    int (*init)(const struct vp_config *, struct err *);
    /* The number of ranks is known, and the processors have been counted. Scheduler. */
    void (*expect)(uint64_t ranks);

    /* Starts / resumes a rank. Returns when it, or the last rank that the turn was passed to, has
     * suspended itself (0) or ended (1). The host frees its state of a rank that ended.
     * Scheduler. */
    int (*start)(struct vp_rank *);
    int (*resume)(struct vp_rank *);
    /* The running rank gives up its turn; returns when it gets the next one. Rank. */
    void (*suspend)(void);
    /* `suspend` while threads of the rank compute, which may be stopped meanwhile; NULL: they are
     * not. */
    void (*suspend_computing)(uint32_t waiting);
    /* The running rank has ended and gives up its turn for good. Rank. */
    void (*end)(void) __attribute__((noreturn));

    /* Makes the scheduler call fn, and returns when it has. Any context. */
    void (*call)(void (*fn)(void));
    /* Kills all ranks and makes the scheduler call fn, which does not return. Any context. */
    void (*leave)(void (*fn)(void)) __attribute__((noreturn));
    /* Kills all ranks: from here on only the scheduler touches its memory. Scheduler, also in a
     * signal handler. */
    void (*kill)(void);
    /* Ends the run if a rank has died (hook `died`). Scheduler. */
    void (*check)(void);
    /* Does a rank have the turn? Scheduler, in a signal handler. */
    int (*is_running)(void);
    /* Makes the running rank call the hook `where` soon. Returns 0 if it cannot, because the rank
     * is the code that this signal interrupted. Scheduler, in a signal handler. */
    int (*ask_where)(const struct vp_rank *);

    /* Memory that all ranks can read and write at the same address, or NULL if there is none. Freed
     * by mem_free. Rank. */
    void *(*peer_memory)(size_t bytes);

    /* The rank is about to start its first thread. */
    void (*unpin)(void);
    /* Only called if ranks have threads: see vp_thread_pin. Rank. */
    int (*pin_thread)(void);
    int (*threads_are_pinned)(void);
    void (*unpin_threads)(void);
    /* Only called if ranks have threads. A thread of the suspended rank needs a turn / the rank has
     * got its turn. Rank. */
    void (*request_turn)(void);
    void (*withdraw_request)(void);
    /* The two halves of `suspend`: the first passes the turn on, unless it stays with the caller
     * (returns 0); the second waits for the next turn. In between, the process runs without a turn.
     * Rank. */
    int (*pass_turn)(void);
    void (*await_turn)(void);
    /* Waits until a rank has requested a turn, but for at most this many nanoseconds. Scheduler. */
    void (*await_request)(int64_t ns);
    /* A rank that has requested a turn, or NULL; returns each request once. The pointer is NULL if
     * ranks make no requests. Scheduler. */
    struct vp_rank *(*next_request)(void);

    /* Only called if ranks run at the same time (vp_config.concurrent); see vp_go_out. Rank. */
    void (*go_out)(void);
    void (*come_back)(void);
    void (*help)(void (*fn)(void));

    /* The rank's own process; the process that starts the ranks' processes. Either may be 0. */
    int32_t (*pid)(const struct vp_rank *);
    int32_t (*starter)(void);
    /* The top of the rank's stack. */
    char *(*stack_top)(const struct vp_rank *);
    /* Adds the host's counters. */
    void (*stats)(struct vp_stats *);
};

extern const struct vp_host vp_fibre_host, vp_process_host, vp_remote_host;

/* Finds the host by name and calls its `load`; fatal if there is none of that name. Constructor
 * time. */
void vp_host_load(const char *name);

/* The function that every rank runs: constructors and main. On the rank's stack; does not
 * return. */
void vp_rank_main(void);

/* vp_resume through the table: starts the rank or resumes it. */
int vp_host_resume(struct vp_rank *);

/* Defaults for most hosts. */
void vp_host_nothing(void);
void *vp_host_peer_memory(size_t bytes);

/* ---- stacks (stack.c) ---- */
/* Sets their size, and whether they are executable (gcc's nested functions). */
void vp_stack_init(size_t size, int exec);
size_t vp_stack_size(void);
size_t vp_stack_mapped(void); /* with its guard */
/* Maps a stack with a guard below it. Returns its top, or NULL and fills err (which may be
 * NULL). */
char *vp_stack_map(struct err *err);

#endif
