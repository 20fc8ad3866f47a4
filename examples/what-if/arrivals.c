/*
 * arrivals.c - a master takes messages as they come, from workers that are not equally loaded.
 *
 * After Böhme et al., section 4.2. In region foo workers with higher ranks compute longer, so their
 * messages come in the order of ranks. In region bar it is the other way round, but less. If foo
 * were balanced, the messages would come in reverse order: what would the program then wait for?
 *
 *     arrivals [balanced] [sleep] [STEPS]
 *
 * With "balanced" foo is balanced in the source. With "sleep" computing leaves the core to others,
 * and takes longer, as waking up takes a while: for real runs with more ranks than cores.
 */
#include <mpi.h>
#include <orrery.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int sleeps;

static double unit(void)
{
    return sleeps ? 0.02 : 0.002; /* seconds */
}

/* Computes for so long: declared in the simulator, real otherwise. */
static void compute(double units)
{
    double end = MPI_Wtime() + units * unit();
    orrery_compute(units * unit());
    double left = end - MPI_Wtime();
    if (sleeps && left > 0)
        nanosleep(&(struct timespec){(time_t)left, (long)((left - (double)(time_t)left) * 1e9)},
                  NULL);
    while (MPI_Wtime() < end)
        ;
}

static void work(int rank, int workers, int is_balanced)
{
    orrery_region("foo");
    compute(is_balanced ? (1 + workers) * 4 / 2.0 : 4.0 * rank);
    orrery_region_end();
    orrery_region("bar");
    compute(workers + 1 - rank);
    orrery_region_end();
    MPI_Ssend(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
}

static void take(int workers)
{
    int *data = malloc((size_t)workers * sizeof *data);
    MPI_Request *requests = malloc((size_t)workers * sizeof *requests);

    for (int i = 0; i < workers; i++)
        MPI_Irecv(&data[i], 1, MPI_INT, i + 1, 0, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < workers; i++) {
        int which;

        MPI_Waitany(workers, requests, &which, MPI_STATUS_IGNORE);
        orrery_region("handle");
        compute(1);
        orrery_region_end();
    }
    free(requests);
    free(data);
}

int main(int argc, char **argv)
{
    int rank, size, steps = 5, is_balanced = 0;

    for (int i = 1; i < argc; i++) {
        is_balanced |= strcmp(argv[i], "balanced") == 0;
        sleeps |= strcmp(argv[i], "sleep") == 0;
        if (atoi(argv[i]) > 0)
            steps = atoi(argv[i]);
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double start = MPI_Wtime();
    for (int step = 0; step < steps; step++) {
        if (rank == 0)
            take(size - 1);
        else
            work(rank, size - 1, is_balanced);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("%.6f s\n", MPI_Wtime() - start);
    MPI_Finalize();
    return 0;
}
