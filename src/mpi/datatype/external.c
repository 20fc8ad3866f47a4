/* external.c - external32: walks a type's basic elements in stream order and converts them
 * (external.h).
 *
 * A window on the native packed stream feeds the conversion: the user's buffer itself if the type
 * is contiguous, else a chunk on the heap that is packed or unpacked a range at a time. Elements
 * never straddle its end: it is advanced before one that would. */
#include "mpi/datatype/external.h"

#include <float.h>
#include <stddef.h>
#include <string.h>

#include "base/mem.h"
#include "mpi/datatype/datatype_internal.h"

#define CHUNK ((uint64_t)16384)
#define LONG_DOUBLE_BYTES (LDBL_MANT_DIG == 64 ? 10 : sizeof(long double)) /* without padding */

/* How the parts of a basic element are converted. */
enum format {
    SWAP,    /* same size, other byte order */
    INTEGER, /* another size: cut, or extended with the sign */
    NATURAL, /* another size, without a sign */
    QUAD     /* long double as binary128 */
};

struct layout {
    uint16_t size, external; /* bytes of a part here, and there */
    uint8_t parts;           /* equal ones */
    uint8_t format;
};

/* Parts of the basic types that are not one number of the same size. */
static struct layout layout_of(MPI_Datatype basic, uint64_t size)
{
    switch (basic) {
    case MPI_LONG:
        return (struct layout){8, 4, 1, INTEGER};
    case MPI_UNSIGNED_LONG:
        return (struct layout){8, 4, 1, NATURAL};
    case MPI_WCHAR:
        return (struct layout){4, 2, 1, NATURAL};
    case MPI_LONG_DOUBLE:
        return (struct layout){16, 16, 1, QUAD};
    case MPI_C_LONG_DOUBLE_COMPLEX:
    case MPI_CXX_LONG_DOUBLE_COMPLEX:
        return (struct layout){16, 16, 2, QUAD};
    case MPI_C_FLOAT_COMPLEX:
    case MPI_CXX_FLOAT_COMPLEX:
    case MPI_COMPLEX:
    case MPI_COMPLEX8:
    case MPI_2INT:
    case MPI_2INTEGER:
    case MPI_2REAL:
        return (struct layout){4, 4, 2, SWAP};
    case MPI_C_DOUBLE_COMPLEX:
    case MPI_CXX_DOUBLE_COMPLEX:
    case MPI_DOUBLE_COMPLEX:
    case MPI_COMPLEX16:
    case MPI_2DOUBLE_PRECISION:
        return (struct layout){8, 8, 2, SWAP};
    case MPI_COMPLEX32:
        return (struct layout){16, 16, 2, SWAP};
    default:
        return (struct layout){(uint16_t)size, (uint16_t)size, 1, SWAP};
    }
}

static void reverse(unsigned char *to, const unsigned char *from, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        to[i] = from[n - 1 - i];
}

static void pack_part(const struct layout *l, const unsigned char *here, unsigned char *there)
{
    if (l->format == QUAD) {
        long double value;
        memcpy(&value, here, sizeof value);
        __float128 quad = value;
        reverse(there, (unsigned char *)&quad, sizeof quad);
    } else {
        reverse(there, here, l->external); /* little-endian: a cut number is its first bytes */
    }
}

static void unpack_part(const struct layout *l, unsigned char *here, const unsigned char *there)
{
    if (l->format == QUAD) {
        __float128 quad;
        reverse((unsigned char *)&quad, there, sizeof quad);
        long double value = (long double)quad;
        memset(here, 0, l->size);
        memcpy(here, &value, LONG_DOUBLE_BYTES);
        return;
    }
    reverse(here, there, l->external);
    int negative = l->format == INTEGER && there[0] & 0x80;
    memset(here + l->external, negative ? 0xff : 0, (size_t)(l->size - l->external));
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "external32 is the other byte order");

/* A pass over the items: what it has reached in both streams, and the window. */
struct pass {
    const struct mpi_type *type;
    uint64_t count;
    unsigned char *buf; /* the user's */
    unsigned char *external;
    int packing;
    unsigned char *window; /* native bytes [start, end) of the stream */
    uint64_t start, end, at;
};

/* Let the window begin at the current position. */
static void move_window(struct pass *p)
{
    if (!p->packing && p->at > p->start)
        mpi_type_unpack_range(p->type, p->count, p->buf, p->start, p->window, p->at - p->start);
    uint64_t total = p->type->size * p->count;
    p->start = p->at;
    p->end = total - p->at < CHUNK ? total : p->at + CHUNK;
    if (p->packing)
        mpi_type_pack_range(p->type, p->count, p->buf, p->start, p->window, p->end - p->start);
}

static void convert_part(struct pass *p, const struct layout *l)
{
    if (p->end - p->at < l->size)
        move_window(p);
    unsigned char *here = p->window + (p->at - p->start);
    if (p->packing)
        pack_part(l, here, p->external);
    else
        unpack_part(l, here, p->external);
    p->external += l->external;
    p->at += l->size;
}

/* The layout of the second member of a pair with different members, an int. */
static const struct layout int_layout = {4, 4, 1, SWAP};

static int is_mixed_pair(const struct mpi_type *basic)
{
    return basic->nelems == 2 && 2 * type_first_member(basic) != basic->size;
}

/* The first member of a mixed pair; MPI_FLOAT_INT's are alike. */
static MPI_Datatype first_basic(const struct mpi_type *pair)
{
    switch (pair->handle) {
    case MPI_DOUBLE_INT:
        return MPI_DOUBLE;
    case MPI_LONG_INT:
        return MPI_LONG;
    case MPI_SHORT_INT:
        return MPI_SHORT;
    default:
        return MPI_LONG_DOUBLE;
    }
}

/* Layouts of a predefined type: one, and for a mixed pair a second (else with 0 parts). */
static void layouts(const struct mpi_type *basic, struct layout out[2])
{
    out[1] = (struct layout){0, 0, 0, SWAP};
    if (basic->handle == MPI_FLOAT_INT) {
        out[0] = (struct layout){4, 4, 2, SWAP};
    } else if (is_mixed_pair(basic)) {
        out[0] = layout_of(first_basic(basic), type_first_member(basic));
        out[1] = int_layout;
    } else {
        out[0] = layout_of(basic->elem, basic->size);
    }
}

static void convert_basic(struct pass *p, const struct mpi_type *basic, uint64_t n)
{
    struct layout l[2];
    layouts(basic, l);
    for (uint64_t i = 0; i < n; i++)
        for (int k = 0; k < 2; k++)
            for (int part = 0; part < l[k].parts; part++)
                convert_part(p, &l[k]);
}

/* All elements of `n` items of t in order. Recursion as deep as structs are nested. */
static void convert(struct pass *p, const struct mpi_type *t, uint64_t n)
{
    while (t->size && !t->elem && t->kind != MPI_COMBINER_STRUCT) {
        n *= t->size / t->types[0]->size;
        t = t->types[0];
    }
    if (!t->size)
        return;
    if (t->elem) {
        const struct mpi_type *basic = mpi_type_get(t->elem);
        convert_basic(p, basic, n * (t->size / basic->size));
        return;
    }
    for (uint64_t i = 0; i < n; i++)
        for (MPI_Count k = 0; k < t->ntypes; k++)
            convert(p, t->types[k], type_block_length(t, k));
}

static uint64_t basic_external_size(const struct mpi_type *basic)
{
    struct layout l[2];
    layouts(basic, l);
    return (uint64_t)l[0].parts * l[0].external + (uint64_t)l[1].parts * l[1].external;
}

uint64_t type_external_size(const struct mpi_type *t)
{
    uint64_t n = 1, size = 0;
    while (t->size && !t->elem && t->kind != MPI_COMBINER_STRUCT) {
        n *= t->size / t->types[0]->size;
        t = t->types[0];
    }
    if (!t->size)
        return 0;
    if (t->elem) {
        const struct mpi_type *basic = mpi_type_get(t->elem);
        return n * (t->size / basic->size) * basic_external_size(basic);
    }
    for (MPI_Count k = 0; k < t->ntypes; k++)
        size += type_block_length(t, k) * type_external_size(t->types[k]);
    return n * size;
}

static uint64_t run(struct pass *p)
{
    unsigned char *first = p->external;
    if (mpi_data_is_hollow(p->buf, p->type) || mpi_is_hollow(p->external))
        return p->count * type_external_size(p->type);
    if (p->type->contig) {
        p->window = p->buf;
        p->end = p->type->size * p->count;
        convert(p, p->type, p->count);
    } else {
        p->window = mem_alloc(CHUNK);
        convert(p, p->type, p->count);
        if (!p->packing)
            mpi_type_unpack_range(p->type, p->count, p->buf, p->start, p->window, p->at - p->start);
        mem_free(p->window);
    }
    return (uint64_t)(p->external - first);
}

uint64_t type_external_pack(const struct mpi_type *t, uint64_t count, const void *buf, void *out)
{
    struct pass p = {.type = t,
                     .count = count,
                     .buf = (unsigned char *)(uintptr_t)buf,
                     .external = out,
                     .packing = 1};
    return run(&p);
}

uint64_t type_external_unpack(const struct mpi_type *t, uint64_t count, void *buf, const void *in)
{
    struct pass p = {.type = t,
                     .count = count,
                     .buf = buf,
                     .external = (unsigned char *)(uintptr_t)in};
    return run(&p);
}
