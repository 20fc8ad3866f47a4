/* native=2 run="--set nodes.ranks=2": one-sided communication. */
#include "every.h"

#define F(name) MPI_##name
#define PART(name) name
#define DISP int
#include "windows_sized.h"
#undef F
#undef PART
#undef DISP
#define F(name) MPI_##name##_c
#define PART(name) large_##name
#define DISP MPI_Aint
#include "windows_sized.h"

static void locks(MPI_Win win)
{
    int value = 1, other = 2, result, peer = 1 - rank;
    MPI_Win_lock_all(0, win);
    MPI_Fetch_and_op(&value, &result, MPI_INT, peer, 1, MPI_SUM, win);
    MPI_Win_flush(peer, win);
    MPI_Compare_and_swap(&value, &other, &result, MPI_INT, peer, 2, win);
    MPI_Win_flush_local(peer, win);
    MPI_Win_flush_all(win);
    MPI_Win_flush_local_all(win);
    MPI_Win_sync(win);
    MPI_Win_unlock_all(win);
}

/* Rank 1 tests the end of its exposure in vain, and once it has ended: rank 0 says so. */
static void epochs(MPI_Win win)
{
    MPI_Group all, other;
    int peer = 1 - rank, flag, go = 0;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &peer, &other);
    if (rank == 0) {
        MPI_Win_start(other, 0, win);
        MPI_Recv(&go, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Win_complete(win);
    } else {
        MPI_Win_post(other, 0, win);
        MPI_Win_test(win, &flag);
        MPI_Send(&go, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        MPI_Win_wait(win);
    }
    MPI_Group_free(&other);
    MPI_Group_free(&all);
}

static void described(MPI_Win win)
{
    MPI_Group group;
    MPI_Info info;
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    MPI_Win_set_name(win, "window");
    MPI_Win_get_name(win, name, &length);
    MPI_Win_get_group(win, &group);
    MPI_Group_free(&group);
    MPI_Win_get_info(win, &info);
    MPI_Win_set_info(win, info);
    MPI_Info_free(&info);
}

static void memory(void)
{
    MPI_Win win;
    int *own;
    MPI_Alloc_mem(64, MPI_INFO_NULL, &own);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_attach(win, own, 64);
    MPI_Win_detach(win, own);
    MPI_Win_free(&win);
    MPI_Free_mem(own);
}

int main(int argc, char **argv)
{
    MPI_Win win;
    int shared[8] = {0};
    begin(&argc, &argv);
    windows();
    large_windows();
    MPI_Win_create(shared, sizeof shared, sizeof shared[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    locks(win);
    epochs(win);
    described(win);
    MPI_Win_free(&win);
    memory();
    finish();
    return 0;
}
