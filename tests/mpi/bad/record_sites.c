/* Calls from two functions, and instrumented functions (-finstrument-functions). */
#include <mpi.h>

#define PLAIN __attribute__((no_instrument_function))

__attribute__((noinline)) static void inner(int n)
{
    for (int i = 0; i < n; i++)
        MPI_Barrier(MPI_COMM_WORLD);
}

__attribute__((noinline)) static void outer(void)
{
    inner(2);
    MPI_Barrier(MPI_COMM_WORLD);
}

PLAIN int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    outer();
    inner(1);
    MPI_Finalize();
    return 0;
}
