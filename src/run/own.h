/*
 * own.h - what Orrery's own MPI programs ask of the simulator. All are weak: natively they are
 * NULL.
 */
#ifndef RUN_OWN_H
#define RUN_OWN_H

#include <stddef.h>
#include <stdint.h>

#include <orrery.h> /* ORRERY_WEAK */

#include "run/own_call.h"

/* The rank in MPI_COMM_WORLD, also before MPI_Init. */
extern int64_t orrery_own_rank(void) ORRERY_WEAK;
/* The process of the simulator that the rank is in. */
extern unsigned orrery_own_process(void) ORRERY_WEAK;
/* The virtual clock in picoseconds. Reading it costs nothing. */
extern int64_t orrery_own_clock(void) ORRERY_WEAK;
/* Lets so many picoseconds pass, whatever the speed of the rank's node. */
extern void orrery_own_spend(int64_t picoseconds) ORRERY_WEAK;
/* The same for time that was computed on this computer: it takes as long as on the rank's node. */
extern void orrery_own_compute(int64_t picoseconds) ORRERY_WEAK;
/* How much faster the rank's node is than this computer. */
extern double orrery_own_speed(void) ORRERY_WEAK;
/* What it costs a program to read a clock, in picoseconds (run/reading.h). */
extern int64_t orrery_own_clock_cost(void) ORRERY_WEAK;
/* Waits until one of the requests is complete, or the virtual clock is at `until`. done: which are
 * complete then. MPI still has to complete them. */
extern void orrery_own_wait(int count, const int *requests, int64_t until,
                            unsigned char *done) ORRERY_WEAK;
/* Memory that all ranks of the process share, zero at the first call. All ask for the same size.
 * `fini` is called when the run has ended, in no rank's context, however it ended. */
extern void *orrery_own_common(size_t bytes, void (*fini)(void *)) ORRERY_WEAK;
/* Whether a receive (its handle) has its message, and which: the source in its communicator, and
 * the tag. It need not be complete; asking costs nothing. */
extern int orrery_own_matched(uint32_t request, int *source, int *tag) ORRERY_WEAK;
/* From now on errors that are raised for MPI_COMM_WORLD and MPI_COMM_SELF are returned. */
extern void orrery_own_return_errors(void) ORRERY_WEAK;
/* With processes outside (`orrery hybrid`): the next message of the process that the rank stands
 * for, for which it waits; it is valid until the next call. */
extern const void *orrery_own_receive(size_t *bytes) ORRERY_WEAK;
/* The same while the process is in a call whose outcome the message tells: which requests are
 * complete, or that it has received a message. While the simulator knows of none that it could have
 * got, the rank does not hold up others. The caller frees the message with orrery_own_release. */
extern const void *orrery_own_outcome(const struct orrery_own_call *, size_t *bytes) ORRERY_WEAK;
extern void orrery_own_release(const void *message) ORRERY_WEAK;
/* From now on, receives from any source get the source that orrery_own_bind says: for a request
 * (its handle), or, with request 0, for the next call that receives or probes. */
extern void orrery_own_bind_begin(void) ORRERY_WEAK;
extern void orrery_own_bind(uint32_t request, int source) ORRERY_WEAK;
/* Whether a message has arrived, by now, that the request may get once it has a source. */
extern int orrery_own_may_bind(uint32_t request) ORRERY_WEAK;
/* Whether the program may call MPI_Cancel. */
extern int orrery_own_may_cancel(void) ORRERY_WEAK;
/* Before a receive from a named source (its handle) is cancelled: returns 0 if it has a message by
 * now. Otherwise it gets none until orrery_own_bind names its source, after which it cannot be
 * cancelled. */
extern int orrery_own_hold(uint32_t request) ORRERY_WEAK;
/* Sends a message to that process. */
extern void orrery_own_reply(const void *data, size_t bytes) ORRERY_WEAK;

#endif
