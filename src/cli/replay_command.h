/*
 * replay_command.h - replays as runs of the simulator, for `orrery sweep` and `orrery tune`.
 */
#ifndef CLI_REPLAY_COMMAND_H
#define CLI_REPLAY_COMMAND_H

#include "launch/argv.h"

/* What is to be used of the machine of the recording: nothing if another platform is given, and no
 * setting that `varies` says is given another way (NULL: none is). */
struct cli_replay_machine {
    int has_platform;
    int (*varies)(const void *owner, const char *key);
    const void *owner;
};

/* The words of the `orrery run` that a replay is, the path of orrery first; argv[0] is "replay".
 * Returns 0, CLI_OPTIONS_HELP or an error. */
int cli_replay_command(struct launch_argv *words, int argc, char **argv,
                       const struct cli_replay_machine *, struct err *);

/* Makes the trace that replayers were to write, from their parts. Returns an exit status. */
int cli_replay_join(const char *trace);

#endif
