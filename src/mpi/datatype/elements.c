/* elements.c - counts basic elements in partial data, and computes type signatures.
 * 
 * All constructors but struct repeat one type, so in stream order such a type is size / old->size
 * items of it; a struct is its members in turn. Descending that way reaches the element that a byte
 * position cuts.
 * 
 * A signature is the sequence of basic handles s1..sn read as the polynomial s1 B^(n-1) + ... + sn
 * modulo the prime 2^61 - 1: concatenation and repetition then need only the parts' hashes and
 * lengths. */
#include <stddef.h>

#include "mpi/datatype/datatype_internal.h"

static uint64_t mul(uint64_t a, uint64_t b)
{
    return (uint64_t)((unsigned __int128)a * b % TYPE_SIG_MOD);
}

static uint64_t power(uint64_t base, uint64_t exponent)
{
    uint64_t result = 1;
    for (; exponent; exponent >>= 1, base = mul(base, base))
        if (exponent & 1)
            result = mul(result, base);
    return result;
}

uint64_t sig_concat(uint64_t a, uint64_t b, uint64_t b_elems)
{
    return (mul(a, power(TYPE_SIG_BASE, b_elems)) + b) % TYPE_SIG_MOD;
}

uint64_t sig_repeat(uint64_t sig, uint64_t elems, uint64_t n)
{
    uint64_t shift = power(TYPE_SIG_BASE, elems);
    uint64_t result = 0;
    for (; n; n >>= 1) {
        if (n & 1)
            result = (mul(result, shift) + sig) % TYPE_SIG_MOD;
        sig = (mul(sig, shift) + sig) % TYPE_SIG_MOD;
        shift = mul(shift, shift);
    }
    return result;
}

/* The first basic type of a predefined pair. */
static MPI_Datatype first_of_pair(MPI_Datatype pair)
{
    static const MPI_Datatype first[][2] = {{MPI_FLOAT_INT, MPI_FLOAT},
                                            {MPI_DOUBLE_INT, MPI_DOUBLE},
                                            {MPI_LONG_INT, MPI_LONG},
                                            {MPI_SHORT_INT, MPI_SHORT},
                                            {MPI_2INT, MPI_INT},
                                            {MPI_LONG_DOUBLE_INT, MPI_LONG_DOUBLE},
                                            {MPI_2INTEGER, MPI_INTEGER},
                                            {MPI_2REAL, MPI_REAL},
                                            {MPI_2DOUBLE_PRECISION, MPI_DOUBLE_PRECISION}};

    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        if (first[i][0] == pair)
            return first[i][1];
    return pair;
}

/* Adds the complete items of *t among the first *n elements to sig; the rest is then in *t. */
static uint64_t add_whole(uint64_t sig, const struct mpi_type *t, uint64_t times, uint64_t *n)
{
    uint64_t elems = t->nelems * times;

    *n -= elems;
    return sig_concat(sig, sig_repeat(t->sig, t->nelems, times), elems);
}

uint64_t mpi_type_prefix_signature(const struct mpi_type *t, uint64_t n)
{
    uint64_t sig = 0;

    while (n && t->nelems) {
        const struct mpi_type *next;

        sig = add_whole(sig, t, n / t->nelems, &n);
        if (!n)
            break;
        if (t->builtin)
            return sig_concat(sig, (uint32_t)first_of_pair(t->elem), 1);
        next = t->types[0];
        for (MPI_Count i = 0; t->kind == MPI_COMBINER_STRUCT && i < t->ntypes; i++) {
            next = t->types[i];
            if (n < next->nelems * type_block_length(t, i))
                break;
            sig = add_whole(sig, next, type_block_length(t, i), &n);
        }
        t = next;
    }
    return sig;
}

struct mpi_type *mpi_type_of_packed(struct mpi_type *t, uint64_t *count)
{
    if (t->contig)
        return t;
    *count *= t->size;
    return mpi_type_get(MPI_PACKED);
}

uint64_t type_first_member(const struct mpi_type *t)
{
    if (t->nelems < 2)
        return t->size;
    int equal_members = ((uint32_t)t->handle & MPI_TYPE_CLASS_MASK) == MPI_TYPE_CLASS_BUILTIN;
    return equal_members ? t->size / 2 : t->size - sizeof(int);
}

/* Whole elements in the first `bytes` bytes of one item; bytes < size. */
static uint64_t elements_in_item(const struct mpi_type *t, uint64_t bytes)
{
    uint64_t n = 0;
    while (!t->builtin) {
        const struct mpi_type *next = t->types[0];
        for (MPI_Count i = 0; t->kind == MPI_COMBINER_STRUCT && i < t->ntypes; i++) {
            next = t->types[i];
            uint64_t block = next->size * type_block_length(t, i);
            if (bytes < block)
                break;
            bytes -= block;
            n += next->nelems * type_block_length(t, i);
        }
        n += bytes / next->size * next->nelems;
        bytes %= next->size;
        t = next;
    }
    return n + (bytes && bytes >= type_first_member(t));
}

int64_t mpi_type_elements(const struct mpi_type *t, uint64_t bytes)
{
    if (!t->size)
        return bytes ? MPI_UNDEFINED : 0;
    uint64_t n = bytes / t->size * t->nelems;
    uint64_t rest = bytes % t->size;
    const struct mpi_type *elem = t->elem ? mpi_type_get(t->elem) : NULL;
    if (elem && elem->nelems == 1)
        return rest % elem->size ? MPI_UNDEFINED : (int64_t)(n + rest / elem->size);
    return (int64_t)(rest ? n + elements_in_item(t, rest) : n);
}

uint64_t mpi_type_element_bytes(const struct mpi_type *t, uint64_t n)
{
    if (!t->nelems)
        return 0;
    uint64_t bytes = n / t->nelems * t->size;
    n %= t->nelems;
    while (n && !t->builtin) {
        const struct mpi_type *next = t->types[0];
        for (MPI_Count i = 0; t->kind == MPI_COMBINER_STRUCT && i < t->ntypes; i++) {
            next = t->types[i];
            uint64_t block = next->nelems * type_block_length(t, i);
            if (n < block)
                break;
            n -= block;
            bytes += next->size * type_block_length(t, i);
        }
        bytes += n / next->nelems * next->size;
        n %= next->nelems;
        t = next;
    }
    return n ? bytes + type_first_member(t) : bytes;
}

uint64_t mpi_type_whole_bytes(const struct mpi_type *t, uint64_t bytes)
{
    uint64_t rest = t->size ? bytes % t->size : bytes;

    return bytes - rest +
           (t->size && rest ? mpi_type_element_bytes(t, elements_in_item(t, rest)) : 0);
}
