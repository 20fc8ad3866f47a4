/*
 * leftover.h - shared memory that processes of a native MPI have left behind.
 */
#ifndef CLI_LEFTOVER_H
#define CLI_LEFTOVER_H

#include <time.h>

/*
 * Removes shared memory that belongs to nobody any more: made by us (this user) since `since`, by the names of
 * a native MPI, and not in use by any process. The native MPI removes its names by itself a moment after it
 * has made them; who is killed in between cannot.
 */
void cli_leftover_remove(time_t since);

#endif
