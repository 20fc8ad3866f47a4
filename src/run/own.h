/*
 * own.h - what Orrery's own MPI programs ask of the simulator. All are weak: natively they are
 * NULL.
 */
#ifndef RUN_OWN_H
#define RUN_OWN_H

#include <stddef.h>
#include <stdint.h>

#include <orrery.h> /* ORRERY_WEAK */

/* The rank in MPI_COMM_WORLD, also before MPI_Init. */
extern int64_t orrery_own_rank(void) ORRERY_WEAK;
/* The process of the simulator that the rank is in. */
extern unsigned orrery_own_process(void) ORRERY_WEAK;
/* The virtual clock in picoseconds. Reading it costs nothing. */
extern int64_t orrery_own_clock(void) ORRERY_WEAK;
/* Lets so many picoseconds pass, whatever the speed of the rank's node. */
extern void orrery_own_spend(int64_t picoseconds) ORRERY_WEAK;
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
/* With processes outside (`orrery hybrid`): the next message of the process that the rank stands
 * for, for which it waits; it is valid until the next call. */
extern const void *orrery_own_receive(size_t *bytes) ORRERY_WEAK;
/* Sends a message to that process. */
extern void orrery_own_reply(const void *data, size_t bytes) ORRERY_WEAK;

#endif
