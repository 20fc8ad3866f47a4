/*
 * coll_list.h - every collective algorithm, one line each.
 *
 *     X(operation, name, needs)   implemented by coll_<operation>_<name>, in a file of that name or
 *                                 with a relative of the same operation
 *
 * `needs` says where the algorithm works (COLL_NEED_*); elsewhere another one is used. To add an
 * algorithm: write its file, which begins with its cost, and add its line; then it can be selected
 * by name. To have it chosen by default, name it in a selector (select_*.c).
 *
 * Costs are for P ranks, alpha the time of an empty message (latency and both overheads), beta the
 * time per byte, gamma the time to reduce a byte, o the sender's overhead.
 */
#ifndef MPI_COLL_LIST_H
#define MPI_COLL_LIST_H

enum mpi_coll_need {
    COLL_NEED_POW2 = 1,      /* a power of two of ranks */
    COLL_NEED_COMMUTE = 2,   /* a commutative operation */
    COLL_NEED_ITEMS = 4,     /* an item for each of the largest power of two of ranks */
    COLL_NEED_IN_PLACE = 8,  /* MPI_IN_PLACE */
    COLL_NEED_SEPARATE = 16, /* not MPI_IN_PLACE */
    COLL_NEED_EVEN = 32,     /* an even number of ranks */
    COLL_NEED_NODES = 64,    /* several nodes, one of them with several ranks; the ranks of each are
                                 * neighbours in rank order for scan, and if an operation does not
                                 * commute */
    COLL_NEED_ITEM_EACH = 128, /* an item for each rank */
};

/* Operations, in the order of enum mpi_coll_op, and the available selectors. */
// clang-format off
#define MPI_COLL_OPERATIONS(X)                                                               \
    X(barrier) X(bcast) X(gather) X(gatherv) X(scatter) X(scatterv) X(allgather) X(allgatherv) \
    X(alltoall) X(alltoallv) X(alltoallw) X(reduce) X(allreduce) X(reduce_scatter)            \
    X(reduce_scatter_block) X(scan) X(exscan)
// clang-format on

#define MPI_COLL_SELECTORS(X)                                                   \
    X(mpich, "algorithms by size and communicator as MPICH 4.0 chooses them")   \
    X(openmpi, "the same as Open MPI 4.1 does (fixed decisions of coll/tuned)") \
    X(model, "no algorithms: a logarithmic cost, times mpi.collective_factor")

#define MPI_COLL_ALGORITHMS(X)                                      \
    X(barrier, dissemination, 0)                                    \
    X(barrier, linear, 0)                                           \
    X(barrier, binomial, 0)                                         \
    X(barrier, recursive_doubling, 0)                               \
    X(barrier, tournament, 0)                                       \
    X(barrier, two_level, COLL_NEED_NODES)                          \
    X(bcast, binomial, 0)                                           \
    X(bcast, linear, 0)                                             \
    X(bcast, binary, 0)                                             \
    X(bcast, split_binary, 0)                                       \
    X(bcast, knomial, 0)                                            \
    X(bcast, chain, 0)                                              \
    X(bcast, pipeline, 0)                                           \
    X(bcast, scatter_allgather, COLL_NEED_POW2)                     \
    X(bcast, scatter_ring_allgather, 0)                             \
    X(bcast, two_level, COLL_NEED_NODES)                            \
    X(gather, binomial, 0)                                          \
    X(gather, linear, 0)                                            \
    X(gatherv, linear, 0)                                           \
    X(scatter, binomial, 0)                                         \
    X(scatter, linear, 0)                                           \
    X(scatterv, linear, 0)                                          \
    X(allgather, recursive_doubling, COLL_NEED_POW2)                \
    X(allgather, bruck, 0)                                          \
    X(allgather, ring, 0)                                           \
    X(allgather, neighbor_exchange, COLL_NEED_EVEN)                 \
    X(allgather, gather_bcast, 0)                                   \
    X(allgather, two_level, COLL_NEED_NODES)                        \
    X(allgatherv, recursive_doubling, COLL_NEED_POW2)               \
    X(allgatherv, bruck, 0)                                         \
    X(allgatherv, ring, 0)                                          \
    X(allgatherv, neighbor_exchange, COLL_NEED_EVEN)                \
    X(allgatherv, gather_bcast, 0)                                  \
    X(alltoall, bruck, COLL_NEED_SEPARATE)                          \
    X(alltoall, spread, COLL_NEED_SEPARATE)                         \
    X(alltoall, pairwise, COLL_NEED_SEPARATE)                       \
    X(alltoall, ring, COLL_NEED_SEPARATE)                           \
    X(alltoall, replace, COLL_NEED_IN_PLACE)                        \
    X(alltoallv, spread, COLL_NEED_SEPARATE)                        \
    X(alltoallv, pairwise, COLL_NEED_SEPARATE)                      \
    X(alltoallv, replace, COLL_NEED_IN_PLACE)                       \
    X(alltoallw, spread, COLL_NEED_SEPARATE)                        \
    X(alltoallw, pairwise, COLL_NEED_SEPARATE)                      \
    X(alltoallw, replace, COLL_NEED_IN_PLACE)                       \
    X(reduce, binomial, 0)                                          \
    X(reduce, linear, 0)                                            \
    X(reduce, binary, 0)                                            \
    X(reduce, in_order_binary, 0)                                   \
    X(reduce, chain, 0)                                             \
    X(reduce, pipeline, 0)                                          \
    X(reduce, rabenseifner, COLL_NEED_COMMUTE | COLL_NEED_ITEMS)    \
    X(reduce, two_level, COLL_NEED_NODES)                           \
    X(allreduce, recursive_doubling, 0)                             \
    X(allreduce, rabenseifner, COLL_NEED_COMMUTE | COLL_NEED_ITEMS) \
    X(allreduce, ring, COLL_NEED_COMMUTE | COLL_NEED_ITEM_EACH)     \
    X(allreduce, linear, 0)                                         \
    X(allreduce, reduce_bcast, 0)                                   \
    X(allreduce, two_level, COLL_NEED_NODES)                        \
    X(reduce_scatter, recursive_halving, COLL_NEED_COMMUTE)         \
    X(reduce_scatter, pairwise, COLL_NEED_COMMUTE)                  \
    X(reduce_scatter, ordered_halving, 0)                           \
    X(reduce_scatter, recursive_doubling, 0)                        \
    X(reduce_scatter, ring, COLL_NEED_COMMUTE)                      \
    X(reduce_scatter, reduce_scatterv, 0)                           \
    X(reduce_scatter_block, recursive_halving, COLL_NEED_COMMUTE)   \
    X(reduce_scatter_block, pairwise, COLL_NEED_COMMUTE)            \
    X(reduce_scatter_block, ordered_halving, 0)                     \
    X(reduce_scatter_block, recursive_doubling, 0)                  \
    X(reduce_scatter_block, ring, COLL_NEED_COMMUTE)                \
    X(reduce_scatter_block, reduce_scatter, 0)                      \
    X(scan, recursive_doubling, 0)                                  \
    X(scan, linear, 0)                                              \
    X(scan, two_level, COLL_NEED_NODES)                             \
    X(exscan, recursive_doubling, 0)                                \
    X(exscan, linear, 0)

#endif
