/* Loops that read a clock until a point in time, alone and between tests, without computing. */
#include <mpi.h>
#include <stddef.h>
#include <sys/time.h>

static void spin(double seconds)
{
    double end = MPI_Wtime() + seconds;
    while (MPI_Wtime() < end)
        ;
}

/* Until the message is there, and a while has passed. */
static void poll(double seconds)
{
    double end = MPI_Wtime() + seconds;
    int word, is_there = 0;
    MPI_Request request;
    MPI_Irecv(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
    while (!is_there || MPI_Wtime() < end)
        MPI_Test(&request, &is_there, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int rank, word = 7;
    struct timeval date;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 3; i++) {
        if (rank == 0) {
            spin(1e-3 * (i + 1));
            MPI_Send(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        } else if (rank == 1) {
            poll(2e-3);
        } else {
            gettimeofday(&date, NULL);
            spin(1e-4 * rank);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
