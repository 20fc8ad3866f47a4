/*
 * message.h - messages of collectives: bytes or typed data on the collective context of a
 * communicator. Ranks are ranks in c. In a strand the tag is that of the strand; where collectives
 * cost nothing, neither do their messages.
 */
#ifndef MPI_COLL_MESSAGE_H
#define MPI_COLL_MESSAGE_H

#include "mpi/comm/comm.h"
#include "mpi/p2p/p2p.h"

/* Blocking (may switch); return an MPI class, raise nothing. */
int mpi_coll_send(struct mpi_rank *self, struct mpi_comm *c, const void *buf, uint64_t count,
                  struct mpi_type *type, int dst, int tag);
int mpi_coll_recv(struct mpi_rank *self, struct mpi_comm *c, void *buf, uint64_t count,
                  struct mpi_type *type, int src, int tag);
int mpi_coll_sendrecv(struct mpi_rank *self, struct mpi_comm *c, const void *sbuf, uint64_t scount,
                      struct mpi_type *stype, int dst, void *rbuf, uint64_t rcount,
                      struct mpi_type *rtype, int src, int tag);
/* Non-blocking forms with the caller's request; ranks are ranks in c (dst/src < 0: no-op). */
void mpi_coll_isend(struct mpi_rank *self, struct mpi_comm *c, struct mpi_req *, const void *buf,
                    uint64_t count, struct mpi_type *type, int dst, int tag);
void mpi_coll_irecv(struct mpi_rank *self, struct mpi_comm *c, struct mpi_req *, void *buf,
                    uint64_t count, struct mpi_type *type, int src, int tag);

#endif
