/*
 * process.h - the process host: each rank is a process.
 *
 * The simulator's state - engine, messages, communicators, output - is in memory that all processes
 * share at the same addresses: the arena, and this library's variables, which are remapped as
 * shared memory before the first fork. The program's state - data, heap, stack, descriptors, libc -
 * is private to each process by fork. So the virtual MPI runs in a rank's process just as it runs
 * on a fibre, and a switch means letting another process run:
 *
 *     scheduler: wake a rank's process, sleep     rank: wake the next rank or the scheduler, sleep
 *
 * Only one of them runs at a time, and only it touches shared memory. A *zygote*, forked when the
 * program's data is ready and before anything else (such as a native MPI) is opened, forks the
 * ranks, waits for them and reports those that die. They all die with the scheduler.
 *
 * process.c implements the turns, zygote.c the zygote, pin.c the pinning; halt.c stops processes
 * that are in the way. Only they include this header.
 */
#ifndef VP_PROCESS_H
#define VP_PROCESS_H

#include "vp/turn.h"
#include "vp/vp.h"

/* A rank's process; the `state` of its rank. Never freed: the zygote may still read it. */
struct vp_process {
    turn_word turn;
    int32_t pid;
    int32_t status; /* from waitpid, once it is dead */
    int32_t error;  /* errno of fork */
    struct vp_rank *rank;
    struct vp_process *next; /* for the zygote: list of living children */
    _Atomic uint32_t
        request; /* is it in the list of processes with a thread that needs a turn? (process.c) */
    struct vp_process *next_request;
    _Atomic uint32_t pinned; /* its threads are pinned */
    turn_word helper;        /* the turn of its helper (vp_help) */
    _Atomic uint32_t out;    /* its program runs without the turn: the helper gets it */
    uint32_t helped;         /* the helper has it, or had it last */
    _Atomic uint32_t halt;   /* is it stopped, and in the list of those that were? (halt.c) */
    struct vp_process *next_halted;
    uint32_t computing; /* threads that compute while it does not have the turn; 0: unknown */
};

/* State shared by the scheduler and the ranks' processes. */
struct vp_turns {
    turn_word scheduler;               /* the scheduler's turn */
    struct vp_process *running;        /* the process that has the turn, or had it last */
    struct vp_process *_Atomic dead;   /* a process that died before its rank ended */
    void (*_Atomic finish)(void);      /* what the scheduler must do next, as its last act */
    _Atomic uint32_t pinned;           /* processes whose threads are pinned */
    struct vp_process *_Atomic halted; /* processes that were stopped (halt.c) */
    struct vp_process *to_halt;        /* the next that gets the turn stops this one, or NULL */
    uint32_t computing;                /* threads of processes without the turn, as far as known */
};
extern struct vp_turns vp_turns;

/* Entry of a rank's process: waits for its turn and runs the program. */
_Noreturn void vp_process_main(struct vp_process *);

const struct vp_remotes *vp_remotes(void);

/* ---- zygote.c ---- */
/* Forks the zygote. Scheduler, which must have only one thread. The connections are closed here. */
int vp_zygote_start(const struct vp_remotes *, struct err *);
/* The signal handlers and the mask of a rank's process; the handler of signals that are for the
 * scheduler. */
void vp_process_signals(void);
void vp_process_disregard(int sig);
/* Makes the zygote fork a process for the rank; -1 if the zygote is gone. */
int vp_zygote_fork(struct vp_process *);
/* Kills the zygote and all ranks' processes; returns when they are dead. If all ranks have ended,
 * waits for their processes instead, so that their resource use is counted. Also in a signal
 * handler. */
void vp_zygote_kill(void);
/* Fatal if the zygote was killed. */
void vp_zygote_check(void);
/* Process id of the zygote; 0: there is none. */
int32_t vp_zygote_pid(void);

/* ---- halt.c ---- */
/* The calling process is about to give its turn away, while threads of it compute / has it back. */
void vp_halt_begin(struct vp_process *, uint32_t computing);
void vp_halt_end(struct vp_process *);
/* It has got the turn: stops the process that asked for it. */
void vp_halt_others(const struct vp_process *self);
/* It gets the turn next: continues it. */
void vp_halt_over(struct vp_process *);
/* Continues all. Scheduler. */
void vp_halt_all_over(void);

/* ---- pin.c ---- */
/* How many processors the run may use. */
unsigned vp_pin_processors(void);
/* Chooses the processor on which scheduler and ranks take turns. */
void vp_pin_init(void);
/* Pins the calling process to it / unpins it, since it is about to start threads. */
void vp_pin(void);
void vp_unpin(void);
/* Pins the calling thread / unpins all threads of a process, except those that the program has
 * bound to processors. */
int vp_pin_thread(void);
void vp_unpin_threads(int32_t pid);

#endif
