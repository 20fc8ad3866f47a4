/*
 * Passive target: locks keep others out, atomics order them, and a target that computes or sleeps
 * takes part without calling MPI.
 *
 * test: n=1,2,5,16 schedules=20
 */
#include <unistd.h>

#include "check.h"

static long window[4]; /* a counter, tickets, a flag, a spare */

static void rest(int me)
{
    if (me == 0 && check_virtual())
        orrery_compute(0.01);
    else if (me == 0)
        usleep(1000);
}

/* Everybody adds to a counter at rank 0 that is read, changed and written back. */
static void mutual_exclusion(int me, int n, MPI_Win win)
{
    long value;

    rest(me);
    for (int i = 0; i < 5; i++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Get(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
        MPI_Win_flush(0, win);
        value += me + 1;
        MPI_Put(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
        MPI_Win_unlock(0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Get(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
    MPI_Win_unlock(0, win);
    CHECK(value == 5L * n * (n + 1) / 2);
    check_ok("exclusive locks");
}

/* Tickets are all different and without gaps. */
static void tickets(int me, int n, MPI_Win win)
{
    long mine[3], *all = malloc(3 * (size_t)n * sizeof *all), one = 1, sum = 0, squares = 0;
    long total = 3 * n;

    MPI_Win_lock_all(0, win);
    for (int i = 0; i < 3; i++) {
        MPI_Fetch_and_op(&one, &mine[i], MPI_LONG, n - 1, 1, MPI_SUM, win);
        MPI_Win_flush_local(n - 1, win);
        CHECK(mine[i] >= 0 && mine[i] < total && (i == 0 || mine[i] > mine[i - 1]));
    }
    MPI_Win_unlock_all(win);
    MPI_Allgather(mine, 3, MPI_LONG, all, 3, MPI_LONG, MPI_COMM_WORLD);
    for (long i = 0; i < total; i++) {
        sum += all[i];
        squares += all[i] * all[i];
    }
    CHECK(sum == total * (total - 1) / 2);
    CHECK(squares == (total - 1) * total * (2 * total - 1) / 6);
    free(all);
    (void)me;
    check_ok("tickets");
}

/* A token goes round: each waits until its flag is set, then sets that of the next. */
static void token(int me, int n, MPI_Win win)
{
    long old, expected = 0, set = 1, mine = 0;

    MPI_Win_lock_all(0, win);
    if (me == 0)
        MPI_Accumulate(&set, 1, MPI_LONG, 0, 2, 1, MPI_LONG, MPI_REPLACE, win);
    while (!mine) {
        MPI_Fetch_and_op(NULL, &mine, MPI_LONG, me, 2, MPI_NO_OP, win);
        MPI_Win_flush(me, win);
    }
    if (me + 1 < n) {
        MPI_Compare_and_swap(&set, &expected, &old, MPI_LONG, me + 1, 2, win);
        MPI_Win_flush(me + 1, win);
        CHECK(old == 0);
    }
    MPI_Compare_and_swap(&set, &expected, &old, MPI_LONG, me, 2, win);
    MPI_Win_flush_all(win);
    CHECK(old == 1);
    MPI_Win_unlock_all(win);
    check_ok("token");
}

/* Waits for a put by looking at its own memory. */
static void polling(int me, int n, MPI_Win win)
{
    volatile long *flag = &window[3];
    long value = 7 + me;
    int ready;

    MPI_Win_lock_all(0, win);
    check_spend(0.001 * me);
    MPI_Put(&value, 1, MPI_LONG, (me + 1) % n, 3, 1, MPI_LONG, win);
    MPI_Win_flush((me + 1) % n, win);
    while (*flag == 0) {
        MPI_Win_sync(win);
        if (!check_virtual()) /* a real MPI may need the call to make progress */
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &ready, MPI_STATUS_IGNORE);
    }
    CHECK(*flag == 7 + (me + n - 1) % n);
    MPI_Win_unlock_all(win);
    check_ok("polling");
}

/* Nobody else may access it while one holds the lock, least of all in virtual time. */
static void order_of_time(int me, int n, MPI_Win win)
{
    double start, all;

    if (n == 1 || !check_virtual())
        return;
    MPI_Barrier(MPI_COMM_WORLD);
    start = MPI_Wtime();
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    check_spend(0.1);
    MPI_Win_unlock(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    all = MPI_Wtime() - start;
    CHECK(all >= 0.1 * n && all < 0.1 * n + 0.01);
    start = MPI_Wtime();
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    check_spend(0.1);
    MPI_Win_unlock(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    all = MPI_Wtime() - start;
    CHECK(all >= 0.1 && all < 0.11);
    (void)me;
}

int main(int argc, char **argv)
{
    MPI_Win win;
    int me, n;

    MPI_Init(&argc, &argv);
    me = check_rank();
    n = check_size();
    MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    mutual_exclusion(me, n, win);
    tickets(me, n, win);
    token(me, n, win);
    polling(me, n, win);
    order_of_time(me, n, win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
