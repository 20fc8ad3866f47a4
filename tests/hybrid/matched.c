/* Matched probes among receives from any source: long messages, which may have been taken out of
 * the real MPI for those receives. In each round rank 0 receives 3 messages of each other rank. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 10, COUNT = 100000, TAG = 3 };

static int failed, size;

/* Messages of one source come in their order; they hold source, number and length. */
static void check(const int *data, const MPI_Status *s, int *next)
{
    int got;
    MPI_Get_count(s, MPI_INT, &got);
    failed |= s->MPI_TAG != TAG || s->MPI_SOURCE < 1 || s->MPI_SOURCE >= size;
    if (failed)
        return;
    failed |= data[0] != s->MPI_SOURCE || data[1] != next[s->MPI_SOURCE] || data[2] != got;
    failed |= data[got - 1] != data[1];
    next[s->MPI_SOURCE] = data[1] + 1;
}

static void collect(int *first, int *second, int *third, int *next)
{
    MPI_Request requests[2];
    MPI_Status s;
    MPI_Message message;
    int is_there = 0;
    MPI_Irecv(first, COUNT, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Mprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &message, &s);
    MPI_Imrecv(second, COUNT, MPI_INT, &message, &requests[1]);
    failed |= message != MPI_MESSAGE_NULL;
    MPI_Wait(&requests[0], &s);
    check(first, &s, next);
    MPI_Wait(&requests[1], &s);
    check(second, &s, next);
    while (!is_there)
        MPI_Improbe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &is_there, &message, &s);
    MPI_Mrecv(third, COUNT, MPI_INT, &message, &s);
    check(third, &s, next);
}

int main(int argc, char **argv)
{
    int rank, *data[3], next[64] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 3; i++)
        data[i] = calloc(COUNT, sizeof(int));
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request requests[3];
        for (int i = 0; rank > 0 && i < 3; i++) {
            int count = COUNT - 1000 * i - rank;
            data[i][0] = rank, data[i][2] = count;
            data[i][1] = data[i][count - 1] = 3 * round + i;
            MPI_Isend(data[i], count, MPI_INT, 0, TAG, MPI_COMM_WORLD, &requests[i]);
        }
        for (int other = 1; rank == 0 && other < size; other++)
            collect(data[0], data[1], data[2], next);
        for (int other = 1; rank > 0 && other < size; other++)
            MPI_Barrier(MPI_COMM_WORLD);
        if (rank > 0)
            MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < 3; i++)
        free(data[i]);
    MPI_Finalize();
    if (rank == 0)
        puts(failed ? "wrong" : "done");
    return 0;
}
