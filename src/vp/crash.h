/*
 * crash.h - fatal signals in a rank.
 */
#ifndef VP_CRASH_H
#define VP_CRASH_H

#include <stddef.h>

struct vp_fibre;

/* Catches fatal signals and passes them to hooks->crash, on a signal stack. Process context. */
void vp_crash_init(void);

/* The calling context's backtrace as text lines, into out. Returns their length. */
size_t vp_backtrace(char *out, size_t n);

/* Did touching addr mean that the fibre's stack was full? */
int vp_stack_overflowed(const struct vp_fibre *, const void *addr);

#endif
