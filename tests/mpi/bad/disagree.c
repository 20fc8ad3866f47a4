/* Ranks whose calls do not agree; the argument names how. All but "call" passes without --check.
 * The communicator has the ranks of the world in reverse order. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int me, n, data[64], more[256];
static MPI_Comm comm;

static int is(const char *how, const char *name)
{
    return strcmp(how, name) == 0;
}

/* Rank 0 sends `count` of `sent` to rank 1, which receives up to 8 of `got`. */
static void message(int count, MPI_Datatype sent, MPI_Datatype got)
{
    if (me == 0)
        MPI_Send(data, count, sent, 1, 3, comm);
    if (me == 1)
        MPI_Recv(more, 8, got, 0, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE);
}

static MPI_Datatype structure(MPI_Datatype second)
{
    MPI_Datatype types[2] = {MPI_INT, second}, t;
    int lengths[2] = {2, 1};
    MPI_Aint at[2] = {0, 8};

    MPI_Type_create_struct(2, lengths, at, types, &t);
    MPI_Type_commit(&t);
    return t;
}

static void messages(const char *how)
{
    MPI_Datatype a = structure(MPI_FLOAT), b = structure(MPI_INT), row;
    MPI_Request request;

    MPI_Type_contiguous(2, MPI_INT, &row);
    MPI_Type_commit(&row);
    if (is(how, "int-double"))
        message(8, MPI_INT, MPI_DOUBLE);
    if (is(how, "struct"))
        message(3, a, b);
    if (is(how, "prefix")) /* two structures are 6 elements: the first 5 are right */
        message(5, MPI_INT, a);
    if (is(how, "byte"))
        message(8, MPI_BYTE, MPI_CHAR);
    if (is(how, "large")) {
        static double large[20000];

        if (me == 0)
            MPI_Ssend(large, 20000, MPI_DOUBLE, 1, 3, comm);
        if (me == 1) {
            MPI_Irecv(large, 20000, MPI_LONG, 0, 3, comm, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    }
    if (is(how, "fine")) {
        message(4, row, MPI_INT);
        message(3, row, b);
        message(2, MPI_INT, a);
        message(8, MPI_PACKED, MPI_INT);
        message(1, row, MPI_PACKED);
        message(0, MPI_INT, MPI_DOUBLE);
        message(2, MPI_2INT, MPI_INT);
        message(1, MPI_INT, MPI_2INT);
    }
    MPI_Type_free(&a);
    MPI_Type_free(&b);
    MPI_Type_free(&row);
}

static void collectives(const char *how)
{
    int counts[64], displs[64], odd = me == n - 1;
    MPI_Request request;

    for (int i = 0; i < n; i++) {
        counts[i] = 1;
        displs[i] = i;
    }
    if (is(how, "root"))
        MPI_Bcast(data, 1, MPI_INT, me == 0 || odd ? me : 0, comm);
    if (is(how, "op"))
        MPI_Allreduce(data, more, 1, MPI_INT, odd ? MPI_MAX : MPI_SUM, comm);
    if (is(how, "length")) {
        MPI_Allreduce(data, more, 1, MPI_INT, MPI_SUM, comm);
        MPI_Reduce(data, more, odd ? 2 : 4, MPI_INT, MPI_SUM, 0, comm);
    }
    if (is(how, "type"))
        MPI_Iallreduce(data, more, 1, odd ? MPI_FLOAT : MPI_INT, MPI_SUM, comm, &request);
    if (is(how, "gather"))
        MPI_Gather(data, 1, odd ? MPI_FLOAT : MPI_INT, more, 1, MPI_INT, 0, comm);
    if (is(how, "gatherv"))
        MPI_Gatherv(data, 1, odd ? MPI_FLOAT : MPI_INT, more, counts, displs, MPI_INT, 0, comm);
    if (is(how, "allgatherv")) {
        counts[0] = odd ? 2 : 1;
        MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_INT, more, counts, displs, MPI_INT, comm);
    }
    if (is(how, "alltoallv"))
        MPI_Alltoallv(data, counts, displs, odd ? MPI_UNSIGNED : MPI_INT, more, counts, displs,
                      odd ? MPI_UNSIGNED : MPI_INT, comm);
    if (is(how, "own"))
        MPI_Alltoall(data, 1, MPI_INT, more, 1, MPI_FLOAT, comm);
    if (is(how, "absent") && !odd)
        MPI_Bcast(data, 1, MPI_INT, 0, comm);
    if (is(how, "call") && odd)
        MPI_Ibarrier(comm, &request);
    else if (is(how, "call"))
        MPI_Ibcast(data, 0, MPI_INT, 0, comm, &request);
    if (is(how, "type"))
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (is(how, "fine")) {
        MPI_Bcast(data, odd ? 2 : 1, odd ? MPI_INT : MPI_2INT, 1, comm);
        MPI_Alltoallv(data, counts, displs, MPI_INT, more, counts, displs, MPI_INT, comm);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -me, &comm);
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &n);
    messages(argv[1]);
    collectives(argv[1]);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
