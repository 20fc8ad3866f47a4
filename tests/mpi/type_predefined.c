/* test: n=1,2 native=2 schedules=2
 * Predefined types that are made on request: MPI_Type_create_f90_*, MPI_Type_match_size; address
 * arithmetic; and which predefined operation takes which predefined type. */
#include "check.h"

static void f90(void)
{
    MPI_Datatype t, again;
    int ni, na, nd, kind, ints[2], size, name;
    char text[MPI_MAX_OBJECT_NAME];
    float a[2] = {1, 2}, b[2] = {3, 4};
    CHECK(!MPI_Type_create_f90_real(6, 37, &t) && !MPI_Type_create_f90_real(6, 37, &again));
    CHECK(t == again && t != MPI_REAL);
    MPI_Type_get_envelope(t, &ni, &na, &nd, &kind);
    CHECK(ni == 2 && na == 0 && nd == 0 && kind == MPI_COMBINER_F90_REAL);
    MPI_Type_get_contents(t, 2, 0, 0, ints, NULL, NULL);
    CHECK(ints[0] == 6 && ints[1] == 37);
    MPI_Type_get_name(t, text, &name);
    CHECK(name == 0);
    /* usable at once, and in operations */
    MPI_Sendrecv(a, 2, t, check_rank(), 0, b, 2, t, check_rank(), 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    CHECK(b[0] == 1 && b[1] == 2);
    MPI_Reduce_local(a, b, 2, t, MPI_SUM);
    CHECK(b[0] == 2 && b[1] == 4);
    MPI_Type_create_f90_real(MPI_UNDEFINED, 300, &t);
    MPI_Type_size(t, &size);
    CHECK(size == 8);
    MPI_Type_create_f90_complex(7, MPI_UNDEFINED, &t);
    MPI_Type_size(t, &size);
    MPI_Type_get_envelope(t, &ni, &na, &nd, &kind);
    CHECK(size == 16 && kind == MPI_COMBINER_F90_COMPLEX);
    for (int r = 1; r <= 18; r++) {
        MPI_Type_create_f90_integer(r, &t);
        MPI_Type_size(t, &size);
        MPI_Type_get_envelope(t, &ni, &na, &nd, &kind);
        MPI_Type_get_contents(t, 1, 0, 0, ints, NULL, NULL);
        CHECK(size == (r <= 2 ? 1 : r <= 4 ? 2 : r <= 9 ? 4 : 8));
        CHECK(ni == 1 && kind == MPI_COMBINER_F90_INTEGER && ints[0] == r);
    }
    CHECK(MPI_Type_create_f90_integer(19, &t) != MPI_SUCCESS);
    CHECK(MPI_Type_create_f90_real(40, 37, &t) != MPI_SUCCESS);
}

static void matched(void)
{
    static const struct {
        int class, size;
        MPI_Datatype type;
    } list[] = {
        {MPI_TYPECLASS_REAL, 4, MPI_REAL4},       {MPI_TYPECLASS_REAL, 8, MPI_REAL8},
        {MPI_TYPECLASS_INTEGER, 1, MPI_INTEGER1}, {MPI_TYPECLASS_INTEGER, 2, MPI_INTEGER2},
        {MPI_TYPECLASS_INTEGER, 4, MPI_INTEGER4}, {MPI_TYPECLASS_INTEGER, 8, MPI_INTEGER8},
        {MPI_TYPECLASS_COMPLEX, 8, MPI_COMPLEX8}, {MPI_TYPECLASS_COMPLEX, 16, MPI_COMPLEX16},
    };
    MPI_Datatype t;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        CHECK(!MPI_Type_match_size(list[i].class, list[i].size, &t) && t == list[i].type);
    CHECK(MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 3, &t) != MPI_SUCCESS);
    CHECK(MPI_Type_match_size(MPI_TYPECLASS_REAL, 1, &t) != MPI_SUCCESS);
    CHECK(MPI_Type_match_size(1000, 4, &t) != MPI_SUCCESS);
}

static void addresses(void)
{
    int array[10] = {0};
    MPI_Aint first, last;
    MPI_Get_address(&array[0], &first);
    MPI_Get_address(&array[9], &last);
    CHECK(MPI_Aint_diff(last, first) == 36 && MPI_Aint_add(first, 36) == last);
    CHECK(MPI_Aint_diff(first, last) == -36 && MPI_Aint_add(last, -36) == first);
}

/* Groups of operations by the letters o (order), a (arithmetic), l (logic), b (bits), p
 * (pairs with positions). */
static const struct {
    MPI_Op op;
    char group;
} ops[] = {
    {MPI_MAX, 'o'},    {MPI_MIN, 'o'},    {MPI_SUM, 'a'},     {MPI_PROD, 'a'},  {MPI_LAND, 'l'},
    {MPI_LOR, 'l'},    {MPI_LXOR, 'l'},   {MPI_BAND, 'b'},    {MPI_BOR, 'b'},   {MPI_BXOR, 'b'},
    {MPI_MAXLOC, 'p'}, {MPI_MINLOC, 'p'}, {MPI_REPLACE, 'r'}, {MPI_NO_OP, 'r'},
};

static const struct {
    MPI_Datatype type;
    const char *groups;
} allowed[] = {
    {MPI_CHAR, "oalb"},
    {MPI_SIGNED_CHAR, "oalb"},
    {MPI_UNSIGNED_CHAR, "oalb"},
    {MPI_BYTE, "b"},
    {MPI_WCHAR, ""},
    {MPI_PACKED, ""},
    {MPI_SHORT, "oalb"},
    {MPI_UNSIGNED_SHORT, "oalb"},
    {MPI_INT, "oalb"},
    {MPI_UNSIGNED, "oalb"},
    {MPI_LONG, "oalb"},
    {MPI_UNSIGNED_LONG, "oalb"},
    {MPI_LONG_LONG, "oalb"},
    {MPI_UNSIGNED_LONG_LONG, "oalb"},
    {MPI_INT8_T, "oalb"},
    {MPI_UINT64_T, "oalb"},
    {MPI_AINT, "oalb"},
    {MPI_OFFSET, "oalb"},
    {MPI_COUNT, "oalb"},
    {MPI_FLOAT, "oal"},
    {MPI_DOUBLE, "oal"},
    {MPI_LONG_DOUBLE, "oal"},
    {MPI_REAL, "oal"},
    {MPI_DOUBLE_PRECISION, "oal"},
    {MPI_REAL4, "oal"},
    {MPI_REAL8, "oal"},
    {MPI_REAL16, "oal"},
    {MPI_INTEGER, "oalb"},
    {MPI_INTEGER1, "oalb"},
    {MPI_INTEGER8, "oalb"},
    {MPI_CHARACTER, "oalb"},
    {MPI_LOGICAL, "l"},
    {MPI_C_BOOL, "l"},
    {MPI_CXX_BOOL, "l"},
    {MPI_COMPLEX, "a"},
    {MPI_DOUBLE_COMPLEX, "a"},
    {MPI_C_FLOAT_COMPLEX, "a"},
    {MPI_C_DOUBLE_COMPLEX, "a"},
    {MPI_C_LONG_DOUBLE_COMPLEX, "a"},
    {MPI_CXX_FLOAT_COMPLEX, "a"},
    {MPI_CXX_DOUBLE_COMPLEX, "a"},
    {MPI_CXX_LONG_DOUBLE_COMPLEX, "a"},
    {MPI_COMPLEX8, "a"},
    {MPI_COMPLEX16, "a"},
    {MPI_COMPLEX32, ""},
    {MPI_2INT, "p"},
    {MPI_2INTEGER, "p"},
    {MPI_2REAL, "p"},
    {MPI_2DOUBLE_PRECISION, "p"},
    {MPI_FLOAT_INT, "p"},
    {MPI_DOUBLE_INT, "p"},
    {MPI_LONG_INT, "p"},
    {MPI_SHORT_INT, "p"},
    {MPI_LONG_DOUBLE_INT, "p"},
};

static void combinations(void)
{
    static _Alignas(32) char a[64], b[64];
    MPI_Datatype derived;
    int class;
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
        for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) {
            int rc = MPI_Allreduce(a, b, 1, allowed[i].type, ops[k].op, MPI_COMM_SELF);
            MPI_Error_class(rc, &class);
            int may = strchr(allowed[i].groups, ops[k].group) != NULL;
            CHECK(class == (may ? MPI_SUCCESS : MPI_ERR_OP));
        }
    MPI_Type_dup(MPI_INT, &derived);
    MPI_Error_class(MPI_Reduce_local(a, b, 1, derived, MPI_SUM), &class);
    CHECK(class == MPI_ERR_OP);
    MPI_Type_free(&derived);
    MPI_Error_class(MPI_Reduce_local(a, b, 1, MPI_INT, MPI_OP_NULL), &class);
    CHECK(class == MPI_ERR_OP);
}

/* A user's operation that counts in MPI_Count. */
static MPI_Count seen;
static void add_large(void *in, void *inout, MPI_Count *n, MPI_Datatype *type)
{
    CHECK(*type == MPI_INT);
    seen = *n;
    for (MPI_Count i = 0; i < *n; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static void user_operation(void)
{
    MPI_Op op;
    int commute = 5, a[3] = {1, 2, 3}, b[3] = {10, 20, 30}, sum[3];
    MPI_Op_create_c(add_large, 1, &op);
    MPI_Op_commutative(op, &commute);
    CHECK(commute == 1);
    MPI_Reduce_local_c(a, b, 3, MPI_INT, op);
    CHECK(seen == 3 && b[0] == 11 && b[2] == 33);
    MPI_Allreduce(a, sum, 3, MPI_INT, op, MPI_COMM_WORLD);
    CHECK(sum[0] == check_size() && sum[2] == 3 * check_size());
    MPI_Op_free(&op);
    CHECK(op == MPI_OP_NULL);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    f90();
    matched();
    addresses();
    check_ok("predefined types");
    combinations();
    user_operation();
    check_ok("operations");
    MPI_Finalize();
    return 0;
}
