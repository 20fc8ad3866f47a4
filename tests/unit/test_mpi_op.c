/*
 * Reduction operations: every predefined operation on every type it is defined on against a naive
 * reference, every other pair refused; user operations: sharing, lifetime, validity.
 */
#include <complex.h>
#include <stddef.h>
#include <stdint.h>

#include "mpi/datatype/datatype.h"
#include "mpi/error.h"
#include "mpi/op/op.c" /* its table is counted */
#include "mpi_impl.h"
#include "tap.h"

/* Charging time is the clock's. */
void mpi_user_begin(void);
void mpi_user_end(void);
void mpi_user_begin(void)
{
}
void mpi_user_end(void)
{
}

int mpi_raise(struct mpi_rank *self, MPI_Comm comm, int error_class, const char *fmt, ...)
{
    (void)self;
    (void)comm;
    (void)fmt;
    return error_class;
}

/* Groups of operations, as bits of the handle's low byte. */
#define BIT(op) (1u << ((op)&0xff))
enum {
    ORDER = BIT(MPI_MAX) | BIT(MPI_MIN),
    ARITH = BIT(MPI_SUM) | BIT(MPI_PROD),
    LOGIC = BIT(MPI_LAND) | BIT(MPI_LOR) | BIT(MPI_LXOR),
    BITS = BIT(MPI_BAND) | BIT(MPI_BOR) | BIT(MPI_BXOR),
    PLACES = BIT(MPI_MAXLOC) | BIT(MPI_MINLOC),
};

enum form { INTEGER, REAL, COMPLEX, TRUTH, PAIR };

struct row {
    MPI_Datatype type;
    const char *name;
    unsigned ops;
    enum form form;
    int size;      /* of an item, or of the value of a pair */
    int is_signed; /* or: of a pair, the form of the value */
    int extent;    /* of a pair */
    int place_at;  /* of a pair: offset of the place */
};

#define INT_ROW(t, ctype, sign)                                                 \
    {                                                                           \
        t, #t, ORDER | ARITH | LOGIC | BITS, INTEGER, sizeof(ctype), sign, 0, 0 \
    }
#define REAL_ROW(t, ctype)                                         \
    {                                                              \
        t, #t, ORDER | ARITH | LOGIC, REAL, sizeof(ctype), 0, 0, 0 \
    }
#define COMPLEX_ROW(t, ctype)                         \
    {                                                 \
        t, #t, ARITH, COMPLEX, sizeof(ctype), 0, 0, 0 \
    }
#define PAIR_ROW(t, vtype, form, ptype)                           \
    {                                                             \
        t, #t, PLACES, PAIR, sizeof(vtype), form, sizeof(struct { \
            vtype v;                                              \
            ptype p;                                              \
        }),                                                       \
            offsetof(                                             \
                struct {                                          \
                    vtype v;                                      \
                    ptype p;                                      \
                },                                                \
                p)                                                \
    }

static const struct row rows[] = {
    INT_ROW(MPI_CHAR, signed char, 1),
    INT_ROW(MPI_SIGNED_CHAR, signed char, 1),
    INT_ROW(MPI_UNSIGNED_CHAR, unsigned char, 0),
    INT_ROW(MPI_SHORT, short, 1),
    INT_ROW(MPI_UNSIGNED_SHORT, short, 0),
    INT_ROW(MPI_INT, int, 1),
    INT_ROW(MPI_UNSIGNED, int, 0),
    INT_ROW(MPI_LONG, long, 1),
    INT_ROW(MPI_UNSIGNED_LONG, long, 0),
    INT_ROW(MPI_LONG_LONG_INT, long long, 1),
    INT_ROW(MPI_UNSIGNED_LONG_LONG, long long, 0),
    INT_ROW(MPI_INT8_T, int8_t, 1),
    INT_ROW(MPI_INT16_T, int16_t, 1),
    INT_ROW(MPI_INT32_T, int32_t, 1),
    INT_ROW(MPI_INT64_T, int64_t, 1),
    INT_ROW(MPI_UINT8_T, int8_t, 0),
    INT_ROW(MPI_UINT16_T, int16_t, 0),
    INT_ROW(MPI_UINT32_T, int32_t, 0),
    INT_ROW(MPI_UINT64_T, int64_t, 0),
    INT_ROW(MPI_AINT, MPI_Aint, 1),
    INT_ROW(MPI_OFFSET, MPI_Offset, 1),
    INT_ROW(MPI_COUNT, MPI_Count, 1),
    INT_ROW(MPI_INTEGER, int, 1),
    INT_ROW(MPI_INTEGER1, int8_t, 1),
    INT_ROW(MPI_INTEGER2, int16_t, 1),
    INT_ROW(MPI_INTEGER4, int32_t, 1),
    INT_ROW(MPI_INTEGER8, int64_t, 1),
    INT_ROW(MPI_CHARACTER, signed char, 1),
    REAL_ROW(MPI_FLOAT, float),
    REAL_ROW(MPI_DOUBLE, double),
    REAL_ROW(MPI_REAL, float),
    REAL_ROW(MPI_DOUBLE_PRECISION, double),
    REAL_ROW(MPI_REAL4, float),
    REAL_ROW(MPI_REAL8, double),
    REAL_ROW(MPIX_C_FLOAT16, _Float16),
    {MPI_LONG_DOUBLE, "MPI_LONG_DOUBLE", ORDER | ARITH | LOGIC, REAL, 10, 0, 16, 0},
    REAL_ROW(MPI_REAL16, __float128),
    COMPLEX_ROW(MPI_C_FLOAT_COMPLEX, float complex),
    COMPLEX_ROW(MPI_COMPLEX, float complex),
    COMPLEX_ROW(MPI_C_DOUBLE_COMPLEX, double complex),
    COMPLEX_ROW(MPI_DOUBLE_COMPLEX, double complex),
    COMPLEX_ROW(MPI_COMPLEX8, float complex),
    COMPLEX_ROW(MPI_COMPLEX16, double complex),
    COMPLEX_ROW(MPI_CXX_FLOAT_COMPLEX, float complex),
    COMPLEX_ROW(MPI_CXX_DOUBLE_COMPLEX, double complex),
    {MPI_C_LONG_DOUBLE_COMPLEX, "MPI_C_LONG_DOUBLE_COMPLEX", ARITH, COMPLEX, 20, 0, 0, 0},
    {MPI_CXX_LONG_DOUBLE_COMPLEX, "MPI_CXX_LONG_DOUBLE_COMPLEX", ARITH, COMPLEX, 20, 0, 0, 0},
    {MPI_COMPLEX32, "MPI_COMPLEX32", 0, COMPLEX, 32, 0, 0, 0},
    {MPI_C_BOOL, "MPI_C_BOOL", LOGIC, TRUTH, 1, 0, 0, 0},
    {MPI_CXX_BOOL, "MPI_CXX_BOOL", LOGIC, TRUTH, 1, 0, 0, 0},
    {MPI_LOGICAL, "MPI_LOGICAL", LOGIC, TRUTH, 4, 0, 0, 0},
    {MPI_BYTE, "MPI_BYTE", BITS, INTEGER, 1, 0, 0, 0},
    {MPI_PACKED, "MPI_PACKED", 0, INTEGER, 1, 0, 0, 0},
    {MPI_WCHAR, "MPI_WCHAR", 0, INTEGER, 4, 0, 0, 0},
    PAIR_ROW(MPI_2INT, int, INTEGER, int),
    PAIR_ROW(MPI_2INTEGER, int, INTEGER, int),
    PAIR_ROW(MPI_2REAL, float, REAL, float),
    PAIR_ROW(MPI_2DOUBLE_PRECISION, double, REAL, double),
    PAIR_ROW(MPI_FLOAT_INT, float, REAL, int),
    PAIR_ROW(MPI_DOUBLE_INT, double, REAL, int),
    PAIR_ROW(MPI_LONG_INT, long, INTEGER, int),
    PAIR_ROW(MPI_SHORT_INT, short, INTEGER, int),
    {MPI_LONG_DOUBLE_INT, "MPI_LONG_DOUBLE_INT", PLACES, PAIR, 10, REAL, sizeof(struct {
         long double v;
         int p;
     }),
     offsetof(
         struct {
             long double v;
             int p;
         },
         p)},
};

/* Values are small integers, exact in every form; they are read and written one at a time. */
static long get(const void *at, enum form form, int size, int is_signed)
{
    long value = 0;

    if (form == REAL) {
        if (size == 2)
            return (long)*(const _Float16 *)at;
        if (size == 4)
            return (long)*(const float *)at;
        if (size == 8)
            return (long)*(const double *)at;
        return size == 10 ? (long)*(const long double *)at : (long)*(const __float128 *)at;
    }
    memcpy(&value, at, (size_t)size);
    if (is_signed && size < 8) {
        int shift = 64 - 8 * size;
        value = (long)((unsigned long)value << shift) >> shift;
    }
    return value;
}

static void put(void *at, enum form form, int size, long value)
{
    if (form != REAL)
        memcpy(at, &value, (size_t)size);
    else if (size == 2)
        *(_Float16 *)at = (_Float16)value;
    else if (size == 4)
        *(float *)at = (float)value;
    else if (size == 8)
        *(double *)at = (double)value;
    else if (size == 10)
        *(long double *)at = (long double)value;
    else
        *(__float128 *)at = (__float128)value;
}

static long reference(MPI_Op op, long a, long b)
{
    switch (op) {
    case MPI_MAX:
        return a > b ? a : b;
    case MPI_MIN:
        return a < b ? a : b;
    case MPI_SUM:
        return (long)((unsigned long)a + (unsigned long)b);
    case MPI_PROD:
        return (long)((unsigned long)a * (unsigned long)b);
    case MPI_LAND:
        return a && b;
    case MPI_LOR:
        return a || b;
    case MPI_LXOR:
        return !a != !b;
    case MPI_BAND:
        return a & b;
    case MPI_BOR:
        return a | b;
    default:
        return a ^ b;
    }
}

enum { N = 37, ITEM = 32 };
static _Alignas(32) char in[N * ITEM], inout[N * ITEM], before[N * ITEM];

static long sample(const struct row *r, int i, int salt)
{
    long value = (i * 29 + salt * 13) % 23;

    if (r->form == TRUTH)
        return r->size == 1 ? value % 2 : value % 3;
    if (r->form == REAL || (r->form == INTEGER && r->is_signed))
        value -= 11;
    if (r->form == INTEGER && r->size == 8 && i % 5 == 0)
        value += 1L << 40;
    return value;
}

static int stride_of(const struct row *r)
{
    return r->size == 10 ? 16 : r->size;
}

static int check_scalars(const struct row *r, MPI_Op op)
{
    int step = stride_of(r);

    for (int i = 0; i < N; i++) {
        put(in + i * step, r->form, r->size, sample(r, i, 1));
        put(inout + i * step, r->form, r->size, sample(r, i, 4));
    }
    mpi_op_apply(mpi_op_get(op), in, inout, N, mpi_type_get(r->type));
    for (int i = 0; i < N; i++) {
        _Alignas(16) char want[16] = {0};
        put(want, r->form, r->size, reference(op, sample(r, i, 1), sample(r, i, 4)));
        if (get(want, r->form, r->size, 0) != get(inout + i * step, r->form, r->size, 0))
            return 0;
    }
    return 1;
}

static int check_complex(const struct row *r, MPI_Op op)
{
    int half = r->size == 20 ? 10 : r->size / 2, gap = half == 10 ? 16 : half;

    for (int i = 0; i < 2 * N; i++) {
        put(in + i * gap, REAL, half, i % 9 - 4);
        put(inout + i * gap, REAL, half, i % 7 - 3);
    }
    mpi_op_apply(mpi_op_get(op), in, inout, N, mpi_type_get(r->type));
    for (int i = 0; i < 2 * N; i += 2) {
        long a = i % 9 - 4, b = (i + 1) % 9 - 4, c = i % 7 - 3, d = (i + 1) % 7 - 3;
        long re = op == MPI_SUM ? a + c : a * c - b * d, im = op == MPI_SUM ? b + d : a * d + b * c;
        if (get(inout + i * gap, REAL, half, 0) != re ||
            get(inout + (i + 1) * gap, REAL, half, 0) != im)
            return 0;
    }
    return 1;
}

static int check_pairs(const struct row *r, MPI_Op op)
{
    enum form form = (enum form)r->is_signed;
    int real_place = r->type == MPI_2REAL || r->type == MPI_2DOUBLE_PRECISION;
    enum form pform = real_place ? REAL : INTEGER;
    int psize = r->type == MPI_2DOUBLE_PRECISION ? 8 : 4;
    int end = r->place_at + psize; /* what follows is a gap, to be left alone */

    memset(in, 1, sizeof in);
    memset(inout, 2, sizeof inout);
    for (int i = 0; i < N; i++) {
        put(in + i * r->extent, form, r->size, i % 5 - 2);
        put(in + i * r->extent + r->place_at, pform, psize, i % 4);
        put(inout + i * r->extent, form, r->size, i % 3 - 1);
        put(inout + i * r->extent + r->place_at, pform, psize, i % 6);
    }
    mpi_op_apply(mpi_op_get(op), in, inout, N, mpi_type_get(r->type));
    for (int i = 0; i < N; i++) {
        long a = i % 5 - 2, b = i % 3 - 1, pa = i % 4, pb = i % 6;
        long v = reference(op == MPI_MAXLOC ? MPI_MAX : MPI_MIN, a, b);
        long p = a == b ? (pa < pb ? pa : pb) : v == a ? pa : pb;
        if (get(inout + i * r->extent, form, r->size, 1) != v ||
            get(inout + i * r->extent + r->place_at, pform, psize, 1) != p ||
            (end < r->extent && inout[i * r->extent + end] != 2))
            return 0;
    }
    return 1;
}

static void check_table(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *r = &rows[i];
        struct mpi_type *type = mpi_type_get(r->type);
        int good = type != NULL, accepted = 0;

        for (int k = MPI_OP_MAX; k < MPI_OP_REPLACE && good; k++) {
            MPI_Op op = (MPI_Op)(0x58000000 + k);
            int allowed = r->ops >> k & 1;
            good = (mpi_op_check(mpi_op_get(op), type) == MPI_SUCCESS) == allowed;
            if (good && !allowed)
                good = mpi_op_apply(mpi_op_get(op), in, inout, 1, type) == MPI_ERR_OP;
            else if (good)
                good = r->form == COMPLEX ? check_complex(r, op)
                       : r->form == PAIR  ? check_pairs(r, op)
                                          : check_scalars(r, op);
            accepted += allowed;
            if (!good)
                diag("operation 0x%08x", (unsigned)op);
        }
        ok(good, "%s: %d operations", r->name, accepted);
    }
}

static void check_special(void)
{
    struct mpi_type *type = mpi_type_get(MPI_INT);
    float a[2] = {__builtin_nanf(""), 1}, b[2] = {1, __builtin_nanf("")};

    memset(in, 1, sizeof in);
    memset(inout, 2, sizeof inout);
    memcpy(before, inout, sizeof inout);
    mpi_op_apply(mpi_op_get(MPI_NO_OP), in, inout, 4, type);
    ok(!memcmp(before, inout, sizeof inout), "MPI_NO_OP changes nothing");
    mpi_op_apply(mpi_op_get(MPI_REPLACE), in, inout, 4, type);
    ok(!memcmp(in, inout, 16) && inout[16] == 2, "MPI_REPLACE copies");
    is_int(mpi_op_check(mpi_op_get(MPI_REPLACE), type), MPI_ERR_OP, "no reduction replaces");
    mpi_op_apply(mpi_op_get(MPI_MAX), a, b, 2, mpi_type_get(MPI_FLOAT));
    ok(b[0] != b[0] && b[1] == 1, "NaN on the left stays, on the right goes");
    ok(!mpi_op_get(MPI_OP_NULL) && !mpi_op_get(0) && !mpi_op_get((MPI_Op)0x5800000f) &&
           !mpi_op_get((MPI_Op)0x98000000),
       "handles of nothing");
}

static int calls, last_len;
static void subtract(void *from, void *to, int *len, MPI_Datatype *type)
{
    calls++;
    last_len = *type == MPI_INT ? *len : -1;
    for (int i = 0; i < *len; i++)
        ((int *)to)[i] = ((int *)from)[i] - ((int *)to)[i];
}
static void nothing(void *from, void *to, int *len, MPI_Datatype *type)
{
    (void)from, (void)to, (void)len, (void)type;
}

static void check_user(void)
{
    MPI_Op first, second, third, other, stale;
    int x[3] = {10, 20, 30}, y[3] = {1, 2, 3}, commute = -1;

    mpi_op_create(NULL, subtract, 0, &first);
    mpi_op_create(NULL, subtract, 0, &second);
    mpi_op_create(NULL, subtract, 7, &third);
    mpi_op_create(NULL, nothing, 0, &other);
    is_int(first, second, "equal operations share a handle");
    ok(third != first && other != first && other != third, "others do not");
    is_int((unsigned)first & 0xfc000000u, 0x98000000u, "handles look like MPICH's");
    is_int(table.live, 3, "three operations alive");
    is_int(mpi_op_commutative(NULL, first, &commute), MPI_SUCCESS, "commutative?");
    is_int(commute, 0, "no");
    mpi_op_commutative(NULL, third, &commute);
    is_int(commute, 1, "yes");
    is_int(mpi_reduce_local_c(NULL, x, y, 3, MPI_INT, first), MPI_SUCCESS, "reduce_local");
    ok(calls == 1 && last_len == 3 && y[0] == 9 && y[2] == 27, "the function is called");
    stale = first;
    is_int(mpi_op_free(NULL, &first), MPI_SUCCESS, "freed once");
    is_int(first, MPI_OP_NULL, "the handle is null");
    ok(mpi_op_get(second) != NULL, "the other holder still has it");
    mpi_op_ref(mpi_op_get(second));
    struct mpi_op *kept = mpi_op_get(second);
    mpi_op_free(NULL, &second);
    ok(!mpi_op_get(stale) && table.live == 3, "a request keeps it alive without a handle");
    is_int(mpi_op_free(NULL, &stale), MPI_ERR_OP, "a freed handle cannot be freed");
    mpi_op_create(NULL, subtract, 0, &first);
    is_int(first, stale, "made again while alive: the same");
    mpi_op_unref(kept);
    mpi_op_free(NULL, &first);
    mpi_op_free(NULL, &third);
    mpi_op_free(NULL, &other);
    is_int(table.live, 0, "all gone");
}

static void check_errors(void)
{
    int x = 1, y = 2, flag;
    MPI_Op op = MPI_SUM;

    is_int(mpi_op_free(NULL, &op), MPI_ERR_OP, "predefined operations stay");
    is_int(mpi_op_commutative(NULL, MPI_OP_NULL, &flag), MPI_ERR_OP, "null operation");
    is_int(mpi_reduce_local_c(NULL, &x, &y, 1, MPI_DATATYPE_NULL, MPI_SUM), MPI_ERR_TYPE, "type");
    is_int(mpi_reduce_local_c(NULL, &x, &y, 1, MPI_COMPLEX, MPI_MAX), MPI_ERR_OP, "wrong type");
    is_int(mpi_reduce_local_c(NULL, &x, &x, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER, "same buffers");
    is_int(mpi_reduce_local_c(NULL, &x, &y, 1, MPI_INT, MPI_SUM), MPI_SUCCESS, "sum");
    is_int(y, 3, "1 + 2");
}

int main(void)
{
    plan_auto();
    check_table();
    check_special();
    check_user();
    check_errors();
    return done_testing();
}
