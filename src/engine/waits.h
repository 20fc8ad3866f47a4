/*
 * waits.h - what a blocked entity waits for, for the report of a deadlock (stuck.h).
 */
#ifndef ENGINE_WAITS_H
#define ENGINE_WAITS_H

#include <stdint.h>

/* One thing that a blocked entity waits for. */
struct engine_wait {
    char text[224]; /* "MPI_Recv from rank 3, tag 7, MPI_COMM_WORLD" */
    /* An unnamed object that the wait refers to. The report numbers such objects in order of
     * appearance, and describes each once. */
    char kind[16];     /* "communicator"; "": there is no such object */
    char made[112];    /* how it was created */
    char site[48];     /* where in the program; "": unknown */
    uint64_t identity; /* equal for the same object, in all processes */
    int64_t waits_on;  /* world number of the one entity it waits for, or -1 if several or any */
};

#define ENGINE_WAITS 8  /* things described */
#define ENGINE_EDGES 16 /* entities that an entity is known to wait for */

/* All that a blocked entity waits for, filled in by ops->explain. */
struct engine_waits {
    uint32_t count; /* things; the first ENGINE_WAITS of them are in `at` */
    uint32_t edges;
    struct engine_wait at[ENGINE_WAITS];
    int32_t on[ENGINE_EDGES]; /* world numbers, each once */
};

/* The next thing, cleared, to be filled in; NULL if no more are described. */
struct engine_wait *engine_waits_add(struct engine_waits *);
/* It waits for this entity; -1: for none in particular. */
void engine_waits_edge(struct engine_waits *, int64_t on);

#endif
