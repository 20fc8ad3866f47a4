/*
 * What can go wrong in one rank, by argument 1; argument 2 is the rank. The others wait for it.
 *   segv      it writes to no address
 *   overflow  it uses up its stack
 *   abort     it calls abort()
 *   kill      it sends SIGKILL to its real process
 *   vanish    its process ends without the simulator's knowledge
 *   early     all call exit(3) before MPI_Init
 *   late      it calls exit(3) before MPI_Finalize, all others end
 *   quit      it calls MPI_Abort(7)
 *   alone     it calls MPI_Abort(7), and the next rank computes for ever
 *   smash     it overwrites its stack, return addresses included
 *   wild      it calls a function where there is none
 *   ruin      it overwrites its stack, and all of the heap behind an array
 *   term      it raises SIGTERM
 *   usr       it raises SIGUSR1
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

    /* On one line, as which part of it reaches the end of the stack depends on what is above it. */
    return (room[0] = *above, above) ? overflow(room) + room[1] : 0;
}

/* The return address is after the array. */
__attribute__((noinline, no_stack_protector)) static void smash(size_t n)
{
    char room[8];

    memset(room, 0x41, n);
    __asm__ volatile("" : : "r"(room) : "memory");
}

/* If ranks are fibres, the simulator's memory is there, too. */
static void ruin(void)
{
    char *small = malloc(8);

    memset(small, 0x41, (size_t)((char *)sbrk(0) - small));
    smash(64);
}

static void fail(const char *how)
{
    void (*volatile nobody)(void) = (void (*)(void))16;
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
    else if (!strcmp(how, "quit") || !strcmp(how, "alone"))
        MPI_Abort(MPI_COMM_WORLD, 7);
    else if (!strcmp(how, "smash"))
        smash(64);
    else if (!strcmp(how, "wild"))
        nobody();
    else if (!strcmp(how, "ruin"))
        ruin();
    else if (!strcmp(how, "term"))
        raise(SIGTERM);
    else if (!strcmp(how, "usr"))
        raise(SIGUSR1);
}

int main(int argc, char **argv)
{
    int rank, chosen = atoi(argv[2]);

    if (!strcmp(argv[1], "early"))
        exit(3);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("rank %d is here\n", rank);
    if (strcmp(argv[1], "alone") != 0)
        MPI_Barrier(
            MPI_COMM_WORLD); /* with several processes a rank could fail before others begin */
    if (rank == chosen)
        fail(argv[1]);
    while (rank == chosen + 1 && !strcmp(argv[1], "alone"))
        __asm__ volatile("" : : : "memory");
    if (strcmp(argv[1], "late") != 0)
        MPI_Recv(&rank, 1, MPI_INT, chosen, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
