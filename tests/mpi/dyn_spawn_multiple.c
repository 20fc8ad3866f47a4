/* test: n=1,2,5 run="--universe 40" schedules=20 */
/*
 * dyn_spawn_multiple.c - MPI_Comm_spawn_multiple: numbers and arguments of each command; info keys
 * soft, wdir and path; more than the universe has; what cannot be spawned. All ranks of the
 * communicator learn of an error, with codes.
 */
#include <libgen.h>
#include <unistd.h>

#include "check.h"

static char *program;

/* A spawned rank tells its parent, rank 0 of the remote group, who it is. */
static void child(int argc, char **argv, MPI_Comm parent)
{
    int me = check_rank(), *appnum, flag, far, said[3];
    char where[4096];

    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &appnum, &flag);
    CHECK(flag);
    MPI_Barrier(MPI_COMM_WORLD); /* others have asked, too, and have other numbers */
    said[0] = *appnum;
    said[1] = argc;
    said[2] = argc > 1 && strcmp(argv[1], "root") == 0 && getcwd(where, sizeof where) &&
              strcmp(where, "/") == 0;
    MPI_Comm_remote_size(parent, &far);
    if (far > 0)
        MPI_Send(said, 3, MPI_INT, 0, me, parent);
    MPI_Comm_disconnect(&parent);
}

static void hear(MPI_Comm inter, int rank, int appnum, int argc, int in_root)
{
    int said[3], me;

    MPI_Comm_rank(inter, &me);
    if (me)
        return;
    MPI_Recv(said, 3, MPI_INT, rank, rank, inter, MPI_STATUS_IGNORE);
    CHECK(said[0] == appnum && said[1] == argc && said[2] == in_root);
}

static void check_codes(const int *codes, int good, int n)
{
    for (int i = 0; i < n; i++)
        CHECK(codes[i] == (i < good ? MPI_SUCCESS : MPI_ERR_SPAWN));
    CHECK(codes[n] == -7);
}

static void check_commands(void)
{
    char root[] = "root", a[] = "a", b[] = "b", folder[4096], *plain = basename(strdup(program));
    char *first[] = {a, b, NULL}, *second[] = {root, NULL}, *none[] = {NULL};
    char **args[] = {first, second, none}, *commands[] = {program, program, plain};
    int counts[] = {2, 1, 3}, codes[7], me = check_rank(), far;
    MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL, MPI_INFO_NULL};
    MPI_Comm inter;

    MPI_Info_create(&infos[1]);
    MPI_Info_set(infos[1], "wdir", "/");
    MPI_Info_set(infos[1], "host", "anywhere");
    MPI_Info_create(&infos[2]);
    snprintf(folder, sizeof folder, "/nowhere:%s", dirname(strdup(program)));
    MPI_Info_set(infos[2], "path", folder);
    codes[6] = -7;
    CHECK(MPI_Comm_spawn_multiple(3, me ? NULL : commands, me ? NULL : args, me ? NULL : counts,
                                  infos, 0, MPI_COMM_WORLD, &inter, codes) == MPI_SUCCESS);
    check_codes(codes, 6, 6);
    MPI_Comm_remote_size(inter, &far);
    CHECK(far == 6);
    hear(inter, 0, 0, 3, 0);
    hear(inter, 1, 0, 3, 0);
    hear(inter, 2, 1, 2, 1);
    for (int i = 3; i < 6; i++)
        hear(inter, i, 2, 1, 0);
    MPI_Comm_disconnect(&inter);
    MPI_Info_free(&infos[1]);
    MPI_Info_free(&infos[2]);
}

/* The universe is 40, of which n + 6 are taken: "soft" says what else will do. */
static void check_soft(void)
{
    int left = 40 - check_size() - 6, far, codes[1001];
    char text[64], *none[] = {NULL};
    MPI_Comm inter;
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, "soft", "x");
    CHECK(MPI_Comm_spawn(program, none, 1, info, 0, MPI_COMM_WORLD, &inter, codes) ==
          MPI_ERR_INFO_VALUE);
    snprintf(text, sizeof text, "2:%d:2, 7 , 500", left + 9);
    MPI_Info_set(info, "soft", text);
    codes[1000] = -7;
    CHECK(MPI_Comm_spawn(program, none, 1000, info, 0, MPI_COMM_WORLD, &inter, codes) ==
          MPI_SUCCESS);
    MPI_Comm_remote_size(inter, &far);
    CHECK(far == left / 2 * 2);
    check_codes(codes, far, 1000);
    for (int i = 0; i < far; i++)
        hear(inter, i, 0, 1, 0);
    MPI_Comm_disconnect(&inter);
    MPI_Info_set(info, "soft", "20:5:-3");
    CHECK(MPI_Comm_spawn(program, none, 30, info, 0, MPI_COMM_WORLD, &inter, codes) ==
          MPI_ERR_SPAWN);
    CHECK(inter == MPI_COMM_NULL);
    MPI_Info_free(&info);
}

/* Also MPI_Comm_join, which is not supported. */
static void check_errors(void)
{
    char nothing[] = "./nothing", other[] = "/bin/true", *commands[] = {program, nothing};
    int counts[] = {2, 3}, bad[] = {2, -3}, codes[6], me = check_rank(), n = check_size(), class;
    MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
    MPI_Comm inter = MPI_COMM_WORLD;

    codes[4] = codes[5] = -7;
    CHECK(MPI_Comm_spawn(me == n - 1 ? nothing : NULL, MPI_ARGV_NULL, me == n - 1 ? 4 : -1,
                         MPI_INFO_NULL, n - 1, MPI_COMM_WORLD, &inter, codes) == MPI_ERR_SPAWN);
    CHECK(inter == MPI_COMM_NULL);
    check_codes(codes, 0, 4);
    inter = MPI_COMM_WORLD;
    CHECK(MPI_Comm_spawn(other, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                         MPI_ERRCODES_IGNORE) == MPI_ERR_SPAWN);
    CHECK(inter == MPI_COMM_NULL);
    CHECK(MPI_Comm_spawn_multiple(2, me ? NULL : commands, MPI_ARGVS_NULL, me ? NULL : counts,
                                  infos, 0, MPI_COMM_WORLD, &inter, codes) == MPI_ERR_SPAWN);
    check_codes(codes, 0, 5);
    CHECK(MPI_Comm_spawn_multiple(2, commands, MPI_ARGVS_NULL, bad, infos, 0, MPI_COMM_WORLD,
                                  &inter, codes) == MPI_ERR_ARG);
    CHECK(MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, n, MPI_COMM_WORLD, &inter,
                         codes) == MPI_ERR_ROOT);
    CHECK(MPI_Comm_spawn(program, MPI_ARGV_NULL, 1000000, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                         MPI_ERRCODES_IGNORE) == MPI_ERR_SPAWN);
    CHECK(MPI_Comm_spawn(program, MPI_ARGV_NULL, 0, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                         MPI_ERRCODES_IGNORE) == MPI_ERR_SPAWN);
    CHECK(MPI_Comm_spawn_multiple(0, commands, MPI_ARGVS_NULL, counts, infos, 0, MPI_COMM_WORLD,
                                  &inter, MPI_ERRCODES_IGNORE) == MPI_ERR_SPAWN);
    inter = MPI_COMM_WORLD;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Comm_join(0, &inter), &class);
    CHECK(class == MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK(inter == MPI_COMM_NULL);
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
    if (check_virtual()) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        check_commands();
        check_errors();
        check_soft();
    }
    check_ok("spawn_multiple");
    MPI_Finalize();
    return 0;
}
