/* Property test of datatypes: random nested types against a naive typemap (type_oracle.h).
 *
 * Everything the datatype module answers about a type must follow from its typemap: sizes and
 * bounds, packing and unpacking whole, in ranges, in part and in external32, counts of elements,
 * signatures; and what envelope and contents say must make the type again. Layouts may overlap and
 * run backwards: data is moved in stream order, so results agree even then.
 *
 * Usage: prop_datatype [SEED [CASES]]
 */
#include "type_oracle.h"

#include "mpi/datatype/external.h"
#include "mpi/datatype/table.c" /* its types are counted */
#include "mpi/error.h"
#include "mpi_impl.h"
#include "no_attributes.h"

/* No call here is wrong. */
int mpi_raise(struct mpi_rank *self, MPI_Comm comm, int error_class, const char *fmt, ...)
{
    (void)self;
    (void)comm;
    check(0, fmt);
    return error_class;
}

/* A buffer for MAX_ITEMS items; `origin` is where item 0 is. */
enum { BUFFER = 2 * (MAX_ITEMS + 1) * 2 * MAX_SPAN };
static unsigned char memory[BUFFER], image[BUFFER];
static unsigned char *const origin = memory + BUFFER / 2;

static void fill(unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        bytes[i] = (unsigned char)rng_next(&rng);
}

/* Where byte `k` of the stream lies, as an offset from the origin: the oracle of all moves. */
static int64_t *stream_map(const struct oracle *o, int count)
{
    int64_t *map = malloc(sizeof *map * (size_t)o->n * 32 * (size_t)count), *at = map;
    for (int item = 0; item < count; item++)
        for (int i = 0; i < o->n; i++)
            for (int b = 0; b < o->elems[i].size; b++)
                *at++ = item * (o->ub - o->lb) + o->elems[i].disp + b;
    return map;
}

static void check_layout(const struct oracle *o)
{
    const struct mpi_type *t = o->type;
    int64_t low, high, size = 0, dense = o->lb == 0;
    true_bounds(o, &low, &high);
    for (int i = 0; i < o->n; i++) {
        dense = dense && o->elems[i].disp == size;
        size += o->elems[i].size;
    }
    check(t->size == (uint64_t)size, "size");
    check(t->lb == o->lb && t->extent == o->ub - o->lb, "bounds");
    check(t->true_lb == low && t->true_extent == high - low, "true bounds");
    check(t->contig == (dense && o->ub - o->lb == size), "contig");
    check(t->nelems == (uint64_t)o->n, "number of elements");
    check(t->elem == o->whole, "common basic type");
}

static void check_pack(const struct oracle *o, int count, const int64_t *map)
{
    size_t total = o->type->size * (size_t)count;
    unsigned char *got = malloc(total), *want = malloc(total);
    for (size_t k = 0; k < total; k++)
        want[k] = origin[map[k]];
    check(mpi_type_pack(o->type, (uint64_t)count, origin, got) == total, "bytes packed");
    check(!memcmp(got, want, total), "pack");
    for (int i = 0; i < 6; i++) {
        size_t skip = rng_below(&rng, total), n = rng_below(&rng, total - skip + 1);
        unsigned char *part = malloc(n + 1);
        check(mpi_type_pack_range(o->type, (uint64_t)count, origin, skip, part, n) == n,
              "bytes packed in a range");
        check(!memcmp(part, want + skip, n), "pack range");
        free(part);
    }
    free(got);
    free(want);
}

/* Unpack [skip, skip + n) into random memory, and compare all of the memory. */
static void check_unpack(const struct oracle *o, int count, const int64_t *map, size_t skip,
                         size_t n, const unsigned char *stream)
{
    memcpy(image, memory, sizeof memory);
    for (size_t k = 0; k < n; k++)
        (image + BUFFER / 2)[map[skip + k]] = stream[k];
    uint64_t moved = skip ? mpi_type_unpack_range(o->type, (uint64_t)count, origin, skip, stream, n)
                          : mpi_type_unpack(o->type, (uint64_t)count, origin, stream, n);
    check(moved == n, "bytes unpacked");
    check(!memcmp(memory, image, sizeof memory), skip ? "unpack range" : "unpack");
}

static void check_unpacks(const struct oracle *o, int count, const int64_t *map)
{
    size_t total = o->type->size * (size_t)count;
    for (int i = 0; i < 4; i++) {
        size_t skip = i < 2 ? 0 : rng_below(&rng, total);
        size_t n = i == 0 ? total : rng_below(&rng, total - skip + 1);
        unsigned char *stream = malloc(n + 1);
        fill(stream, n);
        check_unpack(o, count, map, skip, n, stream);
        free(stream);
    }
}

static void check_elements(const struct oracle *o)
{
    const struct mpi_type *whole = o->whole ? mpi_type_get(o->whole) : NULL;
    int single = whole && whole->nelems == 1;
    for (int i = 0; i < 5; i++) {
        uint64_t bytes = rng_below(&rng, 2 * o->type->size + 1), used = 0;
        int64_t n = 0;
        while (used + (uint64_t)o->elems[n % o->n].size <= bytes)
            used += (uint64_t)o->elems[n++ % o->n].size;
        check(mpi_type_elements(o->type, bytes) == (single && used < bytes ? MPI_UNDEFINED : n),
              "elements");
        check(mpi_type_element_bytes(o->type, (uint64_t)n) == used, "bytes of elements");
    }
}

/* The first elements of the type are those of a struct of just these; and not if the last one is
 * another. */
static void check_prefix(const struct oracle *o, const MPI_Count *ones, const MPI_Count *displs,
                         struct mpi_type **types)
{
    uint64_t n = 1 + rng_below(&rng, (uint64_t)o->n), whole = (uint64_t)o->n;
    struct mpi_type *part, *last = types[n - 1];

    check(!mpi_type_make_struct(false, (MPI_Count)n, ones, displs, types, &part), "first elements");
    check(mpi_type_prefix_signature(part, n) == mpi_type_prefix_signature(o->type, n), "prefix");
    check(mpi_type_prefix_signature(part, n) != mpi_type_prefix_signature(o->type, whole + n),
          "length of prefix");
    mpi_type_unref(part);
    types[n - 1] = mpi_type_get(o->elems[n - 1].basic == MPI_INT ? MPI_FLOAT : MPI_INT);
    mpi_type_make_struct(false, (MPI_Count)n, ones, displs, types, &part);
    check(mpi_type_prefix_signature(part, n) != mpi_type_prefix_signature(o->type, n),
          "prefix with another element");
    mpi_type_unref(part);
    types[n - 1] = last;
}

/* Of whole items. */
static uint64_t signature(const struct mpi_type *t, uint64_t count)
{
    return mpi_type_prefix_signature(t, count * t->nelems);
}

/* A struct of the basic elements one by one has the same signature, and moves the same data. */
static void check_flat(const struct oracle *o)
{
    MPI_Count *ones = malloc(sizeof *ones * (size_t)o->n);
    MPI_Count *displs = malloc(sizeof *displs * (size_t)o->n);
    struct mpi_type **types = malloc(sizeof *types * (size_t)o->n), *flat, *again;
    for (int i = 0; i < o->n; i++) {
        ones[i] = 1;
        displs[i] = o->elems[i].disp;
        types[i] = mpi_type_get(o->elems[i].basic);
    }
    check(!mpi_type_make_struct(false, o->n, ones, displs, types, &flat), "flat struct");
    mpi_type_make_struct(false, o->n, ones, displs, types, &again);
    check(flat == again, "interning");
    mpi_type_unref(again);
    check(signature(flat, 3) == signature(o->type, 3), "signature");
    check(signature(flat, 2) != signature(o->type, 3), "length of signature");
    check_prefix(o, ones, displs, types);
    unsigned char *a = malloc(flat->size), *b = malloc(flat->size);
    mpi_type_pack(flat, 1, origin, a);
    mpi_type_pack(o->type, 1, origin, b);
    check(!memcmp(a, b, flat->size), "flat pack");
    mpi_type_unref(flat);
    free(a);
    free(b);
    free(ones);
    free(displs);
    free(types);
}

/* Copy between two random layouts through the origin of a second memory. */
static void check_copy(const struct oracle *from, const struct oracle *to)
{
    int count = pick(1, MAX_ITEMS);
    int64_t *src = stream_map(from, count), *dst = stream_map(to, count);
    uint64_t a = from->type->size * (uint64_t)count, b = to->type->size * (uint64_t)count;
    uint64_t n = a < b ? a : b;
    unsigned char *want = malloc(sizeof memory);
    memcpy(image, memory, sizeof memory);
    memcpy(want, memory, sizeof memory);
    for (uint64_t k = 0; k < n; k++)
        want[BUFFER / 2 + dst[k]] = memory[BUFFER / 2 + src[k]];
    check(mpi_type_copy(origin, (uint64_t)count, from->type, image + BUFFER / 2, (uint64_t)count,
                        to->type) == n,
          "bytes copied");
    check(!memcmp(image, want, sizeof memory), "copy");
    free(want);
    free(src);
    free(dst);
}

/* ---- external32 ---- */

static int external_size(const struct element *e)
{
    return e->basic == MPI_LONG ? 4 : e->size;
}

/* One element from its native bytes; what the bytes are worth must not matter, so long doubles,
 * which have bit patterns that are no numbers, get one that is. */
static void to_external(const struct element *e, unsigned char *native, unsigned char *out)
{
    int parts = e->basic == MPI_C_DOUBLE_COMPLEX ? 2 : 1, n = external_size(e) / parts;
    unsigned char bytes[16];
    memcpy(bytes, native, sizeof bytes < (size_t)e->size ? sizeof bytes : (size_t)e->size);
    if (e->basic == MPI_LONG_DOUBLE) {
        __float128 quad = (long double)(int8_t)native[0] / 7;
        memcpy(bytes, &quad, sizeof quad);
    }
    for (int k = 0; k < parts; k++)
        for (int i = 0; i < n; i++)
            out[k * n + i] = bytes[k * n + n - 1 - i];
}

/* The native bytes that unpacking must give. */
static void from_external(const struct element *e, const unsigned char *in, unsigned char *native)
{
    int parts = e->basic == MPI_C_DOUBLE_COMPLEX ? 2 : 1, n = external_size(e) / parts;
    unsigned char bytes[16];
    for (int k = 0; k < parts; k++)
        for (int i = 0; i < n; i++)
            bytes[k * n + i] = in[k * n + n - 1 - i];
    if (e->basic == MPI_LONG)
        memset(bytes + 4, bytes[3] & 0x80 ? 0xff : 0, 4);
    if (e->basic == MPI_LONG_DOUBLE) {
        __float128 quad;
        memcpy(&quad, bytes, sizeof quad);
        long double value = (long double)quad;
        memset(bytes, 0, sizeof bytes);
        memcpy(bytes, &value, 10);
    }
    memcpy(native, bytes, (size_t)e->size);
}

static void check_external(const struct oracle *o, int count)
{
    size_t each = 0, at = 0;
    for (int i = 0; i < o->n; i++)
        each += (size_t)external_size(&o->elems[i]);
    check(type_external_size(o->type) == each, "external size");
    unsigned char *want = malloc(each * (size_t)count), *got = malloc(each * (size_t)count);
    memcpy(image, memory, sizeof memory);
    for (int item = 0; item < count; item++)
        for (int i = 0; i < o->n; i++) {
            const struct element *e = &o->elems[i];
            to_external(e, origin + item * (o->ub - o->lb) + e->disp, want + at);
            from_external(e, want + at, image + BUFFER / 2 + item * (o->ub - o->lb) + e->disp);
            at += (size_t)external_size(e);
        }
    check(type_external_pack(o->type, (uint64_t)count, origin, got) == at, "bytes packed external");
    for (size_t item = 0, k = 0; item < (size_t)count; item++)
        for (int i = 0; i < o->n; k += (size_t)external_size(&o->elems[i++]))
            check(o->elems[i].basic == MPI_LONG_DOUBLE ||
                      !memcmp(got + k, want + k, (size_t)external_size(&o->elems[i])),
                  "pack external");
    check(type_external_unpack(o->type, (uint64_t)count, origin, want) == at,
          "bytes unpacked external");
    check(!memcmp(memory, image, sizeof memory), "unpack external");
    free(want);
    free(got);
}

/* ---- envelope and contents ---- */

/* The type made again from what MPI_Type_get_contents_c says, if by a call of this form: ints, then
 * addresses, then counts, as MPI-4.0 lists them for the constructor. */
static int remake(int kind, const int *ints, const MPI_Aint *aints, const MPI_Count *counts,
                  MPI_Count ncounts, const MPI_Datatype *types, MPI_Datatype *out)
{
    const MPI_Count *c = counts;
    MPI_Count n = ncounts ? c[0] : 0;
    if (!ncounts) {
        switch (kind) {
        case MPI_COMBINER_DUP:
            return mpi_type_dup(NULL, types[0], out);
        case MPI_COMBINER_CONTIGUOUS:
            return mpi_type_contiguous(NULL, ints[0], types[0], out);
        case MPI_COMBINER_VECTOR:
            return mpi_type_vector(NULL, ints[0], ints[1], ints[2], types[0], out);
        case MPI_COMBINER_HVECTOR:
            return mpi_type_create_hvector(NULL, ints[0], ints[1], aints[0], types[0], out);
        case MPI_COMBINER_INDEXED:
            return mpi_type_indexed(NULL, ints[0], ints + 1, ints + 1 + ints[0], types[0], out);
        case MPI_COMBINER_HINDEXED:
            return mpi_type_create_hindexed(NULL, ints[0], ints + 1, aints, types[0], out);
        case MPI_COMBINER_INDEXED_BLOCK:
            return mpi_type_create_indexed_block(NULL, ints[0], ints[1], ints + 2, types[0], out);
        case MPI_COMBINER_HINDEXED_BLOCK:
            return mpi_type_create_hindexed_block(NULL, ints[0], ints[1], aints, types[0], out);
        case MPI_COMBINER_STRUCT:
            return mpi_type_create_struct(NULL, ints[0], ints + 1, aints, types, out);
        case MPI_COMBINER_RESIZED:
            return mpi_type_create_resized(NULL, types[0], aints[0], aints[1], out);
        case MPI_COMBINER_SUBARRAY:
            return mpi_type_create_subarray(NULL, ints[0], ints + 1, ints + 1 + ints[0],
                                            ints + 1 + 2 * ints[0], ints[1 + 3 * ints[0]], types[0],
                                            out);
        default:
            return mpi_type_create_darray(NULL, ints[0], ints[1], ints[2], ints + 3,
                                          ints + 3 + ints[2], ints + 3 + 2 * ints[2],
                                          ints + 3 + 3 * ints[2], ints[3 + 4 * ints[2]], types[0],
                                          out);
        }
    }
    switch (kind) {
    case MPI_COMBINER_CONTIGUOUS:
        return mpi_type_contiguous_c(NULL, n, types[0], out);
    case MPI_COMBINER_VECTOR:
        return mpi_type_vector_c(NULL, n, c[1], c[2], types[0], out);
    case MPI_COMBINER_HVECTOR:
        return mpi_type_create_hvector_c(NULL, n, c[1], c[2], types[0], out);
    case MPI_COMBINER_INDEXED:
        return mpi_type_indexed_c(NULL, n, c + 1, c + 1 + n, types[0], out);
    case MPI_COMBINER_HINDEXED:
        return mpi_type_create_hindexed_c(NULL, n, c + 1, c + 1 + n, types[0], out);
    case MPI_COMBINER_INDEXED_BLOCK:
        return mpi_type_create_indexed_block_c(NULL, n, c[1], c + 2, types[0], out);
    case MPI_COMBINER_HINDEXED_BLOCK:
        return mpi_type_create_hindexed_block_c(NULL, n, c[1], c + 2, types[0], out);
    case MPI_COMBINER_STRUCT:
        return mpi_type_create_struct_c(NULL, n, c + 1, c + 1 + n, types, out);
    case MPI_COMBINER_RESIZED:
        return mpi_type_create_resized_c(NULL, types[0], n, c[1], out);
    case MPI_COMBINER_SUBARRAY:
        return mpi_type_create_subarray_c(NULL, ints[0], c, c + ints[0], c + 2 * ints[0], ints[1],
                                          types[0], out);
    default:
        return mpi_type_create_darray_c(NULL, ints[0], ints[1], ints[2], c, ints + 3,
                                        ints + 3 + ints[2], ints + 3 + 2 * ints[2],
                                        ints[3 + 3 * ints[2]], types[0], out);
    }
}

/* Interned types: the one made again is the same one. Descends into the members. */
static void check_contents(struct mpi_type *t)
{
    MPI_Count nints, naints, ncounts, ntypes;
    int kind, ints[64];
    MPI_Aint aints[64];
    MPI_Count counts[64];
    MPI_Datatype types[64], again = MPI_DATATYPE_NULL;
    mpi_type_ref(t);
    MPI_Datatype handle = mpi_type_publish(t);
    check(!mpi_type_get_envelope_c(NULL, handle, &nints, &naints, &ncounts, &ntypes, &kind),
          "envelope");
    if (kind == MPI_COMBINER_NAMED)
        return;
    check(!mpi_type_get_contents_c(NULL, handle, nints, naints, ncounts, ntypes, ints, aints,
                                   counts, types),
          "contents");
    check(!remake(kind, ints, aints, counts, ncounts, types, &again), "remake");
    check(again == handle, "the same type");
    if (again != MPI_DATATYPE_NULL)
        mpi_type_retract(mpi_type_get(again));
    for (MPI_Count i = 0; i < ntypes; i++) {
        struct mpi_type *member = mpi_type_get(types[i]);
        check_contents(member);
        if (!member->builtin)
            mpi_type_retract(member);
    }
    mpi_type_retract(t);
}

static void run_case(void)
{
    struct oracle o = make_random(pick(0, MAX_DEPTH)), other = make_random(pick(0, 3));
    int count = pick(1, MAX_ITEMS);
    int64_t *map = stream_map(&o, count);
    check_layout(&o);
    check_pack(&o, count, map);
    check_unpacks(&o, count, map);
    check_elements(&o);
    check_flat(&o);
    check_external(&o, count);
    check_contents(o.type);
    check_copy(&o, &other);
    free(map);
    release(&o);
    release(&other);
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 20261115;
    int cases = argc > 2 ? atoi(argv[2]) : 1500, failed = 0;
    plan_auto();
    diag("seed %llu, %d cases", (unsigned long long)seed, cases);
    for (int i = 0; i < cases; i++) {
        rng_seed(&rng, seed + (uint64_t)i);
        if (i % 64 == 0)
            fill(memory, sizeof memory);
        bad = 0;
        run_case();
        failed += bad != 0;
        if (bad)
            diag("case %d: rerun with seed %llu and 1 case", i, (unsigned long long)seed + i);
    }
    is_int(failed, 0, "random types agree with their typemaps");
    is_int(table.ntypes, 0, "every type was freed");
    return done_testing();
}
