/* native=2: datatypes, packing, operations. */
#include "every.h"

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static void large_add(void *in, void *inout, MPI_Count *count, MPI_Datatype *type)
{
    (void)type;
    for (MPI_Count i = 0; i < *count; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

#define F(name) MPI_##name
#define PART(name) name
#define SIZE int
#define DISP MPI_Aint
#include "types_sized.h"
#undef F
#undef PART
#undef SIZE
#undef DISP
#define F(name) MPI_##name##_c
#define PART(name) large_##name
#define SIZE MPI_Count
#define DISP MPI_Count
#include "types_sized.h"

static void described(void)
{
    MPI_Datatype type, copy, parts[1];
    int integers, addresses, datatypes, combiner, values[3];
    MPI_Count many[4], large[3], low, extent;
    MPI_Aint places[1];
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Type_vector(2, 1, 3, MPI_INT, &type);
    MPI_Type_get_envelope(type, &integers, &addresses, &datatypes, &combiner);
    MPI_Type_get_contents(type, 3, 0, 1, values, places, parts);
    MPI_Type_dup(type, &copy);
    MPI_Type_set_name(copy, "copy");
    MPI_Type_get_name(copy, name, &integers);
    MPI_Type_get_extent_x(copy, &low, &extent);
    MPI_Type_get_true_extent_x(copy, &low, &extent);
    MPI_Type_size_x(copy, &low);
    MPI_Type_free(&copy);
    MPI_Type_free(&type);
    MPI_Type_vector_c(2, 1, 3, MPI_INT, &type);
    MPI_Type_get_envelope_c(type, &many[0], &many[1], &many[2], &many[3], &combiner);
    MPI_Type_get_contents_c(type, many[0], many[1], many[2], many[3], values, places, large, parts);
    MPI_Type_free(&type);
}

/* Names that MPI-3 has removed, and MPICH keeps. */
static void removed(void)
{
    int lengths[2] = {1, 2}, where = 0;
    MPI_Aint bytes[2] = {0, 16}, number;
    MPI_Datatype parts[2] = {MPI_INT, MPI_DOUBLE}, type;
    MPI_Type_hvector(2, 1, 24, MPI_INT, &type);
    MPI_Type_extent(type, &number);
    MPI_Type_lb(type, &number);
    MPI_Type_ub(type, &number);
    MPI_Type_free(&type);
    MPI_Type_hindexed(2, lengths, bytes, MPI_INT, &type);
    MPI_Type_free(&type);
    MPI_Type_struct(2, lengths, bytes, parts, &type);
    MPI_Type_free(&type);
    MPI_Address(&where, &number);
}

static void rest(void)
{
    MPI_Datatype type;
    MPI_Aint place;
    int where = 0;
    MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &type);
    MPI_Type_create_f90_integer(6, &type);
    MPI_Type_create_f90_real(6, 30, &type);
    MPI_Type_create_f90_complex(6, 30, &type);
    MPI_Get_address(&where, &place);
    MPI_Aint_add(16, 8);
    MPI_Aint_diff(24, 8);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    made();
    large_made();
    packed();
    large_packed();
    operation();
    large_operation();
    described();
    removed();
    rest();
    finish();
    return 0;
}
