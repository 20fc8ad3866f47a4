/* Ranks wait for each other in communicators in which they have other numbers than in
 * MPI_COMM_WORLD: one cycle in each. The last communicator has a name. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int me, n, row_me, row_n, data = 0;
    MPI_Comm row, copy;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Comm_split(MPI_COMM_WORLD, me / 2, -me, &row);
    MPI_Comm_dup(row, &copy);
    if (me / 2 == (n - 1) / 2)
        MPI_Comm_set_name(copy, "last row");
    MPI_Comm_rank(copy, &row_me);
    MPI_Comm_size(copy, &row_n);
    MPI_Recv(&data, 1, MPI_INT, (row_me + 1) % row_n, 5, copy, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
