/* test: n=1,2,5 schedules=5
 *
 * Errors of one-sided calls: classes, and that the window works afterwards. What lies outside of a
 * window is found at the target and comes back with the next synchronisation; a real MPI would
 * crash there, so that this is done under Orrery only.
 */
#include "check.h"

static long window[4];

static int class_of(int code)
{
    int class;

    MPI_Error_class(code, &class);
    return class;
}

#define FAILS(call, class) CHECK(class_of(call) == (class))

static void arguments(int me, int n, MPI_Win win)
{
    long x = 1, y;
    double d = 1, e = 0, f = 2;
    MPI_Datatype raw;

    MPI_Type_contiguous(2, MPI_LONG, &raw);
    MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win);
    FAILS(MPI_Put(&x, -1, MPI_LONG, me, 0, 1, MPI_LONG, win), MPI_ERR_COUNT);
    FAILS(MPI_Put(&x, 1, MPI_DATATYPE_NULL, me, 0, 1, MPI_LONG, win), MPI_ERR_TYPE);
    FAILS(MPI_Put(&x, 1, MPI_LONG, n, 0, 1, MPI_LONG, win), MPI_ERR_RANK);
    FAILS(MPI_Put(&x, 1, MPI_LONG, me, -1, 1, MPI_LONG, win), MPI_ERR_DISP);
    FAILS(MPI_Put(&x, 1, MPI_LONG, me, 0, 1, raw, win), MPI_ERR_TYPE);
    FAILS(MPI_Compare_and_swap(&d, &e, &f, MPI_DOUBLE, me, 0, win), MPI_ERR_TYPE);
    FAILS(MPI_Accumulate(&x, 1, MPI_LONG, me, 0, 1, MPI_LONG, MPI_OP_NULL, win), MPI_ERR_OP);
    CHECK(MPI_Put(&x, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, win) == MPI_SUCCESS);
    CHECK(MPI_Get(&y, 1, MPI_LONG, me, 0, 1, MPI_LONG, win) == MPI_SUCCESS);
    MPI_Win_unlock(me, win);
    MPI_Type_free(&raw);
    check_ok("arguments");
}

static void order_of_calls(int me, int n, MPI_Win win)
{
    long x = 1;

    FAILS(MPI_Put(&x, 1, MPI_LONG, me, 0, 1, MPI_LONG, win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_unlock(me, win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_complete(win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_wait(win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_unlock_all(win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_flush(me, win), MPI_ERR_RMA_SYNC);
    MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win);
    FAILS(MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_fence(0, win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
    if (n > 1 && check_virtual()) /* not noticed by every MPI */
        FAILS(MPI_Put(&x, 1, MPI_LONG, (me + 1) % n, 0, 1, MPI_LONG, win), MPI_ERR_RMA_SYNC);
    MPI_Win_unlock(me, win);
    FAILS(MPI_Win_fence(0, MPI_WIN_NULL), MPI_ERR_WIN);
    check_ok("order of calls");
}

static void creation(void)
{
    MPI_Win win;

    FAILS(MPI_Win_create(window, -1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_SIZE);
    FAILS(MPI_Win_create(window, 8, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_DISP);
    FAILS(MPI_Win_create(window, 8, 1, MPI_INFO_NULL, MPI_COMM_NULL, &win), MPI_ERR_COMM);
    check_ok("creation");
}

static void beyond(int me, int n, MPI_Win win)
{
    int to = (me + 1) % n;
    long x = 5, y = 0;
    MPI_Request request;

    if (!check_virtual())
        return;
    MPI_Win_lock_all(0, win);
    CHECK(MPI_Put(&x, 1, MPI_LONG, to, 4, 1, MPI_LONG, win) == MPI_SUCCESS);
    FAILS(MPI_Win_flush(to, win), MPI_ERR_RMA_RANGE);
    CHECK(MPI_Win_flush(to, win) == MPI_SUCCESS);
    MPI_Rget(&y, 1, MPI_LONG, to, (MPI_Aint)1 << 62, 1, MPI_LONG, win, &request);
    FAILS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_RMA_RANGE);
    CHECK(MPI_Win_unlock_all(win) == MPI_SUCCESS);
    MPI_Win_fence(0, win);
    MPI_Accumulate(&x, 1, MPI_LONG, to, 3, 1, MPI_LONG, MPI_REPLACE, win);
    MPI_Accumulate(&x, 1, MPI_LONG, to, 30, 1, MPI_LONG, MPI_REPLACE, win);
    FAILS(MPI_Win_fence(0, win), MPI_ERR_RMA_RANGE);
    CHECK(window[3] == 5);
}

int main(int argc, char **argv)
{
    MPI_Win win;
    int me, n;

    MPI_Init(&argc, &argv);
    me = check_rank();
    n = check_size();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    creation();
    MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    arguments(me, n, win);
    order_of_calls(me, n, win);
    beyond(me, n, win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
