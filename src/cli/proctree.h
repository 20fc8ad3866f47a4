/*
 * proctree.h - processes as /proc shows them: who is whose child, and in which state.
 */
#ifndef CLI_PROCTREE_H
#define CLI_PROCTREE_H

#include <stddef.h>
#include <sys/types.h>

struct cli_proc {
    pid_t pid, parent;
    char state;    /* as in proc(5): R, S, D, T (stopped), t (by a debugger), Z (ended), ... */
    char name[32]; /* of the program, cut to 15 characters by the system */
};

/* One process; 0, or -1 if there is none of that number. */
int cli_proc_read(pid_t, struct cli_proc *);

/* All descendants of a process, parents before children, as far as they live while they are looked for.
 * Returns how many; mem_free(*out). Takes some 10 us for each process of the machine. */
size_t cli_proc_below(pid_t root, struct cli_proc **out);

#endif
