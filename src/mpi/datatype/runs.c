/*
 * runs.c - walking a plan (plan.h) without moving data.
 *
 * The same descent as in move.c: the rest of a cut item, whole items, the start of another; but
 * every run is given to a function together with its displacement.
 */
#include "mpi/datatype/runs.h"

#include "mpi/datatype/plan.h"

struct walk {
    mpi_type_run_fn *fn;
    void *arg;
};

static int walk_range(const struct walk *w, const struct type_plan *plan, int64_t base,
                      uint64_t skip, uint64_t n);

/* Bytes [skip, skip + n) of iteration `item` of a loop. */
static int walk_item(const struct walk *w, const struct type_loop *loop, int64_t base,
                     uint64_t item, uint64_t skip, uint64_t n)
{
    int64_t at = base + loop->disp + (int64_t)item * loop->stride;

    if (loop->child)
        return walk_range(w, loop->child, at, skip, n);
    return w->fn(w->arg, at + (int64_t)skip, n);
}

/* Bytes [skip, skip + n) of a loop. */
static int walk_loop(const struct walk *w, const struct type_loop *loop, int64_t base,
                     uint64_t skip, uint64_t n)
{
    uint64_t item = skip / loop->unit;
    int rc = 0;

    for (skip %= loop->unit; n && !rc; item++, skip = 0) {
        uint64_t take = loop->unit - skip < n ? loop->unit - skip : n;

        rc = walk_item(w, loop, base, item, skip, take);
        n -= take;
    }
    return rc;
}

static int walk_range(const struct walk *w, const struct type_plan *plan, int64_t base,
                      uint64_t skip, uint64_t n)
{
    int rc = 0;

    for (uint32_t i = plan_find_loop(plan, skip); n && !rc; i++) {
        const struct type_loop *loop = &plan->loops[i];
        uint64_t inside = skip - loop->start;
        uint64_t rest = loop->unit * loop->count - inside;
        uint64_t take = n < rest ? n : rest;

        rc = walk_loop(w, loop, base, inside, take);
        skip += take;
        n -= take;
    }
    return rc;
}

int mpi_type_runs(const struct mpi_type *t, uint64_t skip, uint64_t n, mpi_type_run_fn *fn,
                  void *arg)
{
    struct walk w = {fn, arg};
    uint64_t item = skip / t->size;
    int rc = 0;

    if (t->contig)
        return n ? fn(arg, (int64_t)skip, n) : 0;
    for (skip %= t->size; n && !rc; item++, skip = 0) {
        uint64_t take = t->size - skip < n ? t->size - skip : n;

        rc = walk_range(&w, t->plan, (int64_t)item * t->extent, skip, take);
        n -= take;
    }
    return rc;
}

static int keep_place(void *arg, int64_t at, uint64_t n)
{
    *(int64_t *)arg = at;
    (void)n;
    return 1;
}

int64_t mpi_type_disp_at(const struct mpi_type *t, uint64_t pos)
{
    int64_t at = 0;

    mpi_type_runs(t, pos, 1, keep_place, &at);
    return at;
}

uint64_t mpi_type_first_at(const struct mpi_type *t, int64_t limit)
{
    uint64_t items = (uint64_t)limit / (uint64_t)t->extent;
    /* Data of an item may reach into the next ones: items that end below the limit are all
     * below. */
    uint64_t reach = (uint64_t)(t->true_lb + t->true_extent) / (uint64_t)t->extent + 1;
    uint64_t low = (items > reach ? items - reach : 0) * t->size, high = (items + 1) * t->size;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;

        if (mpi_type_disp_at(t, middle) >= limit)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

struct order {
    int64_t start, end; /* of the last run */
    enum mpi_type_order order;
};

static int look_order(void *arg, int64_t at, uint64_t n)
{
    struct order *o = arg;

    if (at < o->start)
        o->order = MPI_TYPE_DECREASES;
    else if (at < o->end && o->order == MPI_TYPE_ORDERED)
        o->order = MPI_TYPE_OVERLAPS;
    o->start = at;
    o->end = at + (int64_t)n;
    return o->order == MPI_TYPE_DECREASES;
}

/* One item, and the first run of the next. */
enum mpi_type_order mpi_type_order(const struct mpi_type *t)
{
    struct order o = {.order = MPI_TYPE_ORDERED};

    if (!t->size || t->contig)
        return MPI_TYPE_ORDERED;
    if (t->extent <= 0)
        return MPI_TYPE_DECREASES;
    mpi_type_runs(t, 0, t->size, look_order, &o);
    if (o.order == MPI_TYPE_ORDERED && mpi_type_disp_at(t, t->size) < o.end)
        o.order = MPI_TYPE_OVERLAPS;
    return o.order;
}
