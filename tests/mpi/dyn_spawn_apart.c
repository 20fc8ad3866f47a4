/* test: n=1,2,5 args="{tmp}/file" schedules=20 */
/*
 * dyn_spawn_apart.c - spawned ranks that outlive those who spawned them: they find each other by
 * names, spawn more, and use files, when no rank of the first MPI_COMM_WORLD is there any more. A
 * parent that farms out work gets the answers in order of virtual time.
 */
#include "check.h"

static char *program, *file;

static void spawn(char *what, int n, MPI_Comm comm, MPI_Comm *inter)
{
    char *args[] = {file, what, NULL};

    CHECK(MPI_Comm_spawn(program, args, n, MPI_INFO_NULL, 0, comm, inter, MPI_ERRCODES_IGNORE) ==
          MPI_SUCCESS);
}

/* ---- two groups that meet when their parents have ended ---- */

static void meet(int serves)
{
    char port[MPI_MAX_PORT_NAME] = "";
    int me = check_rank(), sum = 0, one = 1;
    MPI_Comm inter;

    check_spend(serves ? 1 : 2); /* all parents have ended by then */
    if (serves && me == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Publish_name("dyn-apart", MPI_INFO_NULL, port);
    } else if (me == 0) {
        MPI_Lookup_name("dyn-apart", MPI_INFO_NULL, port);
    }
    if (serves)
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    else
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter);
    CHECK(sum == (serves ? 3 : 2));
    if (serves && me == 0) {
        MPI_Unpublish_name("dyn-apart", MPI_INFO_NULL, port);
        MPI_Close_port(port);
    }
    MPI_Comm_disconnect(&inter);
}

static void use_file(void)
{
    int me = check_rank(), n = check_size(), got = -1;
    MPI_File f;

    CHECK(MPI_File_open(MPI_COMM_WORLD, file, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f) ==
          MPI_SUCCESS);
    MPI_File_write_at_all(f, me * (MPI_Offset)sizeof me, &me, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_sync(f);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_read_at(f, (n - 1 - me) * (MPI_Offset)sizeof me, &got, 1, MPI_INT, MPI_STATUS_IGNORE);
    CHECK(got == n - 1 - me);
    MPI_File_close(&f);
}

static void server(void)
{
    char last[] = "last";
    MPI_Comm inter;

    meet(1);
    use_file();
    spawn(last, 2, MPI_COMM_WORLD, &inter);
    MPI_Comm_disconnect(&inter);
}

/* ---- a farm ---- */

static void worker(MPI_Comm parent)
{
    int me = check_rank();

    check_spend(1e-3 * (5 - me)); /* the last is the first to be done */
    MPI_Send(&me, 1, MPI_INT, 0, 0, parent);
}

static void farm(void)
{
    char what[] = "worker";
    MPI_Comm inter;
    int who;

    for (int round = 0; round < 4; round++) {
        spawn(what, 4, MPI_COMM_SELF, &inter);
        for (int i = 3; i >= 0; i--) {
            MPI_Recv(&who, 1, MPI_INT, MPI_ANY_SOURCE, 0, inter, MPI_STATUS_IGNORE);
            CHECK(who == i);
        }
        MPI_Comm_disconnect(&inter);
    }
}

static void child(const char *what, MPI_Comm parent)
{
    if (strcmp(what, "worker") == 0)
        worker(parent);
    MPI_Comm_disconnect(&parent);
    if (strcmp(what, "server") == 0)
        server();
    else if (strcmp(what, "client") == 0)
        meet(0);
    if (check_rank() == 0)
        printf("virtual: %s ends at %.9f\n", what, MPI_Wtime());
}

int main(int argc, char **argv)
{
    char serve[] = "server", connect[] = "client";
    MPI_Comm parent, inter;

    program = argv[0];
    file = argv[1];
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        child(argv[2], parent);
        MPI_Finalize();
        return 0;
    }
    if (check_virtual()) {
        farm();
        spawn(connect, 3, MPI_COMM_WORLD, &inter);
        MPI_Comm_disconnect(&inter);
        spawn(serve, 2, MPI_COMM_WORLD, &inter);
        MPI_Comm_disconnect(&inter);
    }
    check_ok("spawn_apart");
    MPI_Finalize();
    return 0;
}
