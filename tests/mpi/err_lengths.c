/* test: n=2,4,5 native=5 check=no
 * Messages of other lengths than their receivers expect: an error, and nobody is left waiting. */
#include "check.h"

static int class_of(int error)
{
    int error_class;

    MPI_Error_class(error, &error_class);
    return error_class;
}

/* All but the root notice, whoever they have their data from. */
static void check_bcast(int error)
{
    int error_class = class_of(error);

    if (check_rank() == 0)
        return; /* it need not notice */
    CHECK(error_class == MPI_ERR_TRUNCATE || error_class == MPI_ERR_OTHER);
}

static void bcasts(MPI_Comm comm, int at_root, int elsewhere)
{
    int buf[64] = {0}, count = check_rank() ? elsewhere : at_root;
    MPI_Request request;

    check_bcast(MPI_Bcast(buf, count, MPI_INT, 0, comm));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Ibcast(buf, count, MPI_INT, 0, comm, &request);
    check_bcast(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Others send more than the root has room for; its buffer is not overrun. */
static void to_root(MPI_Comm comm)
{
    int in[64] = {0}, out[64], root = check_rank() == 0, size = check_size();

    out[size] = out[1] = 77;
    int error = MPI_Gather(in, root ? 1 : 5, MPI_INT, out, 1, MPI_INT, 0, comm);
    CHECK(class_of(error) == (root ? MPI_ERR_TRUNCATE : MPI_SUCCESS) && out[size] == 77);
    MPI_Barrier(MPI_COMM_WORLD);
    out[1] = 77;
    error = MPI_Reduce(in, out, root ? 1 : 5, MPI_INT, MPI_SUM, 0, comm);
    if (root)
        CHECK(class_of(error) == MPI_ERR_TRUNCATE && out[1] == 77);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* What is sent ends within an item: noticed if items do not lie one after the other. Negative
 * number of elements: whatever there are. */
static void cut_items(MPI_Comm comm, MPI_Datatype type, int bytes, int expected, int elements)
{
    char data[64] = {0};
    int items[8], n = -1;
    MPI_Status status;

    if (check_rank() == 1)
        MPI_Send(data, bytes, MPI_CHAR, 0, 3, comm);
    if (check_rank() != 0)
        return;
    CHECK(class_of(MPI_Recv(items, 1, type, 1, 3, comm, &status)) == expected);
    MPI_Get_elements(&status, type, &n); /* in MPICH nonsense after an error */
    CHECK(n == elements || elements < 0 || !check_virtual());
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    MPI_Datatype every_second;

    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    bcasts(comm, 1, 10);
    bcasts(comm, 10, 1);
    check_ok("bcast");
    to_root(comm);
    check_ok("to root");
    MPI_Type_vector(3, 1, 2, MPI_INT, &every_second);
    MPI_Type_commit(&every_second);
    cut_items(comm, every_second, 3, MPI_ERR_TRUNCATE, 0);
    cut_items(comm, every_second, 6, MPI_ERR_TRUNCATE, 1);
    cut_items(comm, every_second, 8, MPI_SUCCESS, 2);
    cut_items(comm, every_second, 13, MPI_ERR_TRUNCATE, 3);
    cut_items(comm, MPI_INT, 3, MPI_SUCCESS, -1);
    check_ok("cut items");
    MPI_Type_free(&every_second);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
