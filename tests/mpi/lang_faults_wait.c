/*
 * test: n=2,5,300 native=4 measured=no
 * Handlers of faults that wait in MPI calls, and such that jump out with their signal still
 * blocked. Neither blocks it for other ranks, nor loses where the rank was.
 */
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define TURNS 5

static jmp_buf back;
static int rank, size, neighbour;
static char *page;

static void jump_out(int sig)
{
    longjmp(back, sig);
}

/* Waits for the neighbour, which is in its own handler, and mends what was wrong. */
static void wait_and_mend(int sig, siginfo_t *info, void *context)
{
    char *at;

    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, sig, &neighbour, 1, MPI_INT,
                 (rank + size - 1) % size, sig, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    at = info->si_addr;
    if (!context || at != page + rank)
        printf("rank %d: the address of the fault is wrong\n", rank);
    mprotect(page, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE);
}

static int is_blocked(void)
{
    sigset_t now;

    sigprocmask(SIG_BLOCK, NULL, &now);
    return sigismember(&now, SIGSEGV);
}

/* Faults, and jumps out of the handler without the mask of before. */
__attribute__((noipa)) static void fault(volatile int *at) /* the compiler must not know where */
{
    if (_setjmp(back) == 0)
        *at = 1;
}

static void unblock(void)
{
    sigset_t faults;

    sigemptyset(&faults);
    sigaddset(&faults, SIGSEGV);
    sigprocmask(SIG_UNBLOCK, &faults, NULL);
}

/* One rank after the other, up to a number, while those before it still block the signal. */
static void jump_in_turn(void)
{
    signal(SIGSEGV, jump_out);
    for (int turn = 0; turn < TURNS; turn++) {
        if (turn == rank)
            fault((volatile int *)8);
        MPI_Barrier(MPI_COMM_WORLD);
        if (is_blocked() != (rank <= turn))
            printf("rank %d, turn %d: blocked or not, and should not be so\n", rank, turn);
    }
    unblock();
    MPI_Barrier(MPI_COMM_WORLD);
    if (is_blocked())
        printf("rank %d: still blocked\n", rank);
}

static void wait_in_handlers(void)
{
    struct sigaction act = {.sa_sigaction = wait_and_mend, .sa_flags = SA_SIGINFO};
    double near[4] = {rank, rank + 0.25, rank + 0.5, rank + 0.75}, sum = 0;

    page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sigaction(SIGSEGV, &act, NULL);
    for (int i = 0; i < 4; i++)
        sum += near[i];
    page[rank] = (char)(sum + 1);
    if (page[rank] != (char)(sum + 1) || sum != 4 * rank + 1.5)
        printf("rank %d: not resumed as it was\n", rank);
    if (neighbour != (rank + size - 1) % size)
        printf("rank %d: got %d in the handler\n", rank, neighbour);
    if (is_blocked())
        printf("rank %d: blocked after the handler\n", rank);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    jump_in_turn();
    wait_in_handlers();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("all handlers ran\n");
    MPI_Finalize();
    return 0;
}
