/*
 * posted.h - receives that wait for their message.
 */
#ifndef MPI_P2P_POSTED_H
#define MPI_P2P_POSTED_H

#include "mpi/p2p/p2p_internal.h"

/* Adds a receive after all others. MPI_REQ_WILD must be final. */
void mpi_posted_add(struct mpi_rank *self, struct mpi_req *);

/* Sets the source of an undecided receive: it is then decided, and keeps its position. */
void mpi_posted_name(struct mpi_rank *self, struct mpi_req *, int32_t peer);

/* The first posted receive that m matches, or NULL. O(1) amortised. */
struct mpi_req *mpi_posted_first(struct mpi_rank *self, const struct mpi_msg *m);

/* Is there a receive whose match is not a decision? */
int mpi_posted_named(struct mpi_rank *self);

/* Calls fn for undecided receives: at least for the oldest of each kind (context, source, tag).
 * Others of the kind have no claim before it. The order is not that of posting. */
void mpi_posted_each_wild(struct mpi_rank *self,
                          void (*fn)(struct mpi_rank *, struct mpi_req *, void *), void *arg);

/* When a search goes further than this, an index is built; tests lower it. */
extern uint32_t mpi_posted_index_above;

#endif
