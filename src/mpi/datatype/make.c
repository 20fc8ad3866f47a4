/* Constructors of derived datatypes.
 *
 * Each one describes the call as a key, looks it up, and only if it is new computes bounds, checks
 * that everything fits in 63 bits, and compiles the plan. A draft collects what describes the new
 * type. Types that repeat one old type share most of the work; struct is separate.
 */
#include <limits.h>
#include <stddef.h>

#include "mpi/datatype/datatype_internal.h"

struct draft {
    type_wide size;
    struct type_bounds bounds;
    uint16_t align;
    MPI_Datatype elem;
    uint64_t nelems, sig;
};

/* A draft of `items` items of `old`, bounds apart. */
static struct draft draft_repeat(const struct mpi_type *old, type_wide items)
{
    struct draft d = {.size = items * (type_wide)old->size};
    if (d.size == 0 || d.size > INT64_MAX)
        return d;
    d.align = old->align;
    d.elem = old->elem;
    d.nelems = old->nelems * (uint64_t)items;
    d.sig = sig_repeat(old->sig, old->nelems, (uint64_t)items);
    return d;
}

static bool draft_fits(const struct draft *d)
{
    return bounds_fit(&d->bounds, d->size);
}

static bool plan_is_dense(const struct type_plan *plan)
{
    return !plan->nparts || (plan->nparts == 1 && !plan->parts[0].child &&
                             plan->parts[0].count == 1 && plan->parts[0].disp == 0);
}

/* Enter the new type. The plan, unless it is the first old type's, becomes the type's property. */
static int finish(const struct type_key *key, const struct draft *d, const struct type_plan *plan,
                  struct mpi_type **out)
{
    struct mpi_type *t = table_add(key);
    if (!t) {
        if (!key->ntypes || plan != key->types[0]->plan)
            plan_destroy((struct type_plan *)(uintptr_t)plan);
        return MPI_ERR_INTERN;
    }
    bounds_store(&d->bounds, t);
    t->size = (uint64_t)d->size;
    t->align = d->align;
    t->elem = d->elem;
    t->nelems = d->nelems;
    t->sig = d->sig;
    t->plan = plan;
    t->contig = t->lb == 0 && t->extent == (int64_t)t->size && plan_is_dense(plan);
    *out = t;
    return MPI_SUCCESS;
}

/* A ref to the type of this key, if it exists. */
static bool reuse(const struct type_key *key, struct mpi_type **out)
{
    struct mpi_type *t = table_find(key);
    if (!t)
        return false;
    mpi_type_ref(t);
    *out = t;
    return true;
}

int mpi_type_make_contiguous(uint64_t count, struct mpi_type *old, struct mpi_type **out)
{
    if (count > INT64_MAX)
        return MPI_ERR_COUNT;
    int small = (int)count;
    MPI_Aint large = (MPI_Aint)count;
    struct type_key key = {.kind = MPI_COMBINER_CONTIGUOUS, .ntypes = 1, .types = &old};
    if (count <= INT_MAX) {
        key.nints = key.list_len[0] = 1;
        key.list[0] = &small;
    } else {
        key.naints = 1;
        key.aints = &large;
    }
    if (reuse(&key, out))
        return MPI_SUCCESS;
    struct draft d = draft_repeat(old, (type_wide)count);
    if (d.size)
        bounds_add_block(&d.bounds, old, 0, (int64_t)count);
    if (!draft_fits(&d))
        return MPI_ERR_COUNT;
    return finish(&key, &d, plan_loop(0, count, old->extent, old->plan, NULL), out);
}

/* Vectors; stride in bytes. */
static int make_strided(const struct type_key *key, int count, int blocklength, type_wide stride,
                        struct mpi_type **out)
{
    if (count < 0 || blocklength < 0)
        return MPI_ERR_COUNT;
    if (reuse(key, out))
        return MPI_SUCCESS;
    const struct mpi_type *old = key->types[0];
    struct draft d = draft_repeat(old, (type_wide)count * blocklength);
    if (count && old->size) {
        bounds_add_block(&d.bounds, old, 0, blocklength);
        bounds_add_block(&d.bounds, old, (count - 1) * stride, blocklength);
    }
    if (!draft_fits(&d))
        return MPI_ERR_COUNT;
    struct type_plan *block = plan_loop(0, (uint64_t)blocklength, old->extent, old->plan, NULL);
    /* A stride that does not fit belongs to a single block, and is not used. */
    int64_t step = count > 1 ? (int64_t)stride : 0;
    return finish(key, &d, plan_loop(0, (uint64_t)count, step, block, block), out);
}

int mpi_type_make_vector(int count, int blocklength, int stride, struct mpi_type *old,
                         struct mpi_type **out)
{
    const int ints[] = {count, blocklength, stride};
    struct type_key key = {.kind = MPI_COMBINER_VECTOR,
                           .nints = 3,
                           .ntypes = 1,
                           .list_len = {3},
                           .list = {ints},
                           .types = &old};
    return make_strided(&key, count, blocklength, (type_wide)stride * old->extent, out);
}

int mpi_type_make_hvector(int count, int blocklength, MPI_Aint stride, struct mpi_type *old,
                          struct mpi_type **out)
{
    const int ints[] = {count, blocklength};
    struct type_key key = {.kind = MPI_COMBINER_HVECTOR,
                           .nints = 2,
                           .naints = 1,
                           .ntypes = 1,
                           .list_len = {2},
                           .list = {ints},
                           .aints = &stride,
                           .types = &old};
    return make_strided(&key, count, blocklength, stride, out);
}

/* The lists of an indexed type: blocklengths or one blocklength for all, and displacements in items
 * or in bytes. */
struct blocks {
    int count;
    int blocklength;
    const int *blocklengths; /* NULL: all blocklength */
    const int *items;        /* NULL: bytes */
    const MPI_Aint *bytes;
};

static int block_length(const struct blocks *b, int i)
{
    return b->blocklengths ? b->blocklengths[i] : b->blocklength;
}

static type_wide block_disp(const struct blocks *b, int i, const struct mpi_type *old)
{
    return b->items ? (type_wide)b->items[i] * old->extent : (type_wide)b->bytes[i];
}

static bool blocks_valid(const struct blocks *b)
{
    if (b->count < 0 || (!b->blocklengths && b->blocklength < 0))
        return false;
    for (int i = 0; b->blocklengths && i < b->count; i++)
        if (b->blocklengths[i] < 0)
            return false;
    return true;
}

static struct draft draft_blocks(const struct blocks *b, const struct mpi_type *old)
{
    type_wide items = 0;
    for (int i = 0; i < b->count; i++)
        items += block_length(b, i);
    struct draft d = draft_repeat(old, items);
    for (int i = 0; old->size && i < b->count; i++)
        if (!b->blocklengths || b->blocklengths[i])
            bounds_add_block(&d.bounds, old, block_disp(b, i, old), block_length(b, i));
    return d;
}

static int make_indexed(struct type_key *key, const struct blocks *b, struct mpi_type **out)
{
    if (reuse(key, out))
        return MPI_SUCCESS;
    const struct mpi_type *old = key->types[0];
    struct draft d = draft_blocks(b, old);
    if (!draft_fits(&d))
        return MPI_ERR_COUNT;
    struct type_plan *plan = plan_create(4);
    for (int i = 0; i < b->count; i++)
        if (block_length(b, i))
            plan_append(&plan, (int64_t)block_disp(b, i, old), (uint64_t)block_length(b, i),
                        old->extent, old->plan);
    return finish(key, &d, plan, out);
}

int mpi_type_make_indexed(int count, const int *blocklengths, const int *displs,
                          struct mpi_type *old, struct mpi_type **out)
{
    struct blocks b = {.count = count, .blocklengths = blocklengths, .items = displs};
    if (!blocks_valid(&b))
        return MPI_ERR_COUNT;
    struct type_key key = {.kind = MPI_COMBINER_INDEXED,
                           .nints = 1 + 2 * count,
                           .ntypes = 1,
                           .list_len = {1, count, count},
                           .list = {&count, blocklengths, displs},
                           .types = &old};
    return make_indexed(&key, &b, out);
}

int mpi_type_make_hindexed(int count, const int *blocklengths, const MPI_Aint *displs,
                           struct mpi_type *old, struct mpi_type **out)
{
    struct blocks b = {.count = count, .blocklengths = blocklengths, .bytes = displs};
    if (!blocks_valid(&b))
        return MPI_ERR_COUNT;
    struct type_key key = {.kind = MPI_COMBINER_HINDEXED,
                           .nints = 1 + count,
                           .naints = count,
                           .ntypes = 1,
                           .list_len = {1, count},
                           .list = {&count, blocklengths},
                           .aints = displs,
                           .types = &old};
    return make_indexed(&key, &b, out);
}

int mpi_type_make_indexed_block(int count, int blocklength, const int *displs,
                                struct mpi_type *old, struct mpi_type **out)
{
    struct blocks b = {.count = count, .blocklength = blocklength, .items = displs};
    if (!blocks_valid(&b))
        return MPI_ERR_COUNT;
    const int ints[] = {count, blocklength};
    struct type_key key = {.kind = MPI_COMBINER_INDEXED_BLOCK,
                           .nints = 2 + count,
                           .ntypes = 1,
                           .list_len = {2, count},
                           .list = {ints, displs},
                           .types = &old};
    return make_indexed(&key, &b, out);
}

int mpi_type_make_hindexed_block(int count, int blocklength, const MPI_Aint *displs,
                                 struct mpi_type *old, struct mpi_type **out)
{
    struct blocks b = {.count = count, .blocklength = blocklength, .bytes = displs};
    if (!blocks_valid(&b))
        return MPI_ERR_COUNT;
    const int ints[] = {count, blocklength};
    struct type_key key = {.kind = MPI_COMBINER_HINDEXED_BLOCK,
                           .nints = 2,
                           .naints = count,
                           .ntypes = 1,
                           .list_len = {2},
                           .list = {ints},
                           .aints = displs,
                           .types = &old};
    return make_indexed(&key, &b, out);
}

static void draft_add_member(struct draft *d, const struct mpi_type *t, int blocklength)
{
    type_wide bytes = (type_wide)t->size * blocklength;
    if (bytes == 0)
        return;
    d->elem = d->size == 0 || d->elem == t->elem ? t->elem : 0;
    d->size += bytes;
    if (d->size > INT64_MAX)
        return;
    uint64_t elems = t->nelems * (uint64_t)blocklength;
    d->sig = sig_concat(d->sig, sig_repeat(t->sig, t->nelems, (uint64_t)blocklength), elems);
    d->nelems += elems;
    d->align = t->align > d->align ? t->align : d->align;
}

int mpi_type_make_struct(int count, const int *blocklengths, const MPI_Aint *displs,
                         struct mpi_type *const *types, struct mpi_type **out)
{
    struct blocks b = {.count = count, .blocklengths = blocklengths, .bytes = displs};
    if (!blocks_valid(&b))
        return MPI_ERR_COUNT;
    struct type_key key = {.kind = MPI_COMBINER_STRUCT,
                           .nints = 1 + count,
                           .naints = count,
                           .ntypes = count,
                           .list_len = {1, count},
                           .list = {&count, blocklengths},
                           .aints = displs,
                           .types = types};
    if (reuse(&key, out))
        return MPI_SUCCESS;
    struct draft d = {.size = 0};
    for (int i = 0; i < count; i++)
        draft_add_member(&d, types[i], blocklengths[i]);
    bounds_of_struct(&d.bounds, count, blocklengths, displs, types, d.align);
    if (!draft_fits(&d))
        return MPI_ERR_COUNT;
    struct type_plan *plan = plan_create(4);
    for (int i = 0; i < count; i++)
        plan_append(&plan, displs[i], (uint64_t)blocklengths[i], types[i]->extent, types[i]->plan);
    return finish(&key, &d, plan, out);
}

int mpi_type_make_resized(struct mpi_type *old, MPI_Aint lb, MPI_Aint extent,
                          struct mpi_type **out)
{
    const MPI_Aint aints[] = {lb, extent};
    struct type_key key = {.kind = MPI_COMBINER_RESIZED,
                           .naints = 2,
                           .ntypes = 1,
                           .aints = aints,
                           .types = &old};
    if (reuse(&key, out))
        return MPI_SUCCESS;
    struct draft d = draft_repeat(old, 1);
    d.bounds = (struct type_bounds){lb, (type_wide)lb + extent, old->true_lb,
                                    (type_wide)old->true_lb + old->true_extent, true};
    if (!draft_fits(&d))
        return MPI_ERR_COUNT;
    return finish(&key, &d, old->plan, out);
}

int mpi_type_make_dup(struct mpi_type *old, struct mpi_type **out)
{
    struct type_key key = {.kind = MPI_COMBINER_DUP, .ntypes = 1, .types = &old};
    if (reuse(&key, out))
        return MPI_SUCCESS;
    struct draft d = draft_repeat(old, 1);
    d.bounds = (struct type_bounds){old->lb, (type_wide)old->lb + old->extent, old->true_lb,
                                    (type_wide)old->true_lb + old->true_extent, true};
    return finish(&key, &d, old->plan, out);
}

static bool subarray_valid(int ndims, const int *sizes, const int *subsizes, const int *starts,
                           int order)
{
    if (ndims < 0 || (order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN))
        return false;
    for (int i = 0; i < ndims; i++)
        if (sizes[i] < 1 || subsizes[i] < 0 || starts[i] < 0 || subsizes[i] > sizes[i] ||
            starts[i] > sizes[i] - subsizes[i])
            return false;
    return true;
}

/* Geometry of a subarray in items: of the whole array, of the selection, and of the distance from
 * the array's first item to the selection's first and last one. */
struct subarray {
    type_wide whole, selected, first, last;
};

/* Index of the k-th fastest dimension. */
static int dimension(int k, int ndims, int order)
{
    return order == MPI_ORDER_FORTRAN ? k : ndims - 1 - k;
}

/* False if the array has more items than 63 bits can count. */
static bool subarray_measure(struct subarray *s, int ndims, const int *sizes, const int *subsizes,
                             const int *starts, int order)
{
    *s = (struct subarray){.whole = 1, .selected = 1};
    for (int k = 0; k < ndims; k++) {
        int i = dimension(k, ndims, order);
        s->first += starts[i] * s->whole;
        s->last += ((type_wide)starts[i] + subsizes[i] - 1) * s->whole;
        s->whole *= sizes[i];
        s->selected *= subsizes[i];
        if (s->whole > INT64_MAX)
            return false;
    }
    return true;
}

static void subarray_bounds(const struct subarray *s, const struct mpi_type *old,
                            struct type_bounds *bounds)
{
    if (s->selected && old->size) {
        bounds_add_block(bounds, old, s->first * old->extent, 1);
        bounds_add_block(bounds, old, s->last * old->extent, 1);
    }
    bounds->lb = 0;
    bounds->ub = s->whole * old->extent;
}

static struct type_plan *subarray_plan(int ndims, const int *sizes, const int *subsizes,
                                       int64_t disp, int order, const struct mpi_type *old)
{
    struct type_plan *plan = plan_loop(disp, 1, 0, old->plan, NULL);
    type_wide stride = old->extent;
    for (int k = 0; k < ndims; k++) {
        int i = dimension(k, ndims, order);
        int64_t step = subsizes[i] > 1 ? (int64_t)stride : 0;
        plan = plan_loop(0, (uint64_t)subsizes[i], step, plan, plan);
        stride *= sizes[i];
    }
    return plan;
}

int mpi_type_make_subarray(int ndims, const int *sizes, const int *subsizes, const int *starts,
                           int order, struct mpi_type *old, struct mpi_type **out)
{
    if (!subarray_valid(ndims, sizes, subsizes, starts, order))
        return MPI_ERR_ARG;
    struct type_key key = {.kind = MPI_COMBINER_SUBARRAY,
                           .nints = 2 + 3 * ndims,
                           .ntypes = 1,
                           .list_len = {1, ndims, ndims, ndims, 1},
                           .list = {&ndims, sizes, subsizes, starts, &order},
                           .types = &old};
    if (reuse(&key, out))
        return MPI_SUCCESS;
    struct subarray s;
    if (!subarray_measure(&s, ndims, sizes, subsizes, starts, order))
        return MPI_ERR_COUNT;
    struct draft d = draft_repeat(old, s.selected);
    subarray_bounds(&s, old, &d.bounds);
    if (!draft_fits(&d))
        return MPI_ERR_COUNT;
    int64_t disp = (int64_t)(s.first * old->extent);
    return finish(&key, &d, subarray_plan(ndims, sizes, subsizes, disp, order, old), out);
}
