/* test: n=1,2,5,16,300 native=4 measured=no
 * A master hands out tasks of different lengths to whoever asks first. Which worker does which
 * task, and the order of results, follow from virtual time alone. */
#include "check.h"

enum { TASKS = 40, TASK = 1, RESULT = 2, STOP = 3 };

static double task_time(int task)
{
    return 0.001 * (1 + task * 7 % 13);
}

static int work(int task)
{
    check_spend(task_time(task));
    return task * task + 1;
}

static void worker(void)
{
    int task, answer[2] = {-1, 0};
    MPI_Status status;
    MPI_Send(answer, 2, MPI_INT, 0, RESULT, MPI_COMM_WORLD);
    for (;;) {
        MPI_Recv(&task, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        if (status.MPI_TAG == STOP)
            return;
        answer[0] = task;
        answer[1] = work(task);
        MPI_Send(answer, 2, MPI_INT, 0, RESULT, MPI_COMM_WORLD);
    }
}

static void master(int size)
{
    int next = 0, done = 0, active = size - 1, answer[2], seen[TASKS] = {0};
    MPI_Status status;
    while (active > 0) {
        MPI_Recv(answer, 2, MPI_INT, MPI_ANY_SOURCE, RESULT, MPI_COMM_WORLD, &status);
        if (answer[0] >= 0) {
            CHECK(answer[1] == answer[0] * answer[0] + 1 && !seen[answer[0]]++);
            done++;
            if (check_virtual())
                printf("virtual: task %d by %d at %.9f\n", answer[0], status.MPI_SOURCE,
                       MPI_Wtime());
        }
        int more = next < TASKS;
        MPI_Send(&next, 1, MPI_INT, status.MPI_SOURCE, more ? TASK : STOP, MPI_COMM_WORLD);
        next += more;
        active -= !more;
    }
    CHECK(done == (size > 1 ? TASKS : 0));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    if (check_rank() == 0)
        master(check_size());
    else
        worker();
    check_ok("master and worker");
    MPI_Finalize();
    return 0;
}
