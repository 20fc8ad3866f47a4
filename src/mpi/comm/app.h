/*
 * app.h - what a rank that was spawned (dynamic/spawn.h) has of its own.
 */
#ifndef MPI_COMM_APP_H
#define MPI_COMM_APP_H

#include "mpi/comm/comm.h"
#include "mpi/ext.h"

/* What makes a rank that was spawned different; hangs off its ext. */
struct mpi_app {
    struct mpi_comm *world; /* its MPI_COMM_WORLD */
    mpi_comm_desc world_desc, parent_desc;
    int appnum;
    int argc;
    char **argv;
    char *wdir; /* "" that of the run; all these are one block */
};

/* NULL: the rank was not spawned. */
static inline struct mpi_app *mpi_app_of(const struct mpi_rank *self)
{
    const struct mpi_rare *x = mpi_rare_find(self);

    return x ? x->app : NULL;
}

#endif
