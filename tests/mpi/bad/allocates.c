/* Every rank allocates that many MiB, and writes to the first byte, or (touch) to all. With
 * "first", only rank 0 needs so much; with "spin", it never gives up its turn. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    size_t bytes = (size_t)atoi(argv[1]) << 20;
    const char *how = argc > 2 ? argv[2] : "";
    int rank;
    char *data;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!strcmp(how, "first") && rank > 0)
        bytes = 1 << 20;
    data = malloc(bytes);
    data[0] = 1;
    if (!strcmp(how, "touch") || !strcmp(how, "first"))
        memset(data, 1, bytes);
    while (!strcmp(how, "spin") && rank == 0)
        data[0]++;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        puts("all have it");
    free(data);
    MPI_Finalize();
    return 0;
}
