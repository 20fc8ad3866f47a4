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
 */
#ifndef VP_PROCESS_H
#define VP_PROCESS_H

#include "vp/vp.h"

/* Are ranks processes? */
extern int vp_is_process_host;

/* In the first constructor: makes the library's variables shared memory and opens the arena. */
void vp_process_share(void);

/* Forks the zygote; `top` is where the stacks of ranks begin. Scheduler context, single-threaded. */
int vp_process_init(char *top, void (*entry)(void), struct err *);

/* The scheduler goes where the ranks are; whoever counts processors has done so. */
void vp_process_settle(void);

/* The rank's process may use all processors: it is about to have threads. */
void vp_process_spread(void);

/* Start the rank's process / let it run, until it, or the last of those that went on in its place,
 * comes back; returns that one. Scheduler context. */
struct vp_rank *vp_process_start(struct vp_rank *);
struct vp_rank *vp_process_resume(struct vp_rank *);

/* Lets the rank go on that the hook `next` names, or the scheduler, in a rank's process; returns when
 * resumed. Without a system call if it names the caller. */
void vp_process_suspend(void);
/* Back to the scheduler, for good. */
_Noreturn void vp_process_end(void);

/* Has the scheduler run fn, and goes on after it. Rank's process. */
void vp_process_call(void (*fn)(void));

/* Has the scheduler run fn as soon as this process has left the stage, for good. Rank's process. */
_Noreturn void vp_process_leave(void (*fn)(void));

/* Ends the run if a process has died. Scheduler context. */
void vp_process_check(void);

/* Ends all processes: nobody but the scheduler touches what is shared from here on. Scheduler context,
 * also in a signal handler. */
void vp_process_still(void);

/* How often a rank went on in another's place, or its own. */
uint64_t vp_process_handed(void);

/* The number of the rank's process, 0: it has none. */
int32_t vp_process_pid(const struct vp_rank *);

#endif
