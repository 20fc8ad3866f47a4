/*
 * request.h - requests as the user sees them, for the wait, test and persistent calls.
 */
#ifndef MPI_P2P_REQUEST_H
#define MPI_P2P_REQUEST_H

#include "mpi/p2p/p2p_internal.h"

/* A persistent request that is not started. */
int mpi_req_is_idle(const struct mpi_req *);

/* The request behind a handle if it is one to wait for: not null, not idle. */
struct mpi_req *mpi_req_pending(struct mpi_rank *self, MPI_Request);

/* Completes a DONE request towards the user: clock, status, and the handle's end (persistent ones
 * become idle). Returns its error, raises nothing. */
int mpi_req_finish(struct mpi_rank *self, struct mpi_req *, MPI_Request *handle, MPI_Status *);

/* Raises the error of a single request, if any. */
int mpi_req_raise(struct mpi_rank *self, MPI_Comm, int error);

/* Completes all requests of the array / those complete at t; raises MPI_ERR_IN_STATUS. */
int mpi_finish_all(struct mpi_rank *self, int n, MPI_Request *, MPI_Status *);
int mpi_finish_some(struct mpi_rank *self, int n, MPI_Request *, vtime t, int *outcount,
                    int *indices, MPI_Status *);

/* Checks an array of handles; raises. */
int mpi_req_look_up(struct mpi_rank *self, int n, const MPI_Request *);

#endif
