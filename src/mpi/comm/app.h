/*
 * app.h - what a rank that was spawned (dynamic/spawn.h) has of its own.
 */
#ifndef MPI_COMM_APP_H
#define MPI_COMM_APP_H

#include "mpi/comm/comm.h"

/* What makes a rank that was spawned different; hangs off its ext. */
struct mpi_app {
    struct mpi_comm *world; /* its MPI_COMM_WORLD */
    mpi_comm_desc world_desc, parent_desc;
    int appnum;
    int argc;
    char **argv;
    char *wdir; /* "" that of the run; all these are one block */
};

#endif
