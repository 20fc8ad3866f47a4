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

/*
 * Where a window that the rank holds keeps the value of a predefined key: MPI_WIN_BASE the address of
 * a void *, MPI_WIN_SIZE that of an MPI_Aint, MPI_WIN_DISP_UNIT, MPI_WIN_CREATE_FLAVOR and
 * MPI_WIN_MODEL that of an int. It stays there as long as the window. NULL: the window has none.
 */
const void *mpi_win_attr(const struct mpi_rank *self, MPI_Win win, int keyval);

/* The window of the rank whose communicator this is, or MPI_WIN_NULL. */
MPI_Win mpi_win_of_comm(const struct mpi_rank *self, MPI_Comm comm);

#endif
