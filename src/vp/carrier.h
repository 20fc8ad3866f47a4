/*
 * carrier.h - threads of a rank that take turns are switched without the system.
 *
 * A *thread* of the program is a stack, registers and thread-local data. A *carrier* is a thread of
 * the system, which runs it. At first each thread has its own carrier. A thread that waits may be
 * *parked*: its carrier continues with another parked thread, or is idle until it is given one. So
 * there are always as many idle carriers as parked threads, and threads that take turns all run on
 * one carrier. A switch takes the time of a few function calls, where the system takes some
 * microseconds.
 *
 * What belongs to a thread moves with it: thread-local data, hence errno, the identity that
 * pthread_self returns and that of mutexes; the mask of blocked signals; the floating-point modes.
 * What the system knows by the number of its own thread does not, and is dealt with as follows:
 *
 *     the end of a thread     the carrier on which it ends takes over what the system does then
 *                             (vp_carrier_end), so any carrier will do
 *     restartable sequences   carriers have none; libc does without
 *     signals to a thread,    from then on threads stay on their present carriers, and signals are
 *     signal stacks,          sent there (libc/thread.c)
 *     robust mutexes
 *     priority inheritance    there is none
 *
 * The first thread of a process, and threads that the program did not start by libc, are never
 * parked.
 */
#ifndef VP_CARRIER_H
#define VP_CARRIER_H

#include <stdint.h>

#include "vp/vp.h"

struct vp_carrier;

/* Of a thread that the program has started. */
struct vp_seat {
    struct vp_carrier *carrier; /* NULL: parked, or never parked so far */
    struct vp_parked *parked;   /* NULL: it is not */
    int32_t *tid;               /* what the system clears when the thread ends */
    void *robust;               /* the list of its robust mutexes */
    long first_tid;             /* the number of its first carrier, 0: it is still there */
};

/* The calling thread begins / ends. */
void vp_carrier_begin(struct vp_seat *);
void vp_carrier_end(void);
/* The process is a fork of the rank's, with the calling thread alone. */
void vp_carrier_forked(void);
/* The number of the system's thread if the thread may not be on its first carrier; else 0. */
long vp_carrier_tid(const struct vp_seat *);
/* The number of the system's thread that is the first carrier of the calling thread. */
long vp_carrier_first_tid(void);
/* Lets libc know the present carrier of the calling thread / the first one again, by which mutexes
 * know their owner. */
void vp_carrier_show(int present);
/* Is that thread of the system an idle carrier? The caller holds vp_private.inside. */
int vp_carrier_is_idle(long tid);

#endif
