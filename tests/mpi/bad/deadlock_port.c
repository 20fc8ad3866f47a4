/* Ranks 0 and 1 accept at a port to which no rank connects. */
#include <mpi.h>

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm half, inter;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Comm_split(MPI_COMM_WORLD, rank < 2, 0, &half);
    if (rank < 2)
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &inter);
    MPI_Finalize();
    return 0;
}
