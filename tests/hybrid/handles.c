/*
 * What the program's functions and the stand-ins get: error handlers and functions of attributes
 * see MPI_COMM_WORLD; operations of windows have derived types beside predefined ones; a rank
 * without edges at one end has weights of none.
 */
#include <mpi.h>
#include <stdio.h>

static int handled, copied, deleted;

static void check(int is_right, const char *what)
{
    if (!is_right)
        fprintf(stderr, "check failed: %s\n", what);
}

/* ---- functions that get a communicator ---- */

static void on_error(MPI_Comm *comm, int *code, ...)
{
    handled++;
    check(*comm == MPI_COMM_WORLD, "the handler's communicator");
    check(*code != MPI_SUCCESS, "the handler's code");
}

static int copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)key, (void)extra;
    copied++;
    check(comm == MPI_COMM_WORLD, "the copied communicator");
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete_world(MPI_Comm comm, int key, void *value, void *extra)
{
    int result = MPI_UNEQUAL;
    (void)key, (void)value, (void)extra;
    MPI_Comm_compare(comm, MPI_COMM_WORLD, &result);
    deleted += comm == MPI_COMM_WORLD ? 1 : result == MPI_CONGRUENT ? 10 : 1000;
    return MPI_SUCCESS;
}

static void callbacks(void)
{
    MPI_Errhandler handler, before;
    MPI_Comm twin;
    int key, one = 1;
    MPI_Comm_create_errhandler(on_error, &handler);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER);
    MPI_Send(&one, 1, MPI_INT, -9, 0, MPI_COMM_WORLD);
    check(handled == 2, "two errors");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, before);
    MPI_Errhandler_free(&handler);
    MPI_Errhandler_free(&before);
    MPI_Comm_create_keyval(copy, delete_world, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &one);
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    MPI_Comm_free(&twin);
    MPI_Comm_free_keyval(&key);
    check(copied == 1 && deleted == 11, "one copied, one deleted of each");
}

/* ---- windows ---- */

static void accumulate(int rank, int size)
{
    int *memory, got[6], from[6] = {1, 2, 3, 4, 5, 6};
    MPI_Datatype pairs;
    MPI_Win win;
    MPI_Type_vector(3, 1, 2, MPI_INT, &pairs);
    MPI_Type_commit(&pairs);
    MPI_Win_allocate(16 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    for (int i = 0; i < 6; i++)
        memory[i] = i;
    MPI_Win_fence(0, win);
    int to = (rank + 1) % size;
    MPI_Get_accumulate(from, 1, pairs, got, 3, MPI_INT, to, 0, 3, MPI_INT, MPI_SUM, win);
    MPI_Win_fence(0, win);
    check(got[2] == 2 && memory[1] == 1 + 3 && memory[2] == 2 + 5, "a derived origin");
    MPI_Win_fence(0, win);
    MPI_Get_accumulate(from, 3, MPI_INT, got, 1, pairs, to, 0, 3, MPI_INT, MPI_MAX, win);
    MPI_Win_fence(0, win);
    check(got[4] == 2 + 5 && memory[0] == 1, "a derived result");
    MPI_Win_fence(0, win);
    MPI_Accumulate(from, 3, MPI_INT, to, 0, 1, pairs, MPI_SUM, win);
    MPI_Win_fence(0, win);
    check(memory[4] == 4 + 3, "a derived target");
    MPI_Win_free(&win);
    MPI_Type_free(&pairs);
}

/* ---- graphs ---- */

/* From rank 0 to all others: it has no sources, and they have no destinations. */
static void weights(int rank, int size)
{
    MPI_Comm graph;
    int from = 0, to[8], values[8], in, out, is_weighted;
    for (int i = 1; i < size; i++)
        to[i - 1] = i, values[i - 1] = 10 * i;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, rank > 0, &from, values, rank ? 0 : size - 1, to,
                                   values, MPI_INFO_NULL, 0, &graph);
    MPI_Dist_graph_neighbors_count(graph, &in, &out, &is_weighted);
    check(is_weighted && in == (rank > 0) && out == (rank ? 0 : size - 1), "the graph");
    MPI_Barrier(graph);
    MPI_Comm_free(&graph);
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    callbacks();
    accumulate(rank, size);
    weights(rank, size);
    MPI_Finalize();
    if (rank == 0)
        puts("done");
    return 0;
}
