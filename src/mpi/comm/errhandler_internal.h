/*
 * errhandler_internal.h - between errhandler.c (handlers, raising, communicators) and
 * errhandler_kinds.c (windows, files and sessions).
 */
#ifndef MPI_COMM_ERRHANDLER_INTERNAL_H
#define MPI_COMM_ERRHANDLER_INTERNAL_H

#include <stdarg.h>

#include "mpi_abi.h"

struct mpi_rank;

/* What a handler is for; the numbers of the first three are those of MPICH's C++ binding. */
enum errhandler_kind { FOR_COMM = 0, FOR_FILE = 1, FOR_WIN = 2, FOR_SESSION = 3, FOR_NOTHING = 4 };

/* A handler from the program's function, called with the address of a handle of that kind and of
 * the code; with a handle for the caller. */
int errhandler_create(enum errhandler_kind, void (*function)(void), MPI_Errhandler *out);
/* Raises MPI_ERR_ARG on comm unless h is a handler for this kind. */
int errhandler_check(struct mpi_rank *, MPI_Comm comm, MPI_Errhandler h, enum errhandler_kind);
/* One more handle, for the caller of MPI_X_get_errhandler. */
MPI_Errhandler errhandler_share(MPI_Errhandler);
/* Ends the run if h is fatal ("MPI_Send(rank 3, MPI_COMM_WORLD): MPI_ERR_RANK: ..."), else calls it
 * with the object's handle. FOR_NOTHING: MPI_COMM_WORLD's handler, although the error has nothing
 * to do with it. */
void errhandler_call(struct mpi_rank *, MPI_Errhandler h, enum errhandler_kind, void *handle,
                     int code, const char *fmt, va_list args);
/* errhandler_call for MPI_X_call_errhandler, which has no message. */
void errhandler_invoke(struct mpi_rank *, MPI_Errhandler h, enum errhandler_kind, void *handle,
                       int code);

/* What the rank has set on a communicator, window or session, or `otherwise` if it has set nothing;
 * their handles differ in kind, so one table holds them all. */
MPI_Errhandler errhandler_own(const struct mpi_rank *, int handle, MPI_Errhandler otherwise);
void errhandler_set_own(struct mpi_rank *, int handle, MPI_Errhandler);

#endif
