/* One-sided communication, by functions that have a large-count form; see every.h. */

static void PART(moved)(MPI_Win win)
{
    int values[2] = {1, 2}, results[2], peer = 1 - rank;
    MPI_Request r;
    MPI_Win_fence(0, win);
    F(Put)(values, 2, MPI_INT, peer, 0, 2, MPI_INT, win);
    MPI_Win_fence(0, win);
    F(Get)(results, 2, MPI_INT, peer, 0, 2, MPI_INT, win);
    MPI_Win_fence(0, win);
    F(Accumulate)(values, 2, MPI_INT, peer, 0, 2, MPI_INT, MPI_SUM, win);
    MPI_Win_fence(0, win);
    F(Get_accumulate)(values, 2, MPI_INT, results, 2, MPI_INT, peer, 0, 2, MPI_INT, MPI_SUM, win);
    MPI_Win_fence(0, win);
    MPI_Win_lock(MPI_LOCK_SHARED, peer, 0, win);
    F(Rput)(values, 2, MPI_INT, peer, 0, 2, MPI_INT, win, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    F(Rget)(results, 2, MPI_INT, peer, 0, 2, MPI_INT, win, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    F(Raccumulate)(values, 2, MPI_INT, peer, 0, 2, MPI_INT, MPI_SUM, win, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    F(Rget_accumulate)
    (values, 2, MPI_INT, results, 2, MPI_INT, peer, 0, 2, MPI_INT, MPI_SUM, win, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Win_unlock(peer, win);
}

static void PART(windows)(void)
{
    int memory[8] = {0}, *own;
    MPI_Win win;
    MPI_Aint bytes;
    DISP unit;
    F(Win_create)(memory, sizeof memory, sizeof memory[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    PART(moved)(win);
    MPI_Win_free(&win);
    F(Win_allocate)(32, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &own, &win);
    MPI_Win_free(&win);
    F(Win_allocate_shared)(32, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &own, &win);
    F(Win_shared_query)(win, 1 - rank, &bytes, &unit, &own);
    MPI_Win_free(&win);
}
