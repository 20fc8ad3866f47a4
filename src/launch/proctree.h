/*
 * proctree.h - the tree of processes from /proc, with their states.
 */
#ifndef LAUNCH_PROCTREE_H
#define LAUNCH_PROCTREE_H

#include <stddef.h>
#include <sys/types.h>

struct launch_proc {
    pid_t pid, parent;
    char state;    /* as in proc(5): R, S, D, T (stopped), t (by a debugger), Z (ended), ... */
    int status;    /* if it has ended, as by wait(2) */
    char name[32]; /* of the program, truncated to 15 characters by the system */
};

/* One process; 0, or -1 if there is none of that number. */
int launch_proc_read(pid_t, struct launch_proc *);

/* All descendants of a process that are alive during the search, parents before children. Returns
 * how many; mem_free(*out). Takes some 10 us for each process of the machine. */
size_t launch_proc_below(pid_t root, struct launch_proc **out);

#define LAUNCH_PROC_STOPPED_S 3.0 /* a process may be stopped (SIGSTOP, a debugger) this long */

/* Is there such a process, and is it stopped? */
int launch_proc_is_stopped(pid_t, struct launch_proc *);
/* Is it a helper of the launcher, which starts processes for it? */
int launch_proc_is_helper(const struct launch_proc *);

#endif
