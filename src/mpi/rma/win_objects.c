/*
 * win_objects.c - which windows there are. One-sided communication is not supported yet, so that no
 * handle is a window.
 */
#include <stddef.h>

#include "mpi/objects.h"

int mpi_win_held(const struct mpi_rank *self, MPI_Win win)
{
    (void)self;
    (void)win;
    return 0;
}

const void *mpi_win_attr(const struct mpi_rank *self, MPI_Win win, int keyval)
{
    (void)self;
    (void)win;
    (void)keyval;
    return NULL;
}
