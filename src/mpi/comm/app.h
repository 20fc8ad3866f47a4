/*
 * app.h - the additional state of a spawned rank (dynamic/spawn.h).
 */
#ifndef MPI_COMM_APP_H
#define MPI_COMM_APP_H

#include "mpi/comm/comm.h"
#include "mpi/ext.h"

/* The state of a spawned rank; hangs off its ext. */
struct mpi_app {
    struct mpi_comm *world; /* its MPI_COMM_WORLD */
    mpi_comm_desc world_desc, parent_desc;
    int appnum;
    int argc;
    char **argv;
    char *wdir; /* "": that of the run; all these are in one block */
};

/* NULL: the rank was not spawned. */
static inline struct mpi_app *mpi_app_of(const struct mpi_rank *self)
{
    const struct mpi_rare *x = mpi_rare_find(self);

    return x ? x->app : NULL;
}

#endif
