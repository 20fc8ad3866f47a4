/* test: n=2,5,16 native=4 measured=no
 * Waitany and Waitsome return what came first by virtual time, not what was posted first; also
 * when the rank comes late and all are there. */
#include "decide.h"

static int rank, size;
static int (*data)[2];
static MPI_Request *requests;

static void post(void)
{
    for (int r = 1; r < size; r++)
        MPI_Irecv(data[r - 1], 2, MPI_INT, r, DECIDE_TAG, MPI_COMM_WORLD, &requests[r - 1]);
}

static void wait_any(void)
{
    for (int k = 0; k < size - 1; k++) {
        int index;
        MPI_Status status;
        MPI_Waitany(size - 1, requests, &index, &status);
        CHECK(status.MPI_SOURCE == index + 1);
        decide_verify(data[index], index + 1, k, size);
    }
}

static void wait_some(void)
{
    int *indices = (int *)malloc((size_t)size * sizeof(int));
    for (int total = 0; total < size - 1;) {
        int done;
        MPI_Waitsome(size - 1, requests, &done, indices, MPI_STATUSES_IGNORE);
        CHECK(done > 0 && (!check_virtual() || done == 1));
        for (int i = 0; i < done; i++, total++)
            decide_verify(data[indices[i]], indices[i] + 1, total, size);
    }
    free(indices);
}

static void wait_some_late(void)
{
    int *indices = (int *)malloc((size_t)size * sizeof(int)), seen = 0;
    check_spend(1.0);
    while (seen < size - 1) {
        int done;
        MPI_Waitsome(size - 1, requests, &done, indices, MPI_STATUSES_IGNORE);
        CHECK(!check_virtual() || done == size - 1);
        for (int i = 0; i < done; i++, seen++)
            CHECK(data[indices[i]][0] == indices[i] + 1);
    }
    free(indices);
}

int main(int argc, char **argv)
{
    void (*const ways[])(void) = {wait_any, wait_some, wait_some_late};
    static const char *const names[] = {"waitany", "waitsome", "late"};
    MPI_Init(&argc, &argv);
    rank = check_rank();
    size = check_size();
    data = (int(*)[2])malloc((size_t)size * sizeof *data);
    requests = (MPI_Request *)malloc((size_t)size * sizeof *requests);
    for (int i = 0; i < 3; i++) {
        if (rank > 0) {
            decide_send(rank, size);
        } else {
            post();
            ways[i]();
        }
        check_ok(names[i]);
    }
    free(data);
    free(requests);
    MPI_Finalize();
    return 0;
}
