/*
 * kernels.c - the predefined operations on the predefined types.
 *
 * A datatype handle maps to a class: the layout of its items and the operations it supports.
 *
 *     class      MAX MIN   SUM PROD   LAND LOR LXOR   BAND BOR BXOR   MINLOC MAXLOC
 *     I8..U64       x         x             x               x
 *     F16..F128     x         x             x
 *     C32..C80                x
 *     BOOL LOGICAL                          x
 *     BYTE                                                  x
 *     pairs                                                               x
 *
 * That is MPI-4.0 section 6.9.2 as MPICH 4.0 interprets it: MPI_CHAR and MPI_CHARACTER count as
 * integers, Fortran integers and all reals take logical operations (a real is true unless it is
 * zero), and MPI_COMPLEX32 takes none. Signed integers share the unsigned code where the bits come
 * out the same, so overflow wraps. Loops are plain, with restrict, for the compiler to vectorise.
 *
 * MAX and MIN yield `in` unless `inout` is strictly better, so a NaN on the left stays.
 */
#include <stdbool.h>
#include <stddef.h>

#include "mpi/op/op.h"

// clang-format off
enum item_class {
    CLASS_NONE = 0,
    CLASS_I8, CLASS_I16, CLASS_I32, CLASS_I64,
    CLASS_U8, CLASS_U16, CLASS_U32, CLASS_U64,
    CLASS_F16, CLASS_F32, CLASS_F64, CLASS_F80, CLASS_F128,
    CLASS_C32, CLASS_C64, CLASS_C80,
    CLASS_BOOL, CLASS_LOGICAL, CLASS_BYTE,
    CLASS_2INT, CLASS_2REAL, CLASS_2DOUBLE,
    CLASS_FLOAT_INT, CLASS_DOUBLE_INT, CLASS_LONG_INT, CLASS_SHORT_INT, CLASS_LONG_DOUBLE_INT,
    CLASS_COUNT
};
// clang-format on

typedef _Complex float complex_f32;
typedef _Complex double complex_f64;
typedef _Complex long double complex_f80;
typedef __float128 f128;
typedef _Float16 f16;

#define PAIR(name, value_type, place_type) \
    struct name {                          \
        value_type value;                  \
        place_type place;                  \
    }
PAIR(pair_2int, int, int);
PAIR(pair_2real, float, float);
PAIR(pair_2double, double, double);
PAIR(pair_float_int, float, int);
PAIR(pair_double_int, double, int);
PAIR(pair_long_int, long, int);
PAIR(pair_short_int, short, int);
PAIR(pair_long_double_int, long double, int);

/* The result for one item; a: in (left operand), b: inout (right operand). */
// clang-format off
#define DO_max(a, b) ((b) > (a) ? (b) : (a))
#define DO_min(a, b) ((b) < (a) ? (b) : (a))
#define DO_sum(a, b) ((a) + (b))
#define DO_prod(a, b) ((a) * (b))
#define DO_isum(a, b) (1u * (a) + (b)) /* unsigned even where integers promote to int */
#define DO_iprod(a, b) (1u * (a) * (b))
#define DO_land(a, b) ((a) && (b))
#define DO_lor(a, b) ((a) || (b))
#define DO_lxor(a, b) (!(a) != !(b))
#define DO_band(a, b) ((a) & (b))
#define DO_bor(a, b) ((a) | (b))
#define DO_bxor(a, b) ((a) ^ (b))
/* Does the left pair win? Of equal values the smaller index wins. */
#define WINS_maxloc(a, b) WINS(a, b, >)
#define WINS_minloc(a, b) WINS(a, b, <)
#define WINS(a, b, better) \
    ((a).value better (b).value || (!((b).value better (a).value) && (a).place < (b).place))

#define KERNEL(op, name, ctype)                                                                  \
    static void run_##op##_##name(const void *restrict in, void *restrict inout, uint64_t n)     \
    {                                                                                            \
        const ctype *restrict left = (const ctype *)in;                                          \
        ctype *restrict right = (ctype *)inout;                                                  \
        for (uint64_t i = 0; i < n; i++)                                                         \
            right[i] = (ctype)DO_##op(left[i], right[i]);                                        \
    }
/* Pairs are handled member by member: the gaps of an item must not be touched, especially after the
 * last. */
#define KERNEL_PAIR(op, name, ctype)                                                             \
    static void run_##op##_##name(const void *restrict in, void *restrict inout, uint64_t n)     \
    {                                                                                            \
        const struct ctype *restrict left = (const struct ctype *)in;                            \
        struct ctype *restrict right = (struct ctype *)inout;                                    \
        for (uint64_t i = 0; i < n; i++)                                                         \
            if (WINS_##op(left[i], right[i])) {                                                  \
                right[i].value = left[i].value;                                                  \
                right[i].place = left[i].place;                                                  \
            }                                                                                    \
    }

#define SIGNED(X, op) X(op, i8, int8_t) X(op, i16, int16_t) X(op, i32, int32_t) X(op, i64, int64_t)
#define UNSIGNED(X, op) \
    X(op, u8, uint8_t) X(op, u16, uint16_t) X(op, u32, uint32_t) X(op, u64, uint64_t)
#define REALS(X, op)                                                                     \
    X(op, f16, f16) X(op, f32, float) X(op, f64, double) X(op, f80, long double)         \
    X(op, f128, f128)
#define COMPLEXES(X, op) \
    X(op, c32, complex_f32) X(op, c64, complex_f64) X(op, c80, complex_f80)
#define PAIRS(X, op)                                                                     \
    X(op, 2int, pair_2int) X(op, 2real, pair_2real) X(op, 2double, pair_2double)         \
    X(op, float_int, pair_float_int) X(op, double_int, pair_double_int)                  \
    X(op, long_int, pair_long_int) X(op, short_int, pair_short_int)                      \
    X(op, long_double_int, pair_long_double_int)

SIGNED(KERNEL, max) UNSIGNED(KERNEL, max) REALS(KERNEL, max)
SIGNED(KERNEL, min) UNSIGNED(KERNEL, min) REALS(KERNEL, min)
UNSIGNED(KERNEL, isum) REALS(KERNEL, sum) COMPLEXES(KERNEL, sum)
UNSIGNED(KERNEL, iprod) REALS(KERNEL, prod) COMPLEXES(KERNEL, prod)
UNSIGNED(KERNEL, land) REALS(KERNEL, land) KERNEL(land, bool, bool)
UNSIGNED(KERNEL, lor) REALS(KERNEL, lor) KERNEL(lor, bool, bool)
UNSIGNED(KERNEL, lxor) REALS(KERNEL, lxor) KERNEL(lxor, bool, bool)
UNSIGNED(KERNEL, band)
UNSIGNED(KERNEL, bor)
UNSIGNED(KERNEL, bxor)
PAIRS(KERNEL_PAIR, maxloc)
PAIRS(KERNEL_PAIR, minloc)

/* Rows of the table. */
#define ROW(class, op, name) [CLASS_##class] = {run_##op##_##name},
#define ROW_UNSIGNED(op) ROW(U8, op, u8) ROW(U16, op, u16) ROW(U32, op, u32) ROW(U64, op, u64)
#define ROW_SIGNED(op) ROW(I8, op, i8) ROW(I16, op, i16) ROW(I32, op, i32) ROW(I64, op, i64)
#define ROW_ANY_SIGN(op) \
    ROW_UNSIGNED(op) ROW(I8, op, u8) ROW(I16, op, u16) ROW(I32, op, u32) ROW(I64, op, u64)
#define ROW_REALS(op)                                                                       \
    ROW(F16, op, f16) ROW(F32, op, f32) ROW(F64, op, f64) ROW(F80, op, f80) ROW(F128, op, f128)
#define ROW_COMPLEXES(op) ROW(C32, op, c32) ROW(C64, op, c64) ROW(C80, op, c80)
#define ROW_LOGICALS(op) ROW(BOOL, op, bool) ROW(LOGICAL, op, u32)
#define ROW_PAIRS(op)                                                                       \
    ROW(2INT, op, 2int) ROW(2REAL, op, 2real) ROW(2DOUBLE, op, 2double)                     \
    ROW(FLOAT_INT, op, float_int) ROW(DOUBLE_INT, op, double_int)                           \
    ROW(LONG_INT, op, long_int) ROW(SHORT_INT, op, short_int)                               \
    ROW(LONG_DOUBLE_INT, op, long_double_int)

static const struct mpi_op_kernel kernels[MPI_OP_KINDS][CLASS_COUNT] = {
    [MPI_OP_MAX] = {ROW_SIGNED(max) ROW_UNSIGNED(max) ROW_REALS(max)},
    [MPI_OP_MIN] = {ROW_SIGNED(min) ROW_UNSIGNED(min) ROW_REALS(min)},
    [MPI_OP_SUM] = {ROW_ANY_SIGN(isum) ROW_REALS(sum) ROW_COMPLEXES(sum)},
    [MPI_OP_PROD] = {ROW_ANY_SIGN(iprod) ROW_REALS(prod) ROW_COMPLEXES(prod)},
    [MPI_OP_LAND] = {ROW_ANY_SIGN(land) ROW_REALS(land) ROW_LOGICALS(land)},
    [MPI_OP_LOR] = {ROW_ANY_SIGN(lor) ROW_REALS(lor) ROW_LOGICALS(lor)},
    [MPI_OP_LXOR] = {ROW_ANY_SIGN(lxor) ROW_REALS(lxor) ROW_LOGICALS(lxor)},
    [MPI_OP_BAND] = {ROW_ANY_SIGN(band) ROW(BYTE, band, u8)},
    [MPI_OP_BOR] = {ROW_ANY_SIGN(bor) ROW(BYTE, bor, u8)},
    [MPI_OP_BXOR] = {ROW_ANY_SIGN(bxor) ROW(BYTE, bxor, u8)},
    [MPI_OP_MAXLOC] = {ROW_PAIRS(maxloc)},
    [MPI_OP_MINLOC] = {ROW_PAIRS(minloc)},
};
// clang-format on

/* By the low byte of a builtin handle (0x4c00ssnn), which is unique. */
// clang-format off
#define TYPE(handle, class) [(handle) & 0xff] = CLASS_##class
static const uint8_t builtin_class[256] = {
    TYPE(MPI_CHAR, I8), TYPE(MPI_SIGNED_CHAR, I8), TYPE(MPI_INT8_T, I8), TYPE(MPI_INTEGER1, I8),
    TYPE(MPI_CHARACTER, I8), TYPE(MPI_UNSIGNED_CHAR, U8), TYPE(MPI_UINT8_T, U8),
    TYPE(MPI_SHORT, I16), TYPE(MPI_INT16_T, I16), TYPE(MPI_INTEGER2, I16),
    TYPE(MPI_UNSIGNED_SHORT, U16), TYPE(MPI_UINT16_T, U16),
    TYPE(MPI_INT, I32), TYPE(MPI_INT32_T, I32), TYPE(MPI_INTEGER, I32), TYPE(MPI_INTEGER4, I32),
    TYPE(MPI_UNSIGNED, U32), TYPE(MPI_UINT32_T, U32),
    TYPE(MPI_LONG, I64), TYPE(MPI_LONG_LONG_INT, I64), TYPE(MPI_INT64_T, I64),
    TYPE(MPI_INTEGER8, I64), TYPE(MPI_AINT, I64), TYPE(MPI_OFFSET, I64), TYPE(MPI_COUNT, I64),
    TYPE(MPI_UNSIGNED_LONG, U64), TYPE(MPI_UNSIGNED_LONG_LONG, U64), TYPE(MPI_UINT64_T, U64),
    TYPE(MPIX_C_FLOAT16, F16),
    TYPE(MPI_FLOAT, F32), TYPE(MPI_REAL, F32), TYPE(MPI_REAL4, F32),
    TYPE(MPI_DOUBLE, F64), TYPE(MPI_DOUBLE_PRECISION, F64), TYPE(MPI_REAL8, F64),
    TYPE(MPI_LONG_DOUBLE, F80), TYPE(MPI_REAL16, F128),
    TYPE(MPI_C_FLOAT_COMPLEX, C32), TYPE(MPI_COMPLEX, C32), TYPE(MPI_COMPLEX8, C32),
    TYPE(MPI_CXX_FLOAT_COMPLEX, C32),
    TYPE(MPI_C_DOUBLE_COMPLEX, C64), TYPE(MPI_DOUBLE_COMPLEX, C64), TYPE(MPI_COMPLEX16, C64),
    TYPE(MPI_CXX_DOUBLE_COMPLEX, C64),
    TYPE(MPI_C_LONG_DOUBLE_COMPLEX, C80), TYPE(MPI_CXX_LONG_DOUBLE_COMPLEX, C80),
    TYPE(MPI_C_BOOL, BOOL), TYPE(MPI_CXX_BOOL, BOOL), TYPE(MPI_LOGICAL, LOGICAL),
    TYPE(MPI_BYTE, BYTE),
    TYPE(MPI_2INT, 2INT), TYPE(MPI_2INTEGER, 2INT), TYPE(MPI_2REAL, 2REAL),
    TYPE(MPI_2DOUBLE_PRECISION, 2DOUBLE),
};
// clang-format on

/* By the index of the pair types with direct handles (0x8c000000 + index). */
static const uint8_t pair_class[] = {
    TYPE(MPI_FLOAT_INT, FLOAT_INT),
    TYPE(MPI_DOUBLE_INT, DOUBLE_INT),
    TYPE(MPI_LONG_INT, LONG_INT),
    TYPE(MPI_SHORT_INT, SHORT_INT),
    TYPE(MPI_LONG_DOUBLE_INT, LONG_DOUBLE_INT),
};

static enum item_class class_of(MPI_Datatype type)
{
    uint32_t bits = (uint32_t)type;
    if (bits >> 16 == 0x4c00)
        return (enum item_class)builtin_class[bits & 0xff];
    if (bits >= 0x8c000000u && bits - 0x8c000000u < sizeof pair_class)
        return (enum item_class)pair_class[bits - 0x8c000000u];
    return CLASS_NONE;
}

const struct mpi_op_kernel *mpi_op_kernel_get(enum mpi_op_kind kind, MPI_Datatype type)
{
    const struct mpi_op_kernel *k = &kernels[kind][class_of(type)];
    return k->run ? k : NULL;
}
