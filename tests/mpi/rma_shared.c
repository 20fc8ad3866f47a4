/*
 * Memory that the ranks of a node share, and what windows say of themselves. Two ranks make a node
 * under Orrery, so that several nodes fit into each of two native processes.
 *
 * test: n=2,4,16 schedules=20 run="--set nodes.ranks=2"
 */
#include "check.h"

static void shared(void)
{
    MPI_Comm node;
    MPI_Win win;
    MPI_Aint size;
    int me, n, unit, value = 0, *mine, *other, *first;

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &me);
    MPI_Comm_size(node, &n);
    MPI_Win_allocate_shared((me + 1) * (MPI_Aint)sizeof(int), sizeof(int), MPI_INFO_NULL, node,
                            &mine, &win);
    MPI_Win_shared_query(win, MPI_PROC_NULL, &size, &unit, &first);
    MPI_Win_fence(0, win);
    for (int i = 0; i <= me; i++)
        mine[i] = 10 * me + i;
    MPI_Win_fence(0, win);
    for (int r = 0; r < n; r++) {
        MPI_Win_shared_query(win, r, &size, &unit, &other);
        CHECK(size == (r + 1) * (MPI_Aint)sizeof(int) && unit == sizeof(int));
        CHECK(other == first + r * (r + 1) / 2); /* one after the other */
        for (int i = 0; i <= r; i++)
            CHECK(other[i] == 10 * r + i);
    }
    CHECK(me > 0 || mine == first);
    MPI_Win_fence(0, win);
    MPI_Get(&value, 1, MPI_INT, n - 1, n - 1, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    CHECK(value == 11 * (n - 1));
    MPI_Win_free(&win);
    MPI_Comm_free(&node);
    check_ok("shared");
}

/* A rank that asks for nothing has no base. */
static void nothing(const char *spread)
{
    MPI_Comm node;
    MPI_Win win;
    MPI_Info info;
    MPI_Aint size;
    int me, n, unit, *mine, *other;

    MPI_Info_create(&info);
    MPI_Info_set(info, "alloc_shared_noncontig", spread);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &me);
    MPI_Comm_size(node, &n);
    MPI_Win_allocate_shared(me % 2 ? 0 : 40, sizeof(int), info, node, &mine, &win);
    CHECK(me % 2 ? !mine : mine != NULL);
    for (int r = 0; r < n; r++) {
        MPI_Win_shared_query(win, r, &size, &unit, &other);
        CHECK(r % 2 ? size == 0 && !other : size >= 40 && other);
    }
    MPI_Win_fence(0, win);
    if (me % 2)
        MPI_Put(&me, 1, MPI_INT, 0, 3, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    CHECK(me || n < 2 || mine[3] % 2);
    MPI_Win_free(&win);
    MPI_Comm_free(&node);
    MPI_Info_free(&info);
}

static void attributes(void)
{
    char name[MPI_MAX_OBJECT_NAME];
    void *base, *at;
    MPI_Aint *size;
    int *unit, *flavor, *model, flag, length;
    MPI_Group group, world;
    MPI_Info info;
    MPI_Win win;

    MPI_Win_allocate(80, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_get_attr(win, MPI_WIN_BASE, &at, &flag);
    CHECK(flag && at == base);
    MPI_Win_get_attr(win, MPI_WIN_SIZE, &size, &flag);
    CHECK(flag && *size == 80);
    MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &unit, &flag);
    CHECK(flag && *unit == 8);
    MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavor, &flag);
    CHECK(flag && *flavor == MPI_WIN_FLAVOR_ALLOCATE);
    MPI_Win_get_attr(win, MPI_WIN_MODEL, &model, &flag);
    CHECK(flag && *model == MPI_WIN_UNIFIED);
    MPI_Win_get_name(win, name, &length);
    CHECK(length == 0);
    MPI_Win_set_name(win, "panes");
    MPI_Win_get_name(win, name, &length);
    CHECK(length == 5 && strcmp(name, "panes") == 0);
    MPI_Win_get_group(win, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_compare(group, world, &flag);
    CHECK(flag == MPI_IDENT);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    MPI_Info_create(&info);
    MPI_Info_set(info, "no_locks", "true");
    MPI_Win_set_info(win, info);
    MPI_Info_free(&info);
    MPI_Win_get_info(win, &info);
    MPI_Info_get(info, "no_locks", MPI_MAX_OBJECT_NAME - 1, name, &flag);
    CHECK(flag && strcmp(name, "true") == 0);
    MPI_Info_free(&info);
    MPI_Win_free(&win);
    check_ok("attributes");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    shared();
    nothing("false");
    nothing("true");
    attributes();
    MPI_Finalize();
    return 0;
}
