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
/* Lets time pass that was computed on this computer, for as long as it takes on the rank's node. */
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
/* orrery_own_receive while the process is in a call whose outcome the message tells: which requests
 * are complete, or that it has received a message. While the simulator knows of none that it could
 * have got, the rank does not hold up others. The caller frees the message with
 * orrery_own_release. */
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
/* How computing counts in that process (enum run_counted), and how long it waited for a processor,
 * in picoseconds, if that is known. */
extern void orrery_own_counted(unsigned how, int64_t kept) ORRERY_WEAK;
/* The process need not wait for its answer: it gets this one if all processes wait for each other.
 * Until that is withdrawn; then returns 0 if it has got it. */
extern void orrery_own_offer(const void *data, size_t bytes) ORRERY_WEAK;
extern int orrery_own_withdraw(void) ORRERY_WEAK;

/*
 * A process with several threads: the calls of each run in a *side* of the rank, with a stack of
 * its own. All sides share the rank's clock, and one of them runs at a time.
 */
/* Continues a side until it waits; one that has ended, or is new, runs fn(arg). */
extern enum orrery_own_side orrery_own_side_run(unsigned number, void (*fn)(void *),
                                                void *arg) ORRERY_WEAK;
/* In a side: waits until it is run again. call: for what the process says of it, or NULL. */
extern void orrery_own_side_await(const struct orrery_own_call *call) ORRERY_WEAK;
/* Whether a blocked side waits for a decision of the present time. */
extern int orrery_own_side_is_due(unsigned number) ORRERY_WEAK;
/* When the wait of a blocked side ends, as far as is known: the present time if it must look, -1 if
 * it goes on. Whether nothing can happen before that time any more. */
extern int64_t orrery_own_side_end(unsigned number) ORRERY_WEAK;
extern int orrery_own_is_safe(int64_t time) ORRERY_WEAK;
/* The next message of the process, or NULL; to be freed by orrery_own_release. */
extern const void *orrery_own_take(size_t *bytes) ORRERY_WEAK;
/* Waits until something may have happened. */
extern int orrery_own_pause(enum orrery_own_pause) ORRERY_WEAK;
/* The rank continues from the time that others have reached, if that is later. */
extern void orrery_own_catch_up(void) ORRERY_WEAK;

#endif
