/* Each rank loads a library while it runs. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank;
    void *library;
    double (*root)(double) = NULL;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    library = dlopen("libm.so.6", RTLD_NOW);
    if (library)
        *(void **)&root = dlsym(library, "sqrt");
    printf("rank %d: %g\n", rank, root ? root(4.0 * (rank + 1) * (rank + 1)) : -1.0);
    MPI_Finalize();
    return 0;
}
