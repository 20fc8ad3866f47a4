/*
 * leaks.h - what a program leaves behind when it ends (--check-leaks): objects that it has made and not
 * freed, and messages that it has sent and not received.
 *
 * The generated entries report what a successful call made or freed: api/generate.py knows by the
 * types of the arguments which calls do. A module whose handles come and go otherwise reports them
 * itself. Requests and messages are not reported: those that are left in the end are the leaks.
 *
 * Nothing here switches. All is off, and costs one look at a flag, unless mpi_world.check_leaks.
 */
#ifndef MPI_LEAKS_H
#define MPI_LEAKS_H

#include "base/buf.h"
#include "base/json.h"
#include "mpi/rank.h"

enum mpi_leak_kind {
    MPI_LEAK_REQUEST = 0,
    MPI_LEAK_COMM,
    MPI_LEAK_GROUP,
    MPI_LEAK_TYPE,
    MPI_LEAK_OP,
    MPI_LEAK_INFO,
    MPI_LEAK_ERRHANDLER,
    MPI_LEAK_KEYVAL,
    MPI_LEAK_WIN,
    MPI_LEAK_FILE,
    MPI_LEAK_MESSAGE,
    MPI_LEAK_KINDS
};

/* A handle as a number: an int in MPICH, but for files. 0: the program passed no pointer. */
#define MPI_LEAK_HANDLE(at)                                                                  \
    ((at) ? (uint64_t)(uintptr_t)*(at) & (sizeof *(at) == 4 ? UINT32_MAX : UINT64_MAX) : 0)

/* The rank got a handle from the call it is in (self->fn). Null and predefined handles are passed
 * over. The same handle may be got several times: the call is that of the first. */
void mpi_leak_made(struct mpi_rank *self, enum mpi_leak_kind, uint64_t handle);
/* It gave one up. */
void mpi_leak_freed(struct mpi_rank *self, enum mpi_leak_kind, uint64_t handle);

/* ---- the end of the run ---- */
/* Adds what the ranks of this process have left. Process context. */
void mpi_leaks_collect(struct buf *out);
/* Process 0: sums up what all processes collected. Returns the number of different leaks. */
uint32_t mpi_leaks_merge(const struct buf *parts);
/* Says them on standard error, one line each; writes them as the member "leaks". */
void mpi_leaks_say(void);
void mpi_leaks_json(struct json *);

#endif
