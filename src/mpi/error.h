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

/*
 * The same through the handler the rank has set on a window (else MPI_COMM_WORLD's), a file (else
 * MPI_ERRORS_RETURN) or a session (else what MPI_Session_init was given). A window or session that
 * is not one of the rank's: MPI_COMM_WORLD's handler; a file: MPI_FILE_NULL's.
 */
int mpi_raise_win(struct mpi_rank *self, MPI_Win win, int error_class, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
int mpi_raise_file(struct mpi_rank *self, MPI_File file, int error_class, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
int mpi_raise_session(struct mpi_rank *self, MPI_Session session, int error_class, const char *fmt,
                      ...) __attribute__((format(printf, 4, 5)));

/* What an MPI call that failed returns to the program: the code, unless the program's handler has set
 * another one. A handler of the C++ binding leaves no error. */
int mpi_error_handled(struct mpi_rank *self, int code) __attribute__((cold));

/* The rank has opened the file: it gets the handler that MPI_FILE_NULL has now. The rank has closed
 * it, or freed the window or session: what it set on them is forgotten. */
void mpi_errhandler_file_opened(struct mpi_rank *self, MPI_File file);
void mpi_errhandler_file_closed(struct mpi_rank *self, MPI_File file);
void mpi_errhandler_win_freed(struct mpi_rank *self, MPI_Win win);
void mpi_errhandler_session_freed(struct mpi_rank *self, MPI_Session session);

/* The program called a function that Orrery does not provide yet: says which, ends the run. */
_Noreturn void mpi_unsupported(int fn);

/* The rank is beyond the time that the run may take: ends it at that time. May switch. */
_Noreturn void mpi_timed_out(struct mpi_rank *self);

/* Ends the whole run as MPI_Abort does, at the rank's virtual time. May switch. */
_Noreturn void mpi_abort_run(struct mpi_rank *self, int code, const char *why);

#endif
