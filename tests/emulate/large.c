/* Two ranks send each other messages of up to 16 MB, argument 1 times, and compare what they
 * get. */
#include <mpi.h>
#include <stdlib.h>

#define LONGEST (2 << 20)

static void fill(long *data, int count, int seed)
{
    for (int i = 0; i < count; i++)
        data[i] = (long)i * 2654435761 + seed;
}

int main(int argc, char **argv)
{
    int rank, rounds = argc > 1 ? atoi(argv[1]) : 1;
    long *mine = malloc(LONGEST * sizeof *mine), *theirs = malloc(LONGEST * sizeof *theirs);

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < rounds; i++)
        for (int count = 1; count <= LONGEST; count *= 8) {
            fill(mine, count, i + rank);
            MPI_Sendrecv(mine, count, MPI_LONG, 1 - rank, i, theirs, count, MPI_LONG, 1 - rank, i,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            fill(mine, count, i + 1 - rank);
            for (int k = 0; k < count; k++)
                if (mine[k] != theirs[k])
                    MPI_Abort(MPI_COMM_WORLD, 9);
        }
    MPI_Finalize();
    free(mine);
    free(theirs);
    return 0;
}
