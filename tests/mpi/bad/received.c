/* Receives with an unusual status: of MPI_Isendrecv, of partitions, and those whose buffer is too
 * small. Every message is received. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size, wrong;

static void is_truncated(int rc)
{
    int class;
    MPI_Error_class(rc, &class);
    wrong += class != MPI_ERR_TRUNCATE && class != MPI_ERR_IN_STATUS;
}

/* Both ends of a ring at once; the second time from any source. */
static void both(void)
{
    int out[8] = {0}, in[8];
    MPI_Request request;
    int next = (rank + 1) % size, last = (rank + size - 1) % size;
    MPI_Isendrecv(out, 4, MPI_INT, next, 1, in, 8, MPI_INT, last, 1, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD); /* the message arrives before the receive is posted */
    MPI_Isendrecv_replace(out, 5, MPI_INT, next, 2, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void partitions(void)
{
    int values[6] = {0};
    MPI_Request request;
    if (rank == 0)
        MPI_Psend_init(values, 2, 3, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    else if (rank == 1)
        MPI_Precv_init(values, 3, 2, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int i = 0; i < 2 && rank < 2; i++) {
        MPI_Start(&request);
        if (rank == 0)
            MPI_Pready_range(0, 1, request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (rank < 2)
        MPI_Request_free(&request);
}

/* Each gets 24 bytes and has room for 8. */
static void too_long(void)
{
    int values[6] = {0}, other[6];
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int tag = 4; tag < 8 && rank == 0; tag++)
        MPI_Send(values, 6, MPI_INT, 1, tag, MPI_COMM_WORLD);
    if (rank != 1)
        return;
    is_truncated(MPI_Recv(values, 2, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MPI_Irecv(values, 2, MPI_INT, 0, 5, MPI_COMM_WORLD, &requests[0]);
    is_truncated(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    MPI_Irecv(values, 2, MPI_INT, 0, 6, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(other, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[1]);
    is_truncated(MPI_Waitall(2, requests, statuses));
    is_truncated(MPI_Sendrecv(other, 1, MPI_INT, 1, 9, values, 2, MPI_INT, 0, 7, MPI_COMM_WORLD,
                              MPI_STATUS_IGNORE));
    MPI_Recv(other, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    both();
    partitions();
    too_long();
    MPI_Finalize();
    if (wrong)
        printf("rank %d: %d receives had another error\n", rank, wrong);
    return wrong != 0;
}
