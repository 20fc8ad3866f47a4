/*
 * make.c - constructors of derived datatypes.
 *
 * Each one describes the call as a key, looks it up, and only if it is new computes bounds, checks
 * that everything fits in 63 bits, and compiles the plan. A draft collects what describes the new
 * type. Types that repeat one old type share most of the work; struct is separate. Arrays are in
 * make_array.c. The entries have checked that counts and block lengths are not negative.
 */
#include <stddef.h>

#include "mpi/datatype/datatype_internal.h"

/* A list of the key: kept as `small` kind in the int form of a call, as counts in the large one. */
#define LIST(small, length, values)                                  \
    {                                                                \
        large ? TYPE_LIST_COUNTS : TYPE_LIST_##small, length, values \
    }

struct type_draft draft_repeat(const struct mpi_type *old, type_wide items)
{
    struct type_draft d = {.size = type_mul(items, (type_wide)old->size)};
    if (d.size == 0 || d.size > INT64_MAX)
        return d;
    d.align = old->align;
    d.elem = old->elem;
    d.nelems = old->nelems * (uint64_t)items;
    d.sig = sig_repeat(old->sig, old->nelems, (uint64_t)items);
    return d;
}

bool draft_fits(const struct type_draft *d)
{
    return bounds_fit(&d->bounds, d->size);
}

static bool plan_is_dense(const struct type_plan *plan)
{
    return !plan->nloops || (plan->nloops == 1 && !plan->loops[0].child &&
                             plan->loops[0].count == 1 && plan->loops[0].disp == 0);
}

int draft_finish(const struct type_key *key, const struct type_draft *d,
                 const struct type_plan *plan, struct mpi_type **out)
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

bool draft_reuse(const struct type_key *key, struct mpi_type **out)
{
    struct mpi_type *t = table_find(key);
    if (!t)
        return false;
    mpi_type_ref(t);
    *out = t;
    return true;
}

int mpi_type_make_contiguous(bool large, MPI_Count count, struct mpi_type *old,
                             struct mpi_type **out)
{
    struct type_key key = {.kind = MPI_COMBINER_CONTIGUOUS,
                           .nlists = 1,
                           .list = {LIST(INTS, 1, &count)},
                           .ntypes = 1,
                           .types = &old};
    if (draft_reuse(&key, out))
        return MPI_SUCCESS;
    struct type_draft d = draft_repeat(old, count);
    if (d.size)
        bounds_add_block(&d.bounds, old, 0, count);
    if (!draft_fits(&d))
        return MPI_ERR_COUNT;
    return draft_finish(&key, &d, plan_loop(0, (uint64_t)count, old->extent, old->plan, NULL), out);
}

/* Vectors; stride in bytes. */
static int make_strided(const struct type_key *key, MPI_Count count, MPI_Count blocklength,
                        type_wide stride, struct mpi_type **out)
{
    if (draft_reuse(key, out))
        return MPI_SUCCESS;
    const struct mpi_type *old = key->types[0];
    struct type_draft d = draft_repeat(old, (type_wide)count * blocklength);
    if (count && old->size) {
        bounds_add_block(&d.bounds, old, 0, blocklength);
        bounds_add_block(&d.bounds, old, type_mul(count - 1, stride), blocklength);
    }
    if (!draft_fits(&d))
        return MPI_ERR_COUNT;
    struct type_plan *block = plan_loop(0, (uint64_t)blocklength, old->extent, old->plan, NULL);
    /* A stride that does not fit belongs to a single block, and is not used. */
    int64_t step = count > 1 ? (int64_t)stride : 0;
    return draft_finish(key, &d, plan_loop(0, (uint64_t)count, step, block, block), out);
}

int mpi_type_make_vector(bool large, MPI_Count count, MPI_Count blocklength, MPI_Count stride,
                         struct mpi_type *old, struct mpi_type **out)
{
    const MPI_Count ints[] = {count, blocklength, stride};
    struct type_key key = {.kind = MPI_COMBINER_VECTOR,
                           .nlists = 1,
                           .list = {LIST(INTS, 3, ints)},
                           .ntypes = 1,
                           .types = &old};
    return make_strided(&key, count, blocklength, type_mul(stride, old->extent), out);
}

int mpi_type_make_hvector(bool large, MPI_Count count, MPI_Count blocklength, MPI_Count stride,
                          struct mpi_type *old, struct mpi_type **out)
{
    const MPI_Count ints[] = {count, blocklength};
    struct type_key key = {.kind = MPI_COMBINER_HVECTOR,
                           .nlists = 2,
                           .list = {LIST(INTS, 2, ints), LIST(AINTS, 1, &stride)},
                           .ntypes = 1,
                           .types = &old};
    return make_strided(&key, count, blocklength, stride, out);
}

/* The lists of an indexed type: blocklengths or one blocklength for all, and displacements in units
 * of `unit` bytes. */
struct blocks {
    MPI_Count count;
    MPI_Count blocklength;
    const MPI_Count *blocklengths; /* NULL: all blocklength */
    const MPI_Count *displs;
    int64_t unit;
};

static MPI_Count block_length(const struct blocks *b, MPI_Count i)
{
    return b->blocklengths ? b->blocklengths[i] : b->blocklength;
}

static type_wide block_disp(const struct blocks *b, MPI_Count i)
{
    return type_mul(b->displs[i], b->unit);
}

static struct type_draft draft_blocks(const struct blocks *b, const struct mpi_type *old)
{
    type_wide items = 0;
    for (MPI_Count i = 0; i < b->count; i++)
        items += block_length(b, i);
    struct type_draft d = draft_repeat(old, items);
    for (MPI_Count i = 0; old->size && i < b->count; i++)
        if (!b->blocklengths || b->blocklengths[i])
            bounds_add_block(&d.bounds, old, block_disp(b, i), block_length(b, i));
    return d;
}

static int make_indexed(const struct type_key *key, const struct blocks *b, struct mpi_type **out)
{
    if (draft_reuse(key, out))
        return MPI_SUCCESS;
    const struct mpi_type *old = key->types[0];
    struct type_draft d = draft_blocks(b, old);
    if (!draft_fits(&d))
        return MPI_ERR_COUNT;
    struct type_plan *plan = plan_create(4);
    for (MPI_Count i = 0; i < b->count; i++)
        if (block_length(b, i))
            plan_append(&plan, (int64_t)block_disp(b, i), (uint64_t)block_length(b, i), old->extent,
                        old->plan);
    return draft_finish(key, &d, plan, out);
}

int mpi_type_make_indexed(bool large, MPI_Count count, const MPI_Count *blocklengths,
                          const MPI_Count *displs, struct mpi_type *old, struct mpi_type **out)
{
    struct blocks b = {.count = count,
                       .blocklengths = blocklengths,
                       .displs = displs,
                       .unit = old->extent};
    struct type_key key = {.kind = MPI_COMBINER_INDEXED,
                           .nlists = 3,
                           .list = {LIST(INTS, 1, &count), LIST(INTS, count, blocklengths),
                                    LIST(INTS, count, displs)},
                           .ntypes = 1,
                           .types = &old};
    return make_indexed(&key, &b, out);
}

int mpi_type_make_hindexed(bool large, MPI_Count count, const MPI_Count *blocklengths,
                           const MPI_Count *displs, struct mpi_type *old, struct mpi_type **out)
{
    struct blocks b = {.count = count, .blocklengths = blocklengths, .displs = displs, .unit = 1};
    struct type_key key = {.kind = MPI_COMBINER_HINDEXED,
                           .nlists = 3,
                           .list = {LIST(INTS, 1, &count), LIST(INTS, count, blocklengths),
                                    LIST(AINTS, count, displs)},
                           .ntypes = 1,
                           .types = &old};
    return make_indexed(&key, &b, out);
}

int mpi_type_make_indexed_block(bool large, MPI_Count count, MPI_Count blocklength,
                                const MPI_Count *displs, struct mpi_type *old,
                                struct mpi_type **out)
{
    struct blocks b = {.count = count,
                       .blocklength = blocklength,
                       .displs = displs,
                       .unit = old->extent};
    const MPI_Count ints[] = {count, blocklength};
    struct type_key key = {.kind = MPI_COMBINER_INDEXED_BLOCK,
                           .nlists = 2,
                           .list = {LIST(INTS, 2, ints), LIST(INTS, count, displs)},
                           .ntypes = 1,
                           .types = &old};
    return make_indexed(&key, &b, out);
}

int mpi_type_make_hindexed_block(bool large, MPI_Count count, MPI_Count blocklength,
                                 const MPI_Count *displs, struct mpi_type *old,
                                 struct mpi_type **out)
{
    struct blocks b = {.count = count, .blocklength = blocklength, .displs = displs, .unit = 1};
    const MPI_Count ints[] = {count, blocklength};
    struct type_key key = {.kind = MPI_COMBINER_HINDEXED_BLOCK,
                           .nlists = 2,
                           .list = {LIST(INTS, 2, ints), LIST(AINTS, count, displs)},
                           .ntypes = 1,
                           .types = &old};
    return make_indexed(&key, &b, out);
}

static void draft_add_member(struct type_draft *d, const struct mpi_type *t, MPI_Count blocklength)
{
    type_wide bytes = (type_wide)t->size * blocklength;
    if (bytes == 0 || d->size > INT64_MAX)
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

int mpi_type_make_struct(bool large, MPI_Count count, const MPI_Count *blocklengths,
                         const MPI_Count *displs, struct mpi_type *const *types,
                         struct mpi_type **out)
{
    struct type_key key = {.kind = MPI_COMBINER_STRUCT,
                           .nlists = 3,
                           .list = {LIST(INTS, 1, &count), LIST(INTS, count, blocklengths),
                                    LIST(AINTS, count, displs)},
                           .ntypes = count,
                           .types = types};
    if (draft_reuse(&key, out))
        return MPI_SUCCESS;
    struct type_draft d = {.size = 0};
    for (MPI_Count i = 0; i < count; i++)
        draft_add_member(&d, types[i], blocklengths[i]);
    bounds_of_struct(&d.bounds, count, blocklengths, displs, types, d.align);
    if (!draft_fits(&d))
        return MPI_ERR_COUNT;
    struct type_plan *plan = plan_create(4);
    for (MPI_Count i = 0; i < count; i++)
        plan_append(&plan, displs[i], (uint64_t)blocklengths[i], types[i]->extent, types[i]->plan);
    return draft_finish(&key, &d, plan, out);
}

/* The type with other bounds. */
static struct type_draft draft_same(const struct mpi_type *old, type_wide lb, type_wide extent)
{
    struct type_draft d = draft_repeat(old, 1);
    d.bounds = (struct type_bounds){lb, lb + extent, old->true_lb,
                                    (type_wide)old->true_lb + old->true_extent, true};
    return d;
}

int mpi_type_make_resized(bool large, struct mpi_type *old, MPI_Count lb, MPI_Count extent,
                          struct mpi_type **out)
{
    const MPI_Count aints[] = {lb, extent};
    struct type_key key = {.kind = MPI_COMBINER_RESIZED,
                           .nlists = 1,
                           .list = {LIST(AINTS, 2, aints)},
                           .ntypes = 1,
                           .types = &old};
    if (draft_reuse(&key, out))
        return MPI_SUCCESS;
    struct type_draft d = draft_same(old, lb, extent);
    if (!draft_fits(&d))
        return MPI_ERR_COUNT;
    return draft_finish(&key, &d, old->plan, out);
}

int mpi_type_make_dup(struct mpi_type *old, struct mpi_type **out)
{
    struct type_key key = {.kind = MPI_COMBINER_DUP, .ntypes = 1, .types = &old};
    if (draft_reuse(&key, out))
        return MPI_SUCCESS;
    struct type_draft d = draft_same(old, old->lb, old->extent);
    return draft_finish(&key, &d, old->plan, out);
}

int mpi_type_make_f90(int combiner, int p, int r, struct mpi_type *basic, struct mpi_type **out)
{
    const MPI_Count ints[] = {p, r};
    int first = combiner == MPI_COMBINER_F90_INTEGER;
    struct type_key key = {.kind = combiner,
                           .nlists = 1,
                           .list = {{TYPE_LIST_INTS, 2 - first, ints + first}}};
    if (draft_reuse(&key, out))
        return MPI_SUCCESS;
    struct type_draft d = draft_same(basic, basic->lb, basic->extent);
    int rc = draft_finish(&key, &d, plan_loop(0, 1, 0, basic->plan, NULL), out);
    if (rc == MPI_SUCCESS) {
        (*out)->builtin = (*out)->committed = 1;
        (*out)->handles = 1;
    }
    return rc;
}
