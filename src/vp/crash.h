/*
 * crash.h - fatal signals in a rank, and where a rank is.
 */
#ifndef VP_CRASH_H
#define VP_CRASH_H

#include <stddef.h>
#include <stdint.h>

struct vp_rank;

/* Catches fatal signals and passes them to hooks->crash, on a signal stack. Process context. */
void vp_crash_init(void);

/* Is the signal one of them? Catches it again, after the program had it. */
int vp_crash_catches(int sig);
void vp_crash_catch(int sig);

/* Where a rank is: addresses, innermost first. */
struct vp_backtrace {
    int exact;   /* the first is of an instruction; all others are where a call returns to */
    int damaged; /* the stack could not be followed to its end */
    size_t count;
    void *frames[48];
};
/* Of the context that a signal has interrupted, or NULL: of the caller. Survives a stack that is
 * damaged. Signal stack. */
void vp_backtrace_take(const void *context, struct vp_backtrace *);

/* Asks the process of a rank where it is, by hooks->where in a signal handler there. */
void vp_crash_ask(int32_t pid);
/* Has processes that are forked from now on answer that. */
void vp_crash_answer(void);

/* Did touching addr mean that the rank's stack was full? */
int vp_stack_overflowed(const struct vp_rank *, const void *addr);

#endif
