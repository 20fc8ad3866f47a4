/*
 * limit.h - MPIEXEC_TIMEOUT: the seconds of real time after which a command ends what it has
 * started, as MPICH's mpiexec does with a job.
 */
#ifndef LAUNCH_LIMIT_H
#define LAUNCH_LIMIT_H

#include "base/err.h"

/* From now on the limit of the environment counts, if there is one. Programs that the command
 * starts do not see it: they would count again. */
int launch_limit_begin(struct err *);

/* The exit status of the command, which has ended with `status`: another one, with a message, if
 * the limit ended it. */
int launch_limit_end(int status);

#endif
