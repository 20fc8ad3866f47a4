/*
 * What belongs to a communicator: names, error handlers, comparison, translation of ranks, and
 * freeing one with messages in flight.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, caught;

static void handler(MPI_Comm *comm, int *code, ...)
{
    char name[MPI_MAX_OBJECT_NAME];
    int length, class;

    MPI_Comm_get_name(*comm, name, &length);
    MPI_Error_class(*code, &class);
    caught++;
    printf("rank %d caught class %d on '%s'\n", rank, class, name);
}

static void names(MPI_Comm comm, const char *what)
{
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length;

    MPI_Comm_get_name(comm, name, &length);
    printf("rank %d: %s is '%s'\n", rank, what, name);
}

static void errors(MPI_Comm comm)
{
    MPI_Errhandler mine, got;
    MPI_Comm child;
    int x = 0;

    MPI_Comm_create_errhandler(handler, &mine);
    /* every other member has the handler, the others get codes */
    MPI_Comm_set_errhandler(comm, rank % 2 ? mine : MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&mine);
    MPI_Comm_dup(comm, &child);
    MPI_Comm_set_name(child, rank % 2 ? "odd child" : "even child");
    MPI_Send(&x, 1, MPI_INT, size + 99, 0, child);
    MPI_Comm_split(child, rank % 3, -rank, &comm);
    names(comm, "the new one");
    MPI_Send(&x, 1, MPI_INT, size + 99, 0, comm);
    MPI_Comm_get_errhandler(comm, &got);
    printf("rank %d: returns %d, caught %d\n", rank, got == MPI_ERRORS_RETURN, caught);
    MPI_Errhandler_free(&got);
    MPI_Comm_free(&child);
    MPI_Comm_free(&comm);
}

static void compare(MPI_Comm comm)
{
    MPI_Group world, group;
    MPI_Comm again, turned;
    int results[4], all[64], back[64];

    MPI_Comm_dup(comm, &again);
    MPI_Comm_split(comm, 0, -rank, &turned);
    MPI_Comm_compare(comm, again, &results[0]);
    MPI_Comm_compare(comm, turned, &results[1]);
    MPI_Comm_compare(comm, comm, &results[2]);
    MPI_Comm_group(comm, &world);
    MPI_Comm_group(turned, &group);
    MPI_Group_compare(world, group, &results[3]);
    for (int i = 0; i < size; i++)
        all[i] = i;
    MPI_Group_translate_ranks(group, size, all, world, back);
    printf("rank %d: compare %d %d %d %d, first is %d\n", rank, results[0], results[1], results[2],
           results[3], back[0]);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    MPI_Comm_free(&again);
    MPI_Comm_free(&turned);
}

/* The receive is posted long after both sides have freed the communicator. */
static void free_early(void)
{
    MPI_Request requests[2];
    int in = -1, out = rank;
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Isend(&out, 1, MPI_INT, (rank + 1) % size, 9, comm, &requests[0]);
    if (rank % 2)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Irecv(&in, 1, MPI_INT, (rank + size - 1) % size, 9, comm, &requests[1]);
    MPI_Comm_free(&comm);
    if (rank % 2 == 0)
        MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 20; i++) { /* others reuse its memory meanwhile */
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &comm);
        MPI_Barrier(comm);
        MPI_Comm_free(&comm);
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    printf("rank %d got %d\n", rank, in);
}

int main(int argc, char **argv)
{
    MPI_Comm comm;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    names(MPI_COMM_WORLD, "the world");
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    names(comm, "a duplicate");
    errors(comm);
    compare(comm);
    MPI_Comm_free(&comm);
    free_early();
    MPI_Finalize();
    return 0;
}
