/*
 * farm.c - a task farm: rank 0 hands out tasks, all others work on them. The master receives
 * results with MPI_ANY_SOURCE, so the worker that is ready first gets the next task.
 *
 * The tasks do not compute anything here: they declare how long they take on the machine to be
 * studied, by orrery_compute. Natively that call does nothing and the order is random; in the
 * simulator the order is that of virtual time, the same in every run.
 *
 * usage: farm [TASKS]                    exit status 1 if a result is wrong
 */
#include <mpi.h>
#include <orrery.h>
#include <stdio.h>
#include <stdlib.h>

#define STOP (-1)
#define MANY_TASKS 20 /* with more, the log of each task is left out */

enum { TAG_TASK, TAG_RESULT };

struct result {
    int task; /* STOP: the worker only asks for its first task */
    int value;
};

/* Tasks are of uneven length: 1 to 7 ms. */
static double task_seconds(int task)
{
    return 1e-3 * (1 + task * 3 % 7);
}

static int task_value(int task)
{
    return 2 * task + 1;
}

static void work(void)
{
    struct result r = {STOP, 0};

    for (;;) {
        MPI_Send(&r, 2, MPI_INT, 0, TAG_RESULT, MPI_COMM_WORLD);
        MPI_Recv(&r.task, 1, MPI_INT, 0, TAG_TASK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (r.task == STOP)
            return;
        orrery_compute(task_seconds(r.task));
        r.value = task_value(r.task);
    }
}

/* Hands out all tasks; returns the sum of the results. */
static long long direct(int tasks, int workers)
{
    int next = 0, none = STOP;
    long long sum = 0;
    double start = MPI_Wtime();

    while (workers > 0) {
        MPI_Status status;
        struct result r;

        MPI_Recv(&r, 2, MPI_INT, MPI_ANY_SOURCE, TAG_RESULT, MPI_COMM_WORLD, &status);
        if (r.task != STOP) {
            sum += r.value;
            if (tasks <= MANY_TASKS)
                printf("task %2d done by rank %d at %6.3f ms\n", r.task, status.MPI_SOURCE,
                       1e3 * (MPI_Wtime() - start));
        }
        if (next < tasks) {
            MPI_Send(&next, 1, MPI_INT, status.MPI_SOURCE, TAG_TASK, MPI_COMM_WORLD);
            next++;
        } else {
            MPI_Send(&none, 1, MPI_INT, status.MPI_SOURCE, TAG_TASK, MPI_COMM_WORLD);
            workers--;
        }
    }
    printf("farm: %d tasks, MPI_Wtime %.6f s\n", tasks, MPI_Wtime() - start);
    return sum;
}

int main(int argc, char **argv)
{
    int rank, size, tasks, status = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    tasks = argc > 1 ? atoi(argv[1]) : 10 * size;
    if (size < 2 || tasks < 0) {
        fprintf(stderr, "usage: farm [TASKS], with at least 2 ranks\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (rank > 0) {
        work();
    } else {
        long long sum = direct(tasks, size - 1);

        status = sum == (long long)tasks * tasks ? 0 : 1; /* the sum of the first odd numbers */
        printf("  sum of results %lld, %s\n", sum, status ? "WRONG" : "correct");
    }
    MPI_Finalize();
    return status;
}
