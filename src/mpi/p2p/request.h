/*
 * request.h - requests as the user sees them, for the wait, test and persistent calls.
 */
#ifndef MPI_P2P_REQUEST_H
#define MPI_P2P_REQUEST_H

#include "mpi/p2p/p2p_internal.h"

/* The call that creates such a request; MPI_FN_COUNT: not point-to-point, or to MPI_PROC_NULL. */
enum mpi_fn mpi_req_maker(const struct mpi_req *);

/* The communicator of any request, on a stack or not; NULL if it has been freed. */
const struct mpi_comm *mpi_req_comm(const struct mpi_req *);

/* A persistent request that is not started. */
int mpi_req_is_idle(const struct mpi_req *);

/* Calls fn for every request that a program has neither completed nor freed. */
void mpi_req_each_left(void (*fn)(const struct mpi_req *, void *), void *arg);

/* The next incomplete request of the rank on c, from index *from of its table; or NULL. Advances
 * the rank's clock to the completion of the complete ones. Start with *from = 0, and continue when
 * the request is complete. O(requests). */
struct mpi_req *mpi_req_unfinished(struct mpi_rank *self, const struct mpi_comm *c, uint32_t *from);

/* Bytes that a complete receive has put into its buffer. */
uint64_t mpi_req_received(const struct mpi_req *);

/* The request behind a handle, also if the program has freed it and it is not complete yet; or
 * NULL. */
struct mpi_req *mpi_req_get_any(struct mpi_rank *self, MPI_Request);

/* The request behind a handle if it is one to wait for: not null, not idle. */
struct mpi_req *mpi_req_pending(struct mpi_rank *self, MPI_Request);
/* Whether a pending request is a receive that no message has matched by now. */
int mpi_req_may_cancel(struct mpi_rank *self, struct mpi_req *);

/* Completes a DONE request for the user: advances the clock, fills the status, and releases the
 * handle (persistent requests become idle). Returns its error, raises nothing. */
int mpi_req_finish(struct mpi_rank *self, struct mpi_req *, MPI_Request *handle, MPI_Status *);

/* Raises the error of an operation. Calls that complete several requests do so with MPI_COMM_NULL:
 * it goes, as in MPICH, to the handler of MPI_COMM_WORLD whatever the communicators were. */
int mpi_req_raise(struct mpi_rank *self, MPI_Comm, int error);

/* Blocks until one of the requests is complete, or until `limit`; returns when that is. Completes
 * none of them, and leaves the clock as it is. May switch. */
vtime mpi_req_await(struct mpi_rank *self, int n, const MPI_Request *, vtime limit);

/* Completes all requests of the array / those complete at t; raises MPI_ERR_IN_STATUS. With
 * stop_at_error the requests after the first that failed are unchanged (MPI_ERR_PENDING). */
int mpi_finish_all(struct mpi_rank *self, int n, MPI_Request *, MPI_Status *, int stop_at_error);
int mpi_finish_some(struct mpi_rank *self, int n, MPI_Request *, vtime t, int *outcount,
                    int *indices, MPI_Status *);

/* Checks an array of handles; raises. */
int mpi_req_look_up(struct mpi_rank *self, int n, const MPI_Request *);

#endif
