/*
 * The rank of argument 1 waits in a system call for a connection, which a child process makes when
 * a file `connect` exists. Meanwhile no other rank can run.
 */
#include <arpa/inet.h>
#include <mpi.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A real process, which sleeps for real while it polls. */
static void connect_later(struct sockaddr_in *to)
{
    struct timespec pause = {.tv_nsec = 20000000};
    int s;

    if (syscall(SYS_fork) != 0)
        return;
    while (access("connect", F_OK) != 0)
        syscall(SYS_nanosleep, &pause, NULL);
    s = socket(AF_INET, SOCK_STREAM, 0);
    connect(s, (struct sockaddr *)to, sizeof *to);
    syscall(SYS_exit_group, 0);
}

int main(int argc, char **argv)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof here;
    int rank, chosen = atoi(argv[1]);

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == chosen) {
        int s = socket(AF_INET, SOCK_STREAM, 0);

        if (bind(s, (struct sockaddr *)&here, size) != 0 || listen(s, 1) != 0 ||
            getsockname(s, (struct sockaddr *)&here, &size) != 0)
            MPI_Abort(MPI_COMM_WORLD, 2);
        connect_later(&here);
        if (accept(s, NULL, NULL) < 0)
            MPI_Abort(MPI_COMM_WORLD, 3);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
