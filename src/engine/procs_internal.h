/*
 * procs_internal.h - shared by the files of procs.h.
 */
#ifndef ENGINE_PROCS_INTERNAL_H
#define ENGINE_PROCS_INTERNAL_H

#include "engine/procs.h"

/* In place. `wakes`: does a message end the sleep of its receiver? */
void procs_wait_init(struct procs_wait *, int wakes);

#endif
