/*
 * supervise_tree.h - the processes of a supervised command (supervise.h): has one of the launcher's
 * died, or was one stopped?
 */
#ifndef LAUNCH_SUPERVISE_TREE_H
#define LAUNCH_SUPERVISE_TREE_H

#include <stddef.h>
#include <sys/types.h>

struct supervise_stopped;

struct supervise_tree {
    pid_t guard, command; /* 0: there is none */
    int sees_all;         /* also below an `orrery run`: nobody sees its warnings, or it is us */
    int sees_ranks;       /* also native ranks that an `orrery run` has started */
    pid_t helper;         /* that has started processes: the last one seen; 0: none yet */
    char name[32];        /* of the helper */
    double orphans;       /* since when what it has started has lost it; 0: it has not */
    struct supervise_stopped *stopped; /* processes */
    size_t stopped_count;
};

void supervise_tree_init(struct supervise_tree *, pid_t guard, pid_t command);
void supervise_tree_fini(struct supervise_tree *);

/* Call it some times a second. Warns of processes that are stopped for long. Returns 1 if the
 * command cannot continue, after an error message. */
int supervise_tree_look(struct supervise_tree *, double now);

#endif
