/*
 * Operations with hollow buffers of so many bytes a block, which need no memory whatever the size:
 * large all BYTES does every kind once, large allreduce BYTES only that one.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

extern void *orrery_hollow(void) __attribute__((weak));

static char *hollow;
static int rank, size, n; /* n: items of a block */
static MPI_Datatype type;
static int *counts, *displs;

static void add(void *in, void *inout, int *items, MPI_Datatype *t)
{
    (void)in, (void)inout, (void)items, (void)t;
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void make_counts(void)
{
    counts = malloc(sizeof *counts * (size_t)size);
    displs = malloc(sizeof *displs * (size_t)size);
    for (int i = 0; i < size; i++)
        counts[i] = n, displs[i] = i;
}

static void move_data(void)
{
    MPI_Bcast(hollow, n, type, size - 1, MPI_COMM_WORLD);
    MPI_Gather(hollow, n, type, hollow, n, type, 1, MPI_COMM_WORLD);
    MPI_Scatter(hollow, n, type, hollow, n, type, 1, MPI_COMM_WORLD);
    MPI_Gatherv(hollow, n, type, hollow, counts, displs, type, 1, MPI_COMM_WORLD);
    MPI_Scatterv(hollow, counts, displs, type, hollow, n, type, 1, MPI_COMM_WORLD);
    MPI_Allgather(hollow, n, type, hollow, n, type, MPI_COMM_WORLD);
    MPI_Allgatherv(hollow, n, type, hollow, counts, displs, type, MPI_COMM_WORLD);
    MPI_Alltoall(hollow, n, type, hollow, n, type, MPI_COMM_WORLD);
    MPI_Alltoall(MPI_IN_PLACE, n, type, hollow, n, type, MPI_COMM_WORLD);
    MPI_Alltoallv(hollow, counts, displs, type, hollow, counts, displs, type, MPI_COMM_WORLD);
}

static void reduce(MPI_Op op)
{
    MPI_Reduce(hollow, hollow, n, type, op, 0, MPI_COMM_WORLD);
    MPI_Allreduce(hollow, hollow, n, type, op, MPI_COMM_WORLD);
    MPI_Scan(hollow, hollow, n, type, op, MPI_COMM_WORLD);
    MPI_Exscan(hollow, hollow, n, type, op, MPI_COMM_WORLD);
    MPI_Reduce_scatter_block(hollow, hollow, n, type, op, MPI_COMM_WORLD);
    MPI_Reduce_scatter(hollow, hollow, counts, type, op, MPI_COMM_WORLD);
}

/* Between the lower and the upper half of the ranks. */
static void between_groups(MPI_Op op)
{
    MPI_Comm half, both;
    int upper = rank >= size / 2, root = upper ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;

    MPI_Comm_split(MPI_COMM_WORLD, upper, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, upper ? 0 : size / 2, 0, &both);
    MPI_Bcast(hollow, n, type, root, both);
    MPI_Gather(hollow, n, type, hollow, n, type, root, both);
    MPI_Scatter(hollow, n, type, hollow, n, type, root, both);
    MPI_Allgather(hollow, n, type, hollow, n, type, both);
    MPI_Allgatherv(hollow, n, type, hollow, counts, displs, type, both);
    MPI_Alltoall(hollow, n, type, hollow, n, type, both);
    MPI_Reduce(hollow, hollow, n, type, op, root, both);
    MPI_Allreduce(hollow, hollow, n, type, op, both);
    MPI_Reduce_scatter_block(hollow, hollow, n, type, op, both);
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
}

static void later(MPI_Op op)
{
    MPI_Request r[3];

    MPI_Iallreduce(hollow, hollow, n, type, op, MPI_COMM_WORLD, &r[0]);
    MPI_Ialltoall(hollow, n, type, hollow, n, type, MPI_COMM_WORLD, &r[1]);
    MPI_Ibcast(hollow, n, type, 0, MPI_COMM_WORLD, &r[2]);
    MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
}

static void messages(void)
{
    MPI_Request r[2];
    int to = (rank + 1) % size, from = (rank + size - 1) % size;

    MPI_Sendrecv_replace(hollow, n, type, to, 0, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Isendrecv_replace(hollow, n, type, to, 0, from, 0, MPI_COMM_WORLD, r);
    MPI_Wait(r, MPI_STATUS_IGNORE);
    MPI_Psend_init(hollow, 2, n, type, to, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
    MPI_Precv_init(hollow, 4, n / 2, type, from, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
    MPI_Startall(2, r);
    MPI_Pready_range(0, 1, r[0]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
    MPI_Isend(hollow, n, type, to, 0, MPI_COMM_WORLD, r);
    MPI_Recv(hollow, n, type, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(r, MPI_STATUS_IGNORE);
}

static void windows(void)
{
    MPI_Win win;
    MPI_Aint lb, extent;
    int to = (rank + 1) % size;

    MPI_Type_get_extent(type, &lb, &extent);
    MPI_Win_create(hollow, extent * n, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Put(hollow, n, type, to, 0, n, type, win);
    MPI_Get(hollow, n, type, to, 0, n, type, win);
    MPI_Accumulate(hollow, n, type, to, 0, n, type, MPI_SUM, win);
    MPI_Get_accumulate(hollow, n, type, hollow, n, type, to, 0, n, type, MPI_SUM, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    MPI_Op op;
    MPI_Datatype gaps;
    long bytes = argc > 2 ? atol(argv[2]) : 16;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    hollow = orrery_hollow ? orrery_hollow() : NULL;
    MPI_Type_vector(2, 1, 2, MPI_INT, &gaps);
    MPI_Type_commit(&gaps);
    MPI_Op_create(add, 1, &op);
    for (int kind = 0; kind < 2 && hollow && argc > 1; kind++) {
        type = kind ? gaps : MPI_DOUBLE; /* of 8 bytes both */
        n = (int)(bytes / 8);
        if (strcmp(argv[1], "all")) {
            MPI_Allreduce(hollow, hollow, n, type, kind ? op : MPI_SUM, MPI_COMM_WORLD);
            continue;
        }
        make_counts();
        move_data();
        reduce(kind ? op : MPI_SUM);
        between_groups(kind ? op : MPI_SUM);
        later(kind ? op : MPI_SUM);
        messages();
        windows();
        free(counts);
        free(displs);
    }
    MPI_Op_free(&op);
    MPI_Type_free(&gaps);
    MPI_Finalize();
    return 0;
}
