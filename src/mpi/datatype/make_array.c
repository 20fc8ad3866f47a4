/* make_array.c - constructors of array types: a part of an array of `old`, at its position in the
 * whole array.
 * 
 * MPI-4.0 section 5.1.3 (subarray) and 5.1.4 (darray). Both select, in every dimension, some of the
 * indices; the type is the product, walked with the fastest dimension innermost. Its bounds are
 * those of the whole array. In every dimension of a darray the indices of a process are blocks of
 * `block` at a distance of `cycle`, the last of which may be shorter:
 * 
 *     CYCLIC(2) over 3 processes, 10 indices, process 1:    . . x x . . . . x x
 *     BLOCK: one block        NONE: one block of all */
#include <stddef.h>

#include "base/mem.h"
#include "mpi/datatype/datatype_internal.h"

/* The indices that a process has in one dimension. */
struct share {
    MPI_Count first;  /* its first index */
    MPI_Count block;  /* indices per block */
    MPI_Count cycle;  /* from block to block; 0 if there is no second one */
    MPI_Count blocks; /* full blocks */
    MPI_Count tail;   /* indices in the block after them */
};

static MPI_Count share_count(const struct share *s)
{
    return s->blocks * s->block + s->tail;
}

/* Its last index; it must have some. */
static MPI_Count share_last(const struct share *s)
{
    MPI_Count before = s->tail ? s->blocks : s->blocks - 1;
    return s->first + before * s->cycle + (s->tail ? s->tail : s->block) - 1;
}

/* Index of the k-th fastest dimension. */
static int dimension(int k, int ndims, int order)
{
    return order == MPI_ORDER_FORTRAN ? k : ndims - 1 - k;
}

/* Geometry of the selection in items: of the whole array, of the selection, and of the distance
 * from the array's first item to the selection's first and last one. */
struct measure {
    type_wide whole, selected, first, last;
};

/* False if the array has more items than 63 bits can count. */
static bool measure_shares(struct measure *m, int ndims, const MPI_Count *sizes,
                           const struct share *shares, int order)
{
    *m = (struct measure){.whole = 1, .selected = 1};
    for (int k = 0; k < ndims; k++) {
        int i = dimension(k, ndims, order);
        MPI_Count n = share_count(&shares[i]);
        m->selected *= n;
        if (n) {
            m->first += shares[i].first * m->whole;
            m->last += share_last(&shares[i]) * m->whole;
        }
        m->whole *= sizes[i];
        if (m->whole > INT64_MAX)
            return false;
    }
    return true;
}

static void measure_bounds(const struct measure *m, const struct mpi_type *old,
                           struct type_bounds *bounds)
{
    if (m->selected && old->size) {
        bounds_add_block(bounds, old, type_mul(m->first, old->extent), 1);
        bounds_add_block(bounds, old, type_mul(m->last, old->extent), 1);
    }
    bounds->lb = 0;
    bounds->ub = type_mul(m->whole, old->extent);
}

/* One more dimension around `inner`, which becomes part of the result. */
static struct type_plan *plan_share(struct type_plan *inner, const struct share *s, int64_t stride)
{
    if (s->blocks + (s->tail > 0) == 1)
        return plan_loop(0, (uint64_t)share_count(s), stride, inner, inner);
    struct type_plan *block = plan_loop(0, (uint64_t)s->block, stride, inner, NULL);
    struct type_plan *plan = plan_create(2);
    plan_append(&plan, 0, (uint64_t)s->blocks, s->cycle * stride, block);
    plan_append(&plan, s->blocks * s->cycle * stride, (uint64_t)s->tail, stride, inner);
    plan->owned = block;
    block->owned = inner;
    return plan;
}

static struct type_plan *plan_shares(int ndims, const MPI_Count *sizes, const struct share *shares,
                                     int64_t disp, int order, const struct mpi_type *old)
{
    struct type_plan *plan = plan_loop(disp, 1, 0, old->plan, NULL);
    int64_t stride = old->extent;
    for (int k = 0; k < ndims; k++) {
        int i = dimension(k, ndims, order);
        plan = plan_share(plan, &shares[i], stride);
        stride *= sizes[i];
    }
    return plan;
}

static int make_array(const struct type_key *key, int ndims, const MPI_Count *sizes,
                      const struct share *shares, int order, struct mpi_type **out)
{
    struct measure m;
    const struct mpi_type *old = key->types[0];
    if (!measure_shares(&m, ndims, sizes, shares, order))
        return MPI_ERR_COUNT;
    struct type_draft d = draft_repeat(old, m.selected);
    measure_bounds(&m, old, &d.bounds);
    if (!draft_fits(&d))
        return MPI_ERR_COUNT;
    struct type_plan *plan = d.size ? plan_shares(ndims, sizes, shares,
                                                  (int64_t)(m.first * old->extent), order, old)
                                    : plan_create(0);
    return draft_finish(key, &d, plan, out);
}

static bool subarray_valid(int ndims, const MPI_Count *sizes, const MPI_Count *subsizes,
                           const MPI_Count *starts, int order)
{
    if (ndims < 0 || (order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN))
        return false;
    for (int i = 0; i < ndims; i++)
        if (sizes[i] < 1 || subsizes[i] < 0 || starts[i] < 0 || subsizes[i] > sizes[i] ||
            starts[i] > sizes[i] - subsizes[i])
            return false;
    return true;
}

int mpi_type_make_subarray(bool large, int ndims, const MPI_Count *sizes, const MPI_Count *subsizes,
                           const MPI_Count *starts, int order, struct mpi_type *old,
                           struct mpi_type **out)
{
    if (!subarray_valid(ndims, sizes, subsizes, starts, order))
        return MPI_ERR_ARG;
    const MPI_Count head = ndims, foot = order;
    enum type_list_kind kind = large ? TYPE_LIST_COUNTS : TYPE_LIST_INTS;
    struct type_key key = {.kind = MPI_COMBINER_SUBARRAY,
                           .nlists = 5,
                           .list = {{TYPE_LIST_INTS, 1, &head},
                                    {kind, ndims, sizes},
                                    {kind, ndims, subsizes},
                                    {kind, ndims, starts},
                                    {TYPE_LIST_INTS, 1, &foot}},
                           .ntypes = 1,
                           .types = &old};
    if (draft_reuse(&key, out))
        return MPI_SUCCESS;
    struct share *shares = mem_zalloc((size_t)ndims * sizeof *shares);
    for (int i = 0; i < ndims; i++)
        shares[i] = (struct share){starts[i], subsizes[i], 0, 1, 0};
    int rc = make_array(&key, ndims, sizes, shares, order, out);
    mem_free(shares);
    return rc;
}

/* Blocks of `block` distributed cyclically over `nprocs` processes. */
static struct share share_cyclic(MPI_Count size, MPI_Count block, MPI_Count nprocs, MPI_Count coord)
{
    MPI_Count all = size / block, rest = size % block; /* full blocks of everybody */
    struct share s = {.block = block};
    s.blocks = all / nprocs + (all % nprocs > coord);
    s.tail = all % nprocs == coord ? rest : 0;
    if (s.blocks || s.tail)
        s.first = coord * block;
    if (s.blocks + (s.tail > 0) > 1)
        s.cycle = nprocs * block;
    return s;
}

/* The share of the process at `coord` in dimension i; an MPI error class. */
static int share_init(struct share *s, const struct mpi_type_darray *a, int i, MPI_Count coord)
{
    MPI_Count size = a->gsizes[i], nprocs = a->psizes[i], darg = a->dargs[i];
    bool none = a->distribs[i] == MPI_DISTRIBUTE_NONE;
    bool block = a->distribs[i] == MPI_DISTRIBUTE_BLOCK;
    bool preset = darg == MPI_DISTRIBUTE_DFLT_DARG;
    if (none ? nprocs != 1 : !block && a->distribs[i] != MPI_DISTRIBUTE_CYCLIC)
        return MPI_ERR_ARG;
    if (none || preset)
        darg = none ? size : block ? (size + nprocs - 1) / nprocs : 1;
    if ((!preset && !none && darg < 1) || (block && (type_wide)darg * nprocs < size))
        return MPI_ERR_ARG;
    *s = share_cyclic(size, darg ? darg : 1, nprocs, coord);
    return MPI_SUCCESS;
}

/* Position in the grid of processes as MPI_Cart_create would number it: the last varies fastest,
 * whatever the order of the array. */
static int darray_shares(const struct mpi_type_darray *a, struct share *shares)
{
    int rest = a->rank, rc = MPI_SUCCESS;
    for (int i = a->ndims - 1; i >= 0 && !rc; i--) {
        rc = share_init(&shares[i], a, i, rest % (int)a->psizes[i]);
        rest /= (int)a->psizes[i];
    }
    return rc;
}

static int darray_check(const struct mpi_type_darray *a)
{
    if (a->ndims < 1 || a->size < 1 || (a->order != MPI_ORDER_C && a->order != MPI_ORDER_FORTRAN))
        return MPI_ERR_ARG;
    if (a->rank < 0 || a->rank >= a->size)
        return MPI_ERR_RANK;
    for (int i = 0; i < a->ndims; i++)
        if (a->gsizes[i] < 0 || a->psizes[i] < 1)
            return MPI_ERR_ARG;
    return MPI_SUCCESS;
}

int mpi_type_make_darray(bool large, const struct mpi_type_darray *a, struct mpi_type *old,
                         struct mpi_type **out)
{
    int rc = darray_check(a);
    if (rc)
        return rc;
    const MPI_Count head[] = {a->size, a->rank, a->ndims}, foot = a->order;
    struct type_key key = {.kind = MPI_COMBINER_DARRAY,
                           .nlists = 6,
                           .list = {{TYPE_LIST_INTS, 3, head},
                                    {large ? TYPE_LIST_COUNTS : TYPE_LIST_INTS, a->ndims,
                                     a->gsizes},
                                    {TYPE_LIST_INTS, a->ndims, a->distribs},
                                    {TYPE_LIST_INTS, a->ndims, a->dargs},
                                    {TYPE_LIST_INTS, a->ndims, a->psizes},
                                    {TYPE_LIST_INTS, 1, &foot}},
                           .ntypes = 1,
                           .types = &old};
    if (draft_reuse(&key, out))
        return MPI_SUCCESS;
    struct share *shares = mem_zalloc((size_t)a->ndims * sizeof *shares);
    rc = darray_shares(a, shares);
    if (!rc)
        rc = make_array(&key, a->ndims, a->gsizes, shares, a->order, out);
    mem_free(shares);
    return rc;
}
