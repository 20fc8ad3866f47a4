/* Pieces of lines on both streams, flushed at odd times, and ends without a newline. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

extern void orrery_compute(double seconds) __attribute__((weak));

int main(int argc, char **argv)
{
    static char line[100000];
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    printf("rank %d begins,", rank);
    fflush(stdout);
    orrery_compute(1e-6 * (size - rank));
    printf(" goes on,");
    fprintf(stderr, "rank %d on stderr,", rank);
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    printf(" and ends\n\n");
    fprintf(stderr, " and ends there\n");
    if (write(1, "raw\n", 4) != 4)
        return 1;
    memset(line, 'a' + rank % 26, sizeof line - 1);
    if (rank % 5 == 1)
        printf("%s\n", line);
    orrery_compute(1e-6 * rank);
    fputs("last words of ", stdout);
    fprintf(stderr, "last words of %d", rank);
    MPI_Finalize();
    printf("%d", rank); /* after MPI_Finalize, and no newline */
    return 0;
}
