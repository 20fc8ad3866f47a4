/*
 * verify_internal.h - between the files of --check, and for who binds them (main/above.c). See verify.h.
 */
#ifndef MPI_CHECK_VERIFY_INTERNAL_H
#define MPI_CHECK_VERIFY_INTERNAL_H

#include "mpi/verify.h"

/* verify_message.c: mpi_verify_match. */
void verify_match(const struct mpi_rank *self, const struct mpi_req *, const struct mpi_msg *);

/* verify_coll.c: mpi_verify_coll, and forgetting a communicator that the rank has freed. */
void verify_coll(struct mpi_rank *self, const struct mpi_comm *c, const struct mpi_coll_args *,
                 enum mpi_verify_way);
void verify_coll_forget(struct mpi_rank *self, uint32_t ctx);
/* Collectives that are not complete at the end of the run: told to process 0; and found there. */
void verify_coll_collect(struct buf *out);
void verify_coll_conclude(int complete);

#endif
