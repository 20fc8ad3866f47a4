/* Datatypes, by functions that have a large-count form; see every.h. */

static void PART(made)(void)
{
    SIZE lengths[2] = {1, 2}, starts[2] = {0, 3}, sizes[2] = {4, 4}, subsizes[2] = {2, 2},
         at[2] = {1, 1};
    DISP bytes[2] = {0, 16};
    MPI_Datatype parts[2] = {MPI_INT, MPI_DOUBLE}, type;
    int distribs[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_BLOCK}, grid[2] = {2, 1};
    int dargs[2] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG};
    SIZE number;
    DISP low, extent;
#define THEN MPI_Type_free(&type)
    F(Type_contiguous)(3, MPI_INT, &type), THEN;
    F(Type_vector)(2, 1, 3, MPI_INT, &type), THEN;
    F(Type_create_hvector)(2, 1, 24, MPI_INT, &type), THEN;
    F(Type_indexed)(2, lengths, starts, MPI_INT, &type), THEN;
    F(Type_create_hindexed)(2, lengths, bytes, MPI_INT, &type), THEN;
    F(Type_create_indexed_block)(2, 1, starts, MPI_INT, &type), THEN;
    F(Type_create_hindexed_block)(2, 1, bytes, MPI_INT, &type), THEN;
    F(Type_create_subarray)(2, sizes, subsizes, at, MPI_ORDER_C, MPI_INT, &type), THEN;
    F(Type_create_darray)(2, 0, 2, sizes, distribs, dargs, grid, MPI_ORDER_C, MPI_INT, &type), THEN;
    F(Type_create_resized)(MPI_INT, 0, 8, &type), THEN;
    F(Type_create_struct)(2, lengths, bytes, parts, &type);
    MPI_Type_commit(&type);
    F(Type_size)(type, &number);
    F(Type_get_extent)(type, &low, &extent);
    F(Type_get_true_extent)(type, &low, &extent);
    THEN;
#undef THEN
}

static void PART(packed)(void)
{
    int in[4] = {1, 2, 3, 4}, out[4];
    char room[64];
    SIZE need, position = 0;
    DISP place = 0, external;
    F(Pack_size)(4, MPI_INT, MPI_COMM_WORLD, &need);
    F(Pack)(in, 4, MPI_INT, room, sizeof room, &position, MPI_COMM_WORLD);
    position = 0;
    F(Unpack)(room, sizeof room, &position, out, 4, MPI_INT, MPI_COMM_WORLD);
    F(Pack_external_size)("external32", 4, MPI_INT, &external);
    F(Pack_external)("external32", in, 4, MPI_INT, room, sizeof room, &place);
    place = 0;
    F(Unpack_external)("external32", room, sizeof room, &place, out, 4, MPI_INT);
}

static void PART(operation)(void)
{
    MPI_Op op;
    int one = 1, two = 2, commutes;
    F(Op_create)(PART(add), 1, &op);
    F(Reduce_local)(&one, &two, 1, MPI_INT, op);
    MPI_Op_commutative(op, &commutes);
    MPI_Op_free(&op);
}
