/*
 * remote.h - ranks of `orrery emulate` whose processes a launcher starts on other computers, or
 * which are of other programs than the first: without a launcher, these are started here, and
 * connect by the loopback interface.
 *
 *     orrery run: listens, starts     LAUNCHER -n R  orrery emulate --join
 *                 <----- VP_CHANNELS connections each, with a key -----
 *                 ------ program, arguments, environment, folder, options, machine ------>
 *     becomes the simulator           becomes the program, in a child, and tells how that ends
 *
 * Both then start the program in the same way, and the library makes a rank of it (vp/remote.h).
 * All that the launcher says is kept and shown only if processes do not join.
 */
#ifndef LAUNCH_REMOTE_H
#define LAUNCH_REMOTE_H

#include "launch/guard.h"
#include "launch/job.h"
#include "launch/launch.h"

struct launch_remote {
    struct launch_guard guard;
    int is_started;
    int said; /* what the launcher has written: a memory file */
};

/*
 * Starts the processes, waits until all have joined, and tells them what to run. Then their
 * connections are open in this process, for the program to inherit, and in page->opt. Returns 0,
 * ERR_SYSTEM, or ERR_INTERNAL with *signal if a signal came meanwhile.
 */
int launch_remote_start(struct launch_remote *, const struct launch_job *,
                        const struct launch_page *, const char *libdir, int *signal, struct err *);
/* The program has inherited the connections. */
void launch_remote_close(const struct launch_page *);
/* Ends what is left of the launcher. */
void launch_remote_end(struct launch_remote *);

/* What such a process does: `orrery emulate --join`. Returns only on failure. */
int launch_remote_join(struct err *);

#endif
