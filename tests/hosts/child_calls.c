/* A process that rank 1 forks calls MPI, which it cannot: it is not a rank. */
#include <mpi.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, status = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1) {
        pid_t pid = fork();

        if (pid == 0) {
            MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
            _exit(0);
        }
        waitpid(pid, &status, 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    printf("rank %d: %d\n", rank, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    MPI_Finalize();
    return 0;
}
