/*
 * child.h - `orrery run` as a child process, for commands that start many runs: `sweep`, `tune` and
 * `emulate --factor auto`.
 *
 * Each child leads a process group, so that Ctrl-C in the terminal reaches only this process, which
 * then ends the children. If the thread that started a child ends before it, the child gets a
 * SIGTERM. A run ends what it has started; what a killed one has left behind becomes ours
 * (launch_child_begin), and is ended with us.
 */
#ifndef LAUNCH_CHILD_H
#define LAUNCH_CHILD_H

#include <signal.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

#define LAUNCH_CHILD_GRACE_S 5.0 /* until a child that was asked to end is killed */

/* The path of this program. */
int launch_child_self(char *path, size_t size, struct err *);

/*
 * Starts words[0] with empty standard input; output and errors are written to files (NULL:
 * discarded). `mask` is its signal mask. Returns its id, or -1 with an error.
 */
pid_t launch_child_start(char *const *words, const char *out, const char *errors,
                         const sigset_t *mask, struct err *);

/* Why a child failed, as from wait(2): a signal has killed it, or the reason in its standard error:
 * the first line of Orrery itself, or the first line at all; or NULL. The caller frees it. */
char *launch_child_reason(int status, const char *errors);

/* A child is asked to end, or (later) all of its group is killed. */
void launch_child_ask(pid_t);
void launch_child_kill(pid_t);

/*
 * Waits for the end of a child, with the signals of launch_watch_block blocked. Ends it if a signal
 * comes, which is in *signal (else 0). Warns if a process is stopped. Returns its status as from
 * wait(2).
 */
int launch_child_wait(pid_t, int *signal);

/* Makes a folder for the files of children, NAME and six random characters in the folder for
 * temporary files; and before the first child, asks for orphans of all children. */
int launch_child_begin(const char *name, char *folder, size_t size, struct err *);
/* After the last child: ends what is left of any, and removes the folder (NULL: none) with all its
 * files. */
void launch_child_end(const char *folder);

#endif
