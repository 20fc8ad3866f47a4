/* Every rank uses argument 1 megabytes until it ends. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    size_t bytes = (size_t)atoi(argv[1]) << 20;
    char *own = malloc(bytes);

    MPI_Init(&argc, &argv);
    memset(own, argc, bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return own[bytes / 2] != argc;
}
