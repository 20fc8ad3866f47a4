/* test: n=1,2,5 native=4
 * Wrong arguments raise the right class under MPI_ERRORS_RETURN, a user's handler is called, and
 * handlers belong to their communicator. */
#include "check.h"

static int size, handled, handled_class;

static int class_of(int error)
{
    int error_class = -1;
    MPI_Error_class(error, &error_class);
    return error_class;
}

#define EXPECT(expected, call) CHECK(class_of(call) == (expected))

static void point_to_point(MPI_Comm comm)
{
    int data = 0;
    MPI_Request request;
    MPI_Status status;
    EXPECT(MPI_ERR_RANK, MPI_Send(&data, 1, MPI_INT, size, 1, comm));
    EXPECT(MPI_ERR_RANK, MPI_Send(&data, 1, MPI_INT, -77, 1, comm));
    EXPECT(MPI_ERR_RANK, MPI_Recv(&data, 1, MPI_INT, size + 5, 1, comm, &status));
    EXPECT(MPI_ERR_RANK, MPI_Isend(&data, 1, MPI_INT, size, 1, comm, &request));
    EXPECT(MPI_ERR_TAG, MPI_Send(&data, 1, MPI_INT, 0, -5, comm));
    EXPECT(MPI_ERR_TAG, MPI_Send(&data, 1, MPI_INT, 0, MPI_ANY_TAG, comm));
    EXPECT(MPI_ERR_TAG, MPI_Irecv(&data, 1, MPI_INT, 0, -9, comm, &request));
    EXPECT(MPI_ERR_COUNT, MPI_Send(&data, -1, MPI_INT, 0, 1, comm));
    EXPECT(MPI_ERR_COUNT, MPI_Recv(&data, -1, MPI_INT, 0, 1, comm, &status));
    EXPECT(MPI_ERR_TYPE, MPI_Send(&data, 1, MPI_DATATYPE_NULL, 0, 1, comm));
    EXPECT(MPI_ERR_TYPE, MPI_Recv(&data, 1, MPI_DATATYPE_NULL, 0, 1, comm, &status));
    MPI_Datatype raw;
    MPI_Type_contiguous(2, MPI_INT, &raw);
    EXPECT(MPI_ERR_TYPE, MPI_Send(&data, 1, raw, 0, 1, comm));
    MPI_Type_free(&raw);
}

static void collectives(MPI_Comm comm)
{
    int data = 0, result = 0;
    EXPECT(MPI_ERR_ROOT, MPI_Bcast(&data, 1, MPI_INT, size, comm));
    EXPECT(MPI_ERR_ROOT, MPI_Reduce(&data, &result, 1, MPI_INT, MPI_SUM, -1, comm));
    EXPECT(MPI_ERR_COUNT, MPI_Bcast(&data, -1, MPI_INT, 0, comm));
    EXPECT(MPI_ERR_TYPE, MPI_Bcast(&data, 1, MPI_DATATYPE_NULL, 0, comm));
    EXPECT(MPI_ERR_OP, MPI_Allreduce(&data, &result, 1, MPI_INT, MPI_OP_NULL, comm));
    float real = 0, sum = 0;
    EXPECT(MPI_ERR_OP, MPI_Allreduce(&real, &sum, 1, MPI_FLOAT, MPI_BAND, comm));
}

static void handles(void)
{
    int data = 0;
    MPI_Group group;
    MPI_Comm comm;
    EXPECT(MPI_ERR_COMM, MPI_Send(&data, 1, MPI_INT, 0, 1, MPI_COMM_NULL));
    EXPECT(MPI_ERR_COMM, MPI_Barrier(MPI_COMM_NULL));
    EXPECT(MPI_ERR_COMM, MPI_Comm_size(MPI_COMM_NULL, &data));
    EXPECT(MPI_ERR_COMM, MPI_Comm_dup(MPI_COMM_NULL, &comm));
    EXPECT(MPI_ERR_GROUP, MPI_Group_size(MPI_GROUP_NULL, &data));
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Group_free(&group);
    int outside = size;
    MPI_Group part;
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    EXPECT(MPI_ERR_RANK, MPI_Group_incl(group, 1, &outside, &part));
    MPI_Group_free(&group);
}

static void on_error(MPI_Comm *comm, int *error, ...)
{
    CHECK(*comm != MPI_COMM_NULL);
    handled++;
    handled_class = class_of(*error);
}

static void own_handler(void)
{
    MPI_Comm comm, copy;
    MPI_Errhandler handler, got;
    int data = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(on_error, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Comm_get_errhandler(comm, &got);
    CHECK(got == handler);
    MPI_Errhandler_free(&got);
    MPI_Errhandler_free(&handler);
    CHECK(handler == MPI_ERRHANDLER_NULL);
    EXPECT(MPI_ERR_RANK, MPI_Send(&data, 1, MPI_INT, size, 1, comm));
    CHECK(handled == 1 && handled_class == MPI_ERR_RANK);
    MPI_Comm_dup(comm, &copy);
    EXPECT(MPI_ERR_TAG, MPI_Send(&data, 1, MPI_INT, 0, -3, copy));
    CHECK(handled == 2 && handled_class == MPI_ERR_TAG);
    MPI_Comm_call_errhandler(copy, MPI_ERR_OTHER);
    CHECK(handled == 3 && handled_class == MPI_ERR_OTHER);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&comm);
}

static void user_classes(void)
{
    int error_class, code, length;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Add_error_class(&error_class);
    MPI_Add_error_code(error_class, &code);
    MPI_Add_error_string(code, "a problem of my own");
    MPI_Error_string(code, text, &length);
    CHECK(class_of(code) == error_class && strcmp(text, "a problem of my own") == 0);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    size = check_size();
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    point_to_point(comm);
    check_ok("point to point");
    collectives(comm);
    check_ok("collectives");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    handles();
    check_ok("handles");
    own_handler();
    check_ok("own handler");
    user_classes();
    check_ok("user classes");
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
