/* test: n=1,2,5 native=1
 * Wrong arguments of collectives, groups and communicators raise the class that MPICH raises,
 * through the handler of the communicator that MPICH takes. */
#include "raises.h"

static void moving(MPI_Comm freed)
{
    int b[64] = {0}, c[64], rank = 0, size = check_size();
    int one[8], neg[8], zero[8] = {0};
    MPI_Datatype types[8], raw;

    for (int i = 0; i < 8; i++) {
        one[i] = 1;
        neg[i] = -1;
        types[i] = MPI_INT;
    }
    MPI_Type_contiguous(3, MPI_INT, &raw);
    EXPECT(MPI_ERR_COMM, BY_WORLD, MPI_Barrier(MPI_COMM_NULL));
    EXPECT(MPI_ERR_COMM, BY_WORLD, MPI_Barrier(freed));
    EXPECT(MPI_ERR_BUFFER, BY_COMM, MPI_Bcast(NULL, 1, MPI_INT, 0, comm));
    EXPECT(MPI_ERR_COUNT, BY_COMM, MPI_Bcast(b, -1, MPI_INT, 0, comm));
    EXPECT(MPI_ERR_TYPE, BY_COMM, MPI_Bcast(b, 1, MPI_DATATYPE_NULL, 0, comm));
    EXPECT(MPI_ERR_TYPE, BY_COMM, MPI_Bcast(b, 1, raw, 0, comm));
    EXPECT(MPI_ERR_ROOT, BY_COMM, MPI_Bcast(b, 1, MPI_INT, size, comm));
    EXPECT(MPI_ERR_ROOT, BY_COMM, MPI_Bcast(b, 1, MPI_INT, -1, comm));
    EXPECT(MPI_ERR_COMM, BY_WORLD, MPI_Bcast(b, 1, MPI_INT, 0, MPI_COMM_NULL));
    EXPECT(MPI_ERR_COUNT, BY_SELF, MPI_Gather(b, -1, MPI_INT, c, 1, MPI_INT, rank, MPI_COMM_SELF));
    EXPECT(MPI_ERR_TYPE, BY_SELF,
           MPI_Gather(b, 1, MPI_DATATYPE_NULL, c, 1, MPI_INT, 0, MPI_COMM_SELF));
    EXPECT(MPI_ERR_COUNT, BY_SELF, MPI_Gather(b, 1, MPI_INT, c, -1, MPI_INT, 0, MPI_COMM_SELF));
    EXPECT(MPI_ERR_TYPE, BY_SELF,
           MPI_Gather(b, 1, MPI_INT, c, 1, MPI_DATATYPE_NULL, 0, MPI_COMM_SELF));
    EXPECT(MPI_ERR_ROOT, BY_SELF, MPI_Gather(b, 1, MPI_INT, c, 1, MPI_INT, 1, MPI_COMM_SELF));
    EXPECT(MPI_ERR_BUFFER, BY_SELF, MPI_Gather(b, 1, MPI_INT, b, 1, MPI_INT, 0, MPI_COMM_SELF));
    EXPECT(MPI_ERR_BUFFER, BY_SELF,
           MPI_Gather(b, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, 0, MPI_COMM_SELF));
    EXPECT(MPI_ERR_BUFFER, BY_SELF, MPI_Gather(b, 1, MPI_INT, NULL, 1, MPI_INT, 0, MPI_COMM_SELF));
    EXPECT(MPI_ERR_BUFFER, BY_SELF, MPI_Gather(NULL, 1, MPI_INT, c, 1, MPI_INT, 0, MPI_COMM_SELF));
    EXPECT(MPI_ERR_TRUNCATE, BY_SELF, MPI_Gather(b, 2, MPI_INT, c, 1, MPI_INT, 0, MPI_COMM_SELF));
    EXPECT(MPI_ERR_ROOT, BY_COMM, MPI_Gather(b, 1, MPI_INT, c, 1, MPI_INT, size, comm));
    EXPECT(MPI_ERR_COUNT, BY_SELF, MPI_Scatter(b, -1, MPI_INT, c, 1, MPI_INT, 0, MPI_COMM_SELF));
    EXPECT(MPI_ERR_COUNT, BY_SELF, MPI_Scatter(b, 1, MPI_INT, c, -1, MPI_INT, 0, MPI_COMM_SELF));
    EXPECT(MPI_ERR_BUFFER, BY_SELF, MPI_Scatter(b, 1, MPI_INT, b, 1, MPI_INT, 0, MPI_COMM_SELF));
    EXPECT(MPI_ERR_BUFFER, BY_SELF,
           MPI_Scatter(MPI_IN_PLACE, 1, MPI_INT, c, 1, MPI_INT, 0, MPI_COMM_SELF));
    EXPECT(MPI_ERR_ROOT, BY_SELF, MPI_Scatter(b, 1, MPI_INT, c, 1, MPI_INT, -3, MPI_COMM_SELF));
    EXPECT(MPI_ERR_TRUNCATE, BY_SELF, MPI_Scatter(b, 2, MPI_INT, c, 1, MPI_INT, 0, MPI_COMM_SELF));
    EXPECT(MPI_ERR_COUNT, BY_SELF,
           MPI_Gatherv(b, 1, MPI_INT, c, neg, zero, MPI_INT, 0, MPI_COMM_SELF));
    EXPECT(MPI_ERR_COUNT, BY_SELF,
           MPI_Gatherv(b, -1, MPI_INT, c, one, zero, MPI_INT, 0, MPI_COMM_SELF));
    EXPECT(MPI_ERR_BUFFER, BY_SELF,
           MPI_Gatherv(b, 1, MPI_INT, b, one, zero, MPI_INT, 0, MPI_COMM_SELF));
    EXPECT(MPI_ERR_ROOT, BY_SELF,
           MPI_Gatherv(b, 1, MPI_INT, c, one, zero, MPI_INT, 9, MPI_COMM_SELF));
    EXPECT(MPI_ERR_COUNT, BY_SELF,
           MPI_Scatterv(b, neg, zero, MPI_INT, c, 1, MPI_INT, 0, MPI_COMM_SELF));
    EXPECT(MPI_ERR_COUNT, BY_SELF,
           MPI_Scatterv(b, one, zero, MPI_INT, c, -1, MPI_INT, 0, MPI_COMM_SELF));
    EXPECT(MPI_ERR_BUFFER, BY_SELF,
           MPI_Scatterv(b, one, zero, MPI_INT, b, 1, MPI_INT, 0, MPI_COMM_SELF));
    EXPECT(MPI_ERR_COUNT, BY_COMM, MPI_Allgather(b, -1, MPI_INT, c, 1, MPI_INT, comm));
    EXPECT(MPI_ERR_COUNT, BY_COMM, MPI_Allgather(b, 1, MPI_INT, c, -1, MPI_INT, comm));
    EXPECT(MPI_ERR_BUFFER, BY_COMM, MPI_Allgather(b, 1, MPI_INT, b, 1, MPI_INT, comm));
    EXPECT(MPI_ERR_BUFFER, BY_COMM, MPI_Allgather(b, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, comm));
    EXPECT(MPI_ERR_BUFFER, BY_COMM, MPI_Allgather(NULL, 1, MPI_INT, c, 1, MPI_INT, comm));
    EXPECT(MPI_ERR_TYPE, BY_COMM, MPI_Allgather(b, 1, raw, c, 1, MPI_INT, comm));
    EXPECT(MPI_ERR_COMM, BY_WORLD, MPI_Allgather(b, 1, MPI_INT, c, 1, MPI_INT, MPI_COMM_NULL));
    EXPECT(MPI_ERR_COUNT, BY_COMM, MPI_Allgatherv(b, 1, MPI_INT, c, neg, zero, MPI_INT, comm));
    EXPECT(MPI_ERR_COUNT, BY_COMM, MPI_Allgatherv(b, -1, MPI_INT, c, one, zero, MPI_INT, comm));
    EXPECT(MPI_ERR_BUFFER, BY_COMM, MPI_Allgatherv(b, 1, MPI_INT, b, one, zero, MPI_INT, comm));
    EXPECT(MPI_ERR_COUNT, BY_COMM, MPI_Alltoall(b, -1, MPI_INT, c, 1, MPI_INT, comm));
    EXPECT(MPI_ERR_COUNT, BY_COMM, MPI_Alltoall(b, 1, MPI_INT, c, -1, MPI_INT, comm));
    EXPECT(MPI_ERR_BUFFER, BY_COMM, MPI_Alltoall(b, 1, MPI_INT, b, 1, MPI_INT, comm));
    EXPECT(MPI_ERR_BUFFER, BY_COMM, MPI_Alltoall(b, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, comm));
    EXPECT(MPI_ERR_COUNT, BY_COMM,
           MPI_Alltoallv(b, neg, zero, MPI_INT, c, one, zero, MPI_INT, comm));
    EXPECT(MPI_ERR_COUNT, BY_COMM,
           MPI_Alltoallv(b, one, zero, MPI_INT, c, neg, zero, MPI_INT, comm));
    EXPECT(MPI_ERR_BUFFER, BY_COMM,
           MPI_Alltoallv(b, one, zero, MPI_INT, b, one, zero, MPI_INT, comm));
    EXPECT(MPI_ERR_COUNT, BY_COMM, MPI_Alltoallw(b, neg, zero, types, c, one, zero, types, comm));
    MPI_Type_free(&raw);
}

/* Each rank of a ring has two neighbours. MPICH does not check these. */
static void neighbours(void)
{
    int b[8] = {0}, c[8], one[2] = {1, 1}, neg[2] = {1, -1}, zero[2] = {0, 0}, periodic = 1;
    MPI_Aint apart[2] = {0, 4};
    MPI_Datatype ints[2] = {MPI_INT, MPI_INT};
    MPI_Comm ring;

    if (!check_virtual())
        return;
    MPI_Cart_create(MPI_COMM_SELF, 1, (int[]){1}, &periodic, 0, &ring);
    MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
    EXPECT(MPI_ERR_COUNT, BY_NOBODY,
           MPI_Neighbor_allgatherv(b, 1, MPI_INT, c, neg, zero, MPI_INT, ring));
    EXPECT(MPI_ERR_ARG, BY_NOBODY,
           MPI_Neighbor_allgatherv(b, 1, MPI_INT, c, one, NULL, MPI_INT, ring));
    EXPECT(MPI_ERR_COUNT, BY_NOBODY,
           MPI_Neighbor_alltoallv(b, neg, zero, MPI_INT, c, one, zero, MPI_INT, ring));
    EXPECT(MPI_ERR_ARG, BY_NOBODY,
           MPI_Neighbor_alltoallv(b, NULL, zero, MPI_INT, c, one, zero, MPI_INT, ring));
    EXPECT(MPI_ERR_BUFFER, BY_NOBODY,
           MPI_Neighbor_alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_INT, c, one, zero, MPI_INT, ring));
    EXPECT(MPI_ERR_ARG, BY_NOBODY,
           MPI_Neighbor_alltoallw(b, one, apart, NULL, c, one, apart, ints, ring));
    EXPECT(MPI_ERR_TOPOLOGY, BY_SELF,
           MPI_Neighbor_alltoallv(b, NULL, NULL, MPI_INT, c, NULL, NULL, MPI_INT, MPI_COMM_SELF));
    MPI_Comm_free(&ring);
}

static void reducing(MPI_Comm freed)
{
    int b[8] = {0}, c[8], one[8], neg[8];

    for (int i = 0; i < 8; i++) {
        one[i] = 1;
        neg[i] = -1;
    }
    EXPECT(MPI_ERR_OP, BY_SELF, MPI_Reduce(b, c, 1, MPI_INT, MPI_OP_NULL, 0, MPI_COMM_SELF));
    EXPECT(MPI_ERR_ROOT, BY_SELF, MPI_Reduce(b, c, 1, MPI_INT, MPI_SUM, 1, MPI_COMM_SELF));
    EXPECT(MPI_ERR_BUFFER, BY_SELF, MPI_Reduce(b, b, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_SELF));
    EXPECT(MPI_ERR_BUFFER, BY_SELF, MPI_Reduce(b, NULL, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_SELF));
    EXPECT(MPI_ERR_BUFFER, BY_SELF, MPI_Reduce(NULL, c, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_SELF));
    EXPECT(MPI_ERR_BUFFER, BY_SELF,
           MPI_Reduce(b, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_SELF));
    EXPECT(MPI_ERR_OP, BY_SELF, MPI_Reduce(b, c, 1, MPI_FLOAT, MPI_BAND, 0, MPI_COMM_SELF));
    EXPECT(MPI_ERR_OP, BY_SELF, MPI_Reduce(b, c, 1, MPI_INT, (MPI_Op)0x1234, 0, MPI_COMM_SELF));
    EXPECT(MPI_ERR_BUFFER, BY_COMM, MPI_Allreduce(b, b, 1, MPI_INT, MPI_SUM, comm));
    EXPECT(MPI_ERR_BUFFER, BY_COMM, MPI_Allreduce(b, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, comm));
    EXPECT(MPI_ERR_BUFFER, BY_COMM, MPI_Allreduce(NULL, c, 1, MPI_INT, MPI_SUM, comm));
    EXPECT(MPI_ERR_BUFFER, BY_COMM, MPI_Allreduce(b, NULL, 1, MPI_INT, MPI_SUM, comm));
    EXPECT(MPI_ERR_OP, BY_COMM, MPI_Allreduce(b, c, 1, MPI_INT, MPI_OP_NULL, comm));
    EXPECT(MPI_ERR_COMM, BY_WORLD, MPI_Allreduce(b, c, 1, MPI_DOUBLE, MPI_LOR, MPI_COMM_NULL));
    EXPECT(MPI_ERR_OP, BY_COMM, MPI_Allreduce(b, c, 1, MPI_INT, MPI_MAXLOC, comm));
    EXPECT(MPI_ERR_OP, BY_COMM, MPI_Allreduce(b, c, 1, MPI_INT, MPI_REPLACE, comm));
    EXPECT(MPI_ERR_OP, BY_COMM, MPI_Allreduce(b, c, 1, MPI_INT, MPI_NO_OP, comm));
    EXPECT(MPI_ERR_COUNT, BY_COMM, MPI_Reduce_scatter(b, c, neg, MPI_INT, MPI_SUM, comm));
    EXPECT(MPI_ERR_OP, BY_COMM, MPI_Reduce_scatter(b, c, one, MPI_INT, MPI_OP_NULL, comm));
    EXPECT(MPI_ERR_BUFFER, BY_COMM, MPI_Reduce_scatter(b, b, one, MPI_INT, MPI_SUM, comm));
    EXPECT(MPI_ERR_BUFFER, BY_COMM, MPI_Reduce_scatter_block(b, b, 1, MPI_INT, MPI_SUM, comm));
    EXPECT(MPI_ERR_OP, BY_COMM, MPI_Reduce_scatter_block(b, c, 1, MPI_INT, MPI_OP_NULL, comm));
    EXPECT(MPI_ERR_BUFFER, BY_COMM, MPI_Scan(b, b, 1, MPI_INT, MPI_SUM, comm));
    EXPECT(MPI_ERR_OP, BY_COMM, MPI_Scan(b, c, 1, MPI_INT, MPI_OP_NULL, comm));
    EXPECT(MPI_ERR_OP, BY_COMM, MPI_Scan(b, c, 1, MPI_FLOAT, MPI_BXOR, comm));
    EXPECT(MPI_ERR_BUFFER, BY_COMM, MPI_Exscan(b, b, 1, MPI_INT, MPI_SUM, comm));
    EXPECT(MPI_ERR_OP, BY_COMM, MPI_Exscan(b, c, 1, MPI_INT, MPI_OP_NULL, comm));
    (void)freed;
}

static void user_op(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)n, (void)type;
}

static void operations(MPI_Comm freed)
{
    int b[8] = {0}, c[8], n;
    MPI_Op op;

    EXPECT(MPI_ERR_BUFFER, BY_WORLD, MPI_Reduce_local(b, b, 1, MPI_INT, MPI_SUM));
    if (check_virtual()) /* MPICH does not check */
        EXPECT(MPI_ERR_COUNT, BY_WORLD, MPI_Reduce_local(b, c, -1, MPI_INT, MPI_SUM));
    EXPECT(MPI_ERR_OP, BY_WORLD, MPI_Reduce_local(b, c, 1, MPI_INT, MPI_OP_NULL));
    EXPECT(MPI_ERR_OP, BY_WORLD, MPI_Reduce_local(b, c, 1, MPI_FLOAT, MPI_BAND));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Op_create(NULL, 1, &op));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Op_create(user_op, 1, NULL));
    EXPECT(MPI_ERR_OP, BY_WORLD, (op = MPI_OP_NULL, MPI_Op_free(&op)));
    EXPECT(MPI_ERR_OP, BY_WORLD, (op = MPI_SUM, MPI_Op_free(&op)));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Op_free(NULL));
    EXPECT(MPI_ERR_OP, BY_WORLD, MPI_Op_commutative(MPI_OP_NULL, &n));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Op_commutative(MPI_SUM, NULL));
    (void)freed;
}

/* Calls without a communicator are MPI_COMM_WORLD's, and so are windows that were given no
 * handler. */
static void elsewhere(void)
{
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Aint lb, extent;
    MPI_Win win;
    int n, base;

    EXPECT(MPI_ERR_COUNT, BY_WORLD, MPI_Type_contiguous(-1, MPI_INT, &type));
    EXPECT(MPI_ERR_TYPE, BY_WORLD, MPI_Type_commit(&type));
    EXPECT(MPI_ERR_TYPE, BY_WORLD, MPI_Type_size(MPI_DATATYPE_NULL, &n));
    EXPECT(MPI_ERR_TYPE, BY_WORLD, MPI_Type_get_extent(MPI_DATATYPE_NULL, &lb, &extent));
    EXPECT(MPI_ERR_TYPE, BY_WORLD, MPI_Pack_external_size("external32", 1, MPI_DATATYPE_NULL, &lb));
    EXPECT(MPI_ERR_TYPE, BY_SELF, MPI_Pack_size(1, MPI_DATATYPE_NULL, MPI_COMM_SELF, &n));
    MPI_Win_create(&base, sizeof base, 1, MPI_INFO_NULL, comm, &win);
    EXPECT(MPI_ERR_RMA_SYNC, BY_WORLD, MPI_Win_unlock(0, win));
    EXPECT(MPI_ERR_KEYVAL, BY_WORLD, MPI_Win_set_attr(win, 1234, NULL));
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    EXPECT(MPI_ERR_KEYVAL, BY_NOBODY, MPI_Win_set_attr(win, 1234, NULL));
    MPI_Win_free(&win);
}

static void groups(MPI_Comm freed)
{
    int n, out[1], ranks[1] = {0}, toobig[1] = {999}, negative[1] = {-1};
    int range[1][3] = {{0, 0, 1}}, zerostride[1][3] = {{0, 0, 0}}, beyond[1][3] = {{0, 999, 1}};
    int below[1][3] = {{-2, 0, 1}}, wrongway[1][3] = {{0, 3, -1}};
    int overlap[2][3] = {{0, 0, 1}, {0, 0, 1}};
    MPI_Group g, h;

    MPI_Comm_group(MPI_COMM_WORLD, &g);
    EXPECT(MPI_ERR_GROUP, BY_WORLD, MPI_Group_size(MPI_GROUP_NULL, &n));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Group_size(g, NULL));
    EXPECT(MPI_ERR_GROUP, BY_WORLD, MPI_Group_size((MPI_Group)0x1234, &n));
    EXPECT(MPI_ERR_GROUP, BY_WORLD, MPI_Group_rank(MPI_GROUP_NULL, &n));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Group_rank(g, NULL));
    EXPECT(MPI_ERR_GROUP, BY_WORLD, MPI_Group_translate_ranks(MPI_GROUP_NULL, 1, ranks, g, out));
    EXPECT(MPI_ERR_GROUP, BY_WORLD, MPI_Group_translate_ranks(g, 1, ranks, MPI_GROUP_NULL, out));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Group_translate_ranks(g, -1, ranks, g, out));
    EXPECT(MPI_ERR_RANK, BY_WORLD, MPI_Group_translate_ranks(g, 1, toobig, g, out));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Group_translate_ranks(g, 1, ranks, g, NULL));
    EXPECT(MPI_ERR_GROUP, BY_WORLD, MPI_Group_compare(MPI_GROUP_NULL, g, &n));
    EXPECT(MPI_ERR_GROUP, BY_WORLD, MPI_Group_compare(g, MPI_GROUP_NULL, &n));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Group_compare(g, g, NULL));
    EXPECT(MPI_ERR_GROUP, BY_WORLD, MPI_Group_union(MPI_GROUP_NULL, g, &h));
    EXPECT(MPI_ERR_GROUP, BY_WORLD, MPI_Group_union(g, MPI_GROUP_NULL, &h));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Group_union(g, g, NULL));
    EXPECT(MPI_ERR_GROUP, BY_WORLD, MPI_Group_intersection(MPI_GROUP_NULL, g, &h));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Group_intersection(g, g, NULL));
    EXPECT(MPI_ERR_GROUP, BY_WORLD, MPI_Group_difference(g, MPI_GROUP_NULL, &h));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Group_difference(g, g, NULL));
    EXPECT(MPI_ERR_GROUP, BY_WORLD, MPI_Group_incl(MPI_GROUP_NULL, 1, ranks, &h));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Group_incl(g, -1, ranks, &h));
    EXPECT(MPI_ERR_RANK, BY_WORLD, MPI_Group_incl(g, 1, toobig, &h));
    EXPECT(MPI_ERR_RANK, BY_WORLD, MPI_Group_incl(g, 1, negative, &h));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Group_incl(g, 1, ranks, NULL));
    EXPECT(MPI_ERR_GROUP, BY_WORLD, MPI_Group_excl(MPI_GROUP_NULL, 1, ranks, &h));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Group_excl(g, -1, ranks, &h));
    EXPECT(MPI_ERR_RANK, BY_WORLD, MPI_Group_excl(g, 1, toobig, &h));
    EXPECT(MPI_ERR_RANK, BY_WORLD, MPI_Group_excl(g, 1, negative, &h));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Group_excl(g, 1, ranks, NULL));
    EXPECT(MPI_ERR_GROUP, BY_WORLD, MPI_Group_range_incl(MPI_GROUP_NULL, 1, range, &h));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Group_range_incl(g, -1, range, &h));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Group_range_incl(g, 1, range, NULL));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Group_range_incl(g, 1, zerostride, &h));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Group_range_incl(g, 1, beyond, &h));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Group_range_incl(g, 1, below, &h));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Group_range_incl(g, 1, wrongway, &h));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Group_range_incl(g, 2, overlap, &h));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Group_range_excl(g, -1, range, &h));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Group_range_excl(g, 1, zerostride, &h));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Group_range_excl(g, 1, beyond, &h));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Group_range_excl(g, 1, wrongway, &h));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Group_range_excl(g, 2, overlap, &h));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Group_range_excl(g, 1, range, NULL));
    EXPECT(MPI_ERR_GROUP, BY_WORLD, (h = MPI_GROUP_NULL, MPI_Group_free(&h)));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Group_free(NULL));
    EXPECT(MPI_ERR_GROUP, BY_WORLD, (h = (MPI_Group)0x1234, MPI_Group_free(&h)));
    MPI_Group_free(&g);
    (void)freed;
}

static void communicators(MPI_Comm freed)
{
    int n;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Comm d;
    MPI_Group g;

    MPI_Comm_group(MPI_COMM_WORLD, &g);
    EXPECT(MPI_ERR_COMM, BY_WORLD, MPI_Comm_size(MPI_COMM_NULL, &n));
    EXPECT(MPI_ERR_ARG, BY_COMM, MPI_Comm_size(comm, NULL));
    EXPECT(MPI_ERR_COMM, BY_WORLD, MPI_Comm_size(freed, &n));
    EXPECT(MPI_ERR_COMM, BY_WORLD, MPI_Comm_rank(MPI_COMM_NULL, &n));
    EXPECT(MPI_ERR_ARG, BY_COMM, MPI_Comm_rank(comm, NULL));
    EXPECT(MPI_ERR_COMM, BY_WORLD, MPI_Comm_compare(MPI_COMM_NULL, comm, &n));
    EXPECT(MPI_ERR_COMM, BY_WORLD, MPI_Comm_compare(comm, MPI_COMM_NULL, &n));
    EXPECT(MPI_ERR_ARG, BY_COMM, MPI_Comm_compare(comm, comm, NULL));
    EXPECT(MPI_ERR_COMM, BY_WORLD, MPI_Comm_dup(MPI_COMM_NULL, &d));
    EXPECT(MPI_ERR_ARG, BY_COMM, MPI_Comm_dup(comm, NULL));
    EXPECT(MPI_ERR_COMM, BY_WORLD, MPI_Comm_group(MPI_COMM_NULL, &g));
    EXPECT(MPI_ERR_ARG, BY_COMM, MPI_Comm_group(comm, NULL));
    EXPECT(MPI_ERR_COMM, BY_WORLD, MPI_Comm_create(MPI_COMM_NULL, g, &d));
    EXPECT(MPI_ERR_GROUP, BY_WORLD, MPI_Comm_create(comm, MPI_GROUP_NULL, &d));
    EXPECT(MPI_ERR_ARG, BY_COMM, MPI_Comm_create(comm, g, NULL));
    EXPECT(MPI_ERR_COMM, BY_WORLD, MPI_Comm_create_group(MPI_COMM_NULL, g, 0, &d));
    EXPECT(MPI_ERR_GROUP, BY_WORLD, MPI_Comm_create_group(comm, MPI_GROUP_NULL, 0, &d));
    EXPECT(MPI_ERR_ARG, BY_COMM, MPI_Comm_create_group(comm, g, 0, NULL));
    EXPECT(MPI_ERR_TAG, BY_COMM, MPI_Comm_create_group(comm, g, -1, &d));
    EXPECT(MPI_ERR_COMM, BY_WORLD, MPI_Comm_split(MPI_COMM_NULL, 0, 0, &d));
    EXPECT(MPI_ERR_ARG, BY_COMM, MPI_Comm_split(comm, 0, 0, NULL));
    EXPECT(MPI_ERR_COMM, BY_WORLD,
           MPI_Comm_split_type(MPI_COMM_NULL, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &d));
    EXPECT(MPI_ERR_ARG, BY_COMM, MPI_Comm_split_type(comm, 12345, 0, MPI_INFO_NULL, &d));
    EXPECT(MPI_ERR_ARG, BY_COMM,
           MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, NULL));
    EXPECT(MPI_ERR_COMM, BY_WORLD, MPI_Comm_test_inter(MPI_COMM_NULL, &n));
    EXPECT(MPI_ERR_ARG, BY_COMM, MPI_Comm_test_inter(comm, NULL));
    EXPECT(MPI_ERR_COMM, BY_WORLD, MPI_Comm_get_name(MPI_COMM_NULL, name, &n));
    EXPECT(MPI_ERR_ARG, BY_COMM, MPI_Comm_get_name(comm, NULL, &n));
    EXPECT(MPI_ERR_ARG, BY_COMM, MPI_Comm_get_name(comm, name, NULL));
    EXPECT(MPI_ERR_COMM, BY_WORLD, MPI_Comm_set_name(MPI_COMM_NULL, "x"));
    EXPECT(MPI_ERR_ARG, BY_COMM, MPI_Comm_set_name(comm, NULL));
    MPI_Group_free(&g);
}

int main(int argc, char **argv)
{
    MPI_Comm freed;

    MPI_Init(&argc, &argv);
    freed = set_up();
    moving(freed);
    neighbours();
    reducing(freed);
    operations(freed);
    elsewhere();
    groups(freed);
    communicators(freed);
    MPI_Comm_free(&comm);
    check_ok("errors of collectives, groups and communicators");
    MPI_Finalize();
    return 0;
}
