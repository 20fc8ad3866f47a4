/*
 * Post, start, complete and wait: a ring, neighbours of both sides, groups of all, MPI_Win_test,
 * and a target whose operations are there when MPI_Win_wait returns.
 *
 * test: n=1,2,5,16 schedules=20
 */
#include "check.h"

#define LEN 64

static int buffer[2 * LEN];

static MPI_Group group_of(MPI_Win win, int count, const int *ranks)
{
    MPI_Group all, some;

    MPI_Win_get_group(win, &all);
    MPI_Group_incl(all, count, ranks, &some);
    MPI_Group_free(&all);
    return some;
}

/* Each puts to its right neighbour, several times. */
static void ring(int me, int n, MPI_Win win)
{
    int left = (me + n - 1) % n, right = (me + 1) % n, data[LEN];
    MPI_Group from = group_of(win, 1, &left), to = group_of(win, 1, &right);

    for (int r = 0; r < 5; r++) {
        for (int i = 0; i < LEN; i++)
            data[i] = 1000 * me + 10 * r + i;
        MPI_Win_post(from, 0, win);
        MPI_Win_start(to, 0, win);
        check_spend(0.0001 * ((me * 7 + r) % 5));
        MPI_Put(data, LEN, MPI_INT, right, 0, LEN, MPI_INT, win);
        memset(data, 0xff, sizeof data);
        MPI_Win_complete(win);
        MPI_Win_wait(win);
        for (int i = 0; i < LEN; i++)
            CHECK(buffer[i] == 1000 * left + 10 * r + i);
    }
    MPI_Group_free(&from);
    MPI_Group_free(&to);
    check_ok("ring");
}

/* Gets and accumulates with both neighbours; the target tests. */
static void neighbours(int me, int n, MPI_Win win)
{
    int peers[2] = {(me + n - 1) % n, (me + 1) % n}, got[2] = {-1, -1}, one = 1, flag = 0;
    int count = n > 2 ? 2 : 1;
    MPI_Group both = group_of(win, count, peers);

    buffer[0] = me;
    buffer[LEN] = 0;
    MPI_Win_post(both, 0, win);
    MPI_Win_start(both, 0, win);
    for (int i = 0; i < count; i++) {
        MPI_Get(&got[i], 1, MPI_INT, peers[i], 0, 1, MPI_INT, win);
        MPI_Accumulate(&one, 1, MPI_INT, peers[i], LEN, 1, MPI_INT, MPI_SUM, win);
    }
    MPI_Win_complete(win);
    for (int i = 0; i < count; i++)
        CHECK(got[i] == peers[i]);
    while (!flag)
        MPI_Win_test(win, &flag);
    CHECK(buffer[LEN] == count);
    MPI_Group_free(&both);
    check_ok("neighbours");
}

/* Rank 0 exposes, all others access; then the other way round. Empty groups are allowed. */
static void one_and_all(int me, int n, MPI_Win win)
{
    int *others = malloc((size_t)n * sizeof *others), zero = 0, value = 5 * me;
    MPI_Group first = group_of(win, 1, &zero), rest;

    for (int i = 1; i < n; i++)
        others[i - 1] = i;
    rest = group_of(win, n - 1, others);
    if (me == 0) {
        MPI_Win_post(rest, MPI_MODE_NOSTORE, win);
        MPI_Win_wait(win);
        for (int i = 1; i < n; i++)
            CHECK(buffer[i] == 5 * i);
        MPI_Win_start(rest, 0, win);
        for (int i = 1; i < n; i++) {
            value = 100 + i;
            MPI_Put(&value, 1, MPI_INT, i, 1, 1, MPI_INT, win);
        }
        MPI_Win_complete(win);
    } else {
        MPI_Win_start(first, 0, win);
        MPI_Put(&value, 1, MPI_INT, 0, me, 1, MPI_INT, win);
        MPI_Win_complete(win);
        MPI_Win_post(first, 0, win);
        MPI_Win_wait(win);
        CHECK(buffer[1] == 100 + me);
    }
    MPI_Group_free(&first);
    MPI_Group_free(&rest);
    free(others);
    check_ok("one and all");
}

int main(int argc, char **argv)
{
    MPI_Win win;
    int me, n;

    MPI_Init(&argc, &argv);
    me = check_rank();
    n = check_size();
    MPI_Win_create(buffer, sizeof buffer, sizeof buffer[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    ring(me, n, win);
    neighbours(me, n, win);
    one_and_all(me, n, win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
