/*
 * leftover.h - removes shared memory that processes of a native MPI have left behind.
 */
#ifndef LAUNCH_LEFTOVER_H
#define LAUNCH_LEFTOVER_H

#include <time.h>

/*
 * Removes orphaned shared memory: created by this user since `since`, with the names of a native
 * MPI, and not in use by any process. The native MPI unlinks its names a moment after creating
 * them; a process that is killed in between cannot.
 */
void launch_leftover_remove(time_t since);

#endif
