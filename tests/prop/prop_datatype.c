/* Property test of datatypes: random nested types against a naive typemap.
 *
 * The oracle of a type is the list of its basic elements (handle, size, displacement) in order, and
 * its bounds, grown one copy of the old type at a time. Everything the datatype module answers
 * about the type must follow from that list: sizes and bounds, packing and unpacking whole, in
 * ranges and in part, counts of elements, signatures. Layouts may overlap and run backwards: data
 * is moved in stream order, so results agree even then.
 *
 * Usage: prop_datatype [SEED [CASES]]
 */
#include <stdlib.h>

#include "base/rng.h"
#include "mpi/datatype/datatype.h"
#include "tap.h"

enum { MAX_ELEMS = 1500, MAX_SPAN = 20000, MAX_DEPTH = 5, MAX_LIST = 5, MAX_ITEMS = 3 };

struct element {
    MPI_Datatype basic;
    int size;
    int64_t disp;
};

struct oracle {
    struct mpi_type *type; /* one ref */
    struct element *elems;
    int n;
    int64_t lb, ub;
    int align;
    MPI_Datatype whole; /* the common predefined type, 0 if several */
    int placed;         /* copies added so far */
    const struct mpi_type *plain; /* the type without constructors that change nothing */
};

struct predefined {
    MPI_Datatype handle;
    int extent, align, n;
    struct element elems[2];
};

static const struct predefined table[] = {
    {MPI_CHAR, 1, 1, 1, {{MPI_CHAR, 1, 0}}},
    {MPI_SHORT, 2, 2, 1, {{MPI_SHORT, 2, 0}}},
    {MPI_INT, 4, 4, 1, {{MPI_INT, 4, 0}}},
    {MPI_DOUBLE, 8, 8, 1, {{MPI_DOUBLE, 8, 0}}},
    {MPI_LONG_DOUBLE, 16, 16, 1, {{MPI_LONG_DOUBLE, 16, 0}}},
    {MPI_C_DOUBLE_COMPLEX, 16, 8, 1, {{MPI_C_DOUBLE_COMPLEX, 16, 0}}},
    {MPI_2INT, 8, 4, 2, {{MPI_INT, 4, 0}, {MPI_INT, 4, 4}}},
    {MPI_DOUBLE_INT, 16, 8, 2, {{MPI_DOUBLE, 8, 0}, {MPI_INT, 4, 8}}},
    {MPI_SHORT_INT, 8, 4, 2, {{MPI_SHORT, 2, 0}, {MPI_INT, 4, 4}}},
};

static struct rng rng;
static int bad; /* failures in the current case */

static int pick(int low, int high)
{
    return low + (int)rng_below(&rng, (uint64_t)(high - low + 1));
}

static void check(int good, const char *what)
{
    if (!good && !bad++)
        diag("wrong: %s", what);
}

static void release(struct oracle *o)
{
    mpi_type_unref(o->type);
    free(o->elems);
}

/* Add one copy of `old` at `disp`. */
static void place(struct oracle *o, const struct oracle *old, int64_t disp)
{
    o->elems = realloc(o->elems, (size_t)(o->n + old->n) * sizeof *o->elems);
    for (int i = 0; i < old->n; i++) {
        o->elems[o->n] = old->elems[i];
        o->elems[o->n++].disp += disp;
    }
    int first = !o->placed++;
    o->lb = first || old->lb + disp < o->lb ? old->lb + disp : o->lb;
    o->ub = first || old->ub + disp > o->ub ? old->ub + disp : o->ub;
    o->align = old->align > o->align ? old->align : o->align;
    o->whole = first || o->whole == old->whole ? old->whole : 0;
}

static void place_block(struct oracle *o, const struct oracle *old, int64_t disp, int length)
{
    for (int i = 0; i < length; i++)
        place(o, old, disp + i * (old->ub - old->lb));
}

/* `old` is what the type was made from, if from one type only. */
static void set_plain(struct oracle *o, const struct oracle *old)
{
    int same = old && o->n == old->n && o->lb == old->lb && o->ub == old->ub &&
               o->elems[0].disp == old->elems[0].disp;
    o->plain = same ? old->plain : o->type;
}

static struct oracle make_predefined(void)
{
    const struct predefined *p = &table[pick(0, (int)(sizeof table / sizeof table[0]) - 1)];
    struct oracle o = {.type = mpi_type_get(p->handle), .n = p->n, .ub = p->extent,
                       .align = p->align, .whole = p->handle};
    o.plain = o.type;
    o.elems = malloc(sizeof p->elems);
    memcpy(o.elems, p->elems, sizeof p->elems);
    return o;
}

static struct oracle make_contiguous(const struct oracle *old)
{
    struct oracle o = {0};
    int count = pick(1, 5);
    check(!mpi_type_make_contiguous((uint64_t)count, old->type, &o.type), "contiguous");
    place_block(&o, old, 0, count);
    return o;
}

static struct oracle make_vector(const struct oracle *old, int in_bytes)
{
    struct oracle o = {0};
    int count = pick(1, 5), length = pick(1, 4), stride = pick(-6, 8);
    int64_t step = in_bytes ? pick(-100, 200) : stride * (old->ub - old->lb);
    int rc = in_bytes ? mpi_type_make_hvector(count, length, step, old->type, &o.type)
                      : mpi_type_make_vector(count, length, stride, old->type, &o.type);
    check(!rc, "vector");
    for (int i = 0; i < count; i++)
        place_block(&o, old, i * step, length);
    return o;
}

/* Random blocks, not all empty; displacements in items and, for use instead, in bytes. */
struct lists {
    int count, lengths[MAX_LIST], items[MAX_LIST];
    MPI_Aint bytes[MAX_LIST];
};

static struct lists make_lists(int allow_empty)
{
    struct lists l = {.count = pick(1, MAX_LIST)};
    int regular = pick(0, 2) == 0;
    for (int i = 0; i < l.count; i++) {
        l.lengths[i] = pick(allow_empty && i ? 0 : 1, 3);
        l.items[i] = regular ? 4 * i : pick(-6, 10);
        l.bytes[i] = regular ? 32 * i : pick(-60, 120);
    }
    return l;
}

static struct oracle make_indexed(const struct oracle *old, int in_bytes, int block)
{
    struct oracle o = {0};
    struct lists l = make_lists(!block);
    int length = l.lengths[0], rc;
    if (block)
        rc = in_bytes
                 ? mpi_type_make_hindexed_block(l.count, length, l.bytes, old->type, &o.type)
                 : mpi_type_make_indexed_block(l.count, length, l.items, old->type, &o.type);
    else
        rc = in_bytes ? mpi_type_make_hindexed(l.count, l.lengths, l.bytes, old->type, &o.type)
                      : mpi_type_make_indexed(l.count, l.lengths, l.items, old->type, &o.type);
    check(!rc, "indexed");
    for (int i = 0; i < l.count; i++)
        place_block(&o, old, in_bytes ? l.bytes[i] : l.items[i] * (old->ub - old->lb),
                    block ? length : l.lengths[i]);
    return o;
}

static struct oracle make_resized(const struct oracle *old)
{
    struct oracle o = {0};
    place(&o, old, 0);
    o.lb = pick(-40, 40);
    o.ub = o.lb + (pick(0, 2) ? old->ub - old->lb + pick(0, 40) : pick(-60, 60));
    check(!mpi_type_make_resized(old->type, o.lb, o.ub - o.lb, &o.type), "resized");
    return o;
}

static struct oracle make_dup(const struct oracle *old)
{
    struct oracle o = {0};
    place(&o, old, 0);
    check(!mpi_type_make_dup(old->type, &o.type), "dup");
    return o;
}

static struct oracle make_subarray(const struct oracle *old)
{
    struct oracle o = {0};
    int nd = pick(1, 3), order = pick(0, 1) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    int sizes[3], subsizes[3], starts[3], at[3] = {0};
    int64_t extent = old->ub - old->lb, items = 1;
    for (int i = 0; i < nd; i++) {
        sizes[i] = pick(1, 5);
        subsizes[i] = pick(0, 2) ? pick(1, sizes[i]) : sizes[i];
        starts[i] = pick(0, sizes[i] - subsizes[i]);
        items *= sizes[i];
    }
    check(!mpi_type_make_subarray(nd, sizes, subsizes, starts, order, old->type, &o.type),
          "subarray");
    for (int done = 0; !done;) {
        int64_t index = 0;
        for (int k = nd - 1; k >= 0; k--) { /* slowest dimension first */
            int i = order == MPI_ORDER_C ? nd - 1 - k : k;
            index = index * sizes[i] + starts[i] + at[i];
        }
        place(&o, old, index * extent);
        done = 1;
        for (int k = 0; k < nd && done; k++) { /* count up, fastest dimension first */
            int i = order == MPI_ORDER_C ? nd - 1 - k : k;
            done = ++at[i] == subsizes[i];
            at[i] = done ? 0 : at[i];
        }
    }
    o.lb = 0;
    o.ub = items * extent;
    return o;
}

static struct oracle make_random(int depth);

static struct oracle make_struct(int depth)
{
    struct oracle o = {0}, members[MAX_LIST];
    struct mpi_type *types[MAX_LIST];
    struct lists l = make_lists(1);
    for (int i = 0; i < l.count; i++) {
        members[i] = make_random(pick(0, depth - 1));
        types[i] = members[i].type;
        l.bytes[i] *= 3;
        place_block(&o, &members[i], l.bytes[i], l.lengths[i]);
    }
    check(!mpi_type_make_struct(l.count, l.lengths, l.bytes, types, &o.type), "struct");
    int mixed = 0;
    for (int i = 1; i < l.count; i++)
        mixed |= members[i].plain != members[0].plain;
    int64_t rest = mixed ? (o.ub - o.lb) % o.align : 0;
    o.ub += rest > 0 ? o.align - rest : 0;
    set_plain(&o, l.count == 1 ? &members[0] : NULL);
    for (int i = 0; i < l.count; i++)
        release(&members[i]);
    return o;
}

static struct oracle make_from(const struct oracle *old)
{
    switch (pick(0, 9)) {
    case 0: return make_contiguous(old);
    case 1: return make_vector(old, 0);
    case 2: return make_vector(old, 1);
    case 3: return make_indexed(old, 0, 0);
    case 4: return make_indexed(old, 1, 0);
    case 5: return make_indexed(old, 0, 1);
    case 6: return make_indexed(old, 1, 1);
    case 7: return make_resized(old);
    case 8: return make_dup(old);
    default: return make_subarray(old);
    }
}

static void true_bounds(const struct oracle *o, int64_t *low, int64_t *high)
{
    *low = o->elems[0].disp;
    *high = o->elems[0].disp + o->elems[0].size;
    for (int i = 1; i < o->n; i++) {
        int64_t end = o->elems[i].disp + o->elems[i].size;
        *low = o->elems[i].disp < *low ? o->elems[i].disp : *low;
        *high = end > *high ? end : *high;
    }
}

static int too_large(const struct oracle *o)
{
    int64_t low, high;
    true_bounds(o, &low, &high);
    return o->n > MAX_ELEMS || low < -MAX_SPAN || high > MAX_SPAN || o->lb < -MAX_SPAN ||
           o->ub > MAX_SPAN || o->ub < -MAX_SPAN || o->lb > MAX_SPAN;
}

/* A type of at most this nesting; smaller if it would become too large to test quickly. */
static struct oracle make_random(int depth)
{
    if (depth == 0)
        return make_predefined();
    struct oracle old = make_random(depth - 1);
    int from_old = pick(0, 3) > 0;
    struct oracle o = from_old ? make_from(&old) : make_struct(depth);
    if (from_old)
        set_plain(&o, &old);
    struct oracle *drop = too_large(&o) ? &o : &old;
    struct oracle result = drop == &o ? old : o;
    release(drop);
    return result;
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
    uint64_t moved =
        skip ? mpi_type_unpack_range(o->type, (uint64_t)count, origin, skip, stream, n)
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

/* A struct of the basic elements one by one has the same signature, and moves the same data. */
static void check_flat(const struct oracle *o)
{
    int *ones = malloc(sizeof *ones * (size_t)o->n);
    MPI_Aint *displs = malloc(sizeof *displs * (size_t)o->n);
    struct mpi_type **types = malloc(sizeof *types * (size_t)o->n), *flat, *again;
    for (int i = 0; i < o->n; i++) {
        ones[i] = 1;
        displs[i] = o->elems[i].disp;
        types[i] = mpi_type_get(o->elems[i].basic);
    }
    check(!mpi_type_make_struct(o->n, ones, displs, types, &flat), "flat struct");
    mpi_type_make_struct(o->n, ones, displs, types, &again);
    check(flat == again, "interning");
    mpi_type_unref(again);
    check(mpi_type_signature(flat, 3) == mpi_type_signature(o->type, 3), "signature");
    check(mpi_type_signature(flat, 2) != mpi_type_signature(o->type, 3), "length of signature");
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
    is_int(mpi_type_live(), 0, "every type was freed");
    return done_testing();
}
