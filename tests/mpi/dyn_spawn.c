/* test: n=2,5,16 */
/*
 * dyn_spawn.c - ranks cannot be added to a run: all ranks of the communicator learn it, with codes.
 * A native run could add them, so there is nothing to compare with.
 */
#include "check.h"

static void check_codes(const int *codes, int n)
{
    for (int i = 0; i < n; i++)
        CHECK(codes[i] == MPI_ERR_SPAWN);
    CHECK(codes[n] == -7);
}

static void check_spawn(void)
{
    MPI_Comm inter = MPI_COMM_WORLD, half;
    char first[] = "./first", second[] = "./second", *commands[] = {first, second};
    int counts[] = {2, 3}, bad[] = {2, -3}, codes[6], me, n, class;
    MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};

    MPI_Comm_split(MPI_COMM_WORLD, check_rank() % 2, 0, &half);
    MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_rank(half, &me);
    MPI_Comm_size(half, &n);

    /* only the root's counts mean something */
    memset(codes, -1, sizeof codes);
    codes[4] = -7;
    CHECK(MPI_Comm_spawn(me == n - 1 ? first : NULL, MPI_ARGV_NULL, me == n - 1 ? 4 : -1,
                         MPI_INFO_NULL, n - 1, half, &inter, codes) == MPI_ERR_SPAWN);
    CHECK(inter == MPI_COMM_NULL);
    check_codes(codes, 4);
    inter = MPI_COMM_WORLD;
    CHECK(MPI_Comm_spawn(first, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, half, &inter,
                         MPI_ERRCODES_IGNORE) == MPI_ERR_SPAWN);
    CHECK(inter == MPI_COMM_NULL);

    codes[5] = -7;
    CHECK(MPI_Comm_spawn_multiple(2, me ? NULL : commands, MPI_ARGVS_NULL, me ? NULL : counts,
                                  infos, 0, half, &inter, codes) == MPI_ERR_SPAWN);
    check_codes(codes, 5);
    CHECK(MPI_Comm_spawn_multiple(2, commands, MPI_ARGVS_NULL, bad, infos, 0, half, &inter,
                                  codes) == MPI_ERR_ARG);
    CHECK(MPI_Comm_spawn(first, MPI_ARGV_NULL, 1, MPI_INFO_NULL, n, half, &inter, codes) ==
          MPI_ERR_ROOT);

    inter = MPI_COMM_WORLD;
    MPI_Error_class(MPI_Comm_join(0, &inter), &class);
    CHECK(class == MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK(inter == MPI_COMM_NULL);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    if (check_virtual())
        check_spawn();
    check_ok("spawn");
    MPI_Finalize();
    return 0;
}
