/*
 * tool_internal.h - shared by the files of the tool information interface (MPI-4.0 15.3).
 *
 * Its calls do not raise errors: they return a code, and call no error handler.
 */
#ifndef MPI_TOOL_TOOL_INTERNAL_H
#define MPI_TOOL_TOOL_INTERNAL_H

#include "mpi_abi.h"

struct mpi_rank;

/* Has the rank called MPI_T_init_thread more often than MPI_T_finalize? */
int tool_ready(const struct mpi_rank *);

/* Copies a text: *length is the size of the buffer, and becomes that of the text with its
 * terminating null. No buffer or size 0 requests only the length; without length nothing is
 * done. */
void tool_text(const char *text, char *out, int *length);

/* Stores a result that the caller requested. */
static inline void tool_tell(int *out, int value)
{
    if (out)
        *out = value;
}

/* How many performance variables there are: those of category "mpi". */
int tool_pvar_count(void);

#endif
