/*
 * process.h - the process host: each rank is a process of its own.
 *
 * What the simulator knows - the engine, messages, communicators, the output - is in memory that all
 * processes share at the same addresses: the arena, and this library's variables, which are mapped
 * anew as shared memory before the first fork. What is the program's - its data, heap, stack,
 * descriptors, libc - is a process's own, by fork. So the virtual MPI runs in a rank's process just as
 * it runs on a fibre, and a switch is to let another process run:
 *
 *     scheduler: wake a rank's process, sleep      rank: wake the next rank, or the scheduler, sleep
 *
 * One of them runs at a time, and is the only one to touch what is shared. A *zygote*, forked when the
 * program's data is ready and before anything else (such as a native MPI) is opened, forks the ranks,
 * waits for them and reports those that die. All of them die with the scheduler.
 *
 * process.c has the turns, zygote.c the zygote, pin.c the processors. This header is theirs.
 */
#ifndef VP_PROCESS_H
#define VP_PROCESS_H

#include "vp/turn.h"
#include "vp/vp.h"

/* A rank's process: the `state` of its rank. Freed by nobody: the zygote may still look at it. */
struct vp_process {
    turn_word turn;
    int32_t pid;
    int32_t status; /* as waitpid tells it, when it is dead */
    int32_t error;  /* of fork */
    struct vp_rank *rank;
    struct vp_process *next; /* of the zygote: living children */
    _Atomic uint32_t
        request; /* is it in the list of those with a thread that needs a turn? (process.c) */
    struct vp_process *next_request;
};

/* What they share. */
struct vp_turns {
    turn_word scheduler;             /* the scheduler's turn */
    struct vp_process *running;      /* the rank's process that has, or had, its turn */
    struct vp_process *_Atomic dead; /* one that died before its rank had ended */
    void (*_Atomic finish)(void);    /* what the scheduler is to do next, and last */
};
extern struct vp_turns vp_turns;

/* The rank's process begins: it waits for its turn and runs the program. */
_Noreturn void vp_process_main(struct vp_process *);

/* ---- zygote.c ---- */
/* Forks it. Scheduler, which has one thread. */
int vp_zygote_start(struct err *);
/* Has it fork a process for the rank; -1 if it is gone. */
int vp_zygote_fork(struct vp_process *);
/* Kills it, and with it all ranks' processes; returns when they are dead. If all ranks have ended, it waits
 * for their processes instead, so that what they used is counted. Also in a signal handler. */
void vp_zygote_kill(void);
/* Fatal if it was killed. */
void vp_zygote_check(void);
/* 0: there is none. */
int32_t vp_zygote_pid(void);

/* ---- pin.c ---- */
/* Chooses the processor where scheduler and ranks take turns. */
void vp_pin_init(void);
/* The calling process goes there / may use all processors again: it is about to have threads. */
void vp_pin(void);
void vp_unpin(void);

#endif
