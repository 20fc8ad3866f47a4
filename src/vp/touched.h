/*
 * touched.h - finds the pages of zero-filled data that have been used.
 *
 * Large unused arrays take no memory. Reading them would cost time, and copying them memory.
 */
#ifndef VP_TOUCHED_H
#define VP_TOUCHED_H

#include <stddef.h>

/* Calls fn for each part of the anonymous mapping [addr, addr + len) that may hold non-zero bytes;
 * for all of it if the kernel gives no information. Any context but a rank's. */
void vp_touched(char *addr, size_t len, void (*fn)(char *from, size_t len, void *arg), void *arg);

#endif
