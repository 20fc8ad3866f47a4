/*
 * spawns.c - a program that starts more of itself, natively and simulated: the new ranks talk to
 * each other and to those that started them, and one of them starts another one.
 */
#include <mpi.h>
#include <orrery.h>
#include <stdio.h>
#include <stdlib.h>

#define BYTES 1000

static char room[BYTES];

static void start(char *program, int n, MPI_Comm comm, char *depth, MPI_Comm *inter)
{
    char *words[] = {depth, NULL};

    MPI_Comm_spawn(program, words, n, MPI_INFO_NULL, 0, comm, inter, MPI_ERRCODES_IGNORE);
}

/* Messages both ways between the ranks with the same number, where there are. */
static void talk(MPI_Comm inter)
{
    int me, others, sum, one = 1;

    MPI_Comm_rank(inter, &me);
    MPI_Comm_remote_size(inter, &others);
    if (me < others)
        MPI_Sendrecv(room, BYTES / 2, MPI_BYTE, me, 0, room, BYTES, MPI_BYTE, MPI_ANY_SOURCE, 0,
                     inter, MPI_STATUS_IGNORE);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter);
}

int main(int argc, char **argv)
{
    MPI_Comm parent, inter;
    int rank, size;
    char one[] = "1", two[] = "2";

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_parent(&parent);
    orrery_region("foo");
    orrery_compute(1e-3 * (rank + 1));
    orrery_region_end();
    MPI_Sendrecv(room, BYTES / 2, MPI_BYTE, (rank + 1) % size, 1, room, BYTES, MPI_BYTE,
                 (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (parent != MPI_COMM_NULL) {
        talk(parent);
        MPI_Comm_disconnect(&parent);
    } else {
        start(argv[0], 3, MPI_COMM_WORLD, one, &inter);
        talk(inter);
        MPI_Comm_disconnect(&inter);
    }
    if (argc > 1 && argv[1][0] == '1' && rank == 0) {
        start(argv[0], 1, MPI_COMM_SELF, two, &inter);
        talk(inter);
        MPI_Comm_disconnect(&inter);
    }
    MPI_Finalize();
    return 0;
}
