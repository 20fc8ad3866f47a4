/*
 * goal.h - GOAL, the schedules of LogGOPSim as text: for each rank its operations and their
 * dependences.
 *
 *     num_ranks 2
 *     rank 0 {
 *     l1: calc 100                       nanoseconds
 *     l2: send 10b to 1 tag 3
 *     l2 requires l1                     l1 must be complete
 *     l3: recv 10b from 1 tag 4
 *     l3 irequires l2                    l2 must have begun
 *     }
 */
#ifndef FORMATS_GOAL_H
#define FORMATS_GOAL_H

#include "formats/actions.h"
#include "formats/formats.h"

/* A schedule that is being written: the next operations depend on `last`. */
struct goal_out {
    struct buf *text;
    uint64_t next; /* labels */
    uint64_t last; /* label of the operation on which the next ones depend; 0: none */
};

/* Writes an operation that depends on the last one, and does not become the last one. Returns its
 * label. */
uint64_t goal_send(struct goal_out *, uint64_t to, uint64_t bytes, uint64_t tag);
uint64_t goal_recv(struct goal_out *, uint64_t from, uint64_t bytes, uint64_t tag);
/* Makes the next operations depend on this one, too. */
void goal_wait(struct goal_out *, uint64_t label);

/* Writes a collective as messages between the members of its communicator; returns 0 if there is no
 * such form of its kind. */
int goal_collective(struct goal_out *, const struct action *, const struct members *, uint64_t self,
                    uint64_t tag);

int goal_write(struct trace *, const char *path, struct format_notes *, struct err *);

#endif
