/*
 * child.h - `orrery run` as a child process, for commands that start many runs.
 *
 * Each child leads a process group, so that Ctrl-C in the terminal reaches only this process, which
 * then ends the children. If the thread that started a child ends before it, the child gets a
 * SIGTERM.
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
 * Starts words[0] with empty standard input; output and errors are written to files (NULL:
 * discarded). `mask` is its signal mask. Returns its id, or -1 with an error.
 */
pid_t cli_child_start(char *const *words, const char *out, const char *errors, const sigset_t *mask,
                      struct err *);

/* The reason in a child's standard error: the first line of Orrery itself, or the first line at
 * all, or NULL. The caller frees it. */
char *cli_child_reason(const char *errors);

#endif
