/*
 * guard.h - runs a command so that it ends together with everything it has started.
 *
 *     orrery  ->  guard  ->  command (a launcher)  ->  whatever it starts
 *
 * The guard is a process of ours. Orphans among its descendants become its children
 * (PR_SET_CHILD_SUBREAPER), so none can escape: it kills its children until it has none. It does so
 *
 *   - when the command has ended,
 *   - when cli_guard_end asks for it,
 *   - when its starter dies, for whatever reason.
 *
 * If the guard itself is killed or stopped, cli_guard_end does its work. Afterwards shared memory
 * that a native MPI has left behind is removed.
 */
#ifndef CLI_GUARD_H
#define CLI_GUARD_H

#include <sys/types.h>
#include <time.h>

#include "base/err.h"

struct cli_guard {
    pid_t pid;     /* of the guard ... */
    pid_t command; /* ... and of the command */
    time_t since;  /* it has existed */
    int fd;        /* readable when the command, or the guard, has ended: then cli_guard_take */
};

/*
 * Starts a command: `become` runs in its process, with the caller's signal mask, and must call
 * exec; if it returns, the command ends with status 127. Command and guard have their own session.
 * The guard keeps only the three standard streams open. Ignored signals stay ignored. Returns 0, or
 * ERR_SYSTEM if no process can be created.
 */
int cli_guard_start(struct cli_guard *, void (*become)(void *context), void *context, struct err *);

/* Waits until the descriptor is readable. Returns 0 if the guard or the command is stopped
 * meanwhile, and not continued soon. */
int cli_guard_await(const struct cli_guard *, int fd);

/* How the command ended, as from wait(2): returns 1 with *status, or 0 if the guard died before it
 * could report. Waits if necessary. */
int cli_guard_take(struct cli_guard *, int *status);

/*
 * Ends the command and all its descendants: SIGTERM to the command, which has two seconds to end by
 * itself, then SIGKILL to all that is left. Returns when nothing is left: usually at once if the
 * command has ended, at the latest after some eight seconds. Call it once for each started guard,
 * whether or not the command has ended. If the guard does not answer, all children of the caller
 * may be killed.
 */
void cli_guard_end(struct cli_guard *);

#endif
