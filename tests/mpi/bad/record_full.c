/* Its part of the trace may not become larger than some calls need: the same as a full disk. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>

int main(int argc, char **argv)
{
    struct rlimit most = {100000, 100000};
    int rank;
    MPI_Init(&argc, &argv);
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &most);
    for (int i = 0; i < 100000; i++)
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (double end = MPI_Wtime() + 0.1; MPI_Wtime() < end;)
        ; /* the recorder writes what it has when a call comes after some hundredths of a second */
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Finalize();
    puts("done");
    return 0;
}
