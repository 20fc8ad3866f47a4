/*
 * spawn COMMAND COUNT [WHAT]: all ranks together spawn COUNT of COMMAND ("self": this program),
 * with the default error handler. Those spawned have WHAT as their argument, and do it.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int child(const char *what)
{
    int me, n, got = 0;

    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    if (strcmp(what, "wait") == 0)
        MPI_Recv(&got, 1, MPI_INT, (me + 1) % n, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (strcmp(what, "abort") == 0 && me == 1)
        MPI_Abort(MPI_COMM_WORLD, 9);
    if (strcmp(what, "crash") == 0 && me == 1)
        *(volatile int *)16 = 1;
    printf("spawned %d of %d\n", me, n);
    MPI_Finalize();
    return strcmp(what, "status") == 0 && me > 0 ? 6 + me : 0;
}

int main(int argc, char **argv)
{
    MPI_Comm inter, parent;

    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL)
        return child(argv[1]);
    MPI_Comm_spawn(strcmp(argv[1], "self") ? argv[1] : argv[0], argv + 3, atoi(argv[2]),
                   MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
    MPI_Finalize();
    return 0;
}
