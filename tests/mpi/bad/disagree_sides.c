/* The two sides of a one-sided or partitioned operation, of a collective on a file, or functions of
 * reductions do not agree; the argument names how. All of it passes without --check. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int me, n, data[64], more[64];

static int is(const char *how, const char *name)
{
    return strcmp(how, name) == 0;
}

/* Rank 0 operates on the memory of rank 1. */
static void one_sided(const char *how)
{
    static int memory[64], result[64];
    int lengths[2] = {1, 1};
    MPI_Aint at[2] = {0, 4};
    MPI_Datatype types[2] = {MPI_INT, MPI_FLOAT}, pair, row;
    MPI_Win win;

    MPI_Type_create_struct(2, lengths, at, types, &pair);
    MPI_Type_commit(&pair);
    MPI_Type_contiguous(4, MPI_INT, &row);
    MPI_Type_commit(&row);
    MPI_Win_create(memory, sizeof memory, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    if (me == 0 && is(how, "put"))
        MPI_Put(data, 8, MPI_INT, 1, 0, 8, MPI_FLOAT, win);
    if (me == 0 && is(how, "get"))
        MPI_Get(more, 4, pair, 1, 0, 8, MPI_INT, win);
    if (me == 0 && is(how, "fetch"))
        MPI_Get_accumulate(data, 4, MPI_INT, result, 4, MPI_FLOAT, 1, 0, 4, MPI_INT, MPI_SUM, win);
    if (me == 0 && is(how, "fine")) {
        MPI_Put(data, 8, MPI_INT, 1, 0, 2, row, win);
        MPI_Get(more, 2, pair, 1, 16, 2, pair, win);
        MPI_Get_accumulate(NULL, 0, MPI_DOUBLE, result, 4, MPI_INT, 1, 32, 1, row, MPI_NO_OP, win);
    }
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    MPI_Type_free(&pair);
    MPI_Type_free(&row);
}

/* Rank 1 makes another call than the others. */
static void on_file(const char *how)
{
    MPI_File file;
    int odd = is(how, "file") && me == 1;

    MPI_File_open(MPI_COMM_WORLD, "disagree.tmp",
                  MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_write_at_all(file, 4 * me, data, 4, MPI_INT, MPI_STATUS_IGNORE);
    if (odd)
        MPI_File_read_at_all(file, 4 * me, more, 4, MPI_INT, MPI_STATUS_IGNORE);
    else
        MPI_File_write_at_all_c(file, 4 * me, data, 4, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_File_close(&file);
}

/* Rank 0 sends 4 partitions to rank 1. */
static void partitioned(const char *how)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int count = is(how, "parts") ? 6 : 4;

    if (me == 0) {
        MPI_Psend_init(data, 4, 2, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        MPI_Pready_range(0, 3, request);
    } else if (me == 1) {
        MPI_Precv_init(more, 2, count, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
    }
    if (me < 2) {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
    }
}

static void add(void *in, void *inout, int *len, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *len; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static void largest(void *in, void *inout, int *len, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *len; i++)
        if (((int *)in)[i] > ((int *)inout)[i])
            ((int *)inout)[i] = ((int *)in)[i];
}

static void reduction(const char *how)
{
    MPI_Op op;

    MPI_Op_create(is(how, "function") && me == 1 ? largest : add, 1, &op);
    MPI_Allreduce(data, more, 4, MPI_INT, op, MPI_COMM_WORLD);
    MPI_Op_free(&op);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "fine";

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    one_sided(how);
    on_file(how);
    partitioned(how);
    reduction(how);
    MPI_Finalize();
    return 0;
}
