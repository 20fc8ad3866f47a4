/*
 * A rank that runs a command for ever: argument 1 is the function that starts it, "system" or
 * "popen". The command creates the file `started.command`, and has a child. With "left",
 * the rank ends without waiting for it.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    static const char command[] = "sleep 100000 & touch started.command; wait";
    const char *how = argc > 1 ? argv[1] : "system";
    int rank;
    char line[8];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1 && !strcmp(how, "system") && system(command) < 0)
        return 1;
    if (rank == 1 && strcmp(how, "system")) {
        FILE *stream = popen(command, "r");

        if (!stream || (!strcmp(how, "popen") && fgets(line, sizeof line, stream)))
            return 1;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
