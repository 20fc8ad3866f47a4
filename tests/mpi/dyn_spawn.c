/* test: n=1,2,5 schedules=20 */
/*
 * dyn_spawn.c - MPI_Comm_spawn: the program starts more of itself. What a spawned rank sees of the
 * world, of its parents and of time; several spawns, by all ranks, by halves and by one; spawned
 * ranks that spawn. A native run may not be able to add ranks, so there is nothing to compare with.
 */
#include "check.h"

static char *program;

static void spawn(char **argv, int n, int root, MPI_Comm comm, MPI_Comm *inter)
{
    int codes[16], me;

    MPI_Comm_rank(comm, &me);
    memset(codes, -1, sizeof codes);
    CHECK(MPI_Comm_spawn(me == root ? program : NULL, me == root ? argv : NULL, me == root ? n : -1,
                         MPI_INFO_NULL, root, comm, inter, codes) == MPI_SUCCESS);
    for (int i = 0; i < n; i++)
        CHECK(codes[i] == MPI_SUCCESS);
    CHECK(codes[n] == -1);
}

/* The communicator between two groups carries messages both ways, and merges. */
static void check_inter(MPI_Comm inter, int is_child)
{
    MPI_Comm merged;
    int is_inter, me, n, far, sum = -1, one = 1, rank, size, got = -1;

    MPI_Comm_test_inter(inter, &is_inter);
    CHECK(is_inter);
    MPI_Comm_size(inter, &n);
    MPI_Comm_remote_size(inter, &far);
    MPI_Comm_rank(inter, &me);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter);
    CHECK(sum == far);
    if (is_child) {
        MPI_Send(&me, 1, MPI_INT, me % far, 4, inter);
    } else {
        for (int k = me; k < far; k += n) {
            MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 4, inter, MPI_STATUS_IGNORE);
            CHECK(got % n == me);
        }
    }
    MPI_Intercomm_merge(inter, is_child, &merged);
    MPI_Comm_rank(merged, &rank);
    MPI_Comm_size(merged, &size);
    CHECK(size == n + far && rank == me + (is_child ? far : 0));
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, merged);
    CHECK(sum == size * (size - 1) / 2);
    MPI_Comm_free(&merged);
}

/* A spawned rank: argv is "depth" and the number of its kind, or "many" and a long text. */
static void child(int argc, char **argv, MPI_Comm parent)
{
    MPI_Comm inter, again = MPI_COMM_NULL;
    int me = check_rank(), n = check_size(), sum = -1, flag, *value, length, depth;
    char name[MPI_MAX_OBJECT_NAME], *args[3];

    CHECK(argc == 3 && strcmp(argv[0], program) == 0 && argv[3] == NULL);
    depth = atoi(argv[1]);
    CHECK(n == atoi(argv[2]));
    argv[2][0] = 'x'; /* one's own */
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
    CHECK(strcmp(name, "MPI_COMM_WORLD") == 0);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &value, &flag);
    CHECK(flag && *value == 0);
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == n * (n - 1) / 2);
    CHECK(MPI_Wtime() >= 10e-3 * (depth + 1)); /* mpi.spawn_cost for every generation */
    if (me == 0)
        printf("virtual: %d spawned at depth %d, %.9f\n", n, depth, MPI_Wtime());
    check_inter(parent, 1);
    if (depth == 0) { /* another generation, which need not know of the first one's parents */
        char number[] = "2", next[] = "1";

        args[0] = next;
        args[1] = number;
        args[2] = NULL;
        spawn(args, 2, n - 1, MPI_COMM_WORLD, &inter);
        check_inter(inter, 0);
        MPI_Comm_disconnect(&inter);
    }
    MPI_Comm_get_parent(&again);
    CHECK(again == parent);
    MPI_Comm_disconnect(&again);
    MPI_Comm_get_parent(&again);
    CHECK(again == MPI_COMM_NULL);
}

static void parents(void)
{
    MPI_Comm inter, half, parent;
    char depth[] = "0", last[] = "1", three[] = "3", one[] = "1", *args[] = {depth, three, NULL};
    int me = check_rank(), n = check_size(), flag, *universe;

    MPI_Comm_get_parent(&parent);
    CHECK(parent == MPI_COMM_NULL);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &universe, &flag);
    CHECK(flag && *universe == n + 1024);

    spawn(args, 3, n - 1, MPI_COMM_WORLD, &inter);
    check_inter(inter, 0);
    MPI_Comm_free(&inter);

    /* groups that spawn at the same time, and each rank for itself */
    args[0] = last;
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &half);
    spawn(args, 3, 0, half, &inter);
    check_inter(inter, 0);
    MPI_Comm_disconnect(&inter);
    MPI_Comm_free(&half);
    args[1] = one;
    for (int i = 0; i < 3; i++) {
        spawn(args, 1, 0, MPI_COMM_SELF, &inter);
        check_inter(inter, 0);
        MPI_Comm_disconnect(&inter);
    }
}

int main(int argc, char **argv)
{
    MPI_Comm parent;

    program = argv[0];
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        child(argc, argv, parent);
        MPI_Finalize();
        return 0;
    }
    if (check_virtual())
        parents();
    check_ok("spawn");
    MPI_Finalize();
    return 0;
}
