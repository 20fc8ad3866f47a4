/*
 * remote.h - ranks of `orrery emulate` whose processes a launcher starts on other computers.
 *
 *     orrery run: listens, starts     LAUNCHER -n R  orrery emulate --join
 *                 <----- VP_CHANNELS connections each, with a key -----
 *                 ------ program, arguments, environment, folder, options, machine ------>
 *     becomes the simulator           becomes the program, in a child, and tells how that ends
 *
 * Both then start the program in the same way, and the library makes a rank of it (vp/remote.h).
 * All that the launcher says is kept and shown only if processes do not join.
 */
#ifndef CLI_REMOTE_H
#define CLI_REMOTE_H

#include "cli/guard.h"
#include "cli/launch.h"
#include "cli/run_options.h"

struct cli_remote {
    struct cli_guard guard;
    int is_started;
    int said; /* what the launcher has written: a memory file */
};

/*
 * Starts the processes, waits until all have joined, and tells them what to run. Then their
 * connections are open in this process, for the program to inherit, and in page->opt. Returns 0,
 * ERR_SYSTEM, or ERR_INTERNAL with *signal if a signal came meanwhile.
 */
int cli_remote_start(struct cli_remote *, const struct cli_run *, const struct cli_page *,
                     const char *libdir, const char *path, char **argv, int *signal, struct err *);
/* The program has inherited the connections. */
void cli_remote_close(const struct cli_page *);
/* Ends what is left of the launcher. */
void cli_remote_end(struct cli_remote *);

/* What such a process does: `orrery emulate --join`. Returns only on failure. */
int cli_remote_join(struct err *);

#endif
