/*
 * tags.h - tags on the collective context of a communicator.
 *
 * There is one per operation, so that ranks that call different collectives never exchange data by
 * mistake: they block, and the deadlock report names both calls. Within one operation messages
 * between two ranks match in order, so algorithms of several phases need no further tags.
 */
#ifndef MPI_P2P_TAGS_H
#define MPI_P2P_TAGS_H

enum mpi_coll_tag {
    MPI_TAG_BARRIER = 1,
    MPI_TAG_BCAST,
    MPI_TAG_GATHER,
    MPI_TAG_GATHERV,
    MPI_TAG_SCATTER,
    MPI_TAG_SCATTERV,
    MPI_TAG_ALLGATHER,
    MPI_TAG_ALLGATHERV,
    MPI_TAG_ALLTOALL,
    MPI_TAG_ALLTOALLV,
    MPI_TAG_ALLTOALLW,
    MPI_TAG_REDUCE,
    MPI_TAG_ALLREDUCE,
    MPI_TAG_REDUCE_SCATTER,
    MPI_TAG_REDUCE_SCATTER_BLOCK,
    MPI_TAG_SCAN,
    MPI_TAG_EXSCAN,
    MPI_TAG_COMM_DUP, /* communicator management */
    MPI_TAG_COMM_SPLIT,
    MPI_TAG_COMM_CREATE,
    MPI_TAG_COMM_SPLIT_TYPE,
    MPI_TAG_FILE_OPEN,
    MPI_TAG_CART_CREATE,
    MPI_TAG_CART_SUB,
    MPI_TAG_INTERCOMM_CREATE,
    MPI_TAG_INTERCOMM_MERGE,
    MPI_TAG_NEIGHBOR,
    MPI_TAG_GRAPH_CREATE,
    MPI_TAG_DIST_GRAPH,
    MPI_TAG_WIN,
    MPI_TAG_NONBLOCKING_FIRST = 64, /* and above: the same, for each pending non-blocking one */
    MPI_TAG_CREATE_GROUP_FIRST = 1 << 30 /* and above: MPI_Comm_create_group, by the user's tag */
};

/* Is this the tag of a broadcast, whose messages must have the expected length? Other messages may
 * be shorter than their buffer, as in MPICH. */
static inline int mpi_coll_tag_is_bcast(int tag)
{
    return tag < MPI_TAG_CREATE_GROUP_FIRST && tag % MPI_TAG_NONBLOCKING_FIRST == MPI_TAG_BCAST;
}

#endif
