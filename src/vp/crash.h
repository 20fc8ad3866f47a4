/*
 * crash.h - fatal signals in a rank, and where a rank is.
 */
#ifndef VP_CRASH_H
#define VP_CRASH_H

#include <stddef.h>
#include <stdint.h>

struct vp_rank;

/* Installs handlers that pass fatal signals to hooks->crash, on a signal stack. Process context. */
void vp_crash_init(void);

/* Is the signal one of those? Reinstalls our handler after the program has replaced it. */
int vp_crash_catches(int sig);
void vp_crash_catch(int sig);

/* The first thread that crashes writes the report. Other threads may crash as a consequence; they
 * wait for the end of the process. Returns 0 if the report itself crashes, or if the process is a
 * child that a rank forked. */
int vp_crash_is_first(void);

/* The call stack of a rank: return addresses, innermost first. */
struct vp_backtrace {
    int exact;   /* the first address is that of an instruction; all others are return addresses */
    int damaged; /* the stack could not be unwound to its end */
    size_t count;
    void *frames[48];
};
/* Unwinds the context that a signal interrupted, or with NULL the caller's. Survives a damaged
 * stack. Signal stack. */
void vp_backtrace_take(const void *context, struct vp_backtrace *);

/* Makes the process of a rank call hooks->where in a signal handler. */
void vp_crash_ask(int32_t pid);
/* Processes forked from now on answer it. */
void vp_crash_answer(void);

/* Was the access to addr an overflow of the rank's stack? */
int vp_stack_overflowed(const struct vp_rank *, const void *addr);

#endif
