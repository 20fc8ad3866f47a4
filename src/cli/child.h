/*
 * child.h - other `orrery run`s as child processes, for commands that make many of them.
 *
 * Each child leads a process group, so that a Ctrl-C of the terminal reaches this process alone,
 * which then decides what becomes of the children. If the thread that started a child ends before
 * it, the child gets a SIGTERM.
 */
#ifndef CLI_CHILD_H
#define CLI_CHILD_H

#include <signal.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

/* The path of this program. */
int cli_child_self(char *path, size_t size, struct err *);

/*
 * Starts words[0]; standard input is empty, the others go to files (NULL: nowhere). `mask` is for
 * its signals. Returns its id, or -1 with an error.
 */
pid_t cli_child_start(char *const *words, const char *out, const char *errors, const sigset_t *mask,
                      struct err *);

/* What a child said in a file of standard error: the first line that is Orrery's own, or the first
 * there is; or NULL. Freed by the caller. */
char *cli_child_reason(const char *errors);

#endif
