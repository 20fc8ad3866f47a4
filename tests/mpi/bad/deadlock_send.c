/* Two ranks send large messages to each other before they receive: too large to be buffered. */
#include <mpi.h>

static char data[1 << 20];

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank < 2) {
        MPI_Send(data, sizeof data, MPI_CHAR, 1 - rank, 8, MPI_COMM_WORLD);
        MPI_Recv(data, sizeof data, MPI_CHAR, 1 - rank, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
