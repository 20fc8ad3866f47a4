/*
 * guard.h - runs a command so that it ends together with everything it has started.
 *
 *     orrery  ->  guard  ->  command (a launcher)  ->  whatever it starts
 *
 * The guard is a process of ours. Orphans among its descendants become its children
 * (PR_SET_CHILD_SUBREAPER), so none can escape: it kills its children until it has none. It does so
 *
 *   - when the command has ended; if it has ended with success, what it has left behind, such as
 *     commands that a program has started, has some seconds to end by itself,
 *   - when launch_guard_end asks for it,
 *   - when its starter dies, for whatever reason.
 *
 * If the guard itself is killed or stopped, launch_guard_end does its work. Afterwards shared
 * memory that a native MPI has left behind is removed.
 */
#ifndef LAUNCH_GUARD_H
#define LAUNCH_GUARD_H

#include <sys/types.h>
#include <time.h>

#include "base/err.h"

struct launch_guard {
    pid_t pid;     /* of the guard */
    pid_t command; /* of the command */
    time_t since;  /* it has existed */
    int fd;        /* readable when the command, or the guard, has ended: then launch_guard_take */
};

/*
 * Starts a command: `become` runs in its process, with the caller's signal mask, and must call
 * exec; if it returns, the command ends with status 127. Command and guard have their own session.
 * The guard keeps only the three standard streams open. Ignored signals stay ignored. Returns 0, or
 * ERR_SYSTEM if no process can be created.
 */
int launch_guard_start(struct launch_guard *, void (*become)(void *context), void *context,
                       struct err *);

/* Waits until the descriptor is readable. Returns 0 if the guard or the command is stopped
 * meanwhile, and not continued soon. */
int launch_guard_await(const struct launch_guard *, int fd);

/* How the command ended, as from wait(2): returns 1 with *status, or 0 if the guard died before it
 * could report. Waits if necessary. */
int launch_guard_take(struct launch_guard *, int *status);

/*
 * Ends the command and all its descendants: SIGTERM to the command, which has two seconds to end by
 * itself, then SIGKILL to all that is left. Returns when nothing is left: usually at once if the
 * command has ended, at the latest after some eight seconds. Call it once for each started guard,
 * whether or not the command has ended. If the guard does not answer, all children of the caller
 * may be killed.
 */
void launch_guard_end(struct launch_guard *);

#define LAUNCH_GUARD_GRACE_S 2.0 /* for what a run has left behind to end by itself */

/*
 * Ends all descendants of this process that can be reached: its children, and theirs, which become
 * its own if it has asked for orphans (PR_SET_CHILD_SUBREAPER). They have some seconds to end by
 * themselves before they are killed. Warns if that is necessary although they had time.
 */
void launch_guard_end_all(double seconds);

#endif
