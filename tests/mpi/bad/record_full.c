/*
 * The size of its part of the trace is limited to that of some calls, like a full disk. With an
 * argument, the limit applies only after MPI_Finalize.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>

static void fill(rlim_t bytes)
{
    struct rlimit most = {bytes, bytes};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &most);
}

/* One record is left to write when the program ends. */
static int fill_at_end(void)
{
    int flag;
    MPI_Finalize();
    fill(1);
    MPI_Finalized(&flag);
    puts("done");
    return 0;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    if (argc > 1)
        return fill_at_end();
    fill(100000);
    for (int i = 0; i < 100000; i++)
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (double end = MPI_Wtime() + 0.1; MPI_Wtime() < end;)
        ; /* the recorder writes what it has when a call comes after some hundredths of a second */
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Finalize();
    puts("done");
    return 0;
}
