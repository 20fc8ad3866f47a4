/* Random nested datatypes, each with its oracle: a naive typemap.
 *
 * The oracle of a type is the list of its basic elements (handle, size, displacement) in order, and
 * its bounds, grown one copy of the old type at a time. Included by prop_datatype.c alone.
 */
#ifndef TESTS_PROP_TYPE_ORACLE_H
#define TESTS_PROP_TYPE_ORACLE_H

#include <stdlib.h>
#include <string.h>

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
    MPI_Datatype whole;           /* the common predefined type, 0 if several */
    int placed;                   /* copies added so far */
    const struct mpi_type *plain; /* the type without constructors that change nothing */
};

struct predefined {
    MPI_Datatype handle;
    int extent, align, n;
    struct element elems[2];
};

static const struct predefined basic_types[] = {
    {MPI_CHAR, 1, 1, 1, {{MPI_CHAR, 1, 0}}},
    {MPI_SHORT, 2, 2, 1, {{MPI_SHORT, 2, 0}}},
    {MPI_INT, 4, 4, 1, {{MPI_INT, 4, 0}}},
    {MPI_LONG, 8, 8, 1, {{MPI_LONG, 8, 0}}},
    {MPI_DOUBLE, 8, 8, 1, {{MPI_DOUBLE, 8, 0}}},
    {MPI_LONG_DOUBLE, 16, 16, 1, {{MPI_LONG_DOUBLE, 16, 0}}},
    {MPI_C_DOUBLE_COMPLEX, 16, 8, 1, {{MPI_C_DOUBLE_COMPLEX, 16, 0}}},
    {MPI_2INT, 8, 4, 2, {{MPI_INT, 4, 0}, {MPI_INT, 4, 4}}},
    {MPI_DOUBLE_INT, 16, 8, 2, {{MPI_DOUBLE, 8, 0}, {MPI_INT, 4, 8}}},
    {MPI_LONG_INT, 16, 8, 2, {{MPI_LONG, 8, 0}, {MPI_INT, 4, 8}}},
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

/* Whether the large-count form of a constructor is used. */
static bool any_form(void)
{
    return pick(0, 1);
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
    const struct predefined
        *p = &basic_types[pick(0, (int)(sizeof basic_types / sizeof basic_types[0]) - 1)];
    struct oracle o = {.type = mpi_type_get(p->handle),
                       .n = p->n,
                       .ub = p->extent,
                       .align = p->align,
                       .whole = p->handle};
    o.plain = o.type;
    o.elems = malloc(sizeof p->elems);
    memcpy(o.elems, p->elems, sizeof p->elems);
    return o;
}

static struct oracle make_contiguous(const struct oracle *old)
{
    struct oracle o = {0};
    int count = pick(1, 5);
    check(!mpi_type_make_contiguous(any_form(), count, old->type, &o.type), "contiguous");
    place_block(&o, old, 0, count);
    return o;
}

static struct oracle make_vector(const struct oracle *old, int in_bytes)
{
    struct oracle o = {0};
    int count = pick(1, 5), length = pick(1, 4), stride = pick(-6, 8);
    int64_t step = in_bytes ? pick(-100, 200) : stride * (old->ub - old->lb);
    int rc = in_bytes ? mpi_type_make_hvector(any_form(), count, length, step, old->type, &o.type)
                      : mpi_type_make_vector(any_form(), count, length, stride, old->type, &o.type);
    check(!rc, "vector");
    for (int i = 0; i < count; i++)
        place_block(&o, old, i * step, length);
    return o;
}

/* Random blocks, not all empty; displacements in items and, for use instead, in bytes. */
struct lists {
    int count;
    MPI_Count lengths[MAX_LIST], items[MAX_LIST], bytes[MAX_LIST];
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
    int length = (int)l.lengths[0], rc;
    bool large = any_form();
    if (block)
        rc = in_bytes
                 ? mpi_type_make_hindexed_block(large, l.count, length, l.bytes, old->type, &o.type)
                 : mpi_type_make_indexed_block(large, l.count, length, l.items, old->type, &o.type);
    else
        rc = in_bytes
                 ? mpi_type_make_hindexed(large, l.count, l.lengths, l.bytes, old->type, &o.type)
                 : mpi_type_make_indexed(large, l.count, l.lengths, l.items, old->type, &o.type);
    check(!rc, "indexed");
    for (int i = 0; i < l.count; i++)
        place_block(&o, old, in_bytes ? l.bytes[i] : l.items[i] * (old->ub - old->lb),
                    block ? length : (int)l.lengths[i]);
    return o;
}

static struct oracle make_resized(const struct oracle *old)
{
    struct oracle o = {0};
    place(&o, old, 0);
    o.lb = pick(-40, 40);
    o.ub = o.lb + (pick(0, 2) ? old->ub - old->lb + pick(0, 40) : pick(-60, 60));
    check(!mpi_type_make_resized(any_form(), old->type, o.lb, o.ub - o.lb, &o.type), "resized");
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
    MPI_Count sizes[3], subsizes[3], starts[3], at[3] = {0};
    int64_t extent = old->ub - old->lb, items = 1;
    for (int i = 0; i < nd; i++) {
        sizes[i] = pick(1, 5);
        subsizes[i] = pick(0, 2) ? pick(1, (int)sizes[i]) : sizes[i];
        starts[i] = pick(0, (int)(sizes[i] - subsizes[i]));
        items *= sizes[i];
    }
    check(!mpi_type_make_subarray(any_form(), nd, sizes, subsizes, starts, order, old->type,
                                  &o.type),
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

/* How one dimension of a darray is dealt out. */
struct dealt {
    MPI_Count sizes[3], distribs[3], dargs[3], psizes[3], blocks[3];
    int coords[3], nprocs, rank;
};

/* The owner of a random item: its part is not empty. */
static void deal(struct dealt *d, int nd)
{
    d->nprocs = 1;
    d->rank = 0;
    for (int i = 0; i < nd; i++) {
        int size = pick(1, 7), np = pick(1, 3), preset = pick(0, 1), way = pick(0, 2);
        int least = (size + np - 1) / np;
        d->sizes[i] = size;
        d->psizes[i] = way == 0 ? 1 : np;
        d->distribs[i] = way == 0   ? MPI_DISTRIBUTE_NONE
                         : way == 1 ? MPI_DISTRIBUTE_BLOCK
                                    : MPI_DISTRIBUTE_CYCLIC;
        d->blocks[i] = way == 0   ? size
                       : way == 1 ? least + (preset ? 0 : pick(0, 2))
                       : preset   ? 1
                                  : pick(1, 4);
        d->dargs[i] = preset || way == 0 ? MPI_DISTRIBUTE_DFLT_DARG : d->blocks[i];
        d->coords[i] = (int)(pick(0, size - 1) / d->blocks[i] % d->psizes[i]);
        d->nprocs *= (int)d->psizes[i];
        d->rank = d->rank * (int)d->psizes[i] + d->coords[i];
    }
}

static struct oracle make_darray(const struct oracle *old)
{
    struct oracle o = {0};
    struct dealt d;
    int nd = pick(1, 3), order = pick(0, 1) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    int64_t items = 1;
    deal(&d, nd);
    struct mpi_type_darray a = {d.nprocs, d.rank,     nd,      order,
                                d.sizes,  d.distribs, d.dargs, d.psizes};
    check(!mpi_type_make_darray(any_form(), &a, old->type, &o.type), "darray");
    for (int i = 0; i < nd; i++)
        items *= d.sizes[i];
    for (int64_t item = 0; item < items; item++) { /* in memory order, those that are its own */
        int64_t rest = item;
        int own = 1;
        for (int k = 0; k < nd; k++) {
            int i = order == MPI_ORDER_C ? nd - 1 - k : k;
            own = own && rest % d.sizes[i] / d.blocks[i] % d.psizes[i] == d.coords[i];
            rest /= d.sizes[i];
        }
        if (own)
            place(&o, old, item * (old->ub - old->lb));
    }
    o.lb = 0;
    o.ub = items * (old->ub - old->lb);
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
        place_block(&o, &members[i], l.bytes[i], (int)l.lengths[i]);
    }
    check(!mpi_type_make_struct(any_form(), l.count, l.lengths, l.bytes, types, &o.type), "struct");
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
    switch (pick(0, 10)) {
    case 0:
        return make_contiguous(old);
    case 1:
        return make_vector(old, 0);
    case 2:
        return make_vector(old, 1);
    case 3:
        return make_indexed(old, 0, 0);
    case 4:
        return make_indexed(old, 1, 0);
    case 5:
        return make_indexed(old, 0, 1);
    case 6:
        return make_indexed(old, 1, 1);
    case 7:
        return make_resized(old);
    case 8:
        return make_dup(old);
    case 9:
        return make_darray(old);
    default:
        return make_subarray(old);
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

#endif
