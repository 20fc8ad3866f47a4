/*
 * test: n=1,2,5 native=4 measured=no
 * A program's own handlers for faults: one that jumps out, one that mends what was wrong and
 * returns, one that is gone after its first call, and one that ends its rank. Each rank has its
 * own.
 */
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static sigjmp_buf back;
static volatile sig_atomic_t calls;
static char *page;

static void jump_out(int sig)
{
    calls++;
    siglongjmp(back, sig);
}

static void leave(int sig)
{
    _exit(sig == SIGSEGV ? 0 : 1);
}

static void mend(int sig, siginfo_t *info, void *context)
{
    long size = sysconf(_SC_PAGESIZE);

    calls += sig == SIGSEGV && context && (char *)info->si_addr >= page &&
             (char *)info->si_addr < page + size;
    mprotect(page, (size_t)size, PROT_READ | PROT_WRITE);
}

static void try(volatile int *at)
{
    int sum = 0;

    if (sigsetjmp(back, 1) == 0)
        *at = 1;
    else
        MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    struct sigaction act = {.sa_sigaction = mend, .sa_flags = SA_SIGINFO}, old;
    int rank, total;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    signal(SIGSEGV, jump_out);
    try((volatile int *)8);
    try((volatile int *)16);
    page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sigaction(SIGSEGV, &act, &old);
    if (old.sa_handler != jump_out)
        printf("rank %d: the handler was another\n", rank);
    page[rank % 64] = 7;
    if (page[rank % 64] != 7)
        printf("rank %d: the byte was not written\n", rank);
    signal(SIGFPE, jump_out);
    if (sigsetjmp(back, 1) == 0)
        raise(SIGFPE);
    MPI_Allreduce((const int[]){calls}, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s\n",
               total > 0 && total % 4 == 0 ? "4 calls of handlers per rank" : "too few calls");
    MPI_Finalize();
    fflush(stdout);
    signal(SIGSEGV, leave);
    try((volatile int *)8);
    return 1;
}
