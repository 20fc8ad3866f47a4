/*
 * farm.c - a master gives tasks to workers, and the next one to the first that answers: every
 * answer is received from any source, so every one is a decision.
 *
 * usage: farm TASKS     tasks take 50 us to 1 ms of declared time
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Declared here and not by orrery.h, so that the program compiles without Orrery's headers. */
void orrery_compute(double seconds) __attribute__((weak));

enum { TASK = 1, ANSWER };

static void send_task(int task, int worker)
{
    MPI_Send(&task, 1, MPI_INT, worker, TASK, MPI_COMM_WORLD);
}

static void master(int size, int tasks)
{
    int sent = 0;
    int64_t sum = 0;

    for (int w = 1; w < size && sent < tasks; w++)
        send_task(sent++, w);
    for (int done = 0; done < tasks; done++) {
        MPI_Status status;
        int answer;

        MPI_Recv(&answer, 1, MPI_INT, MPI_ANY_SOURCE, ANSWER, MPI_COMM_WORLD, &status);
        sum += answer;
        if (sent < tasks)
            send_task(sent++, status.MPI_SOURCE);
    }
    for (int w = 1; w < size; w++)
        send_task(-1, w);
    if (sum != (int64_t)tasks * (tasks - 1) / 2)
        fprintf(stderr, "farm: answers are wrong\n");
}

static void worker(int rank)
{
    uint32_t random = (uint32_t)rank * 2654435761u;

    for (;;) {
        int task;

        MPI_Recv(&task, 1, MPI_INT, 0, TASK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (task < 0)
            return;
        random = random * 1664525u + 1013904223u;
        if (orrery_compute)
            orrery_compute((50 + (random >> 20) % 950) * 1e-6);
        MPI_Send(&task, 1, MPI_INT, 0, ANSWER, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0)
        master(size, argc > 1 ? atoi(argv[1]) : size);
    else
        worker(rank);
    MPI_Finalize();
    return 0;
}
