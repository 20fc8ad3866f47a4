/*
 * Runs until it is killed. All ranks print a line, meet in a barrier, and create a file rank.N with
 * the real id of their process. Then argument 1 decides; argument 2 is a rank, which first creates
 * the file `stays`:
 *   spin   it computes for ever, the others wait for it
 *   ring   it waits for ever, the others exchange messages
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void say_started(int rank)
{
    char name[64], part[64];
    FILE *file;

    snprintf(name, sizeof name, "rank.%d", rank);
    snprintf(part, sizeof part, "part.%d", rank);
    file = fopen(part, "w");
    fprintf(file, "%ld\n", syscall(SYS_getpid));
    fclose(file);
    rename(part, name);
}

/* Among all ranks but the chosen one. */
static void ring(int rank, int size, int chosen)
{
    int next = (rank + 1) % size, last = (rank + size - 1) % size, a = 0, b;

    if (next == chosen)
        next = (next + 1) % size;
    if (last == chosen)
        last = (last + size - 1) % size;
    for (;;)
        MPI_Sendrecv(&a, 1, MPI_INT, next, 0, &b, 1, MPI_INT, last, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    volatile int forever = 1;
    int rank, size, chosen = atoi(argv[2]);

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    printf("hello from %d\n", rank);
    MPI_Barrier(MPI_COMM_WORLD);
    say_started(rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == chosen)
        fclose(fopen("stays", "w"));
    if (!strcmp(argv[1], "ring") && rank != chosen)
        ring(rank, size, chosen);
    while (!strcmp(argv[1], "spin") && rank == chosen && forever)
        continue;
    MPI_Recv(&rank, 1, MPI_INT, chosen, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
