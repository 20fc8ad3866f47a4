/* Two ranks send each other messages of 32 bytes, argument 1 times, and compare what they get. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    int rank, rounds = argc > 1 ? atoi(argv[1]) : 10;
    char mine[32], theirs[32];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < rounds; i++) {
        memset(mine, i + rank, sizeof mine);
        if (rank == 0)
            MPI_Send(mine, sizeof mine, MPI_CHAR, 1, i, MPI_COMM_WORLD);
        MPI_Recv(theirs, sizeof theirs, MPI_CHAR, 1 - rank, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(mine, sizeof mine, MPI_CHAR, 0, i, MPI_COMM_WORLD);
        if (theirs[0] != (char)(i + 1 - rank) || theirs[31] != theirs[0])
            MPI_Abort(MPI_COMM_WORLD, 9);
    }
    MPI_Finalize();
    return 0;
}
