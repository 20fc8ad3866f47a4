/*
 * tasks.c - rank 0 sends small tasks of ten kinds, a tag each, at a steady rate; the other ranks
 * take whichever has come. How long does a task travel, on average and at most?
 *
 * usage: tasks [TASKS]      for each rank
 */
#include <mpi.h>
#include <orrery.h>
#include <stdio.h>
#include <stdlib.h>

enum { KINDS = 10, TASKS = 2000 };

struct task {
    double sent;
    int number;
    char data[1000];
};

static void send_all(int ranks, int tasks)
{
    struct task *task = calloc((size_t)tasks, sizeof *task);

    for (int i = 0; i < tasks; i++)
        for (int to = 1; to < ranks; to++) {
            orrery_compute(50e-6);
            task[i].sent = MPI_Wtime();
            task[i].number = i;
            MPI_Send(&task[i], sizeof *task, MPI_BYTE, to, i % KINDS, MPI_COMM_WORLD);
        }
    free(task);
}

/* Sum and maximum of the times. Tasks of a kind come in order. */
static void take_all(int tasks, double *times)
{
    static struct task task[KINDS];
    MPI_Request pending[KINDS];
    int next[KINDS], kind;

    for (kind = 0; kind < KINDS; kind++) {
        next[kind] = kind;
        MPI_Irecv(&task[kind], sizeof *task, MPI_BYTE, 0, kind, MPI_COMM_WORLD, &pending[kind]);
    }
    for (int i = 0; i < tasks; i++) {
        double took;

        MPI_Waitany(KINDS, pending, &kind, MPI_STATUS_IGNORE);
        took = MPI_Wtime() - task[kind].sent;
        if (task[kind].number != next[kind])
            MPI_Abort(MPI_COMM_WORLD, 1);
        times[0] += took;
        times[1] = took > times[1] ? took : times[1];
        next[kind] += KINDS;
        if (next[kind] < tasks)
            MPI_Irecv(&task[kind], sizeof *task, MPI_BYTE, 0, kind, MPI_COMM_WORLD, &pending[kind]);
    }
}

int main(int argc, char **argv)
{
    int rank, ranks, tasks = argc > 1 ? atoi(argv[1]) : TASKS;
    double times[2] = {0, 0}, sum, most;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank == 0)
        send_all(ranks, tasks);
    else
        take_all(tasks, times);
    MPI_Reduce(&times[0], &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&times[1], &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("a task takes %.2f ms, at most %.1f ms\n", 1e3 * sum / tasks / (ranks - 1),
               1e3 * most);
    MPI_Finalize();
    return 0;
}
