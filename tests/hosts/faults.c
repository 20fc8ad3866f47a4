/*
 * What can go wrong in one rank, by argument 1; argument 2 is the rank. The others wait for it.
 *   segv      it writes to no address
 *   overflow  it uses up its stack
 *   abort     it calls abort()
 *   kill      it sends SIGKILL to its real process
 *   vanish    its process ends behind the simulator's back
 *   early     all call exit(3) before MPI_Init
 *   late      it calls exit(3) before MPI_Finalize, all others end
 *   quit      it calls MPI_Abort(7)
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int overflow(volatile char *above)
{
    volatile char room[4096];

    room[0] = *above;
    return above ? overflow(room) + room[1] : 0;
}

static void fail(const char *how)
{
    volatile int *nowhere = NULL;
    char start = 0;

    if (!strcmp(how, "segv"))
        *nowhere = 1;
    else if (!strcmp(how, "overflow"))
        exit(overflow(&start));
    else if (!strcmp(how, "abort"))
        abort();
    else if (!strcmp(how, "kill"))
        syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
    else if (!strcmp(how, "vanish"))
        syscall(SYS_exit_group, 5);
    else if (!strcmp(how, "late"))
        exit(3);
    else if (!strcmp(how, "quit"))
        MPI_Abort(MPI_COMM_WORLD, 7);
}

int main(int argc, char **argv)
{
    int rank, chosen = atoi(argv[2]);

    if (!strcmp(argv[1], "early"))
        exit(3);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("rank %d is here\n", rank);
    if (rank == chosen)
        fail(argv[1]);
    if (strcmp(argv[1], "late") != 0)
        MPI_Recv(&rank, 1, MPI_INT, chosen, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
