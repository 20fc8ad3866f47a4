/* Unit tests of src/mpi/datatype: handles, interning and lifetimes, bounds as MPICH has them,
 * compiled plans, packing, element counts, signatures, and the MPI calls with their errors. */
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/datatype/datatype.h"
#include "mpi/datatype/plan.h"
#include "mpi/datatype/table.c" /* its types are counted */
#include "mpi/error.h"
#include "mpi_impl.h"
#include "tap.h"

static int raised; /* class of the last error, 0 if none since it was reset */

/* No attributes here. */
int mpi_attr_copy_all(struct mpi_rank *self, int from, int to)
{
    (void)self;
    (void)from;
    (void)to;
    return MPI_SUCCESS;
}

int mpi_attr_delete_all(struct mpi_rank *self, int handle)
{
    (void)self;
    (void)handle;
    return MPI_SUCCESS;
}

int mpi_raise(struct mpi_rank *self, MPI_Comm comm, int error_class, const char *fmt, ...)
{
    (void)self;
    (void)comm;
    (void)fmt;
    raised = error_class;
    return error_class;
}

static struct mpi_rank *const self = NULL;

/* Whether `call` raised and returned exactly this class. */
#define raises(call, class, name)                      \
    do {                                               \
        raised = 0;                                    \
        int rc_ = (call);                              \
        ok(rc_ == (class) && raised == (class), name); \
    } while (0)

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

static MPI_Datatype struct2(int b1, MPI_Aint d1, MPI_Datatype t1, int b2, MPI_Aint d2,
                            MPI_Datatype t2)
{
    int b[] = {b1, b2};
    MPI_Aint d[] = {d1, d2};
    MPI_Datatype t[] = {t1, t2}, h = MPI_DATATYPE_NULL;
    mpi_type_create_struct(self, 2, b, d, t, &h);
    return h;
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
    ok(p->nparts == 1 && p->parts[0].count == 1000000 && p->parts[0].unit == 8 &&
           p->parts[0].stride == 16 && !p->parts[0].child,
       "a vector is one loop");
    mpi_type_contiguous(self, 5, MPI_INT, &t);
    mpi_type_vector(self, 4, 3, 3, t, &u);
    ok(mpi_type_get(u)->contig && plan_of(u)->nparts == 1 && plan_of(u)->parts[0].unit == 240,
       "a dense vector is one run");
    int displs[] = {0, 3, 6, 9, 20};
    mpi_type_create_indexed_block(self, 5, 1, displs, MPI_INT, &t);
    ok(plan_of(t)->nparts == 2 && plan_of(t)->parts[0].count == 4, "regular blocks are one loop");
    int lengths[] = {2, 2}, two[] = {0, 2};
    mpi_type_indexed(self, 2, lengths, two, MPI_INT, &t);
    ok(mpi_type_get(t)->contig, "adjacent blocks are one run");
    ok(!mpi_type_get(struct2(1, 4, MPI_INT, 1, 0, MPI_INT))->contig, "order matters");
    ok(mpi_type_get(struct2(1, 0, MPI_INT, 1, 4, MPI_FLOAT))->contig, "dense struct");
    ok(!mpi_type_get(MPI_DOUBLE_INT)->contig, "a gap at the end matters");
    int sizes[] = {10, 20, 30}, starts[] = {1, 0, 0}, subsizes[] = {4, 20, 30};
    mpi_type_create_subarray(self, 3, sizes, subsizes, starts, MPI_ORDER_C, MPI_INT, &t);
    ok(plan_of(t)->nparts == 1 && plan_of(t)->parts[0].unit == 4 * 600 * 4 &&
           plan_of(t)->parts[0].disp == 2400,
       "whole planes of a subarray are one run");
}

static void test_moving(void)
{
    MPI_Datatype h;
    mpi_type_vector(self, 3, 2, -4, MPI_SHORT, &h);
    const struct mpi_type *t = mpi_type_get(h);
    short in[40], out[16], back[40];
    for (int i = 0; i < 40; i++)
        in[i] = (short)i;
    is_int((long)mpi_type_pack(t, 2, in + 10, out), 24, "bytes packed");
    const short want[] = {10, 11, 6, 7, 2, 3, 20, 21, 16, 17, 12, 13};
    ok(!memcmp(out, want, sizeof want), "a backward vector packs in order");
    memset(back, 0, sizeof back);
    is_int((long)mpi_type_unpack(t, 2, back + 10, out, 5), 5, "bytes unpacked");
    short part = 0;
    memcpy(&part, out + 2, 1);
    ok(back[10] == 10 && back[11] == 11 && back[6] == part && back[7] == 0, "partial unpack");
    is_int((long)mpi_type_unpack(t, 1, back + 10, out, 99), 12, "unpack stops at the last item");
    is_int((long)mpi_type_pack_range(t, 2, in + 10, 23, out, 9), 1, "a range is cut at the end");
    is_int((long)mpi_type_pack_range(t, 2, in + 10, 24, out, 9), 0, "nothing after the end");
    int64_t at = 3;
    MPI_Aint where = (MPI_Aint)&at;
    MPI_Datatype absolute, one = MPI_LONG;
    int length = 1;
    mpi_type_create_struct(self, 1, &length, &where, &one, &absolute);
    int64_t got = 0;
    mpi_type_pack(mpi_type_get(absolute), 1, MPI_BOTTOM, &got);
    is_int(got, 3, "addresses relative to MPI_BOTTOM");
    double src[6] = {1, 2, 3, 4, 5, 6}, dst[9] = {0};
    MPI_Datatype v2, v3;
    mpi_type_create_resized(self, MPI_DOUBLE, 0, 16, &v2);
    mpi_type_create_resized(self, MPI_DOUBLE, 0, 24, &v3);
    is_int((long)mpi_type_copy(src, 3, mpi_type_get(v2), dst, 3, mpi_type_get(v3)), 24, "copy");
    ok(dst[0] == 1 && dst[3] == 3 && dst[6] == 5 && dst[1] == 0, "copy between two layouts");
    mpi_type_copy(src, 3, mpi_type_get(v2), dst, 3, mpi_type_get(MPI_DOUBLE));
    ok(dst[0] == 1 && dst[1] == 3 && dst[2] == 5, "copy to contiguous");
    mpi_type_copy(src, 2, mpi_type_get(MPI_DOUBLE), dst, 9, mpi_type_get(v3));
    ok(dst[0] == 1 && dst[3] == 2 && dst[6] == 5, "copy from contiguous stops with the source");
}

/* A hollow side: as many bytes as ever, of which none are moved. */
static void test_hollow(void)
{
    const struct mpi_type *t, *d = mpi_type_get(MPI_DOUBLE), *gone;
    MPI_Datatype gaps, absolute, one = MPI_DOUBLE;
    MPI_Aint where = (MPI_Aint)MPI_HOLLOW;
    int length = 4;
    double kept[4] = {1, 2, 3, 4};

    mpi_type_vector(self, 4, 1, 2, MPI_DOUBLE, &gaps);
    mpi_type_create_struct(self, 1, &length, &where, &one, &absolute);
    t = mpi_type_get(gaps);
    gone = mpi_type_get(absolute);
    ok(mpi_is_hollow(MPI_HOLLOW) && mpi_is_hollow((char *)MPI_HOLLOW + (1L << 50)) &&
           mpi_is_hollow((char *)MPI_HOLLOW - (1L << 50)),
       "addresses on both sides of a hollow one are hollow");
    ok(!mpi_is_hollow(NULL) && !mpi_is_hollow(MPI_IN_PLACE) && !mpi_is_hollow(kept) &&
           !mpi_is_hollow(stdout),
       "others are not");
    ok(mpi_data_is_hollow(MPI_BOTTOM, gone) && !mpi_data_is_hollow(kept, t), "absolute addresses");
    is_int((long)mpi_type_pack(t, 1, MPI_HOLLOW, kept), 32, "packed from a hollow buffer");
    is_int((long)mpi_type_pack(d, 4, MPI_HOLLOW, kept), 32, "the same without gaps");
    is_int((long)mpi_type_pack(gone, 1, MPI_BOTTOM, kept), 32, "the same by absolute addresses");
    is_int((long)mpi_type_unpack(t, 1, kept, MPI_HOLLOW, 8), 8, "unpacked from a hollow stream");
    is_int((long)mpi_type_unpack_range(t, 1, MPI_HOLLOW, 8, kept, 16), 16, "unpacked into nothing");
    is_int((long)mpi_type_copy(MPI_HOLLOW, 1, t, kept, 2, t), 32, "copied from a hollow buffer");
    is_int((long)mpi_type_copy(kept, 4, d, MPI_HOLLOW, 1, t), 32, "copied into nothing");
    ok(kept[0] == 1 && kept[1] == 2 && kept[2] == 3 && kept[3] == 4, "nothing was written");
}

/* More than one chunk, both sides strided. */
static void test_large_copy(void)
{
    enum { N = 30000 };
    int *src = malloc(2 * N * sizeof *src), *dst = calloc(3 * N, sizeof *dst);
    MPI_Datatype two, three;
    mpi_type_vector(self, N, 1, 2, MPI_INT, &two);
    mpi_type_vector(self, N, 1, 3, MPI_INT, &three);
    for (int i = 0; i < 2 * N; i++)
        src[i] = i;
    uint64_t n = mpi_type_copy(src, 1, mpi_type_get(two), dst, 1, mpi_type_get(three));
    int good = n == 4 * N;
    for (int i = 0; i < N; i++)
        good = good && dst[3 * i] == 2 * i;
    ok(good, "a copy longer than the chunk");
    free(src);
    free(dst);
}

static void test_elements(void)
{
    MPI_Datatype t = struct2(1, 0, MPI_INT, 2, 8, MPI_DOUBLE), u;
    static const int want[][2] = {{0, 0},  {3, 0},  {4, 1},  {11, 1}, {12, 2},
                                  {19, 2}, {20, 3}, {24, 4}, {36, 5}, {40, 6}};
    int good = 1;
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++)
        good = good && mpi_type_elements(mpi_type_get(t), (uint64_t)want[i][0]) == want[i][1];
    ok(good, "elements in partial structs");
    mpi_type_contiguous(self, 2, MPI_DOUBLE_INT, &u);
    is_int(mpi_type_elements(mpi_type_get(u), 20), 3, "pairs count twice");
    is_int(mpi_type_elements(mpi_type_get(u), 13), 2, "a cut element does not count");
    is_int(mpi_type_elements(mpi_type_get(MPI_INT), 6), MPI_UNDEFINED, "a cut int");
    is_int((long)mpi_type_element_bytes(mpi_type_get(t), 5), 32, "bytes of elements");
    is_int((long)mpi_type_element_bytes(mpi_type_get(u), 3), 20, "bytes of elements of pairs");
    MPI_Status s = {0};
    int n = 0;
    mpi_status_set_elements(self, &s, t, 4);
    mpi_get_elements(self, &s, t, &n);
    is_int(n, 4, "set and get elements");
    mpi_get_count(self, &s, t, &n);
    is_int(n, MPI_UNDEFINED, "no whole number of items");
    s.count_hi_and_cancelled = 1;
    mpi_status_set_elements_x(self, &s, MPI_BYTE, 5000000000);
    ok(s.count_lo == 705032704 && s.count_hi_and_cancelled == 3, "large count beside the flag");
    mpi_get_count(self, &s, MPI_BYTE, &n);
    is_int(n, MPI_UNDEFINED, "a count that does not fit");
    mpi_get_count(self, &s, MPI_DOUBLE, &n);
    is_int(n, 625000000, "a count that fits");
}

/* Of whole items. */
static uint64_t signature(const struct mpi_type *t, uint64_t count)
{
    return mpi_type_prefix_signature(t, count * t->nelems);
}

static void test_signatures(void)
{
    MPI_Datatype a, b, c;
    mpi_type_contiguous(self, 6, MPI_INT, &a);
    mpi_type_vector(self, 3, 2, 7, MPI_INT, &b);
    ok(signature(mpi_type_get(a), 2) == signature(mpi_type_get(MPI_INT), 12) &&
           signature(mpi_type_get(a), 2) == signature(mpi_type_get(b), 2),
       "layout does not matter");
    ok(signature(mpi_type_get(a), 1) != signature(mpi_type_get(a), 2), "length matters");
    ok(signature(mpi_type_get(MPI_FLOAT), 1) != signature(mpi_type_get(MPI_INT), 1),
       "the basic type matters");
    c = struct2(1, 0, MPI_DOUBLE, 1, 8, MPI_INT);
    ok(signature(mpi_type_get(c), 3) == signature(mpi_type_get(MPI_DOUBLE_INT), 3),
       "a pair is its members");
    c = struct2(1, 8, MPI_INT, 1, 0, MPI_DOUBLE);
    ok(signature(mpi_type_get(c), 1) != signature(mpi_type_get(MPI_DOUBLE_INT), 1),
       "order matters");
    ok(mpi_type_get(b)->elem == MPI_INT && mpi_type_get(c)->elem == 0, "the common basic type");
    c = struct2(1, 0, MPI_DOUBLE, 1, 8, MPI_FLOAT);
    ok(mpi_type_prefix_signature(mpi_type_get(MPI_DOUBLE_INT), 1) ==
               mpi_type_prefix_signature(mpi_type_get(c), 1) &&
           mpi_type_prefix_signature(mpi_type_get(MPI_DOUBLE_INT), 2) !=
               mpi_type_prefix_signature(mpi_type_get(c), 2),
       "the first half of a pair");
    ok(mpi_type_prefix_signature(mpi_type_get(MPI_2INT), 5) ==
           mpi_type_prefix_signature(mpi_type_get(MPI_INT), 5),
       "and of a pair of two equal ones");
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

static void test_pack_calls(void)
{
    MPI_Datatype t;
    int in[8] = {1, 2, 3, 4, 5, 6, 7, 8}, out[8] = {0}, position = 0, n = 0;
    char packed[40];
    mpi_type_vector(self, 2, 1, 3, MPI_INT, &t);
    raises(mpi_pack(self, in, 1, t, packed, 40, &position, MPI_COMM_WORLD), MPI_ERR_TYPE,
           "not committed");
    mpi_type_commit(self, &t);
    mpi_pack(self, in, 2, t, packed, 40, &position, MPI_COMM_WORLD);
    mpi_pack(self, in + 7, 1, MPI_INT, packed, 40, &position, MPI_COMM_WORLD);
    is_int(position, 20, "position after two packs");
    position = 0;
    mpi_unpack(self, packed, 20, &position, out, 5, MPI_INT, MPI_COMM_WORLD);
    ok(out[0] == 1 && out[1] == 4 && out[2] == 5 && out[3] == 8 && out[4] == 8, "unpacked");
    is_int(position, 20, "position after unpack");
    raises(mpi_unpack(self, packed, 20, &position, out, 1, MPI_CHAR, MPI_COMM_WORLD),
           MPI_ERR_TRUNCATE, "nothing left");
    position = 33;
    raises(mpi_pack(self, in, 1, t, packed, 40, &position, MPI_COMM_WORLD), MPI_ERR_TRUNCATE,
           "no room");
    is_int(position, 33, "position stays on error");
    raises(mpi_pack(self, NULL, 1, t, packed, 40, &position, MPI_COMM_WORLD), MPI_ERR_BUFFER,
           "null buffer");
    is_int(mpi_pack(self, NULL, 0, t, packed, 40, &position, MPI_COMM_WORLD), 0, "nothing at all");
    mpi_pack_size(self, 3, t, MPI_COMM_WORLD, &n);
    is_int(n, 24, "pack size");
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
    test_moving();
    test_hollow();
    test_large_copy();
    test_elements();
    test_signatures();
    test_contents();
    test_names();
    test_pack_calls();
    test_errors();
    return done_testing();
}
