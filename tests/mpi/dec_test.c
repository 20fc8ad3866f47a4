/* test: n=2,5 native=4 measured=no
 * Test in a loop, Testany, Testsome, Testall and Request_get_status: what a rank finds done is
 * what had arrived by its own clock. */
#include "decide_ways.h"

static int polls;

static void test_loop(void)
{
    for (int r = size - 1; r > 0; r--) {
        int flag = 0;
        for (; !flag; polls++)
            MPI_Test(&requests[r - 1], &flag, MPI_STATUS_IGNORE);
        decide_verify(data[r - 1], r, size - 1 - r, size);
        if (check_virtual())
            printf("virtual: %d found at %.9f\n", r, MPI_Wtime());
    }
}

static void test_any(void)
{
    for (int k = 0; k < size - 1; k++) {
        int flag = 0, index;
        MPI_Status status;
        for (; !flag; polls++)
            MPI_Testany(size - 1, requests, &index, &flag, &status);
        CHECK(status.MPI_SOURCE == index + 1);
        decide_verify(data[index], index + 1, k, size);
    }
}

/* Looks once per 10 ms, half-way between arrivals: one more each time. */
static void test_some(void)
{
    int *indices = (int *)malloc((size_t)size * sizeof(int)), total = 0;
    check_spend(0.005);
    while (total < size - 1) {
        int done;
        MPI_Testsome(size - 1, requests, &done, indices, MPI_STATUSES_IGNORE);
        for (int i = 0; i < done; i++, total++)
            decide_verify(data[indices[i]], indices[i] + 1, total, size);
        CHECK(!check_virtual() || done <= 1);
        check_spend(0.010);
    }
    free(indices);
}

static void test_all(void)
{
    int flag;
    MPI_Testall(size - 1, requests, &flag, MPI_STATUSES_IGNORE);
    CHECK(!check_virtual() || !flag);
    /* All but the last have arrived: that is not enough, and none is marked done. */
    check_spend(0.010 * (size - 1) - 0.005);
    if (!flag)
        MPI_Testall(size - 1, requests, &flag, MPI_STATUSES_IGNORE);
    CHECK(!check_virtual() || !flag);
    check_spend(1.0);
    for (int i = 0; !flag; i++) {
        MPI_Testall(size - 1, requests, &flag, MPI_STATUSES_IGNORE);
        CHECK(!check_virtual() || flag);
    }
    for (int r = 1; r < size; r++)
        decide_verify(data[r - 1], r, size - 1 - r, size);
}

static void get_status(void)
{
    for (int r = size - 1; r > 0; r--) {
        int flag = 0, first = -1;
        MPI_Status status;
        MPI_Request_get_status(requests[r - 1], &first, &status);
        CHECK(!check_virtual() || !first);
        check_spend(0.011);
        while (!flag)
            MPI_Request_get_status(requests[r - 1], &flag, &status);
        CHECK(status.MPI_SOURCE == r && requests[r - 1] != MPI_REQUEST_NULL);
        MPI_Wait(&requests[r - 1], MPI_STATUS_IGNORE);
        decide_verify(data[r - 1], r, size - 1 - r, size);
    }
}

int main(int argc, char **argv)
{
    static const struct way ways[] = {{"test", test_loop},
                                      {"testany", test_any},
                                      {"testsome", test_some},
                                      {"testall", test_all},
                                      {"get status", get_status}};
    MPI_Init(&argc, &argv);
    run_ways(ways, 5);
    if (rank == 0 && check_virtual())
        printf("virtual: %d polls\n", polls);
    MPI_Finalize();
    return 0;
}
