/*
 * cli.h - the command line: one table of subcommands, each in its own cmd_*.c. Only this module
 * reads argv, uses the terminal and exits.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "base/err.h"
#include "base/exit.h"
#include "cli/options.h"

#ifndef ORRERY_VERSION
#define ORRERY_VERSION "0.1.0"
#endif

struct cli_command {
    const char *summary; /* one line for `orrery help` */
    const struct cli_usage *usage;
    int starts;    /* it starts programs: see limit.h */
    int cleans_up; /* it has files to remove in the end, also if nobody reads its output any more */
    /* argv[0] is the command's name; returns the exit status. */
    int (*main)(int argc, char **argv);
};

extern const struct cli_command cli_cmd_run, cli_cmd_record, cli_cmd_check, cli_cmd_platform,
    cli_cmd_calibrate, cli_cmd_tune, cli_cmd_sweep, cli_cmd_trace, cli_cmd_analyze, cli_cmd_compare,
    cli_cmd_report, cli_cmd_replay, cli_cmd_hybrid, cli_cmd_emulate, cli_cmd_completion,
    cli_cmd_help, cli_cmd_version;

/* The table: NULL after the last. */
const struct cli_command *cli_command_at(int i);

/* The command of that name, or NULL with err naming the nearest. */
const struct cli_command *cli_command_find(const char *name, struct err *);

/*
 * Parses the options of a command. Returns 0 and *next, or 1 when the command is done with
 * *status as its exit status: help was printed, or an error.
 */
int cli_begin(const struct cli_usage *, int argc, char **argv, void *into, int *next, int *status);
/*
 * cli_begin for commands whose options may precede and follow arguments: parses up to the next
 * argument, *word, and moves on to it. At the end *word is NULL.
 */
int cli_next(const struct cli_usage *, int *argc, char ***argv, void *into, const char **word,
             int *status);

/* Prints the error and returns its exit status: 3 for internal failures, else 2. */
int cli_fail(const struct err *);

/* Writes text to standard output, made printable; EXIT_DONE, or the status of a failure that it
 * reports. */
int cli_print(const struct buf *);

/* Writes text to standard error, made printable. */
void cli_tell(const struct buf *);

#endif
