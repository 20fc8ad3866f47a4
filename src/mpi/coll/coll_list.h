/*
 * coll_list.h - every collective algorithm, one line each.
 *
 *     X(operation, name, needs)   implemented by coll_<operation>_<name>, in a file of that name
 *
 * `needs` says where the algorithm works (COLL_NEED_* in coll.h). To add an algorithm: write its
 * file and add its line; then it can be asked for by name. To have it chosen by default, return it
 * from the selector of its operation in coll_table.c.
 */
#ifndef MPI_COLL_LIST_H
#define MPI_COLL_LIST_H

#define MPI_COLL_ALGORITHMS(X)                                              \
    X(barrier, dissemination, 0)                                            \
    X(bcast, binomial, 0)                                                   \
    X(bcast, scatter_recursive_doubling_allgather, COLL_NEED_POW2)          \
    X(bcast, scatter_ring_allgather, 0)                                     \
    X(gather, binomial, 0)                                                  \
    X(gatherv, linear, 0)                                                   \
    X(scatter, binomial, 0)                                                 \
    X(scatterv, linear, 0)                                                  \
    X(allgather, recursive_doubling, COLL_NEED_POW2)                        \
    X(allgather, bruck, 0)                                                  \
    X(allgather, ring, 0)                                                   \
    X(allgatherv, recursive_doubling, COLL_NEED_POW2)                       \
    X(allgatherv, bruck, 0)                                                 \
    X(allgatherv, ring, 0)                                                  \
    X(alltoall, bruck, COLL_NEED_SEPARATE)                                  \
    X(alltoall, spread, COLL_NEED_SEPARATE)                                 \
    X(alltoall, pairwise, COLL_NEED_SEPARATE)                               \
    X(alltoall, replace, COLL_NEED_IN_PLACE)                                \
    X(alltoallv, spread, COLL_NEED_SEPARATE)                                \
    X(alltoallv, pairwise, COLL_NEED_SEPARATE)                              \
    X(alltoallv, replace, COLL_NEED_IN_PLACE)                               \
    X(alltoallw, spread, COLL_NEED_SEPARATE)                                \
    X(alltoallw, pairwise, COLL_NEED_SEPARATE)                              \
    X(alltoallw, replace, COLL_NEED_IN_PLACE)                               \
    X(reduce, binomial, 0)                                                  \
    X(reduce, rabenseifner, COLL_NEED_COMMUTE | COLL_NEED_ITEMS)            \
    X(allreduce, recursive_doubling, 0)                                     \
    X(allreduce, rabenseifner, COLL_NEED_COMMUTE | COLL_NEED_ITEMS)         \
    X(reduce_scatter, recursive_halving, COLL_NEED_COMMUTE)                 \
    X(reduce_scatter, pairwise, COLL_NEED_COMMUTE)                          \
    X(reduce_scatter, ordered_halving, 0)                                   \
    X(reduce_scatter_block, recursive_halving, COLL_NEED_COMMUTE)           \
    X(reduce_scatter_block, pairwise, COLL_NEED_COMMUTE)                    \
    X(reduce_scatter_block, ordered_halving, 0)                             \
    X(scan, recursive_doubling, 0)                                          \
    X(exscan, recursive_doubling, 0)

#endif
