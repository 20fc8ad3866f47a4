/* Collectives, by functions that have a large-count form; see every.h. */

#define ALL(send, recv, counts, starts, types) \
    send, counts, starts, types, recv, counts, starts, types

/* Blocking ones, on any communicator with 4 ranks. */
static void PART(blocking)(MPI_Comm comm)
{
    SIZE counts[4] = {1, 2, 1, 2};
    START starts[4] = {0, 1, 3, 4}, bytes[4] = {0, 4, 12, 16};
    MPI_Datatype types[4] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
    SIZE mine = counts[rank], ones[4] = {1, 1, 1, 1};
    int out[8] = {0}, in[16];
    F(Bcast)(out, 2, MPI_INT, 1, comm);
    F(Gather)(out, 2, MPI_INT, in, 2, MPI_INT, 2, comm);
    F(Gatherv)(out, mine, MPI_INT, in, counts, starts, MPI_INT, 1, comm);
    F(Scatter)(in, 2, MPI_INT, out, 2, MPI_INT, 0, comm);
    F(Scatterv)(in, counts, starts, MPI_INT, out, mine, MPI_INT, 3, comm);
    F(Allgather)(out, 2, MPI_INT, in, 2, MPI_INT, comm);
    F(Allgather)(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 2, MPI_INT, comm);
    F(Allgatherv)(out, mine, MPI_INT, in, counts, starts, MPI_INT, comm);
    F(Alltoall)(in, 1, MPI_INT, out, 1, MPI_INT, comm);
    F(Alltoallv)(out, ones, starts, MPI_INT, in, ones, starts, MPI_INT, comm);
    F(Alltoallw)(ALL(out, in, ones, bytes, types), comm);
    F(Reduce)(out, in, 2, MPI_INT, MPI_SUM, 2, comm);
    F(Allreduce)(out, in, 2, MPI_INT, MPI_MAX, comm);
    F(Reduce_scatter)(in, out, counts, MPI_INT, MPI_SUM, comm);
    F(Reduce_scatter_block)(in, out, 1, MPI_INT, MPI_SUM, comm);
    F(Scan)(out, in, 2, MPI_INT, MPI_SUM, comm);
    F(Exscan)(out, in, 2, MPI_INT, MPI_SUM, comm);
    F(Reduce_local)(out, in, 2, MPI_INT, MPI_SUM);
}

/* Nonblocking ones. */
static void PART(begun)(MPI_Comm comm)
{
    SIZE counts[4] = {1, 2, 1, 2};
    START starts[4] = {0, 1, 3, 4}, bytes[4] = {0, 4, 12, 16};
    MPI_Datatype types[4] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
    SIZE mine = counts[rank], ones[4] = {1, 1, 1, 1};
    int out[8] = {0}, in[16];
    MPI_Request r;
#define THEN MPI_Wait(&r, MPI_STATUS_IGNORE)
    F(Ibcast)(out, 2, MPI_INT, 1, comm, &r), THEN;
    F(Igather)(out, 2, MPI_INT, in, 2, MPI_INT, 2, comm, &r), THEN;
    F(Igatherv)(out, mine, MPI_INT, in, counts, starts, MPI_INT, 1, comm, &r), THEN;
    F(Iscatter)(in, 2, MPI_INT, out, 2, MPI_INT, 0, comm, &r), THEN;
    F(Iscatterv)(in, counts, starts, MPI_INT, out, mine, MPI_INT, 3, comm, &r), THEN;
    F(Iallgather)(out, 2, MPI_INT, in, 2, MPI_INT, comm, &r), THEN;
    F(Iallgatherv)(out, mine, MPI_INT, in, counts, starts, MPI_INT, comm, &r), THEN;
    F(Ialltoall)(in, 1, MPI_INT, out, 1, MPI_INT, comm, &r), THEN;
    F(Ialltoallv)(out, ones, starts, MPI_INT, in, ones, starts, MPI_INT, comm, &r), THEN;
    F(Ialltoallw)(ALL(out, in, ones, bytes, types), comm, &r), THEN;
    F(Ireduce)(out, in, 2, MPI_INT, MPI_SUM, 2, comm, &r), THEN;
    F(Iallreduce)(out, in, 2, MPI_INT, MPI_MAX, comm, &r), THEN;
    F(Ireduce_scatter)(in, out, counts, MPI_INT, MPI_SUM, comm, &r), THEN;
    F(Ireduce_scatter_block)(in, out, 1, MPI_INT, MPI_SUM, comm, &r), THEN;
    F(Iscan)(out, in, 2, MPI_INT, MPI_SUM, comm, &r), THEN;
    F(Iexscan)(out, in, 2, MPI_INT, MPI_SUM, comm, &r), THEN;
#undef THEN
}

/* Persistent ones. */
static void PART(persistent)(MPI_Comm comm)
{
    SIZE counts[4] = {1, 2, 1, 2};
    START starts[4] = {0, 1, 3, 4}, bytes[4] = {0, 4, 12, 16};
    MPI_Datatype types[4] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
    SIZE mine = counts[rank], ones[4] = {1, 1, 1, 1};
    MPI_Info none = MPI_INFO_NULL;
    int out[8] = {0}, in[16];
    MPI_Request r;
    I(Bcast_init)(out, 2, MPI_INT, 1, comm, none, &r), run(&r);
    I(Gather_init)(out, 2, MPI_INT, in, 2, MPI_INT, 2, comm, none, &r), run(&r);
    I(Gatherv_init)(out, mine, MPI_INT, in, counts, starts, MPI_INT, 1, comm, none, &r), run(&r);
    I(Scatter_init)(in, 2, MPI_INT, out, 2, MPI_INT, 0, comm, none, &r), run(&r);
    I(Scatterv_init)(in, counts, starts, MPI_INT, out, mine, MPI_INT, 3, comm, none, &r), run(&r);
    I(Allgather_init)(out, 2, MPI_INT, in, 2, MPI_INT, comm, none, &r), run(&r);
    I(Allgatherv_init)(out, mine, MPI_INT, in, counts, starts, MPI_INT, comm, none, &r), run(&r);
    I(Alltoall_init)(in, 1, MPI_INT, out, 1, MPI_INT, comm, none, &r), run(&r);
    I(Alltoallv_init)
    (out, ones, starts, MPI_INT, in, ones, starts, MPI_INT, comm, none, &r), run(&r);
    I(Alltoallw_init)(ALL(out, in, ones, bytes, types), comm, none, &r), run(&r);
    I(Reduce_init)(out, in, 2, MPI_INT, MPI_SUM, 2, comm, none, &r), run(&r);
    I(Allreduce_init)(out, in, 2, MPI_INT, MPI_MAX, comm, none, &r), run(&r);
    I(Reduce_scatter_init)(in, out, counts, MPI_INT, MPI_SUM, comm, none, &r), run(&r);
    I(Reduce_scatter_block_init)(in, out, 1, MPI_INT, MPI_SUM, comm, none, &r), run(&r);
    I(Scan_init)(out, in, 2, MPI_INT, MPI_SUM, comm, none, &r), run(&r);
    I(Exscan_init)(out, in, 2, MPI_INT, MPI_SUM, comm, none, &r), run(&r);
}

/* In a ring: each rank has two neighbours. */
static void PART(neighbours)(MPI_Comm comm)
{
    SIZE counts[2] = {1, 1};
    START starts[2] = {0, 1};
    MPI_Aint bytes[2] = {0, 4};
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    MPI_Info none = MPI_INFO_NULL;
    int out[2] = {0}, in[2];
    MPI_Request r;
#define THEN MPI_Wait(&r, MPI_STATUS_IGNORE)
    F(Neighbor_allgather)(out, 1, MPI_INT, in, 1, MPI_INT, comm);
    F(Neighbor_allgatherv)(out, 1, MPI_INT, in, counts, starts, MPI_INT, comm);
    F(Neighbor_alltoall)(out, 1, MPI_INT, in, 1, MPI_INT, comm);
    F(Neighbor_alltoallv)(out, counts, starts, MPI_INT, in, counts, starts, MPI_INT, comm);
    F(Neighbor_alltoallw)(ALL(out, in, counts, bytes, types), comm);
    F(Ineighbor_allgather)(out, 1, MPI_INT, in, 1, MPI_INT, comm, &r), THEN;
    F(Ineighbor_allgatherv)(out, 1, MPI_INT, in, counts, starts, MPI_INT, comm, &r), THEN;
    F(Ineighbor_alltoall)(out, 1, MPI_INT, in, 1, MPI_INT, comm, &r), THEN;
    F(Ineighbor_alltoallv)
    (out, counts, starts, MPI_INT, in, counts, starts, MPI_INT, comm, &r), THEN;
    F(Ineighbor_alltoallw)(ALL(out, in, counts, bytes, types), comm, &r), THEN;
    I(Neighbor_allgather_init)(out, 1, MPI_INT, in, 1, MPI_INT, comm, none, &r), run(&r);
    I(Neighbor_allgatherv_init)
    (out, 1, MPI_INT, in, counts, starts, MPI_INT, comm, none, &r), run(&r);
    I(Neighbor_alltoall_init)(out, 1, MPI_INT, in, 1, MPI_INT, comm, none, &r), run(&r);
    I(Neighbor_alltoallv_init)
    (out, counts, starts, MPI_INT, in, counts, starts, MPI_INT, comm, none, &r), run(&r);
    I(Neighbor_alltoallw_init)(ALL(out, in, counts, bytes, types), comm, none, &r), run(&r);
#undef THEN
}

#undef ALL
