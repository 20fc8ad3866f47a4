/*
 * proctree.h - the tree of processes from /proc, with their states.
 */
#ifndef CLI_PROCTREE_H
#define CLI_PROCTREE_H

#include <stddef.h>
#include <sys/types.h>

struct cli_proc {
    pid_t pid, parent;
    char state;    /* as in proc(5): R, S, D, T (stopped), t (by a debugger), Z (ended), ... */
    int status;    /* if it has ended, as by wait(2) */
    char name[32]; /* of the program, truncated to 15 characters by the system */
};

/* One process; 0, or -1 if there is none of that number. */
int cli_proc_read(pid_t, struct cli_proc *);

/* All descendants of a process that are alive during the search, parents before children. Returns
 * how many; mem_free(*out). Takes some 10 us for each process of the machine. */
size_t cli_proc_below(pid_t root, struct cli_proc **out);

#endif
