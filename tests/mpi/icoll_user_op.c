/* test: n=2,5
 * Operations of the program that call MPI themselves, in non-blocking reductions: they run beside
 * the program, and must not yield there. */
#include "check.h"

enum { ROUNDS = 30, COUNT = 16 };

static void add(void *in, void *inout, int *len, MPI_Datatype *type)
{
    int size, rank;

    MPI_Type_size(*type, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < *len * size / (int)sizeof(int); i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

int main(int argc, char **argv)
{
    int rank, size, sent[ROUNDS][COUNT], got[ROUNDS][COUNT];
    MPI_Request requests[ROUNDS];
    MPI_Op op;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Op_create(add, 1, &op);
        for (int i = 0; i < COUNT; i++)
            sent[round][i] = rank + i + round;
        if (round % 2)
            MPI_Iallreduce(sent[round], got[round], COUNT, MPI_INT, op, MPI_COMM_WORLD,
                           &requests[round]);
        else
            MPI_Iscan(sent[round], got[round], COUNT, MPI_INT, op, MPI_COMM_WORLD,
                      &requests[round]);
        MPI_Op_free(&op);
    }
    MPI_Waitall(ROUNDS, requests, MPI_STATUSES_IGNORE);
    for (int round = 0; round < ROUNDS; round++) {
        int n = round % 2 ? size : rank + 1;

        for (int i = 0; i < COUNT; i++)
            CHECK(got[round][i] == n * (n - 1) / 2 + n * (i + round));
    }
    if (rank == 0)
        puts("ok");
    MPI_Finalize();
    return 0;
}
