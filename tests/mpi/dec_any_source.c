/* test: n=1,2,5,16,300 native=4 measured=no
 * Receives from any source: blocking; posted early with the owner running ahead in time; several
 * posted at once; and with large messages among the candidates. */
#include "decide.h"

static int rank, size;

static void blocking(void)
{
    int data[2];
    MPI_Status status;
    for (int k = 0; k < size - 1; k++) {
        MPI_Recv(data, 2, MPI_INT, MPI_ANY_SOURCE, DECIDE_TAG, MPI_COMM_WORLD, &status);
        decide_verify(data, status.MPI_SOURCE, k, size);
    }
}

/* The owner's clock passes all arrivals before it looks: the first to arrive is still first. */
static void ahead(void)
{
    int data[2];
    MPI_Status status;
    MPI_Request request;
    for (int k = 0; k < size - 1; k++) {
        MPI_Irecv(data, 2, MPI_INT, MPI_ANY_SOURCE, DECIDE_TAG, MPI_COMM_WORLD, &request);
        if (k == 0)
            check_spend(1.0);
        MPI_Wait(&request, &status);
        decide_verify(data, status.MPI_SOURCE, k, size);
    }
}

static void several(void)
{
    int(*data)[2] = (int(*)[2])malloc((size_t)size * sizeof *data);
    MPI_Request *requests = (MPI_Request *)malloc((size_t)size * sizeof *requests);
    MPI_Status status;
    for (int k = 0; k < size - 1; k++)
        MPI_Irecv(data[k], 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[k]);
    for (int k = size - 2; k >= 0; k--) {
        MPI_Wait(&requests[k], &status);
        decide_verify(data[k], status.MPI_SOURCE, k, size);
    }
    free(data);
    free(requests);
}

/* A small message never overtakes a large one of its sender, though it would arrive earlier. */
static void mixed_sizes(void)
{
    enum { LARGE = 100000 };
    int *data = (int *)calloc(LARGE, sizeof(int)), *next = (int *)calloc((size_t)size, sizeof(int));
    MPI_Status status;
    MPI_Request requests[2];
    int count;
    for (int k = 0; rank == 0 && k < 2 * (size - 1); k++) {
        MPI_Recv(data, LARGE, MPI_INT, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        CHECK(count == (next[status.MPI_SOURCE]++ ? 1 : LARGE));
        if (check_virtual())
            printf("virtual: %d of %d at %.9f\n", count, status.MPI_SOURCE, MPI_Wtime());
    }
    if (rank > 0) {
        MPI_Isend(data, LARGE, MPI_INT, 0, 9, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(&rank, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    free(next);
    free(data);
}

int main(int argc, char **argv)
{
    void (*const ways[])(void) = {blocking, ahead, several};
    static const char *const names[] = {"blocking", "ahead", "several"};
    MPI_Init(&argc, &argv);
    rank = check_rank();
    size = check_size();
    for (int i = 0; i < 3; i++) {
        if (rank == 0)
            ways[i]();
        else
            decide_send(rank, size);
        check_ok(names[i]);
    }
    mixed_sizes();
    check_ok("mixed sizes");
    MPI_Finalize();
    return 0;
}
