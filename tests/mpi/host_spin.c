/* test: n=2,3,5 native=2 host=threads flags="-pthread" run="--set net.model=flow,net.latency=10us,net.bandwidth=8Gbps,nodes.ranks=1,mpi.clock_cost=1ps"
 * A thread that spins until its rank has its messages, on a network with contention: small and
 * large ones and any source, while nothing else happens. Then one that computes before it sends
 * what all others wait for: this is neither a deadlock nor an endless run. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>

#include "check.h"

#ifndef LEVEL
#define LEVEL MPI_THREAD_MULTIPLE
#endif

enum { ROUNDS = 8, SMALL = 1000, LARGE = 200000 };

static int rank, size;
static atomic_int is_over;

static void *spin(void *unused)
{
    while (!atomic_load(&is_over))
        continue;
    return unused;
}

static void exchange(char *buffer, int bytes)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Request sent;

    MPI_Isend(buffer, bytes, MPI_CHAR, right, 0, MPI_COMM_WORLD, &sent);
    MPI_Recv(buffer + LARGE, bytes, MPI_CHAR, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
}

static void any(void)
{
    int in, sum = 0;

    if (rank)
        MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    for (int i = 1; i < size && rank == 0; i++) {
        MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sum += in;
    }
    CHECK(rank || sum == size * (size - 1) / 2);
}

/* Long enough to count as spinning. */
static void *compute(void *unused)
{
    int value = 42;

    for (volatile long i = 0; i < 30 * 1000 * 1000; i++)
        continue;
    if (LEVEL == MPI_THREAD_MULTIPLE)
        MPI_Send(&value, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
    return unused;
}

static void late(void)
{
    int value = 0;
    pthread_t thread;

    if (rank == 0)
        CHECK(pthread_create(&thread, NULL, compute, NULL) == 0);
    if (rank == 0 && LEVEL == MPI_THREAD_MULTIPLE)
        MPI_Recv(&value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1 && LEVEL == MPI_THREAD_MULTIPLE) {
        MPI_Recv(&value, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
    }
    CHECK(rank > 1 || LEVEL != MPI_THREAD_MULTIPLE || value == 42);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    static char buffer[2 * LARGE];
    int provided;
    pthread_t thread;

    MPI_Init_thread(&argc, &argv, LEVEL, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(pthread_create(&thread, NULL, spin, NULL) == 0);
    for (int i = 0; i < ROUNDS; i++)
        exchange(buffer, i % 2 ? SMALL : LARGE);
    CHECK(!check_virtual() || LEVEL == MPI_THREAD_MULTIPLE ||
          fabs(MPI_Wtime() - ROUNDS / 2 * (11e-6 + 230e-6)) < 5e-12);
    any();
    atomic_store(&is_over, 1);
    pthread_join(thread, NULL);
    late();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        puts("ok");
    MPI_Finalize();
    return 0;
}
