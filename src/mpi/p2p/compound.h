/*
 * compound.h - requests that consist of other operations: MPI_Isendrecv, partitioned communication
 * and generalized requests.
 *
 * A *child* is a send or a receive without a handle that belongs to a request, its parent. It
 * counts in the parent's `parts` until it is complete; it is then released, which notifies the
 * parent (mpi_child_ended). The parent is complete when `parts` is 0, at the latest time of its
 * parts.
 */
#ifndef MPI_P2P_COMPOUND_H
#define MPI_P2P_COMPOUND_H

#include "mpi/p2p/request.h"

/* A new operation of the rank: a request with a ref on the type, not started. */
struct mpi_req *mpi_child_new(struct mpi_rank *self, struct mpi_req *parent, struct mpi_type *type);

/* The operation has been started; its parent's `parts` already count it. With own_buf its buffer is
 * from mem_alloc and is freed with it. May complete (and release) both. */
void mpi_child_adopt(struct mpi_rank *self, struct mpi_req *child, int own_buf);

/* A packed copy of count items for a send whose buffer is received into, from mem_alloc; hollow if
 * the buffer is. */
void *mpi_packed_copy(const void *buf, uint64_t count, const struct mpi_type *type);

/* One part of the request is over, at time t. Completes the request if it was the last; an orphan
 * is then released. */
void mpi_part_ended(struct mpi_req *parent, vtime t);

/* request.c: a complete child is about to be released. */
void mpi_child_ended(struct mpi_req *child);

/* ---- partitioned requests (partitioned_api.c) ---- */
/* Starts an idle one. */
void mpi_partitioned_start(struct mpi_rank *self, struct mpi_req *);
/* A child of a partitioned receive has ended. */
void mpi_partitioned_arrived(struct mpi_req *parent, const struct mpi_req *child);
/* A receive that does not know its sender yet cannot be released. */
int mpi_partitioned_is_unmet(const struct mpi_req *);
void mpi_partitioned_free(struct mpi_req *);

/* ---- generalized requests (greq_api.c); all but free call functions of the program ---- */
/* The program's query and free functions; returns an MPI error code. */
int mpi_greq_query(struct mpi_rank *self, struct mpi_req *, MPI_Status *);
int mpi_greq_release(struct mpi_rank *self, struct mpi_req *);
int mpi_greq_cancel(struct mpi_rank *self, struct mpi_req *);
/* Calls the poll functions of incomplete requests in the array. Returns how many of the requests
 * that have one are still incomplete. */
int mpi_greq_poll(struct mpi_rank *self, int n, const MPI_Request *);
void mpi_greq_free(struct mpi_req *);

#endif
