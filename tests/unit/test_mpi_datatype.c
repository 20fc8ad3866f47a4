/* Unit tests of src/mpi/datatype: handles, interning and lifetimes, bounds as MPICH has them,
 * compiled plans, contents, names, and the MPI calls with their errors. */
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "datatype_mock.h"
#include "mpi/datatype/plan.h"
#include "mpi/datatype/table.c" /* its types are counted */

static void is_layout(MPI_Datatype h, long size, long lb, long extent, long true_lb,
                      long true_extent, const char *name)
{
    const struct mpi_type *t = mpi_type_get(h);
    int same = t && (long)t->size == size && t->lb == lb && t->extent == extent &&
               t->true_lb == true_lb && t->true_extent == true_extent;
    ok(same, "layout of %s", name);
    if (!same && t)
        diag("got %ld %ld %ld %ld %ld", (long)t->size, (long)t->lb, (long)t->extent,
             (long)t->true_lb, (long)t->true_extent);
}

static void test_builtins(void)
{
    static const MPI_Datatype samples[] =
        {MPI_CHAR, MPI_INT,      MPI_DOUBLE,    MPI_LONG_DOUBLE,          MPI_2INT,
         MPI_AINT, MPI_CXX_BOOL, MPI_COMPLEX32, MPI_C_LONG_DOUBLE_COMPLEX};
    int good = 1;
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        const struct mpi_type *t = mpi_type_get(samples[i]);
        good = good && t && t->handle == samples[i] && t->builtin && t->committed && t->contig &&
               t->size == (((unsigned)samples[i] >> 8) & 0xff);
    }
    ok(good, "predefined types have the size in their handle");
    int n = 0;
    for (int i = 0; i < MPI_TYPE_BUILTINS; i++) {
        const struct mpi_type *t = &mpi_type_builtins[i];
        n += t->handle != 0;
        good = good && (!t->handle || ((t->handle & 0xff) == i && t->plan->size == t->size &&
                                       t->size == (((unsigned)t->handle >> 8) & 0xff)));
    }
    ok(good && n == 60, "every slot holds the type of its index (%d types)", n);
    is_layout(MPI_FLOAT_INT, 8, 0, 8, 0, 8, "MPI_FLOAT_INT");
    is_layout(MPI_DOUBLE_INT, 12, 0, 16, 0, 12, "MPI_DOUBLE_INT");
    is_layout(MPI_LONG_INT, 12, 0, 16, 0, 12, "MPI_LONG_INT");
    is_layout(MPI_SHORT_INT, 6, 0, 8, 0, 8, "MPI_SHORT_INT");
    is_layout(MPI_LONG_DOUBLE_INT, 20, 0, 32, 0, 20, "MPI_LONG_DOUBLE_INT");
    ok(!mpi_type_get(MPI_DATATYPE_NULL) && !mpi_type_get(0) && !mpi_type_get(-1) &&
           !mpi_type_get(0x4c000000) && !mpi_type_get(0x4c000205) &&
           !mpi_type_get((int)0x8c000005) && !mpi_type_get((int)0x8fffffff),
       "malformed handles are refused");
    is_str(mpi_type_name(mpi_type_get(MPI_LONG_LONG)), "MPI_LONG_LONG_INT", "name of an alias");
    is_str(mpi_type_name(mpi_type_get(MPI_DOUBLE_INT)), "MPI_DOUBLE_INT", "name of a pair");
}

static void test_interning(void)
{
    MPI_Datatype a, b, c, d;
    mpi_type_vector(self, 3, 2, 4, MPI_INT, &a);
    mpi_type_vector(self, 3, 2, 4, MPI_INT, &b);
    mpi_type_create_hvector(self, 3, 2, 16, MPI_INT, &c);
    ok(a == b, "equal constructions share a handle");
    ok(a != c, "the combiner is part of the identity");
    is_int(table.ntypes, 2, "two types are alive");
    mpi_type_contiguous(self, 2, a, &d);
    MPI_Datatype stale = a;
    is_int(mpi_type_free(self, &a), MPI_SUCCESS, "free");
    ok(a == MPI_DATATYPE_NULL, "free sets the null handle");
    ok(mpi_type_get(stale) != NULL, "the handle is valid while another rank holds it");
    mpi_type_commit(self, &b);
    mpi_type_set_name(self, b, "mine");
    mpi_type_free(self, &b);
    ok(!mpi_type_get(stale), "the handle is invalid when nobody holds it");
    a = stale;
    raises(mpi_type_free(self, &a), MPI_ERR_TYPE, "a freed handle is refused");
    is_int(table.ntypes, 3, "the object lives on inside another type");
    mpi_type_vector(self, 3, 2, 4, MPI_INT, &a);
    ok(a == stale, "an equal construction finds it again");
    ok(!mpi_type_get(a)->committed && !*mpi_type_name(mpi_type_get(a)), "uncommitted and unnamed");
    mpi_type_free(self, &a);
    mpi_type_free(self, &d);
    mpi_type_free(self, &c);
    is_int(table.ntypes, 0, "all freed");
}

static void test_pending_use(void)
{
    MPI_Datatype h, stale;
    mpi_type_contiguous(self, 7, MPI_SHORT, &h);
    stale = h;
    struct mpi_type *t = mpi_type_get(h);
    mpi_type_ref(t);
    mpi_type_free(self, &h);
    ok(!mpi_type_get(stale), "a freed type in use has no valid handle");
    is_int((long)t->size, 14, "but it is still there");
    mpi_type_unref(t);
    is_int(table.ntypes, 0, "until the use ends");
    int reused = 0;
    for (int i = 0; i < 900; i++) {
        mpi_type_contiguous(self, 1000 + i, MPI_SHORT, &h);
        reused |= h == stale;
        mpi_type_free(self, &h);
    }
    ok(!reused, "a freed index is not used again soon");
    static MPI_Datatype many[3000];
    for (int i = 0; i < 3000; i++)
        mpi_type_vector(self, i + 2, 1, 3, MPI_INT, &many[i]);
    int distinct = table.ntypes == 3000;
    for (int i = 0; i < 3000; i++)
        distinct = distinct && (long)mpi_type_get(many[i])->size == 4L * (i + 2);
    ok(distinct, "3000 types keep their handles as the table grows");
    for (int i = 0; i < 3000; i++)
        mpi_type_free(self, &many[i]);
    is_int(table.ntypes, 0, "and are freed");
}

/* Expected values were taken from MPICH 4.0.2. */
static void test_bounds(void)
{
    MPI_Datatype e, r, t;
    mpi_type_contiguous(self, 0, MPI_INT, &e);
    is_layout(e, 0, 0, 0, 0, 0, "contiguous(0)");
    mpi_type_create_resized(self, MPI_INT, -4, 20, &r);
    is_layout(r, 4, -4, 20, 0, 4, "resized");
    is_layout(struct2(1, 0, MPI_DOUBLE, 1, 8, MPI_CHAR), 9, 0, 16, 0, 9, "padded struct");
    is_layout(struct2(1, 3, MPI_DOUBLE, 1, 20, MPI_CHAR), 9, 3, 24, 3, 18, "shifted struct");
    is_layout(struct2(1, 0, MPI_REAL16, 1, 16, MPI_CHAR), 17, 0, 17, 0, 17, "REAL16 pads not");
    is_layout(struct2(1, 0, r, 1, 16, MPI_CHAR), 5, -4, 24, 0, 17, "struct of resized");
    is_layout(struct2(1, 0, MPI_DOUBLE, 1, 9, MPI_UB), 8, 0, 9, 0, 8, "struct with MPI_UB");
    is_layout(struct2(1, 0, MPI_DOUBLE, 1, 3, MPI_LB), 8, 3, 5, 0, 8, "struct with MPI_LB");
    is_layout(struct2(1, -8, MPI_LB, 1, 30, MPI_UB), 0, -8, 38, 0, 0, "markers only");
    is_layout(struct2(0, -100, MPI_DOUBLE, 1, 0, MPI_CHAR), 1, 0, 1, 0, 1, "empty block skipped");
    is_layout(struct2(1, 50, e, 1, 0, MPI_CHAR), 1, 0, 50, 0, 50, "empty member is a point");
    is_layout(struct2(1, 4, e, 0, 0, MPI_INT), 0, 0, 0, 0, 0, "struct without data");
    is_layout(struct2(1, 0, MPI_INT, 1, 5, MPI_INT), 8, 0, 9, 0, 9, "equal members pad not");
    is_layout(struct2(1, 7, e, 1, 3, MPI_UB), 0, 0, 3, 0, 0, "an empty member beside MPI_UB");
    mpi_type_vector(self, 3, 0, 2, MPI_INT, &t);
    is_layout(t, 0, 0, 16, 0, 16, "vector of empty blocks");
    mpi_type_vector(self, 2, 2, -3, MPI_INT, &t);
    is_layout(t, 16, -12, 20, -12, 20, "vector backwards");
    mpi_type_create_resized(self, MPI_INT, 8, -8, &t);
    mpi_type_contiguous(self, 3, t, &t);
    is_layout(t, 12, -8, 8, -16, 20, "contiguous with negative extent");
    int sizes[] = {4, 5}, subsizes[] = {2, 3}, starts[] = {1, 1};
    mpi_type_create_subarray(self, 2, sizes, subsizes, starts, MPI_ORDER_C, r, &t);
    is_layout(t, 24, 0, 400, 120, 144, "subarray, C order");
    mpi_type_create_subarray(self, 2, sizes, subsizes, starts, MPI_ORDER_FORTRAN, MPI_CHAR, &t);
    is_layout(t, 6, 0, 20, 5, 10, "subarray, Fortran order");
}

static const struct type_plan *plan_of(MPI_Datatype h)
{
    return mpi_type_get(h)->plan;
}

static void test_plans(void)
{
    MPI_Datatype t, u;
    mpi_type_vector(self, 1000000, 1, 2, MPI_DOUBLE, &t);
    const struct type_plan *p = plan_of(t);
    ok(p->nloops == 1 && p->loops[0].count == 1000000 && p->loops[0].unit == 8 &&
           p->loops[0].stride == 16 && !p->loops[0].child,
       "a vector is one loop");
    mpi_type_contiguous(self, 5, MPI_INT, &t);
    mpi_type_vector(self, 4, 3, 3, t, &u);
    ok(mpi_type_get(u)->contig && plan_of(u)->nloops == 1 && plan_of(u)->loops[0].unit == 240,
       "a dense vector is one run");
    int displs[] = {0, 3, 6, 9, 20};
    mpi_type_create_indexed_block(self, 5, 1, displs, MPI_INT, &t);
    ok(plan_of(t)->nloops == 2 && plan_of(t)->loops[0].count == 4, "regular blocks are one loop");
    int lengths[] = {2, 2}, two[] = {0, 2};
    mpi_type_indexed(self, 2, lengths, two, MPI_INT, &t);
    ok(mpi_type_get(t)->contig, "adjacent blocks are one run");
    ok(!mpi_type_get(struct2(1, 4, MPI_INT, 1, 0, MPI_INT))->contig, "order matters");
    ok(mpi_type_get(struct2(1, 0, MPI_INT, 1, 4, MPI_FLOAT))->contig, "dense struct");
    ok(!mpi_type_get(MPI_DOUBLE_INT)->contig, "a gap at the end matters");
    int sizes[] = {10, 20, 30}, starts[] = {1, 0, 0}, subsizes[] = {4, 20, 30};
    mpi_type_create_subarray(self, 3, sizes, subsizes, starts, MPI_ORDER_C, MPI_INT, &t);
    ok(plan_of(t)->nloops == 1 && plan_of(t)->loops[0].unit == 4 * 600 * 4 &&
           plan_of(t)->loops[0].disp == 2400,
       "whole planes of a subarray are one run");
}

static void test_contents(void)
{
    MPI_Datatype t, u, types[2], old = struct2(1, 0, MPI_INT, 1, 8, MPI_CHAR);
    int ints[8], ni, na, nt, combiner;
    MPI_Aint aints[2];
    mpi_type_create_hvector(self, 2, 3, 77, old, &t);
    mpi_type_get_envelope(self, t, &ni, &na, &nt, &combiner);
    ok(ni == 2 && na == 1 && nt == 1 && combiner == MPI_COMBINER_HVECTOR, "envelope");
    uint64_t handles = mpi_type_get(old)->handles;
    is_int(mpi_type_get_contents(self, t, 8, 2, 2, ints, aints, types), 0, "contents");
    ok(ints[0] == 2 && ints[1] == 3 && aints[0] == 77 && types[0] == old, "as called");
    ok(mpi_type_get(old)->handles == handles + 1, "the old type is a new handle");
    mpi_type_free(self, &types[0]);
    raises(mpi_type_get_contents(self, t, 1, 2, 2, ints, aints, types), MPI_ERR_OTHER, "no room");
    raises(mpi_type_get_contents(self, MPI_INT, 8, 2, 2, ints, aints, types), MPI_ERR_TYPE,
           "predefined types have no contents");
    int sizes[] = {4, 5}, subsizes[] = {2, 3}, starts[] = {1, 2};
    mpi_type_create_subarray(self, 2, sizes, subsizes, starts, MPI_ORDER_C, MPI_INT, &t);
    mpi_type_get_contents(self, t, 8, 2, 2, ints, aints, types);
    const int want[] = {2, 4, 5, 2, 3, 1, 2, MPI_ORDER_C};
    ok(!memcmp(ints, want, sizeof want) && types[0] == MPI_INT, "contents of a subarray");
    mpi_type_vector(self, 9, 1, 2, MPI_INT, &t);
    mpi_type_commit(self, &t);
    mpi_type_dup(self, t, &u);
    ok(u != t && mpi_type_get(u)->committed, "a duplicate of a committed type is committed");
    struct mpi_type *large;
    is_int(mpi_type_make_contiguous(true, (MPI_Count)1 << 33, mpi_type_get(MPI_INT), &large), 0,
           "a contiguous type of 2^33 items");
    ok(large->size == UINT64_C(1) << 35 && large->contig, "has 2^35 bytes");
    raised = mpi_type_make_vector(false, INT32_MAX, INT32_MAX, INT32_MAX, large, &large);
    is_int(raised, MPI_ERR_COUNT, "sizes beyond 63 bits are refused");
    mpi_type_unref(large);
}

static void test_names(void)
{
    MPI_Datatype t;
    char name[MPI_MAX_OBJECT_NAME], text[300];
    int n = -1;
    mpi_type_contiguous(self, 12, MPI_INT, &t);
    mpi_type_get_name(self, t, name, &n);
    ok(n == 0 && !*name, "a new type has no name");
    mpi_type_set_name(self, t, "row");
    mpi_type_get_name(self, t, name, &n);
    ok(n == 3 && !strcmp(name, "row"), "set and get");
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = 0;
    mpi_type_set_name(self, t, text);
    mpi_type_get_name(self, t, name, &n);
    is_int(n, MPI_MAX_OBJECT_NAME - 1, "a long name is cut");
    mpi_type_set_name(self, t, "");
}

static void test_errors(void)
{
    MPI_Datatype t = MPI_INT;
    MPI_Aint a;
    int n, one = 1, two = 2;
    raises(mpi_type_free(self, &t), MPI_ERR_TYPE, "free of a predefined type");
    t = MPI_DOUBLE_INT;
    raises(mpi_type_free(self, &t), MPI_ERR_TYPE, "free of a predefined pair");
    t = MPI_DATATYPE_NULL;
    raises(mpi_type_commit(self, &t), MPI_ERR_TYPE, "commit of the null handle");
    raises(mpi_type_size(self, MPI_DATATYPE_NULL, &n), MPI_ERR_TYPE, "size of the null handle");
    raises(mpi_type_create_subarray(self, 1, &two, &two, &one, MPI_ORDER_C, MPI_INT, &t),
           MPI_ERR_ARG, "subarray outside");
    raises(mpi_type_create_subarray(self, 1, &two, &one, &one, 99, MPI_INT, &t), MPI_ERR_ARG,
           "unknown order");
    a = 0;
    t = MPI_DATATYPE_NULL;
    raises(mpi_type_create_struct(self, 1, &one, &a, &t, &t), MPI_ERR_TYPE, "null member");
    raises(mpi_get_count(self, MPI_STATUS_IGNORE, MPI_INT, &n), MPI_ERR_ARG, "no status");
    mpi_get_address(self, &a, &a);
    ok(a == (MPI_Aint)&a, "address");
}

int main(void)
{
    plan_auto();
    test_builtins();
    test_interning();
    test_pending_use();
    test_bounds();
    test_plans();
    test_contents();
    test_names();
    test_errors();
    return done_testing();
}
