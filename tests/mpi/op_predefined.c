/* test: n=1,2,5 native=4 schedules=20
 * Every predefined operation on every type it is defined for, against a local computation. */
#include "check.h"

#include <complex.h>
#include <stdbool.h>
#include <stdint.h>

enum { COUNT = 3 };

static int rank, size;

/* Operand i of a rank, per kind of operation: products stay small, bits differ, zeros occur. */
static int operand(MPI_Op op, int r, int i)
{
    if (op == MPI_PROD)
        return r == i ? 2 : 1;
    if (op == MPI_LAND || op == MPI_LOR || op == MPI_LXOR)
        return (r + i) % 3 != 0;
    if (op == MPI_SUM)
        return (r + i) % 4;
    return (r * 37 + i * 11) % 97;
}

static long combine(MPI_Op op, long a, long b)
{
    if (op == MPI_SUM)
        return a + b;
    if (op == MPI_PROD)
        return a * b;
    if (op == MPI_MAX)
        return a > b ? a : b;
    if (op == MPI_MIN)
        return a < b ? a : b;
    if (op == MPI_LAND)
        return a && b;
    if (op == MPI_LOR)
        return a || b;
    if (op == MPI_LXOR)
        return !a != !b;
    return op == MPI_BAND ? (a & b) : op == MPI_BOR ? (a | b) : (a ^ b);
}

static long expected(MPI_Op op, int i)
{
    long result = operand(op, 0, i);
    for (int r = 1; r < size; r++)
        result = combine(op, result, operand(op, r, i));
    return result;
}

#define TRY(type, mpi_type, op)                                                              \
    do {                                                                                     \
        type mine[COUNT], all[COUNT];                                                        \
        for (int i = 0; i < COUNT; i++)                                                      \
            mine[i] = (type)operand(op, rank, i);                                            \
        CHECK(MPI_Allreduce(mine, all, COUNT, mpi_type, op, MPI_COMM_WORLD) == MPI_SUCCESS); \
        for (int i = 0; i < COUNT; i++)                                                      \
            CHECK(all[i] == (type)expected(op, i));                                          \
        MPI_Reduce_local(mine, all, COUNT, mpi_type, op);                                    \
        for (int i = 0; i < COUNT; i++)                                                      \
            CHECK(all[i] == (type)combine(op, expected(op, i), operand(op, rank, i)));       \
    } while (0)

#define ARITHMETIC(type, mpi_type)     \
    do {                               \
        TRY(type, mpi_type, MPI_SUM);  \
        TRY(type, mpi_type, MPI_PROD); \
        TRY(type, mpi_type, MPI_MAX);  \
        TRY(type, mpi_type, MPI_MIN);  \
    } while (0)

#define LOGICAL(type, mpi_type)        \
    do {                               \
        TRY(type, mpi_type, MPI_LAND); \
        TRY(type, mpi_type, MPI_LOR);  \
        TRY(type, mpi_type, MPI_LXOR); \
    } while (0)

#define BITWISE(type, mpi_type)        \
    do {                               \
        TRY(type, mpi_type, MPI_BAND); \
        TRY(type, mpi_type, MPI_BOR);  \
        TRY(type, mpi_type, MPI_BXOR); \
    } while (0)

#define INTEGER(type, mpi_type)     \
    do {                            \
        ARITHMETIC(type, mpi_type); \
        LOGICAL(type, mpi_type);    \
        BITWISE(type, mpi_type);    \
    } while (0)

static void c_integers(void)
{
    INTEGER(signed char, MPI_SIGNED_CHAR);
    INTEGER(unsigned char, MPI_UNSIGNED_CHAR);
    INTEGER(short, MPI_SHORT);
    INTEGER(unsigned short, MPI_UNSIGNED_SHORT);
    INTEGER(int, MPI_INT);
    INTEGER(unsigned, MPI_UNSIGNED);
    INTEGER(long, MPI_LONG);
    INTEGER(unsigned long, MPI_UNSIGNED_LONG);
    INTEGER(long long, MPI_LONG_LONG);
    INTEGER(unsigned long long, MPI_UNSIGNED_LONG_LONG);
}

static void sized_integers(void)
{
    INTEGER(int8_t, MPI_INT8_T);
    INTEGER(int16_t, MPI_INT16_T);
    INTEGER(int32_t, MPI_INT32_T);
    INTEGER(int64_t, MPI_INT64_T);
    INTEGER(uint8_t, MPI_UINT8_T);
    INTEGER(uint16_t, MPI_UINT16_T);
    INTEGER(uint32_t, MPI_UINT32_T);
    INTEGER(uint64_t, MPI_UINT64_T);
    ARITHMETIC(MPI_Aint, MPI_AINT);
    BITWISE(MPI_Aint, MPI_AINT);
    ARITHMETIC(MPI_Offset, MPI_OFFSET);
    BITWISE(MPI_Offset, MPI_OFFSET);
    ARITHMETIC(MPI_Count, MPI_COUNT);
    BITWISE(MPI_Count, MPI_COUNT);
}

static void reals(void)
{
    ARITHMETIC(float, MPI_FLOAT);
    ARITHMETIC(double, MPI_DOUBLE);
    ARITHMETIC(long double, MPI_LONG_DOUBLE);
    LOGICAL(bool, MPI_C_BOOL);
    BITWISE(unsigned char, MPI_BYTE);
}

static void fortran_types(void)
{
    ARITHMETIC(int, MPI_INTEGER);
    BITWISE(int, MPI_INTEGER);
    LOGICAL(int, MPI_LOGICAL);
    ARITHMETIC(float, MPI_REAL);
    ARITHMETIC(double, MPI_DOUBLE_PRECISION);
    ARITHMETIC(int8_t, MPI_INTEGER1);
    ARITHMETIC(int16_t, MPI_INTEGER2);
    ARITHMETIC(int32_t, MPI_INTEGER4);
    ARITHMETIC(int64_t, MPI_INTEGER8);
    ARITHMETIC(float, MPI_REAL4);
    ARITHMETIC(double, MPI_REAL8);
}

/* Rank r holds 1 + r i; all products are exact for the counts used here. */
#define COMPLEX(type, mpi_type)                                                \
    do {                                                                       \
        type mine = 1 + (rank % 3) * I, sum, product, all = 0, each = 1;       \
        MPI_Allreduce(&mine, &sum, 1, mpi_type, MPI_SUM, MPI_COMM_WORLD);      \
        MPI_Allreduce(&mine, &product, 1, mpi_type, MPI_PROD, MPI_COMM_WORLD); \
        for (int r = 0; r < size; r++) {                                       \
            all += 1 + (r % 3) * I;                                            \
            each *= 1 + (r % 3) * I;                                           \
        }                                                                      \
        CHECK(sum == all && product == each);                                  \
    } while (0)

static void complexes(void)
{
    COMPLEX(float complex, MPI_C_FLOAT_COMPLEX);
    COMPLEX(double complex, MPI_C_DOUBLE_COMPLEX);
    COMPLEX(long double complex, MPI_C_LONG_DOUBLE_COMPLEX);
    COMPLEX(float complex, MPI_COMPLEX);
    COMPLEX(double complex, MPI_DOUBLE_COMPLEX);
}

/* Equal values occur: the smallest index must win. */
#define LOCATED(type, index, mpi_type)                                         \
    do {                                                                       \
        struct {                                                               \
            type value;                                                        \
            index where;                                                       \
        } mine, most, least;                                                   \
        memset(&mine, 0, sizeof mine);                                         \
        mine.value = (type)(rank * 7 % 3);                                     \
        mine.where = (index)rank;                                              \
        MPI_Allreduce(&mine, &most, 1, mpi_type, MPI_MAXLOC, MPI_COMM_WORLD);  \
        MPI_Allreduce(&mine, &least, 1, mpi_type, MPI_MINLOC, MPI_COMM_WORLD); \
        int top = 0;                                                           \
        for (int r = 1; r < size; r++)                                         \
            top = r * 7 % 3 > top * 7 % 3 ? r : top;                           \
        CHECK(most.value == (type)(top * 7 % 3) && most.where == (index)top);  \
        CHECK(least.value == 0 && least.where == 0);                           \
    } while (0)

static void locations(void)
{
    LOCATED(float, int, MPI_FLOAT_INT);
    LOCATED(double, int, MPI_DOUBLE_INT);
    LOCATED(long, int, MPI_LONG_INT);
    LOCATED(short, int, MPI_SHORT_INT);
    LOCATED(int, int, MPI_2INT);
    LOCATED(long double, int, MPI_LONG_DOUBLE_INT);
    LOCATED(int, int, MPI_2INTEGER);
    LOCATED(float, float, MPI_2REAL);
    LOCATED(double, double, MPI_2DOUBLE_PRECISION);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    rank = check_rank();
    size = check_size();
    c_integers();
    check_ok("C integers");
    sized_integers();
    check_ok("sized integers");
    reals();
    check_ok("reals");
    fortran_types();
    check_ok("Fortran types");
    complexes();
    check_ok("complex");
    locations();
    check_ok("locations");
    MPI_Finalize();
    return 0;
}
