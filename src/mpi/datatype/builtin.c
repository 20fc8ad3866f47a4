/* builtin.c - the predefined datatypes: one table with MPICH's handles, sizes, alignments and
 * names.
 * 
 * The pair types of two different members (MPI_DOUBLE_INT...) are structs with handles among the
 * direct ones; those of two equal members (MPI_2INT...) have builtin handles. Both count
 * as two elements. Alignment 0 means that the type does not pad structs; the 16-byte Fortran reals
 * do not, in MPICH. */
#include "mpi/datatype/datatype_internal.h"

/* Plans of one run, by size in bytes. */
// clang-format off
#define RUN(n)                                                                                     \
    static struct type_plan run_##n = {                                                            \
        .size = n, .nloops = 1, .capacity = 1, .loops = {{.count = 1, .unit = n}}};
RUN(1)
RUN(2)
RUN(4)
RUN(8)
RUN(16)
RUN(32)
static struct type_plan run_0;

#define SLOT(h) [(h) & 0xff]

#define ENTRY(h, text, bytes, alignment, n, signature)                                             \
    SLOT(h) = {                                                                                    \
        .size = bytes,                                                                             \
        .extent = bytes,                                                                           \
        .true_extent = bytes,                                                                      \
        .contig = 1,                                                                               \
        .committed = 1,                                                                            \
        .builtin = 1,                                                                              \
        .kind = MPI_COMBINER_NAMED,                                                                \
        .align = alignment,                                                                        \
        .elem = h,                                                                                 \
        .handle = h,                                                                               \
        .refs = 1,                                                                                 \
        .handles = 1,                                                                              \
        .nelems = n,                                                                               \
        .sig = signature,                                                                          \
        .plan = &run_##bytes,                                                                      \
        .name = text,                                                                              \
    }

#define BASIC(h, bytes, alignment) ENTRY(h, #h, bytes, alignment, 1, (uint32_t)(h))
#define TWICE(h, member, bytes, alignment)                                                         \
    ENTRY(h, #h, bytes, alignment, 2, TYPE_SIG_PAIR(member, member))
#define MARKER(h) ENTRY(h, #h, 0, 0, 0, 0)
// clang-format on

struct mpi_type mpi_type_builtins[MPI_TYPE_BUILTINS] = {
    BASIC(MPI_CHAR, 1, 1),
    BASIC(MPI_SIGNED_CHAR, 1, 1),
    BASIC(MPI_UNSIGNED_CHAR, 1, 1),
    BASIC(MPI_BYTE, 1, 1),
    BASIC(MPI_WCHAR, 4, 4),
    BASIC(MPI_SHORT, 2, 2),
    BASIC(MPI_UNSIGNED_SHORT, 2, 2),
    BASIC(MPI_INT, 4, 4),
    BASIC(MPI_UNSIGNED, 4, 4),
    BASIC(MPI_LONG, 8, 8),
    BASIC(MPI_UNSIGNED_LONG, 8, 8),
    BASIC(MPI_FLOAT, 4, 4),
    BASIC(MPI_DOUBLE, 8, 8),
    BASIC(MPI_LONG_DOUBLE, 16, 16),
    BASIC(MPI_LONG_LONG_INT, 8, 8),
    BASIC(MPI_UNSIGNED_LONG_LONG, 8, 8),
    BASIC(MPI_PACKED, 1, 1),
    MARKER(MPI_LB),
    MARKER(MPI_UB),
    TWICE(MPI_2INT, MPI_INT, 8, 4),
    BASIC(MPI_COMPLEX, 8, 4),
    BASIC(MPI_DOUBLE_COMPLEX, 16, 8),
    BASIC(MPI_LOGICAL, 4, 4),
    BASIC(MPI_REAL, 4, 4),
    BASIC(MPI_DOUBLE_PRECISION, 8, 8),
    BASIC(MPI_INTEGER, 4, 4),
    TWICE(MPI_2INTEGER, MPI_INTEGER, 8, 4),
    TWICE(MPI_2REAL, MPI_REAL, 8, 4),
    TWICE(MPI_2DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, 16, 8),
    BASIC(MPI_CHARACTER, 1, 1),
    BASIC(MPI_REAL4, 4, 4),
    BASIC(MPI_REAL8, 8, 8),
    BASIC(MPI_REAL16, 16, 0),
    BASIC(MPI_COMPLEX8, 8, 4),
    BASIC(MPI_COMPLEX16, 16, 8),
    BASIC(MPI_COMPLEX32, 32, 0),
    BASIC(MPI_INTEGER1, 1, 1),
    BASIC(MPI_INTEGER2, 2, 2),
    BASIC(MPI_INTEGER4, 4, 4),
    BASIC(MPI_INTEGER8, 8, 8),
    BASIC(MPI_INT8_T, 1, 1),
    BASIC(MPI_INT16_T, 2, 2),
    BASIC(MPI_INT32_T, 4, 4),
    BASIC(MPI_INT64_T, 8, 8),
    BASIC(MPI_UINT8_T, 1, 1),
    BASIC(MPI_UINT16_T, 2, 2),
    BASIC(MPI_UINT32_T, 4, 4),
    BASIC(MPI_UINT64_T, 8, 8),
    BASIC(MPI_C_BOOL, 1, 1),
    ENTRY(MPI_C_FLOAT_COMPLEX, "MPI_C_COMPLEX", 8, 4, 1, (uint32_t)MPI_C_FLOAT_COMPLEX),
    BASIC(MPI_C_DOUBLE_COMPLEX, 16, 8),
    BASIC(MPI_C_LONG_DOUBLE_COMPLEX, 32, 16),
    BASIC(MPIX_C_FLOAT16, 2, 2),
    BASIC(MPI_AINT, 8, 8),
    BASIC(MPI_OFFSET, 8, 8),
    BASIC(MPI_COUNT, 8, 8),
    BASIC(MPI_CXX_BOOL, 1, 1),
    BASIC(MPI_CXX_FLOAT_COMPLEX, 8, 4),
    BASIC(MPI_CXX_DOUBLE_COMPLEX, 16, 8),
    BASIC(MPI_CXX_LONG_DOUBLE_COMPLEX, 32, 16),
};

/* A value of `first` bytes, then an int at `at`. */
// clang-format off
#define PAIR_PLAN(id, first, at)                                                                   \
    static struct type_plan id = {                                                                 \
        .size = (first) + 4,                                                                       \
        .nloops = 2,                                                                               \
        .capacity = 2,                                                                             \
        .loops = {{.count = 1, .unit = first}, {.disp = at, .count = 1, .unit = 4, .start = first}}}
/* Members that follow each other are one run, as in every plan. */
RUN(12)
RUN(20)
PAIR_PLAN(short_int_plan, 2, 4);

#define PAIR(h, member, bytes, ext, true_ext, alignment, dense, compiled)                          \
    [(h) & MPI_TYPE_INDEX_MASK] = &(struct mpi_type)                                               \
    {                                                                                              \
        .size = bytes, .extent = ext, .true_extent = true_ext, .contig = dense, .committed = 1,    \
        .builtin = 1, .kind = MPI_COMBINER_NAMED, .align = alignment, .elem = h, .handle = h,      \
        .refs = 1, .handles = 1, .nelems = 2, .sig = TYPE_SIG_PAIR(member, MPI_INT),               \
        .plan = compiled, .name = #h,                                                              \
    }
// clang-format on

static struct mpi_type *pairs[MPI_TYPE_PAIRS] = {
    PAIR(MPI_FLOAT_INT, MPI_FLOAT, 8, 8, 8, 4, 1, &run_8),
    PAIR(MPI_DOUBLE_INT, MPI_DOUBLE, 12, 16, 12, 8, 0, &run_12),
    PAIR(MPI_LONG_INT, MPI_LONG, 12, 16, 12, 8, 0, &run_12),
    PAIR(MPI_SHORT_INT, MPI_SHORT, 6, 8, 8, 4, 0, &short_int_plan),
    PAIR(MPI_LONG_DOUBLE_INT, MPI_LONG_DOUBLE, 20, 32, 20, 16, 0, &run_20),
};

struct mpi_type **mpi_type_slots = pairs;
uint32_t mpi_type_nslots = MPI_TYPE_PAIRS;
