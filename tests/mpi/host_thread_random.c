/* test: n=2,3 native=2 host=threads flags="-pthread" schedules=10 measured=yes
 * Threads of a rank do random things: short one-sided calls in a row, messages to the thread with
 * the same number at the next rank, computing, sleeping, and starting threads of their own that do
 * the same. Each checks what it gets. Threads of one number do the same everywhere. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <time.h>

#include "check.h"

enum { THREADS = 5, STEPS = 40, DEPTH = 2, CELLS = 16 };
_Static_assert((DEPTH + 1) * THREADS <= CELLS, "a cell for each");

struct task {
    uint64_t random;
    int cell; /* of the window, and tag: its own */
    int depth;
    long got;
};

static int rank, size;
static MPI_Win window;

static uint32_t draw(struct task *t, uint32_t below)
{
    t->random = t->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(t->random >> 33) % below;
}

/* Only this thread does in this cell. */
static void count(struct task *t, int times)
{
    int one = 1, before;

    for (int i = 0; i < times; i++) {
        MPI_Fetch_and_op(&one, &before, MPI_INT, rank, t->cell, MPI_SUM, window);
        MPI_Win_flush(rank, window);
        CHECK(before == t->got);
        t->got++;
    }
}

static void pass_on(const struct task *t)
{
    int to = (rank + 1) % size, from = (rank + size - 1) % size, got = -1,
        sent = rank * 1000 + t->cell;

    MPI_Sendrecv(&sent, 1, MPI_INT, to, t->cell, &got, 1, MPI_INT, from, t->cell, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    CHECK(got == from * 1000 + t->cell);
}

static void compute(uint32_t steps)
{
    volatile double x = 1;

    while (steps-- > 0)
        x = x * 1.0000001;
}

static void *work(void *arg);

static void start_another(struct task *t)
{
    struct task other = {t->random, t->cell + THREADS, t->depth + 1, 0};
    pthread_t thread;
    void *result;

    if (other.depth > DEPTH)
        return;
    CHECK(pthread_create(&thread, NULL, work, &other) == 0);
    CHECK(pthread_join(thread, &result) == 0);
    CHECK(result == &other);
}

/* The cell is used by one thread after another. */
static long read_cell(int cell)
{
    int value;

    MPI_Fetch_and_op(NULL, &value, MPI_INT, rank, cell, MPI_NO_OP, window);
    MPI_Win_flush(rank, window);
    return value;
}

static void *work(void *arg)
{
    struct task *t = arg;
    struct timespec nap = {0, 20000};

    t->got = read_cell(t->cell);
    for (int i = 0; i < STEPS >> (2 * t->depth); i++) {
        switch (draw(t, 8)) {
        case 0:
            count(t, 1000);
            break;
        case 1:
            pass_on(t);
            break;
        case 2:
            compute(draw(t, 20000));
            break;
        case 3:
            nanosleep(&nap, NULL);
            break;
        case 4:
            start_another(t);
            break;
        case 5:
            sched_yield();
            break;
        default:
            count(t, (int)draw(t, 60));
        }
    }
    if (draw(t, 2))
        pthread_exit(t);
    return t;
}

static void run_all(void)
{
    struct task tasks[THREADS];
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++) {
        tasks[i] = (struct task){(uint64_t)i + 1, i, 0, 0};
        CHECK(pthread_create(&threads[i], NULL, work, &tasks[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}

int main(int argc, char **argv)
{
    int level, *cells;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    CHECK(level == MPI_THREAD_MULTIPLE);
    rank = check_rank();
    size = check_size();
    MPI_Win_allocate(CELLS * (MPI_Aint)sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                     &cells, &window);
    for (int i = 0; i < CELLS; i++)
        cells[i] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, window);
    run_all();
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    check_ok("random");
    MPI_Finalize();
    return 0;
}
