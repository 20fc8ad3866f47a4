/*
 * Operations with a request: completed by wait, test and waitall in any order, freed, to nobody.
 *
 * test: n=1,2,5,16 schedules=20
 */
#include "check.h"

#define LEN 200

static int window[4 * LEN];

/* Large and small ones to and from the neighbour. */
static void all_kinds(int me, int n, MPI_Win win)
{
    int to = (me + 1) % n, from = (me + n - 1) % n, out[LEN], in[LEN], old[LEN], flag = 0;
    MPI_Request requests[4];
    MPI_Status statuses[4];

    for (int i = 0; i < LEN; i++) {
        out[i] = me * LEN + i;
        window[LEN + i] = -me;
        window[2 * LEN + i] = i;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    MPI_Rput(out, LEN, MPI_INT, to, 0, LEN, MPI_INT, win, &requests[0]);
    MPI_Rget(in, LEN, MPI_INT, to, LEN, LEN, MPI_INT, win, &requests[1]);
    MPI_Raccumulate(out, LEN, MPI_INT, to, 2 * LEN, LEN, MPI_INT, MPI_SUM, win, &requests[2]);
    MPI_Rget_accumulate(out, LEN, MPI_INT, old, LEN, MPI_INT, to, 3 * LEN, LEN, MPI_INT,
                        MPI_REPLACE, win, &requests[3]);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    CHECK(requests[1] == MPI_REQUEST_NULL);
    for (int i = 0; i < LEN; i++)
        CHECK(in[i] == -to);
    MPI_Waitall(4, requests, statuses);
    for (int i = 0; i < LEN; i++) {
        CHECK(old[i] == 0);
        out[i] = -1; /* the operations have what they need */
    }
    MPI_Rget(in, 1, MPI_INT, to, LEN, 1, MPI_INT, win, &requests[0]);
    while (!flag)
        MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < LEN; i++) {
        CHECK(window[i] == from * LEN + i);
        CHECK(window[2 * LEN + i] == i + from * LEN + i);
        CHECK(window[3 * LEN + i] == from * LEN + i);
    }
    check_ok("all kinds");
}

static void nothing(int me, MPI_Win win)
{
    MPI_Request requests[2];
    int value = 3;

    MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win);
    MPI_Rput(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win, &requests[0]);
    MPI_Rget(&value, 0, MPI_INT, me, 0, 0, MPI_INT, win, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(value == 3);
    MPI_Win_unlock(me, win);
    MPI_Win_lock(MPI_LOCK_SHARED, MPI_PROC_NULL, 0, win);
    MPI_Win_unlock(MPI_PROC_NULL, win);
    check_ok("nothing");
}

/* Many at a time, in an order of their own; waitany takes each once. */
static void many(int me, int n, MPI_Win win)
{
    int got[32], seen = 0, at;
    MPI_Request requests[32];

    for (int i = 0; i < 32; i++)
        window[i] = 100 * me + i;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    for (int i = 0; i < 32; i++)
        MPI_Rget(&got[i], 1, MPI_INT, (me + i) % n, i, 1, MPI_INT, win, &requests[i]);
    for (int i = 0; i < 32; i++) {
        MPI_Waitany(32, requests, &at, MPI_STATUS_IGNORE);
        CHECK(got[at] == 100 * ((me + at) % n) + at);
        seen ^= 1 << at;
    }
    CHECK(seen == -1);
    MPI_Win_unlock_all(win);
    check_ok("many");
}

int main(int argc, char **argv)
{
    MPI_Win win;
    int me, n;

    MPI_Init(&argc, &argv);
    me = check_rank();
    n = check_size();
    MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    all_kinds(me, n, win);
    nothing(me, win);
    many(me, n, win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
