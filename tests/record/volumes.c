/* native=4: collectives whose volume every tool must count alike: in place and not, blocking,
 * nonblocking and persistent, on intra- and intercommunicators, of neighbours; and one-sided
 * operations. With the argument "plain": blocking ones on MPI_COMM_WORLD alone. */
#include "every.h"

#define MOST 64

static int is_plain;
static int in[MOST * 8], out[MOST * 8];

static void await(MPI_Request *q)
{
    MPI_Wait(q, MPI_STATUS_IGNORE);
}

static void start(MPI_Request *q)
{
    MPI_Start(q);
    await(q);
    MPI_Request_free(q);
}

/* A collective in its three forms. */
#define ALL(name, lower, ...)                                  \
    do {                                                       \
        MPI_Request q;                                         \
        MPI_##name(__VA_ARGS__);                               \
        if (!is_plain) {                                       \
            MPI_I##lower(__VA_ARGS__, &q);                     \
            await(&q);                                         \
            MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, &q); \
            start(&q);                                         \
        }                                                      \
    } while (0)

/* Counts that differ from rank to rank, and all their displacements. */
static int counts[MOST], displs[MOST];

static void set_counts(int n)
{
    for (int i = 0, at = 0; i < n; i++) {
        counts[i] = 1 + (i * 3) % 5;
        displs[i] = at;
        at += counts[i];
    }
}

/* Collectives that may be on an intercommunicator; `mine` is the rank in its group. */
static void any_kind(MPI_Comm comm, int root, int mine, const void *send)
{
    int in_place = send == MPI_IN_PLACE, is_root = root == mine || root == MPI_ROOT;
    /* in place, counts and datatypes of the sending side are ignored */
    MPI_Datatype type = in_place ? MPI_DATATYPE_NULL : MPI_INT;
    ALL(Bcast, bcast, in, 7, MPI_INT, root, comm);
    ALL(Gather, gather, in_place && is_root ? MPI_IN_PLACE : in, 3, MPI_INT, out, 3, MPI_INT, root,
        comm);
    ALL(Gatherv, gatherv, in_place && is_root ? MPI_IN_PLACE : in, 1 + (mine * 3) % 5, MPI_INT, out,
        counts, displs, MPI_INT, root, comm);
    ALL(Scatter, scatter, in, 3, MPI_INT, in_place && is_root ? MPI_IN_PLACE : out, 3, MPI_INT,
        root, comm);
    ALL(Scatterv, scatterv, in, counts, displs, MPI_INT, in_place && is_root ? MPI_IN_PLACE : out,
        1 + (mine * 3) % 5, MPI_INT, root, comm);
    ALL(Reduce, reduce, in_place && is_root ? MPI_IN_PLACE : in, out, 5, MPI_INT, MPI_SUM, root,
        comm);
    ALL(Allreduce, allreduce, send, out, 5, MPI_INT, MPI_SUM, comm);
    ALL(Allgather, allgather, send, in_place ? 0 : 3, type, out, 3, MPI_INT, comm);
    ALL(Allgatherv, allgatherv, send, in_place ? 0 : 1 + (mine * 3) % 5, type, out, counts, displs,
        MPI_INT, comm);
    ALL(Alltoall, alltoall, send, in_place ? 0 : 2, type, out, 2, MPI_INT, comm);
    ALL(Reduce_scatter_block, reduce_scatter_block, send, out, 2, MPI_INT, MPI_SUM, comm);
    ALL(Reduce_scatter, reduce_scatter, send, out, counts, MPI_INT, MPI_SUM, comm);
    ALL(Barrier, barrier, comm);
}

/* What rank i sends to rank j is as long as the other way round. */
static void exchange(MPI_Comm comm, int n, int mine, const void *send)
{
    int each[MOST], at[MOST], bytes[MOST];
    MPI_Datatype types[MOST];
    for (int i = 0; i < n; i++) {
        each[i] = 1 + (i + mine) % 3;
        at[i] = i * 8;
        bytes[i] = at[i] * 4;
        /* MPICH's MPI_Ialltoallw in place takes one datatype alone. */
        types[i] = send == MPI_IN_PLACE || (i + mine) % 2 ? MPI_INT : MPI_SHORT;
    }
    int in_place = send == MPI_IN_PLACE;
    int *counts_sent = in_place ? NULL : each, *bytes_sent = in_place ? NULL : bytes;
    MPI_Datatype type = in_place ? MPI_DATATYPE_NULL : MPI_INT,
                 *types_sent = in_place ? NULL : types;
    ALL(Alltoallv, alltoallv, send, counts_sent, in_place ? NULL : at, type, out, each, at, MPI_INT,
        comm);
    ALL(Alltoallw, alltoallw, send, counts_sent, bytes_sent, types_sent, out, each, bytes, types,
        comm);
}

static void intra(const void *send)
{
    set_counts(size);
    any_kind(MPI_COMM_WORLD, 1, rank, send);
    exchange(MPI_COMM_WORLD, size, rank, send);
    ALL(Scan, scan, send, out, 5, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    ALL(Exscan, exscan, send, out, 5, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void inter(void)
{
    MPI_Comm half, both;
    int side = rank % 2, mine;
    MPI_Comm_split(MPI_COMM_WORLD, side, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 3, &both);
    MPI_Comm_rank(half, &mine);
    set_counts(size / 2);
    any_kind(both, side ? 0 : mine == 0 ? MPI_ROOT : MPI_PROC_NULL, mine, in);
    exchange(both, size / 2, mine, in);
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
}

static void neighbours(MPI_Comm comm)
{
    int sends[MOST], gets[MOST], at[MOST];
    MPI_Aint bytes[MOST];
    MPI_Datatype types[MOST];
    for (int i = 0; i < MOST; i++) {
        sends[i] = gets[i] = 1;
        at[i] = i * 4;
        bytes[i] = i * 16;
        types[i] = MPI_INT;
    }
    ALL(Neighbor_allgather, neighbor_allgather, in, 3, MPI_INT, out, 3, MPI_INT, comm);
    ALL(Neighbor_allgatherv, neighbor_allgatherv, in, 1, MPI_INT, out, gets, at, MPI_INT, comm);
    ALL(Neighbor_alltoall, neighbor_alltoall, in, 3, MPI_INT, out, 3, MPI_INT, comm);
    ALL(Neighbor_alltoallv, neighbor_alltoallv, in, sends, at, MPI_INT, out, gets, at, MPI_INT,
        comm);
    ALL(Neighbor_alltoallw, neighbor_alltoallw, in, sends, bytes, types, out, gets, bytes, types,
        comm);
}

/* A grid with borders, of which some ranks are no part, and a ring whose ranks also send to
 * rank 0. */
static void topologies(void)
{
    MPI_Comm grid, graph;
    int dims[2] = {2, 1}, periods[2] = {0, 0};
    int sources[MOST] = {(rank + size - 1) % size}, destinations[2] = {(rank + 1) % size, 0};
    int is_between = rank > 0 && rank < size - 1;
    for (int i = 1; i < size - 1; i++)
        sources[i] = i;
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    if (grid != MPI_COMM_NULL) {
        neighbours(grid);
        MPI_Comm_free(&grid);
    }
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, rank ? 1 : size - 1, sources, MPI_UNWEIGHTED,
                                   1 + is_between, destinations, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                   &graph);
    neighbours(graph);
    MPI_Comm_free(&graph);
}

static void one_sided(void)
{
    MPI_Win win;
    int *base, one = 1, two = 2, result[8];
    MPI_Win_allocate(64 * sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_fence(0, win);
    MPI_Put(in, 3, MPI_INT, (rank + 1) % size, 0, 3, MPI_INT, win);
    MPI_Put(in, 3, MPI_INT, MPI_PROC_NULL, 0, 3, MPI_INT, win);
    MPI_Accumulate(in, 2, MPI_INT, (rank + 1) % size, 8, 2, MPI_INT, MPI_SUM, win);
    MPI_Win_fence(0, win);
    MPI_Get(out, 5, MPI_INT, (rank + 1) % size, 16, 5, MPI_INT, win);
    MPI_Get_accumulate(in, 4, MPI_INT, result, 4, MPI_INT, (rank + 1) % size, 24, 4, MPI_INT,
                       MPI_SUM, win);
    MPI_Get_accumulate(NULL, 0, MPI_INT, result + 4, 2, MPI_INT, (rank + 1) % size, 32, 2, MPI_INT,
                       MPI_NO_OP, win);
    MPI_Fetch_and_op(&one, result, MPI_INT, (rank + 1) % size, 40, MPI_SUM, win);
    MPI_Compare_and_swap(&one, &two, result + 1, MPI_INT, (rank + 1) % size, 48, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

/* Datatypes of which each may have the handle of the one before, and another size. */
static void same_handle(void)
{
    for (int n = 1; n <= 4; n++) {
        MPI_Datatype type;
        MPI_Type_contiguous(n, MPI_INT, &type);
        MPI_Type_commit(&type);
        MPI_Bcast(in, 1, type, 0, MPI_COMM_WORLD);
        MPI_Type_free(&type);
    }
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    is_plain = argc > 1;
    intra(in);
    intra(MPI_IN_PLACE);
    if (!is_plain) {
        same_handle();
        inter();
        topologies();
        one_sided();
    }
    finish();
    return 0;
}
