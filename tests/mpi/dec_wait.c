/* test: n=2,5,16 native=4 measured=no
 * Waitany and Waitsome return what came first by virtual time, not what was posted first; also
 * when the rank comes late and all are there. */
#include "decide_ways.h"

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
    static const struct way ways[] = {{"waitany", wait_any},
                                      {"waitsome", wait_some},
                                      {"late", wait_some_late}};
    MPI_Init(&argc, &argv);
    run_ways(ways, 3);
    MPI_Finalize();
    return 0;
}
