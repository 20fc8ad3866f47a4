/*
 * Runs until it is killed: each rank prints a line and creates a file `started.PID`, and then
 * argument 1 decides what all of them do for ever: ring (messages) or spin (no MPI call, so only
 * one rank of each process gets this far). With "half" the first half spins and the others create a
 * file `waits.RANK` and wait for a message, some virtual time after they have printed their line.
 * With "much" rank 1 writes argument 2 lines and waits.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

extern void orrery_compute(double seconds) __attribute__((weak));

static void ring(int rank, int size)
{
    int a = 0, b;

    for (;;)
        MPI_Sendrecv(&a, 1, MPI_INT, (rank + 1) % size, 0, &b, 1, MPI_INT, (rank + size - 1) % size,
                     0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void create(const char *what, int number)
{
    char name[64];

    snprintf(name, sizeof name, "%s.%d", what, number);
    fclose(fopen(name, "w"));
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "spin";
    volatile int forever = 1;
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(what, "much"))
        printf("hello from %d\n", rank);
    for (int i = 0; !strcmp(what, "much") && rank == 1 && i < atoi(argv[2]); i++)
        printf("%060d\n", i);
    if (!strcmp(what, "ring"))
        MPI_Barrier(MPI_COMM_WORLD);
    fflush(stdout);
    create("started", (int)syscall(SYS_getpid)); /* of the process, not the rank */
    if (!strcmp(what, "ring"))
        ring(rank, size);
    if (!strcmp(what, "half") && rank >= size / 2) {
        orrery_compute(1e-3);
        create("waits", rank);
    }
    if ((!strcmp(what, "half") && rank >= size / 2) || (!strcmp(what, "much") && rank == 1))
        MPI_Recv(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    while (forever)
        continue;
    MPI_Finalize();
    return 0;
}
