/* Builds a fixed pseudo-random set of nested datatypes and prints, on rank 0, what MPI says about
 * each: size, bounds, true bounds, envelope, and a checksum of the bytes that MPI_Pack makes of two
 * items. The output must not depend on the MPI implementation that follows MPICH 4.0.
 *
 * Then pads a struct after every predefined type, counts elements in partial data, and visits the
 * corners: empty blocks and types, markers, negative extents.
 *
 *     mpiexec -n 1 ./datatype_oracle
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TYPES = 200, MAX_LIST = 4, MAX_DEPTH = 4, ITEMS = 2, BUFFER = 1 << 20 };

static uint64_t state = 42;
static unsigned char memory[BUFFER];
static int printing;

static int pick(int low, int high)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return low + (int)((state >> 33) % (uint64_t)(high - low + 1));
}

static MPI_Datatype pick_basic(void)
{
    static const MPI_Datatype list[] = {MPI_CHAR,   MPI_SHORT,      MPI_INT,  MPI_FLOAT,
                                        MPI_DOUBLE, MPI_DOUBLE_INT, MPI_2INT, MPI_C_DOUBLE_COMPLEX};
    return list[pick(0, (int)(sizeof list / sizeof list[0]) - 1)];
}

static void release(MPI_Datatype t)
{
    int ints, addresses, types, combiner;
    MPI_Type_get_envelope(t, &ints, &addresses, &types, &combiner);
    if (combiner != MPI_COMBINER_NAMED)
        MPI_Type_free(&t);
}

static MPI_Datatype make_random(int depth);

static MPI_Datatype make_struct(int depth)
{
    int n = pick(1, MAX_LIST), lengths[MAX_LIST];
    MPI_Aint displs[MAX_LIST];
    MPI_Datatype types[MAX_LIST], made;
    for (int i = 0; i < n; i++) {
        lengths[i] = pick(i ? 0 : 1, 3);
        displs[i] = pick(-50, 200);
        types[i] = make_random(depth - 1);
    }
    MPI_Type_create_struct(n, lengths, displs, types, &made);
    for (int i = 0; i < n; i++)
        release(types[i]);
    return made;
}

static MPI_Datatype make_indexed(int variant, MPI_Datatype old)
{
    int n = pick(1, MAX_LIST), lengths[MAX_LIST], items[MAX_LIST];
    MPI_Aint bytes[MAX_LIST];
    MPI_Datatype made;
    for (int i = 0; i < n; i++) {
        lengths[i] = pick(i ? 0 : 1, 3);
        items[i] = pick(-4, 9);
        bytes[i] = pick(-50, 200);
    }
    if (variant == 0)
        MPI_Type_indexed(n, lengths, items, old, &made);
    else if (variant == 1)
        MPI_Type_create_hindexed(n, lengths, bytes, old, &made);
    else if (variant == 2)
        MPI_Type_create_indexed_block(n, lengths[0], items, old, &made);
    else
        MPI_Type_create_hindexed_block(n, lengths[0], bytes, old, &made);
    return made;
}

static MPI_Datatype make_subarray(MPI_Datatype old)
{
    int n = pick(1, 3), sizes[3], subsizes[3], starts[3];
    MPI_Datatype made;
    for (int i = 0; i < n; i++) {
        sizes[i] = pick(1, 5);
        subsizes[i] = pick(1, sizes[i]);
        starts[i] = pick(0, sizes[i] - subsizes[i]);
    }
    int order = pick(0, 1) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    MPI_Type_create_subarray(n, sizes, subsizes, starts, order, old, &made);
    return made;
}

static MPI_Datatype make_resized(MPI_Datatype old)
{
    MPI_Aint lb, extent;
    MPI_Datatype made;
    MPI_Type_get_extent(old, &lb, &extent);
    lb = pick(-20, 20);
    extent += pick(0, 30);
    MPI_Type_create_resized(old, lb, extent, &made);
    return made;
}

static MPI_Datatype make_from(MPI_Datatype old)
{
    MPI_Datatype made;
    int kind = pick(0, 9), count = pick(1, 4), length = pick(1, 3), stride = pick(-5, 7);
    switch (kind) {
    case 0:
        MPI_Type_contiguous(count, old, &made);
        return made;
    case 1:
        MPI_Type_vector(count, length, stride, old, &made);
        return made;
    case 2:
        MPI_Type_create_hvector(count, length, 30 * stride, old, &made);
        return made;
    case 7:
        return make_resized(old);
    case 8:
        MPI_Type_dup(old, &made);
        return made;
    case 9:
        return make_subarray(old);
    default:
        return make_indexed(kind - 3, old);
    }
}

static MPI_Datatype make_random(int depth)
{
    if (depth <= 0)
        return pick_basic();
    if (pick(0, 3) == 0)
        return make_struct(depth);
    MPI_Datatype old = make_random(depth - 1);
    MPI_Datatype made = make_from(old);
    release(old);
    return made;
}

/* FNV-1a. */
static uint64_t checksum(const unsigned char *bytes, int n)
{
    uint64_t h = 14695981039346656037u;
    for (int i = 0; i < n; i++)
        h = (h ^ bytes[i]) * 1099511628211u;
    return h;
}

/* Checksum of ITEMS packed items, or 0 if they do not fit in the memory. No type has a long double:
 * an MPI may leave its six bytes of padding alone. */
static uint64_t pack(MPI_Datatype t, MPI_Aint extent, MPI_Aint true_lb, MPI_Aint true_extent)
{
    MPI_Aint low = true_lb, high = true_lb + true_extent;
    low += extent < 0 ? (ITEMS - 1) * extent : 0;
    high += extent > 0 ? (ITEMS - 1) * extent : 0;
    if (low <= -BUFFER / 2 || high >= BUFFER / 2)
        return 0;
    int bytes, position = 0;
    MPI_Type_commit(&t);
    MPI_Pack_size(ITEMS, t, MPI_COMM_WORLD, &bytes);
    unsigned char *out = malloc((size_t)bytes + 1);
    MPI_Pack(memory + BUFFER / 2, ITEMS, t, out, bytes, &position, MPI_COMM_WORLD);
    uint64_t sum = checksum(out, position);
    free(out);
    return sum;
}

static void describe(const char *name, MPI_Datatype t, int packing)
{
    MPI_Aint lb, extent, true_lb, true_extent;
    int size, ints, addresses, types, combiner;
    MPI_Type_size(t, &size);
    MPI_Type_get_extent(t, &lb, &extent);
    MPI_Type_get_true_extent(t, &true_lb, &true_extent);
    MPI_Type_get_envelope(t, &ints, &addresses, &types, &combiner);
    uint64_t sum = size && packing ? pack(t, extent, true_lb, true_extent) : 0;
    if (printing)
        printf("%s: size %d lb %ld extent %ld true %ld %ld envelope %d %d %d %d sum %016llx\n",
               name, size, (long)lb, (long)extent, (long)true_lb, (long)true_extent, ints,
               addresses, types, combiner, (unsigned long long)sum);
}

static void describe_and_free(const char *name, MPI_Datatype t)
{
    describe(name, t, 1);
    release(t);
}

static MPI_Datatype struct2(int b1, MPI_Aint d1, MPI_Datatype t1, int b2, MPI_Aint d2,
                            MPI_Datatype t2)
{
    int lengths[] = {b1, b2};
    MPI_Aint displs[] = {d1, d2};
    MPI_Datatype types[] = {t1, t2}, made;
    MPI_Type_create_struct(2, lengths, displs, types, &made);
    return made;
}

static void pad_all(void)
{
    static const MPI_Datatype list[] = {MPI_CHAR,
                                        MPI_SIGNED_CHAR,
                                        MPI_UNSIGNED_CHAR,
                                        MPI_BYTE,
                                        MPI_WCHAR,
                                        MPI_SHORT,
                                        MPI_UNSIGNED_SHORT,
                                        MPI_INT,
                                        MPI_UNSIGNED,
                                        MPI_LONG,
                                        MPI_UNSIGNED_LONG,
                                        MPI_FLOAT,
                                        MPI_DOUBLE,
                                        MPI_LONG_DOUBLE,
                                        MPI_LONG_LONG,
                                        MPI_UNSIGNED_LONG_LONG,
                                        MPI_PACKED,
                                        MPI_FLOAT_INT,
                                        MPI_DOUBLE_INT,
                                        MPI_LONG_INT,
                                        MPI_SHORT_INT,
                                        MPI_2INT,
                                        MPI_LONG_DOUBLE_INT,
                                        MPI_COMPLEX,
                                        MPI_DOUBLE_COMPLEX,
                                        MPI_LOGICAL,
                                        MPI_REAL,
                                        MPI_DOUBLE_PRECISION,
                                        MPI_INTEGER,
                                        MPI_2INTEGER,
                                        MPI_2REAL,
                                        MPI_2DOUBLE_PRECISION,
                                        MPI_CHARACTER,
                                        MPI_REAL4,
                                        MPI_REAL8,
                                        MPI_REAL16,
                                        MPI_COMPLEX8,
                                        MPI_COMPLEX16,
                                        MPI_COMPLEX32,
                                        MPI_INTEGER1,
                                        MPI_INTEGER2,
                                        MPI_INTEGER4,
                                        MPI_INTEGER8,
                                        MPI_INT8_T,
                                        MPI_INT16_T,
                                        MPI_INT32_T,
                                        MPI_INT64_T,
                                        MPI_UINT8_T,
                                        MPI_UINT16_T,
                                        MPI_UINT32_T,
                                        MPI_UINT64_T,
                                        MPI_C_BOOL,
                                        MPI_C_FLOAT_COMPLEX,
                                        MPI_C_DOUBLE_COMPLEX,
                                        MPI_C_LONG_DOUBLE_COMPLEX,
                                        MPI_AINT,
                                        MPI_OFFSET,
                                        MPI_COUNT,
                                        MPI_CXX_BOOL,
                                        MPI_CXX_FLOAT_COMPLEX,
                                        MPI_CXX_DOUBLE_COMPLEX,
                                        MPI_CXX_LONG_DOUBLE_COMPLEX};
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        char name[MPI_MAX_OBJECT_NAME];
        int length;
        MPI_Aint lb, extent;
        MPI_Type_get_name(list[i], name, &length);
        MPI_Type_get_extent(list[i], &lb, &extent);
        describe(name, list[i], 0);
        MPI_Datatype padded = struct2(1, 0, list[i], 1, extent, MPI_CHAR);
        describe("  and a char", padded, 0);
        MPI_Type_free(&padded);
    }
}

/* Only bytes that do not cut an element: what a cut one counts is not agreed on. */
static void count_partial(MPI_Datatype t, int n, const int *sizes)
{
    MPI_Status status;
    memset(&status, 0, sizeof status);
    MPI_Type_commit(&t);
    for (int i = 0; i < n; i++) {
        int count, elements;
        MPI_Status_set_elements(&status, MPI_BYTE, sizes[i]);
        MPI_Get_count(&status, t, &count);
        MPI_Get_elements(&status, t, &elements);
        if (printing)
            printf("%d bytes: count %d elements %d\n", sizes[i], count, elements);
    }
}

static void count_all(void)
{
    static const int sizes[] = {0, 4, 12, 20, 24, 32, 40, 44, 60, 72, 80, 82, 86, 102, 164};
    MPI_Datatype inner = struct2(1, 0, MPI_INT, 2, 8, MPI_DOUBLE), twice, outer, ints;
    count_partial(inner, 11, sizes);
    MPI_Type_vector(2, 1, 2, inner, &twice);
    outer = struct2(2, 0, twice, 1, 200, MPI_SHORT);
    count_partial(outer, 15, sizes);
    count_partial(MPI_DOUBLE_INT, 4, sizes);
    MPI_Type_contiguous(3, MPI_INT, &ints);
    count_partial(ints, 11, sizes);
    MPI_Type_free(&inner);
    MPI_Type_free(&twice);
    MPI_Type_free(&outer);
    MPI_Type_free(&ints);
}

static void corners(void)
{
    MPI_Datatype empty, wide, back, t;
    int lengths[] = {0, 2, 0}, items[] = {-50, 3, 9};
    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_create_resized(MPI_INT, -4, 20, &wide);
    MPI_Type_create_resized(MPI_INT, 8, -8, &back);
    describe("empty", empty, 1);
    describe("wide", wide, 1);
    describe("back", back, 1);
    MPI_Type_contiguous(3, back, &t);
    describe_and_free("three back", t);
    MPI_Type_vector(2, 2, 3, back, &t);
    describe_and_free("vector back", t);
    MPI_Type_vector(3, 0, 2, MPI_INT, &t);
    describe_and_free("vector of empty blocks", t);
    MPI_Type_indexed(3, lengths, items, MPI_INT, &t);
    describe_and_free("indexed with empty blocks", t);
    MPI_Type_create_indexed_block(3, 0, items, wide, &t);
    describe_and_free("empty indexed_block", t);
    MPI_Type_contiguous(2, empty, &t);
    describe_and_free("two empty", t);
    describe_and_free("empty and char", struct2(1, 50, empty, 1, 0, MPI_CHAR));
    describe_and_free("wide and char", struct2(1, 0, wide, 1, 16, MPI_CHAR));
    describe_and_free("char and wide", struct2(1, -10, MPI_CHAR, 1, 0, wide));
    describe_and_free("skipped member", struct2(0, -100, MPI_DOUBLE, 1, 0, MPI_CHAR));
    MPI_Type_free(&empty);
    MPI_Type_free(&wide);
    MPI_Type_free(&back);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printing = rank == 0;
    for (int i = 0; i < BUFFER; i++)
        memory[i] = (unsigned char)pick(0, 255);
    for (int i = 0; i < TYPES; i++) {
        char name[32];
        snprintf(name, sizeof name, "type %d", i);
        describe_and_free(name, make_random(1 + i % MAX_DEPTH));
    }
    pad_all();
    count_all();
    corners();
    MPI_Finalize();
    return 0;
}
