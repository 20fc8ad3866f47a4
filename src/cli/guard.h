/*
 * guard.h - a command that ends together with everything it has started.
 *
 *     orrery  ->  guard  ->  command (a launcher)  ->  whatever it starts
 *
 * The guard is a process of ours. Orphans among its descendants become its children
 * (PR_SET_CHILD_SUBREAPER), so none can get away: it kills its children until it has none. It does so
 *
 *   - when the command has ended,
 *   - when cli_guard_end asks for it,
 *   - when whoever started it dies, however that happens.
 *
 * If the guard itself is killed or stopped, cli_guard_end does its work. Afterwards shared memory that a
 * native MPI has left behind is removed.
 */
#ifndef CLI_GUARD_H
#define CLI_GUARD_H

#include <sys/types.h>
#include <time.h>

#include "base/err.h"

struct cli_guard {
    pid_t pid;     /* of the guard ... */
    pid_t command; /* ... and of the command */
    time_t since;  /* it is there */
    int fd;        /* readable when the command, or the guard, has ended: then cli_guard_take */
};

/*
 * Starts a command: `become` runs in its process, with the caller's signal mask, and is to call exec; if it
 * returns, the command ends with status 127. Command and guard are in a session of their own. The guard
 * keeps no descriptor open but the three standard streams.
 * Ignored signals stay ignored. Returns 0, or ERR_SYSTEM if there can be no more processes.
 */
int cli_guard_start(struct cli_guard *, void (*become)(void *context), void *context, struct err *);

/* Waits until the descriptor is readable. 0 if the guard or the command is stopped meanwhile, and not soon
 * continued. */
int cli_guard_await(const struct cli_guard *, int fd);

/* How the command ended, as wait(2) tells it: 1 with *status; 0 if the guard died before it could tell. Waits for
 * that if need be. */
int cli_guard_take(struct cli_guard *, int *status);

/*
 * Ends the command and all its descendants: SIGTERM to the command, which has two seconds to end in its own
 * way, then SIGKILL to all that is left. Returns when nothing is left, mostly at once if the command has
 * ended, at the latest after some eight seconds. To be called once for each guard that was started, whether
 * or not the command has ended. All children of the caller may be killed if the guard does not answer.
 */
void cli_guard_end(struct cli_guard *);

#endif
