/*
 * Rank 1 is ahead in virtual time, and first in real time: rank 2 sends when rank 1 says so by a
 * file. Prints from whom rank 0 receives first, in every way to receive from any source.
 *
 *     order FOLDER real|virtual
 */
#include <mpi.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FORMS = 10 };
static const char *const names[FORMS] = {"recv",    "irecv", "waitall",  "persistent", "probe",
                                         "waitany", "named", "waitsome", "test",       "isendrecv"};
static int in[2], out;

/* The source of the first of two messages. */
static int receive(int form)
{
    MPI_Request r[2];
    MPI_Status s, all[2];
    int index, done = 0, which[2], any = MPI_ANY_SOURCE;
    MPI_Comm world = MPI_COMM_WORLD;
    if (form == 0) {
        MPI_Recv(in, 1, MPI_INT, any, form, world, &s);
        MPI_Recv(in, 1, MPI_INT, any, form, world, MPI_STATUS_IGNORE);
        return s.MPI_SOURCE;
    }
    if (form == 4) {
        MPI_Probe(any, form, world, &s);
        MPI_Recv(in, 1, MPI_INT, s.MPI_SOURCE, form, world, MPI_STATUS_IGNORE);
        MPI_Recv(in, 1, MPI_INT, any, form, world, MPI_STATUS_IGNORE);
        return s.MPI_SOURCE;
    }
    for (int i = 0; i < 2 && form == 9; i++)
        MPI_Isendrecv(&out, 1, MPI_INT, 0, FORMS, &in[i], 1, MPI_INT, any, form, world, &r[i]);
    if (form == 9) {
        for (int i = 0; i < 2; i++)
            MPI_Recv(&out, 1, MPI_INT, 0, FORMS, world, MPI_STATUS_IGNORE);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        return in[0];
    }
    for (int i = 0; i < 2; i++)
        if (form == 3)
            MPI_Recv_init(&in[i], 1, MPI_INT, any, form, world, &r[i]);
        else
            MPI_Irecv(&in[i], 1, MPI_INT, form == 6 ? 2 - i : any, form, world, &r[i]);
    if (form == 3)
        MPI_Startall(2, r);
    if (form == 2)
        MPI_Waitall(2, r, all);
    if (form == 5 || form == 6)
        MPI_Waitany(2, r, &index, &all[0]);
    if (form == 7) {
        MPI_Waitsome(2, r, &done, which, MPI_STATUSES_IGNORE);
        all[0].MPI_SOURCE = in[which[0]];
    }
    while (form == 8 && !done)
        MPI_Test(&r[0], &done, &all[0]);
    if (form == 1 || form == 3)
        MPI_Wait(&r[0], &all[0]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    for (int i = 0; form == 3 && i < 2; i++)
        MPI_Request_free(&r[i]);
    return all[0].MPI_SOURCE;
}

int main(int argc, char **argv)
{
    int rank;
    char path[4096];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1)
        sleep(1);
    for (int form = 0; form < FORMS; form++) {
        snprintf(path, sizeof path, "%s/%d", argv[1], form);
        while (rank == 2 && access(path, F_OK) != 0)
            poll(NULL, 0, 1);
        if (rank == 0)
            printf("%s %d\n", names[form], receive(form));
        else if (rank == 1 && strcmp(argv[2], "real") == 0)
            MPI_Ssend(&rank, 1, MPI_INT, 0, form, MPI_COMM_WORLD);
        else
            MPI_Send(&rank, 1, MPI_INT, 0, form, MPI_COMM_WORLD);
        if (rank == 1)
            fclose(fopen(path, "w"));
    }
    MPI_Finalize();
    return 0;
}
