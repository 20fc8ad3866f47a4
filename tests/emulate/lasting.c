/*
 * Each rank writes its process id to the file rank.N; then the file `stays` tells that rank 1 can
 * be killed. By argument 1 it has a large message in the network then (sending), or computes. The
 * others wait for it.
 */
#define _GNU_SOURCE 1
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void write_file(const char *name, int number)
{
    FILE *f = fopen("new", "w");

    fprintf(f, "%d", number);
    fclose(f);
    rename("new", name);
}

int main(int argc, char **argv)
{
    static char data[64 << 20];
    char name[32];
    int rank, size;
    MPI_Request request;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < size; i++) {
        snprintf(name, sizeof name, "rank.%d", rank);
        if (i == rank)
            write_file(name, (int)syscall(SYS_getpid));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 1) {
        MPI_Isend(data, sizeof data, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &request);
        write_file("stays", 0);
        if (argc > 1 && strcmp(argv[1], "sending") == 0)
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (;;)
            ;
    }
    MPI_Recv(data, sizeof data, MPI_CHAR, 1, rank, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
