/*
 * Dynamic windows: memory of all kinds attached and detached, displacements that are addresses;
 * windows of different size and unit at each rank, some empty.
 *
 * test: n=1,2,5,16 schedules=20
 */
#include "check.h"

static int global_part[8];

/* Addresses of all ranks' memory, one after the other. */
static void exchange(int me, int n, int *memory, MPI_Win win)
{
    MPI_Aint mine, *all = malloc((size_t)n * sizeof *all);
    int to = (me + 1) % n, from = (me + n - 1) % n, out[4], in[4] = {0};

    MPI_Get_address(memory, &mine);
    MPI_Allgather(&mine, 1, MPI_AINT, all, 1, MPI_AINT, MPI_COMM_WORLD);
    for (int i = 0; i < 4; i++)
        out[i] = 100 * me + i;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, win);
    MPI_Put(out, 4, MPI_INT, to, all[to] + 2 * (MPI_Aint)sizeof(int), 4, MPI_INT, win);
    MPI_Get(in, 2, MPI_INT, to, all[to], 2, MPI_INT, win);
    MPI_Win_unlock(to, win);
    CHECK(in[0] == to && in[1] == -to);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 4; i++)
        CHECK(memory[2 + i] == 100 * from + i);
    free(all);
}

static void dynamic(int me, int n)
{
    int stack_part[8], *heap_part = malloc(8 * sizeof *heap_part);
    int *memory[3] = {global_part, stack_part, heap_part};
    MPI_Win win;

    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int i = 0; i < 3; i++) {
        memory[i][0] = me;
        memory[i][1] = -me;
        MPI_Win_attach(win, memory[i], 8 * sizeof(int));
    }
    for (int i = 0; i < 3; i++)
        exchange(me, n, memory[i], win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 3; i++)
        MPI_Win_detach(win, memory[i]);
    MPI_Win_free(&win);
    free(heap_part);
    check_ok("dynamic");
}

/* Rank r has r longs, in units of its own. */
static void uneven(int me, int n)
{
    static const int units[3] = {1, 4, 8};
    int unit = units[me % 3], to = (me + 1) % n, from = (me + n - 1) % n;
    long *memory = calloc((size_t)me + 1, sizeof *memory), value = 7 * me;
    MPI_Win win;

    MPI_Win_create(memory, me * (MPI_Aint)sizeof *memory, unit, MPI_INFO_NULL, MPI_COMM_WORLD,
                   &win);
    MPI_Win_fence(0, win);
    if (to > 0) /* its last long */
        MPI_Put(&value, 1, MPI_LONG, to, (to - 1) * 8 / units[to % 3], 1, MPI_LONG, win);
    MPI_Win_fence(0, win);
    if (me > 0)
        CHECK(memory[me - 1] == 7 * from);
    MPI_Win_free(&win);
    free(memory);
    check_ok("uneven");
}

int main(int argc, char **argv)
{
    int me, n;

    MPI_Init(&argc, &argv);
    me = check_rank();
    n = check_size();
    dynamic(me, n);
    uneven(me, n);
    MPI_Finalize();
    return 0;
}
