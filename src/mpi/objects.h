/*
 * objects.h - what error handlers and attributes must know about windows, files and sessions.
 *
 * Each function is implemented by the part that has the objects. None switches.
 */
#ifndef MPI_OBJECTS_H
#define MPI_OBJECTS_H

#include <mpi.h>

struct mpi_rank;

/* Is the handle that of a window, file or session which the rank holds? */
int mpi_win_held(const struct mpi_rank *self, MPI_Win win);
int mpi_file_held(const struct mpi_rank *self, MPI_File file);
int mpi_session_held(const struct mpi_rank *self, MPI_Session session);

#endif
