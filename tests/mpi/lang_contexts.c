/*
 * test: n=1,2,5 native=4 measured=no
 * MPI calls on stacks that the program has made (makecontext): coroutines that take turns in each
 * rank.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

enum { COROUTINES = 3, ROUNDS = 4, STACK = 64 << 10 };

static ucontext_t home, contexts[COROUTINES];
static int rank, size, sums[COROUTINES];

static void coroutine(int self)
{
    for (int round = 0; round < ROUNDS; round++) {
        int value = rank + self + round, sum, from;

        MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Sendrecv(&value, 1, MPI_INT, (rank + 1) % size, self, &from, 1, MPI_INT,
                     (rank + size - 1) % size, self, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sums[self] += sum + from;
        swapcontext(&contexts[self], &home);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < COROUTINES; i++) {
        getcontext(&contexts[i]);
        contexts[i].uc_stack.ss_sp = malloc(STACK);
        contexts[i].uc_stack.ss_size = STACK;
        contexts[i].uc_link = &home;
        makecontext(&contexts[i], (void (*)(void))coroutine, 1, i);
    }
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < COROUTINES; i++)
            swapcontext(&home, &contexts[i]);
    MPI_Allreduce(MPI_IN_PLACE, sums, COROUTINES, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d %d %d\n", sums[0], sums[1], sums[2]);
    MPI_Finalize();
    return 0;
}
