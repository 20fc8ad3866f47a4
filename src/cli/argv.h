/*
 * argv.h - command lines of other programs: argument vectors, and capturing a program's output.
 */
#ifndef CLI_ARGV_H
#define CLI_ARGV_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

/* All zero: empty. `at` ends with a NULL once there is a word. */
struct cli_argv {
    char **at;
    size_t count;
};

void cli_argv_add(struct cli_argv *, const char *text);
/* Several, up to a NULL. */
void cli_argv_add_all(struct cli_argv *, const char *const *words);
/* An option and its value, if it has one (or NULL). */
void cli_argv_pass(struct cli_argv *, const char *option, const char *value);
void cli_argv_fini(struct cli_argv *);

/* Adds the words of a text: they are separated by blanks; quotes of either kind keep blanks in a
 * word. ERR_INPUT, with `option` before it, if a quote is not closed or there is no word. */
int cli_argv_split(struct cli_argv *, const char *option, const char *text, struct err *);

/*
 * Starts the command under a guard (guard.h) and appends what it writes to standard output. Its
 * input is empty. What it writes to standard error is passed on until a signal comes: a launcher
 * that is ended while it starts ranks complains. Returns 0 with its exit status (128 + the signal
 * if one ended it), or ERR_SYSTEM if it cannot be started. *signal: SIGINT, SIGTERM or SIGHUP if
 * this process received one meanwhile; then the command and all its descendants have been killed.
 */
int cli_argv_capture(const struct cli_argv *, struct buf *out, int *status, int *signal,
                     struct err *);

/* The same with all streams ours. */
int cli_argv_run(const struct cli_argv *, int *status, int *signal, struct err *);

struct cli_argv_watch {
    int every_ms;                  /* how often to ask; -1: never, ... */
    int (*is_over)(void *context); /* ... whether the command is to be killed */
    /* A signal has come, and the command is about to be ended; or NULL. */
    void (*interrupted)(void *context);
    void *context;
};
/* The same, watched (NULL: not). */
int cli_argv_run_watched(const struct cli_argv *, const struct cli_argv_watch *, int *status,
                         int *signal, struct err *);

#endif
