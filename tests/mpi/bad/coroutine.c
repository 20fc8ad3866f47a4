/* All ranks call MPI on a stack that they have created. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

static ucontext_t home, other;

static void coroutine(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    enum { STACK = 64 << 10 };

    MPI_Init(&argc, &argv);
    getcontext(&other);
    other.uc_stack.ss_sp = malloc(STACK);
    other.uc_stack.ss_size = STACK;
    other.uc_link = &home;
    makecontext(&other, coroutine, 0);
    puts("before");
    swapcontext(&home, &other);
    puts("after");
    MPI_Finalize();
    return 0;
}
