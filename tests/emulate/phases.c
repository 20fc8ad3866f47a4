/* A phase of communication, one of computing without messages, and another of communication. */
#include <mpi.h>
#include <time.h>

static void communicate(int rank)
{
    char data[4096] = {0};

    for (int i = 0; i < 50; i++) {
        MPI_Sendrecv_replace(data, sizeof data, MPI_CHAR, 1 - rank, 0, 1 - rank, 0, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    communicate(rank);
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    communicate(rank);
    MPI_Finalize();
    return 0;
}
