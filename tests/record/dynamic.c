/* Ranks that meet, are spawned later or fail. Natively, not every MPI can do it. */
#include "every.h"

#include <sys/socket.h>

/* Rank 0 waits at a port, rank 1 comes. */
static void meet(void)
{
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm other;
    if (rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Publish_name("here", MPI_INFO_NULL, port);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
    } else {
        MPI_Lookup_name("here", MPI_INFO_NULL, port);
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
    }
    MPI_Comm_disconnect(&other);
    if (rank == 0) {
        MPI_Unpublish_name("here", MPI_INFO_NULL, port);
        MPI_Close_port(port);
    }
}

static void spawn(char *program)
{
    MPI_Comm children;
    int codes[2], counts[2] = {1, 1};
    char *programs[2] = {program, program};
    MPI_Info infos[2] = {MPI_INFO_NULL, MPI_INFO_NULL};
    MPI_Comm_spawn(program, MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, codes);
    MPI_Comm_disconnect(&children);
    MPI_Comm_spawn_multiple(2, programs, MPI_ARGVS_NULL, counts, infos, 0, MPI_COMM_WORLD,
                            &children, codes);
    MPI_Comm_disconnect(&children);
}

/* MPICH can be built with them or without. */
static void failures(void)
{
    MPI_Comm comm, rest;
    MPI_Group failed;
    int flag = 1;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPIX_Comm_failure_ack(comm);
    MPIX_Comm_failure_get_acked(comm, &failed);
    MPIX_Comm_agree(comm, &flag);
    MPIX_Comm_shrink(comm, &rest);
    MPI_Comm_free(&rest);
    MPIX_Comm_revoke(comm);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    MPI_Comm parent, joined;
    int ends[2];
    begin(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        MPI_Comm_disconnect(&parent);
    } else {
        meet();
        spawn(argv[0]);
        failures();
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0)
            MPI_Comm_join(ends[0], &joined);
    }
    finish();
    return 0;
}
