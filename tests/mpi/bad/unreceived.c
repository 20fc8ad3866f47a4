/* Sends messages that are not received: each rank sends three with tag 4 to the next one, which
 * receives only the first; rank 0 sends another one with tag 9 to itself, in a communicator without
 * a name. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int me, n, data[4] = {0};
    char large[2048] = {0};
    MPI_Comm copy;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    for (int i = 0; i < 3; i++)
        MPI_Send(data, 4, MPI_INT, (me + 1) % n, 4, MPI_COMM_WORLD);
    MPI_Recv(data, 4, MPI_INT, (me + n - 1) % n, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (me == 0)
        MPI_Send(large, sizeof large, MPI_BYTE, 0, 9, copy);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
