/*
 * touched.h - which pages of zero-filled data have been used.
 *
 * Large arrays that nobody has used take no memory. Reading them would cost time, copying memory.
 */
#ifndef VP_TOUCHED_H
#define VP_TOUCHED_H

#include <stddef.h>

/* Calls fn for each stretch of [addr, addr + len), which is mapped to no file, that may hold
 * something else than zeros; for all of it if the kernel does not tell. Any context but a rank's. */
void vp_touched(char *addr, size_t len, void (*fn)(char *from, size_t len, void *arg), void *arg);

#endif
