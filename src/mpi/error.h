/*
 * error.h - MPI errors, raised in one place.
 */
#ifndef MPI_ERROR_H
#define MPI_ERROR_H

#include "mpi_abi.h"

struct mpi_rank;
enum mpi_fn;

/*
 * Raises an MPI error of the given class through the rank's error handler of comm (MPI_COMM_WORLD's
 * if comm is MPI_COMM_NULL or invalid). Returns the class when the handler returns, for the MPI
 * call to return. MPI_ERRORS_ARE_FATAL ends the run (does not return). The text says what was
 * wrong: "rank 17 is not in MPI_COMM_WORLD (size 4)".
 */
int mpi_raise(struct mpi_rank *self, MPI_Comm comm, int error_class, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/*
 * mpi_raise through the rank's handler of a window (default MPI_COMM_WORLD's), a file (default
 * MPI_ERRORS_RETURN) or a session (default from MPI_Session_init). For an invalid window or
 * session: MPI_COMM_WORLD's handler; for an invalid file: MPI_FILE_NULL's.
 */
int mpi_raise_win(struct mpi_rank *self, MPI_Win win, int error_class, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
int mpi_raise_file(struct mpi_rank *self, MPI_File file, int error_class, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
int mpi_raise_session(struct mpi_rank *self, MPI_Session session, int error_class, const char *fmt,
                      ...) __attribute__((format(printf, 4, 5)));

/* What a failed MPI call returns to the program: the code, unless the program's handler has set
 * another one. After a handler of the C++ binding there is no error. */
int mpi_error_handled(struct mpi_rank *self, int code) __attribute__((cold));

/* The rank has opened the file, which gets MPI_FILE_NULL's current handler / has closed it, or
 * freed the window or session: drops its handler. */
void mpi_errhandler_file_opened(struct mpi_rank *self, MPI_File file);
void mpi_errhandler_file_closed(struct mpi_rank *self, MPI_File file);
void mpi_errhandler_win_freed(struct mpi_rank *self, MPI_Win win);
void mpi_errhandler_session_freed(struct mpi_rank *self, MPI_Session session);

/* The program called a function that Orrery does not provide yet: names it and ends the run. */
_Noreturn void mpi_unsupported(int fn);

/* Ends the whole run as MPI_Abort does, at the rank's virtual time. May switch. */
_Noreturn void mpi_abort_run(struct mpi_rank *self, int code, const char *why);

#endif
