/* A message that is longer than its receiver expects, in a communicator with the ranks in reverse
 * order; the argument names the call. */
#include <mpi.h>
#include <string.h>

int main(int argc, char **argv)
{
    int me, data[10] = {0};
    const char *how = argc > 1 ? argv[1] : "recv";
    MPI_Status status;
    MPI_Request request;
    MPI_Comm comm;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -me, &comm);
    MPI_Comm_rank(comm, &me);
    if (!strcmp(how, "bcast")) {
        MPI_Bcast(data, me == 0 ? 10 : 5, MPI_INT, 0, comm);
    } else if (me == 0) {
        MPI_Send(data, 10, MPI_INT, 1, 7, comm);
    } else if (me == 1 && !strcmp(how, "recv")) {
        MPI_Recv(data, 5, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE);
    } else if (me == 1) {
        MPI_Irecv(data, 5, MPI_INT, 0, 7, comm, &request);
        MPI_Waitall(1, &request, &status);
    }
    MPI_Finalize();
    return 0;
}
