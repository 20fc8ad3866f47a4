/*
 * verify_internal.h - declarations shared by the files of --check, and for main/above.c, which
 * binds them. See verify.h.
 */
#ifndef MPI_CHECK_VERIFY_INTERNAL_H
#define MPI_CHECK_VERIFY_INTERNAL_H

#include "mpi/verify.h"

/* verify_message.c: mpi_verify_match. */
void verify_match(const struct mpi_rank *self, const struct mpi_req *, const struct mpi_msg *);

/* verify_pair.c: mpi_verify_parts. */
void verify_parts(const struct mpi_rank *self, const struct mpi_req *, uint64_t sent,
                  uint64_t received);

/* verify_coll.c: mpi_verify_coll, and dropping a communicator that the rank has freed. */
void verify_coll(struct mpi_rank *self, const struct mpi_comm *c, const struct mpi_coll_args *,
                 enum mpi_verify_way);
void verify_coll_forget(struct mpi_rank *self, uint32_t ctx);
/* Collectives that are incomplete at the end of the run: sends them to process 0; reports them
 * there. */
void verify_coll_collect(struct buf *out);
void verify_coll_conclude(int complete);

#endif
