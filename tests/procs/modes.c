/*
 * All kinds of sends, probes and cancelling between ranks of different processes, with what they
 * find out and when. The rank's partner is half the world away.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern void orrery_compute(double seconds) __attribute__((weak));

#define N 30000 /* ints: above the eager limit */

static int rank, size, partner, data[N], got[N];

static void say(const char *what, int value)
{
    printf("rank %d: %s %d at %.12f\n", rank, what, value, MPI_Wtime());
}

static void sends(int count)
{
    MPI_Request r[4];
    MPI_Status status;
    int index;

    orrery_compute(1e-5 * rank);
    MPI_Irecv(got, count, MPI_INT, partner, 1, MPI_COMM_WORLD, &r[0]);
    MPI_Issend(data, count, MPI_INT, partner, 1, MPI_COMM_WORLD, &r[1]);
    MPI_Waitany(2, r, &index, &status);
    say("first done", index);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    MPI_Irecv(got, count, MPI_INT, partner, 2, MPI_COMM_WORLD, &r[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Rsend(data, count, MPI_INT, partner, 2, MPI_COMM_WORLD);
    MPI_Wait(&r[0], &status);
    MPI_Get_count(&status, MPI_INT, &index);
    say("ready send", index);
    if (rank < partner) {
        MPI_Ssend(data, count, MPI_INT, partner, 3, MPI_COMM_WORLD);
        MPI_Recv(got, count, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    } else {
        orrery_compute(3e-5);
        MPI_Recv(got, count, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Bsend(data, count, MPI_INT, partner, 4, MPI_COMM_WORLD);
    }
    say("from", status.MPI_SOURCE);
}

static void probes(int count)
{
    MPI_Message message;
    MPI_Request r;
    MPI_Status status;
    int flag = 0, tries = 0, n;

    MPI_Barrier(MPI_COMM_WORLD);
    orrery_compute(1e-5 * (rank % 3));
    MPI_Isend(data, count, MPI_INT, partner, 5, MPI_COMM_WORLD, &r);
    while (!flag) {
        MPI_Improbe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &flag, &message, &status);
        tries++;
    }
    MPI_Get_count(&status, MPI_INT, &n);
    say("found", n);
    say("tries", tries);
    MPI_Mrecv(got, n, MPI_INT, &message, &status);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    say("matched", got[n - 1]);
}

/* Orrery cancels receives, but never sends. */
static void cancels(int count)
{
    MPI_Request r[2];
    MPI_Status status;
    int flag = 0;

    MPI_Barrier(MPI_COMM_WORLD);
    if (rank < partner) {
        MPI_Issend(data, count, MPI_INT, partner, 6, MPI_COMM_WORLD, &r[0]);
        MPI_Irecv(got, count, MPI_INT, partner, 77, MPI_COMM_WORLD, &r[1]);
        orrery_compute(1e-4 * (rank % 2));
        MPI_Cancel(&r[0]);
        MPI_Cancel(&r[1]);
        MPI_Send(&flag, 1, MPI_INT, partner, 7, MPI_COMM_WORLD);
        for (int i = 0; i < 2; i++) {
            MPI_Wait(&r[i], &status);
            MPI_Test_cancelled(&status, &flag);
            say(i ? "receive cancelled" : "send cancelled", flag);
        }
    } else {
        MPI_Recv(&flag, 1, MPI_INT, partner, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Iprobe(partner, 6, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        say("there already", flag); /* a large message comes later than a small one sent after it */
        MPI_Recv(got, count, MPI_INT, partner, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    void *buffer = malloc(4 * sizeof data);
    int counts[] = {1, 1000, N};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    partner = (rank + size / 2) % size;
    for (int i = 0; i < N; i++)
        data[i] = rank * N + i;
    MPI_Buffer_attach(buffer, 4 * sizeof data);
    for (int i = 0; i < 3; i++) {
        sends(counts[i]);
        probes(counts[i]);
        cancels(counts[i]);
    }
    MPI_Buffer_detach(&buffer, counts);
    MPI_Finalize();
    free(buffer);
    return 0;
}
