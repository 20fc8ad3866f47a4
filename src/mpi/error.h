/*
 * error.h - MPI errors, raised in one place.
 */
#ifndef MPI_ERROR_H
#define MPI_ERROR_H

#include <mpi.h>

struct mpi_rank;
enum mpi_fn;

/*
 * Raises an MPI error of the given class through the error handler that the rank has set on comm
 * (MPI_COMM_NULL or an invalid one: MPI_COMM_WORLD's). Returns the class when the handler returns,
 * to be returned by the MPI call. MPI_ERRORS_ARE_FATAL ends the run (does not return). The text
 * says what was wrong: "rank 17 is not in MPI_COMM_WORLD (size 4)".
 */
int mpi_raise(struct mpi_rank *self, MPI_Comm comm, int error_class, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* The program called a function that Orrery does not provide yet: says which, ends the run. */
_Noreturn void mpi_unsupported(int fn);

/* Ends the whole run as MPI_Abort does, at the rank's virtual time. May switch. */
_Noreturn void mpi_abort_run(struct mpi_rank *self, int code, const char *why);

#endif
