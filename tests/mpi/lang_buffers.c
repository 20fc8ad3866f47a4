/* test: n=1,2,5,16 native=4
 * Messages from and into every kind of memory (stack, globals, thread-locals, heap, static locals)
 * of ranks that are blocked, in both protocols. */
#include "check.h"

#ifndef LARGE_COUNT
#define LARGE_COUNT 20000
#endif

enum { SMALL = 16, LARGE = LARGE_COUNT, KINDS = 5 };

static int global_in[LARGE], global_out[LARGE];
static _Thread_local int tls_in[LARGE], tls_out[LARGE];

static int value(int rank, int kind, int i)
{
    return rank * 1000003 + kind * 1009 + i;
}

static void fill(int *data, int count, int rank, int kind)
{
    for (int i = 0; i < count; i++)
        data[i] = value(rank, kind, i);
}

static void verify(const int *data, int count, int rank, int kind)
{
    for (int i = 0; i < count; i++)
        CHECK(data[i] == value(rank, kind, i));
}

/* Sends out of one kind of memory into another; the sender may be blocked while data is taken. */
static void exchange(int *out, int *in, int count, int kind, int shift)
{
    int rank = check_rank(), size = check_size();
    int to = (rank + shift) % size, from = (rank + size - shift % size) % size;
    MPI_Request request;
    fill(out, count, rank, kind);
    memset(in, 0xff, (size_t)count * sizeof(int));
    MPI_Irecv(in, count, MPI_INT, from, kind, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Ssend(out, count, MPI_INT, to, kind, MPI_COMM_WORLD);
    memset(out, 0, (size_t)count * sizeof(int));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    verify(in, count, from, kind);
}

static void all_pairs(int count, int shift)
{
    static int local_in[LARGE], local_out[LARGE];
    int stack_in[LARGE], stack_out[LARGE];
    int *heap_in = (int *)malloc(LARGE * sizeof(int));
    int *heap_out = (int *)malloc(LARGE * sizeof(int));
    int *in[KINDS] = {stack_in, global_in, tls_in, heap_in, local_in};
    int *out[KINDS] = {stack_out, global_out, tls_out, heap_out, local_out};
    for (int i = 0; i < KINDS; i++)
        for (int k = 0; k < KINDS; k++)
            exchange(out[i], in[k], count, i * KINDS + k, shift);
    free(heap_in);
    free(heap_out);
}

/* Everything arrives while the owner waits for something else, and in no order of posting. */
static void many_pending(void)
{
    int rank = check_rank(), size = check_size(), stack[4][SMALL];
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Request requests[8];
    for (int i = 0; i < 4; i++) {
        MPI_Irecv(stack[i], SMALL, MPI_INT, left, i, MPI_COMM_WORLD, &requests[i]);
        MPI_Irecv(global_in + i * SMALL, SMALL, MPI_INT, left, 4 + i, MPI_COMM_WORLD,
                  &requests[4 + i]);
    }
    for (int i = 7; i >= 0; i--) {
        fill(tls_out, SMALL, rank, i);
        MPI_Send(tls_out, SMALL, MPI_INT, right, i, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 4; i++) {
        verify(stack[i], SMALL, left, i);
        verify(global_in + i * SMALL, SMALL, left, 4 + i);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    all_pairs(SMALL, 1);
    check_ok("small");
    all_pairs(LARGE, 1);
    check_ok("large");
    all_pairs(SMALL, 3);
    check_ok("shifted");
    many_pending();
    check_ok("pending");
    MPI_Finalize();
    return 0;
}
