/*
 * actions.h - commands with actions: `orrery COMMAND ACTION [options] NAME...`. Options may come
 * anywhere.
 */
#ifndef CLI_ACTIONS_H
#define CLI_ACTIONS_H

#include <stddef.h>

#include "cli/cli.h"

/* The words of such a command (struct cli_usage) are a table of these. */
struct cli_action {
    struct cli_word word;
    int (*run)(void *request); /* returns the exit status */
};

/* The arguments of a command besides options. */
struct cli_given {
    const char **names;
    size_t count;
};

/* Appends the list of actions to the help. */
void cli_actions_help(const struct cli_action *, size_t count, struct buf *out);

/* Parses the command line and runs the action. Options are stored in `request`, of which `given` is
 * a part. Returns the exit status. */
int cli_actions_main(const struct cli_usage *, int argc, char **argv, void *request,
                     struct cli_given *given);

#endif
