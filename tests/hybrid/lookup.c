/* Loads the MPI and looks up its functions by name; RTLD_NEXT is what follows this program. */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

int main(void)
{
    void *library = dlopen("libmpich.so.12", RTLD_NOW | RTLD_LOCAL);
    int (*init)(int *, char ***) = (int (*)(int *, char ***))dlsym(library, "MPI_Init");
    int (*rank)(MPI_Comm, int *) = (int (*)(MPI_Comm, int *))dlsym(library, "PMPI_Comm_rank");
    int (*size)(MPI_Comm, int *) = (int (*)(MPI_Comm, int *))dlsym(library, "MPI_Comm_size");
    int (*barrier)(MPI_Comm) = (int (*)(MPI_Comm))dlsym(library, "MPI_Barrier");
    int (*finalize)(void) = (int (*)(void))dlsym(library, "MPI_Finalize");
    int self, count;
    init(NULL, NULL);
    rank(MPI_COMM_WORLD, &self);
    size(MPI_COMM_WORLD, &count);
    barrier(MPI_COMM_WORLD);
    printf("%d of %d, %s, %s\n", self, count, dlsym(library, "MPI_None") ? "found" : "nothing",
           dlsym(RTLD_NEXT, "clock_gettime") == dlsym(RTLD_DEFAULT, "clock_gettime") ? "next"
                                                                                     : "another");
    return finalize();
}
