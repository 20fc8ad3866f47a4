/*
 * inter.h - collectives on intercommunicators. Not included outside this folder.
 *
 *     X(operation, name)   implemented by inter_<operation>_<name>, in a file inter_<...>.c
 *
 * `size` and `rank` of the arguments are those of the local group. The root of a rooted operation
 * is MPI_ROOT at the root, MPI_PROC_NULL at the others of its group, and the root's rank at the
 * other group. Algorithms send across on c and run collectives of their own group on c->local.
 * Empty blocks are not skipped: the amount in one direction says nothing about the other.
 *
 * All functions may switch, and return an MPI error class, not raised.
 */
#ifndef MPI_COLL_INTER_H
#define MPI_COLL_INTER_H

#include "mpi/coll/coll_internal.h"

#define MPI_COLL_INTER_ALGORITHMS(X)   \
    X(barrier, bcast)                  \
    X(bcast, local_bcast)              \
    X(gather, local_gather)            \
    X(gather, linear)                  \
    X(gatherv, linear)                 \
    X(scatter, local_scatter)          \
    X(scatter, linear)                 \
    X(scatterv, linear)                \
    X(allgather, gather_bcast)         \
    X(allgatherv, gather_bcast)        \
    X(alltoall, pairwise)              \
    X(alltoallv, pairwise)             \
    X(alltoallw, pairwise)             \
    X(reduce, local_reduce)            \
    X(allreduce, exchange)             \
    X(reduce_scatter, reduce_scatterv) \
    X(reduce_scatter_block, reduce_scatter)

#define INTER_DECLARE(operation, name)                                        \
    int inter_##operation##_##name(struct mpi_rank *self, struct mpi_comm *c, \
                                   const struct mpi_coll_args *a);
MPI_COLL_INTER_ALGORITHMS(INTER_DECLARE)
#undef INTER_DECLARE

/* Picks an algorithm and runs it. */
int mpi_inter_run(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a);

/* Sends what rank 0 of each side has to all of the other side; the low side begins. */
struct inter_swap {
    const void *sbuf; /* at rank 0 */
    uint64_t scount;
    struct mpi_type *stype;
    void *rbuf;
    uint64_t rcount;
    struct mpi_type *rtype;
};
int inter_swap(struct mpi_rank *self, struct mpi_comm *c, const struct inter_swap *s, int tag);

/* The caller's block from every rank of the remote group: COLL_WINDOW at a time. */
int inter_receive_all(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                      int tag);

#endif
