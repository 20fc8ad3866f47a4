/* bounds.c - lower and upper bounds, true and apparent, of derived types.
 * 
 * MPI-4.0 section 5.1.7 leaves room; where it does, programs expect what MPICH 4.0 does:
 * - markers (MPI_LB, MPI_UB) rule the struct they are members of, and are not inherited: in an
 *   outer type its bounds count like any others;
 * - without a marker the extent of a struct is rounded up to the strictest alignment of its basic
 *   members, unless all its members are of one and the same type (once constructors that change
 *   nothing are taken off); no other constructor pads;
 * - a member without data still counts as a point at its displacement, and so does a block of
 *   length 0 of a vector or of an indexed_block; blocks of length 0 of an indexed type or of a
 *   struct are skipped;
 * - without any data the bounds of a struct are its markers, and 0 where one is missing. */
#include "mpi/datatype/datatype_internal.h"

#define WIDE_LIMIT ((type_wide)1 << 120)

type_wide type_mul(type_wide a, type_wide b)
{
    type_wide product;
    bool over = __builtin_mul_overflow(a, b, &product);
    if (!over && product > -WIDE_LIMIT && product < WIDE_LIMIT)
        return product;
    return (a < 0) == (b < 0) ? WIDE_LIMIT : -WIDE_LIMIT;
}

static void widen(struct type_bounds *b, const struct type_bounds *by)
{
    if (!b->any) {
        *b = *by;
        return;
    }
    b->lb = by->lb < b->lb ? by->lb : b->lb;
    b->ub = by->ub > b->ub ? by->ub : b->ub;
    b->true_lb = by->true_lb < b->true_lb ? by->true_lb : b->true_lb;
    b->true_ub = by->true_ub > b->true_ub ? by->true_ub : b->true_ub;
}

void bounds_add_block(struct type_bounds *b, const struct mpi_type *old, type_wide disp,
                      int64_t blocklength)
{
    type_wide last = disp + type_mul((type_wide)blocklength - 1, old->extent);
    type_wide low = old->extent < 0 ? last : disp;
    type_wide high = old->extent < 0 ? disp : last;
    struct type_bounds block = {
        .lb = low + old->lb,
        .ub = high + old->lb + old->extent,
        .true_lb = low + old->true_lb,
        .true_ub = high + old->true_lb + old->true_extent,
        .any = true,
    };
    widen(b, &block);
}

struct markers {
    type_wide lb, ub;
    bool has_lb, has_ub;
};

static void note_marker(struct markers *m, MPI_Datatype marker, MPI_Count disp)
{
    if (marker == MPI_LB) {
        m->lb = m->has_lb && m->lb < disp ? m->lb : disp;
        m->has_lb = true;
    } else {
        m->ub = m->has_ub && m->ub > disp ? m->ub : disp;
        m->has_ub = true;
    }
}

static bool is_marker(const struct mpi_type *t)
{
    return t->handle == MPI_LB || t->handle == MPI_UB;
}

static void apply_markers(struct type_bounds *b, const struct markers *m)
{
    if (m->has_lb)
        b->lb = m->lb;
    if (m->has_ub)
        b->ub = m->ub;
}

/* Round the extent up. */
static void pad(struct type_bounds *b, uint16_t align)
{
    type_wide rest = align ? (b->ub - b->lb) % align : 0;
    b->ub += rest > 0 ? align - rest : 0;
}

/* The type without outer constructors that only repeat it, such as dup or contiguous(1). */
static const struct mpi_type *plain(const struct mpi_type *t)
{
    while (t->ntypes == 1) {
        const struct mpi_type *old = t->types[0];
        if (t->size != old->size || t->lb != old->lb || t->extent != old->extent ||
            t->true_lb != old->true_lb)
            break;
        t = old;
    }
    return t;
}

void bounds_of_struct(struct type_bounds *b, MPI_Count count, const MPI_Count *blocklengths,
                      const MPI_Count *displs, struct mpi_type *const *types, uint16_t align)
{
    struct markers markers = {.has_lb = false};
    bool data = false, mixed = false;
    for (MPI_Count i = 0; i < count; i++) {
        mixed = mixed || plain(types[i]) != plain(types[0]);
        if (!blocklengths[i])
            continue;
        if (is_marker(types[i])) {
            note_marker(&markers, types[i]->handle, displs[i]);
            continue;
        }
        bounds_add_block(b, types[i], displs[i], blocklengths[i]);
        data = data || types[i]->size;
    }
    if (!data)
        *b = (struct type_bounds){.any = false};
    if (markers.has_lb || markers.has_ub)
        apply_markers(b, &markers);
    else if (mixed)
        pad(b, align);
}

void bounds_store(const struct type_bounds *b, struct mpi_type *t)
{
    t->lb = (int64_t)b->lb;
    t->extent = (int64_t)(b->ub - b->lb);
    t->true_lb = (int64_t)b->true_lb;
    t->true_extent = (int64_t)(b->true_ub - b->true_lb);
}

static bool fits(type_wide x)
{
    return x >= INT64_MIN && x <= INT64_MAX;
}

bool bounds_fit(const struct type_bounds *b, type_wide size)
{
    return fits(size) && fits(b->lb) && fits(b->ub) && fits(b->ub - b->lb) && fits(b->true_lb) &&
           fits(b->true_ub) && fits(b->true_ub - b->true_lb);
}
