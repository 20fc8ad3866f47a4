/* Ends as the argument says, after a barrier. Before a kill it waits until its part of the trace
 * has grown. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int rank;

static long part_size(void)
{
    char path[4096];
    struct stat st;
    snprintf(path, sizeof path, "%s.part-%d", strchr(getenv("ORRERY_RECORD"), ':') + 1, rank);
    return stat(path, &st) == 0 ? (long)st.st_size : 0;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "exit";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(how, "kill") == 0 || strcmp(how, "stay") == 0) {
        for (long size = part_size(); part_size() == size; usleep(1000))
            MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        if (strcmp(how, "kill") == 0)
            raise(SIGKILL);
        if (rank == 0)
            fclose(fopen("ready", "w"));
        for (;;)
            pause();
    }
    if (strcmp(how, "look") == 0) {
        MPI_Finalize();
        if (rank == 0)
            printf("%d parts\n", (part_size() > 0) + (rank = 1, part_size() > 0));
        return 0;
    }
    if (strcmp(how, "exit") == 0)
        return 0;
    if (strcmp(how, "leave") == 0)
        _exit(0);
    if (rank == 0)
        MPI_Abort(MPI_COMM_WORLD, 5);
    MPI_Barrier(MPI_COMM_WORLD);
    return 0;
}
