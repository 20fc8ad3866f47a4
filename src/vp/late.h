/*
 * late.h - libraries that fibre ranks load while they run (dlopen).
 *
 * A library is loaded once for the process and never unloaded, but each rank sees its own copy of
 * the data: fresh when the rank opens it, and fresh again when it opens it after a last dlclose.
 * What cannot be made private is refused.
 */
#ifndef VP_LATE_H
#define VP_LATE_H

#include "vp/vp.h"

struct link_map;

/* A load begins: what is loaded from here on belongs to the running rank. Returns a token for
 * vp_late_end. */
int vp_late_begin(void);
/* The dynamic linker is about to run the constructors of the object with this address. */
void vp_late_starting(const void *address);
/* The load has ended. */
void vp_late_end(int token);

/* The running rank opens an object that is loaded: constructs it for the rank if that is new to it.
 * Returns NULL, or why ranks that share a process cannot use it. *hidden: it counts as not loaded
 * (RTLD_NOLOAD), since another rank has loaded it, or the simulator. May switch. */
const char *vp_late_open(const struct link_map *, int mode, int *hidden);
/* The running rank closes it; returns -1 if it has not opened it. May switch. */
int vp_late_close(const struct link_map *);

/* The running rank ends: destructs what it has not closed. */
void vp_late_destruct(void);

/* Does one of the running rank's destructors of thread-local objects lie in [from, to)?
 * (libc/exit.c) */
int vp_handlers_are_in(const void *from, const void *to);

#endif
