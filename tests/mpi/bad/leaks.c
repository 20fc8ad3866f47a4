/* Leaves one or more of most kinds of objects behind; with an argument it frees them all. */
#include <mpi.h>
#include <stdio.h>

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

int main(int argc, char **argv)
{
    MPI_Comm comm, named;
    MPI_Group group;
    MPI_Datatype type[2], named_type, predefined;
    MPI_Op op;
    MPI_Info info;
    MPI_Request request[2];
    int rank, out = 1, in = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0, 0, &named);
    MPI_Comm_set_name(named, "workers");
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Type_vector(3, 1, 2, MPI_INT, &type[0]);
    MPI_Type_vector(4, 1, 2, MPI_INT, &type[1]);
    MPI_Type_contiguous(5, MPI_INT, &named_type);
    MPI_Type_set_name(named_type, "five");
    MPI_Type_create_f90_integer(9, &predefined); /* not to be freed */
    MPI_Op_create(add, 1, &op);
    MPI_Info_create(&info);
    MPI_Isend(&out, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &request[0]);
    MPI_Recv(&in, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv_init(&in, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &request[1]);
    if (argc > 1) {
        MPI_Comm_free(&comm);
        MPI_Comm_free(&named);
        MPI_Group_free(&group);
        MPI_Type_free(&type[0]);
        MPI_Type_free(&type[1]);
        MPI_Type_free(&named_type);
        MPI_Op_free(&op);
        MPI_Info_free(&info);
        MPI_Wait(&request[0], MPI_STATUS_IGNORE);
        MPI_Request_free(&request[1]);
    }
    MPI_Finalize();
    return 0;
}
