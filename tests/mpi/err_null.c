/* test: n=1,2 native=1
 * Null pointers for results, and negative numbers of items: the class that MPICH raises, through
 * the handler that it takes. */
#include "raises.h"

static void messages(MPI_Comm freed)
{
    MPI_Request request, requests[1] = {MPI_REQUEST_NULL};
    MPI_Message message = MPI_MESSAGE_NO_PROC;
    MPI_Status status = {0};
    int b[4] = {0}, flag, n;

    EXPECT(MPI_ERR_ARG, BY_COMM, MPI_Isend(b, 1, MPI_INT, MPI_PROC_NULL, 0, comm, NULL));
    EXPECT(MPI_ERR_ARG, BY_COMM, MPI_Irecv(b, 1, MPI_INT, MPI_PROC_NULL, 0, comm, NULL));
    EXPECT(MPI_ERR_COMM, BY_WORLD, MPI_Isend(b, 1, MPI_INT, MPI_PROC_NULL, 0, freed, NULL));
    EXPECT(MPI_ERR_ARG, BY_COMM, MPI_Issend(b, 1, MPI_INT, MPI_PROC_NULL, 0, comm, NULL));
    EXPECT(MPI_ERR_ARG, BY_COMM, MPI_Send_init(b, 1, MPI_INT, MPI_PROC_NULL, 0, comm, NULL));
    EXPECT(MPI_ERR_ARG, BY_COMM, MPI_Recv_init(b, 1, MPI_INT, MPI_PROC_NULL, 0, comm, NULL));
    EXPECT(MPI_ERR_ARG, BY_COMM, MPI_Recv(b, 1, MPI_INT, MPI_PROC_NULL, 0, comm, NULL));
    EXPECT(MPI_ERR_ARG, BY_COMM, MPI_Probe(MPI_PROC_NULL, 0, comm, NULL));
    EXPECT(MPI_ERR_ARG, BY_COMM, MPI_Iprobe(MPI_PROC_NULL, 0, comm, NULL, &status));
    EXPECT(MPI_ERR_ARG, BY_COMM, MPI_Iprobe(MPI_PROC_NULL, 0, comm, &flag, NULL));
    EXPECT(MPI_ERR_ARG, BY_COMM, MPI_Improbe(MPI_PROC_NULL, 0, comm, NULL, &message, &status));
    EXPECT(MPI_ERR_COUNT, BY_COMM, MPI_Send(b, -1, MPI_INT, MPI_PROC_NULL, 0, comm));
    EXPECT(MPI_ERR_COUNT, BY_COMM, MPI_Isend(b, -1, MPI_INT, MPI_PROC_NULL, 0, comm, &request));
    EXPECT(MPI_ERR_COUNT, BY_COMM, MPI_Recv(b, -1, MPI_INT, MPI_PROC_NULL, 0, comm, &status));
    EXPECT(MPI_ERR_COUNT, BY_COMM,
           MPI_Sendrecv(b, 1, MPI_INT, MPI_PROC_NULL, 0, b + 1, -1, MPI_INT, MPI_PROC_NULL, 0, comm,
                        &status));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Wait(NULL, &status));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Test(requests, NULL, &status));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Waitall(1, NULL, MPI_STATUSES_IGNORE));
    EXPECT(MPI_ERR_COUNT, BY_WORLD, MPI_Waitall(-1, requests, MPI_STATUSES_IGNORE));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Waitany(1, requests, NULL, &status));
    EXPECT(MPI_ERR_COUNT, BY_WORLD, MPI_Waitany(-1, requests, &n, &status));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Waitsome(1, requests, NULL, &n, &status));
    EXPECT(MPI_ERR_COUNT, BY_WORLD, MPI_Waitsome(-1, requests, &n, &n, &status));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Testall(1, requests, NULL, &status));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Testany(1, requests, NULL, &flag, &status));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Testsome(1, requests, NULL, &n, &status));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Start(NULL));
    EXPECT(MPI_ERR_COUNT, BY_WORLD, MPI_Startall(-1, requests));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Cancel(NULL));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Request_free(NULL));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Request_get_status(MPI_REQUEST_NULL, NULL, &status));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Test_cancelled(&status, NULL));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Test_cancelled(NULL, &flag));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Get_count(NULL, MPI_INT, &n));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Get_count(&status, MPI_INT, NULL));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Get_elements(&status, MPI_INT, NULL));
    EXPECT(MPI_ERR_ARG, BY_COMM, MPI_Ibarrier(comm, NULL));
    EXPECT(MPI_ERR_ARG, BY_COMM, MPI_Ibcast(b, 1, MPI_INT, 0, comm, NULL));
}

static void objects(MPI_Comm freed)
{
    MPI_Group group, other;
    int ranks[1] = {0}, flag;
    void *value;

    MPI_Comm_group(comm, &group);
    EXPECT(MPI_ERR_ARG, BY_COMM, MPI_Comm_size(comm, NULL));
    EXPECT(MPI_ERR_ARG, BY_COMM, MPI_Comm_rank(comm, NULL));
    EXPECT(MPI_ERR_COMM, BY_WORLD, MPI_Comm_rank(freed, NULL));
    EXPECT(MPI_ERR_ARG, BY_COMM, MPI_Comm_group(comm, NULL));
    EXPECT(MPI_ERR_ARG, BY_COMM, MPI_Comm_dup(comm, NULL));
    EXPECT(MPI_ERR_ARG, BY_COMM, MPI_Comm_split(comm, 0, 0, NULL));
    EXPECT(MPI_ERR_ARG, BY_COMM, MPI_Comm_create(comm, group, NULL));
    EXPECT(MPI_ERR_ARG, BY_COMM, MPI_Comm_compare(comm, comm, NULL));
    EXPECT(MPI_ERR_ARG, BY_COMM, MPI_Comm_test_inter(comm, NULL));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Comm_free(NULL));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Group_size(group, NULL));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Group_rank(group, NULL));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Group_incl(group, -1, ranks, &other));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Group_incl(group, 1, ranks, NULL));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Group_union(group, group, NULL));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Group_compare(group, group, NULL));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Group_translate_ranks(group, -1, ranks, group, ranks));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Group_free(NULL));
    EXPECT(MPI_ERR_ARG, BY_COMM, MPI_Comm_get_attr(comm, MPI_TAG_UB, &value, NULL));
    EXPECT(MPI_ERR_ARG, BY_COMM, MPI_Comm_get_attr(comm, MPI_TAG_UB, NULL, &flag));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Comm_free_keyval(NULL));
    EXPECT(MPI_ERR_ARG, BY_WORLD,
           MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, NULL, NULL));
    EXPECT(MPI_ERR_ARG, BY_COMM, MPI_Comm_get_errhandler(comm, NULL));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Errhandler_free(NULL));
    EXPECT(MPI_ERR_ARG, BY_COMM, MPI_Topo_test(comm, NULL));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Dims_create(1, 1, NULL));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Error_class(MPI_ERR_ARG, NULL));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Info_create(NULL));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Op_free(NULL));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Op_commutative(MPI_SUM, NULL));
    MPI_Group_free(&group);
}

static void types(void)
{
    MPI_Datatype t;
    MPI_Aint at;
    int n, b[2] = {0}, place = 0, one[1] = {1}, both[2] = {1, 1}, negative[2] = {1, -1};
    MPI_Count large[2] = {1, -1};
    MPI_Aint zero[2] = {0, 0};
    MPI_Datatype members[2] = {MPI_INT, MPI_INT};

    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Type_size(MPI_INT, NULL));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Type_get_extent(MPI_INT, &at, NULL));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Type_get_extent(MPI_INT, NULL, &at));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Type_contiguous(1, MPI_INT, NULL));
    EXPECT(MPI_ERR_COUNT, BY_WORLD, MPI_Type_contiguous(-1, MPI_INT, &t));
    EXPECT(MPI_ERR_COUNT, BY_WORLD, MPI_Type_vector(-1, 1, 1, MPI_INT, &t));
    EXPECT(MPI_ERR_COUNT, BY_WORLD, MPI_Type_indexed(-1, one, one, MPI_INT, &t));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Type_indexed(1, NULL, one, MPI_INT, &t));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Type_indexed(1, one, NULL, MPI_INT, &t));
    EXPECT(MPI_ERR_COUNT, BY_WORLD, MPI_Type_vector(1, -1, 1, MPI_INT, &t));
    EXPECT(MPI_ERR_COUNT, BY_WORLD, MPI_Type_create_hvector(1, -1, 1, MPI_INT, &t));
    EXPECT(MPI_ERR_COUNT, BY_WORLD, MPI_Type_create_indexed_block(1, -1, one, MPI_INT, &t));
    EXPECT(MPI_ERR_COUNT, BY_WORLD, MPI_Type_create_hindexed_block(1, -1, zero, MPI_INT, &t));
    EXPECT(MPI_ERR_COUNT, BY_WORLD, MPI_Type_indexed(2, negative, both, MPI_INT, &t));
    EXPECT(MPI_ERR_COUNT, BY_WORLD, MPI_Type_indexed_c(2, large, large, MPI_INT, &t));
    EXPECT(MPI_ERR_COUNT, BY_WORLD, MPI_Type_create_hindexed(2, negative, zero, MPI_INT, &t));
    EXPECT(MPI_ERR_COUNT, BY_WORLD, MPI_Type_create_struct(2, negative, zero, members, &t));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Get_address(b, NULL));
    EXPECT(MPI_ERR_COUNT, BY_COMM, MPI_Pack_size(-1, MPI_INT, comm, &n));
    EXPECT(MPI_ERR_ARG, BY_COMM, MPI_Pack_size(1, MPI_INT, comm, NULL));
    EXPECT(MPI_ERR_COUNT, BY_COMM, MPI_Pack(b, -1, MPI_INT, b, 8, &place, comm));
    EXPECT(MPI_ERR_ARG, BY_COMM, MPI_Pack(b, 1, MPI_INT, b + 1, 4, NULL, comm));
}

int main(int argc, char **argv)
{
    MPI_Comm freed;

    MPI_Init(&argc, &argv);
    freed = set_up();
    messages(freed);
    objects(freed);
    types();
    MPI_Comm_free(&comm);
    check_ok("null pointers and negative numbers");
    MPI_Finalize();
    return 0;
}
