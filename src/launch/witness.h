/*
 * witness.h - a process that tells that its parent, a simulator of `orrery hybrid`, was killed.
 *
 * If a process of a launcher dies, the launcher kills all the others, so a killed simulator and a
 * killed rank look the same from outside. The witness is in the process group of the simulator: if
 * the launcher kills both, it says nothing; else it writes to the file of native/status.h.
 */
#ifndef LAUNCH_WITNESS_H
#define LAUNCH_WITNESS_H

#include <sys/types.h>

/* Starts one, if the file is there. Returns its process id, or 0. */
pid_t launch_witness_start(void);
/* Ends it: from now on the simulator ends by itself. */
void launch_witness_end(pid_t);

#endif
