/*
 * group_ops.c - set algebra on groups (MPI-4.0, 7.3.2).
 *
 * Results go through one path, a list that interning turns into a range where it is one. A list of
 * members is built on the heap: nothing here needs more than a small frame.
 */
#include "base/mem.h"
#include "mpi/comm/comm.h"

/* ---- a growing list of world ranks ---- */

struct list {
    uint32_t *at;
    uint32_t n;
};

static struct list list_make(uint64_t cap)
{
    return (struct list){mem_alloc((cap ? cap : 1) * sizeof(uint32_t)), 0};
}

/* The members of a that are in b (keep 1) or are not (keep 0), appended in a's order. */
static void list_filter(struct list *l, const struct mpi_group *a, struct mpi_group *b, int keep)
{
    for (uint32_t i = 0; i < a->size; i++) {
        uint32_t w = mpi_group_world_rank(a, i);

        if ((mpi_group_rank_of(b, w) != MPI_UNDEFINED) == keep)
            l->at[l->n++] = w;
    }
}

/* Interns the list; memory beyond what it holds is given back. */
static struct mpi_group *list_group(struct list *l)
{
    return mpi_group_make_list(mem_realloc(l->at, (l->n ? l->n : 1) * sizeof(uint32_t)), l->n);
}

/* ---- algebra ---- */

struct mpi_group *mpi_gset_union(struct mpi_group *a, struct mpi_group *b)
{
    struct list l;

    if (a == b || !b->size)
        return mpi_group_ref(a);
    if (!a->size)
        return mpi_group_ref(b);
    l = list_make((uint64_t)a->size + b->size);
    while (l.n < a->size) {
        l.at[l.n] = mpi_group_world_rank(a, l.n);
        l.n++;
    }
    list_filter(&l, b, a, 0);
    return list_group(&l);
}

struct mpi_group *mpi_gset_intersection(struct mpi_group *a, struct mpi_group *b)
{
    struct list l;

    if (a == b)
        return mpi_group_ref(a);
    l = list_make(a->size);
    list_filter(&l, a, b, 1);
    return list_group(&l);
}

struct mpi_group *mpi_gset_difference(struct mpi_group *a, struct mpi_group *b)
{
    struct list l;

    if (!b->size)
        return mpi_group_ref(a);
    l = list_make(a->size);
    list_filter(&l, a, b, 0);
    return list_group(&l);
}

/* Marks rank `r` in a bitmap; 0 if it was marked before. */
static int mark(uint64_t *bits, uint32_t r)
{
    uint64_t bit = (uint64_t)1 << (r & 63);
    int is_new = !(bits[r >> 6] & bit);

    bits[r >> 6] |= bit;
    return is_new;
}

struct mpi_group *mpi_gset_pick(struct mpi_group *g, uint32_t n, const int *ranks, int *bad)
{
    struct list l = list_make(n);
    struct map seen;
    int fresh = 1;

    map_init(&seen);
    for (uint32_t i = 0; i < n && fresh; i++) {
        int is_new = 0;

        if (ranks[i] >= 0 && (uint32_t)ranks[i] < g->size)
            map_insert(&seen, (uint64_t)ranks[i], &is_new);
        if (is_new)
            l.at[l.n++] = mpi_group_world_rank(g, (uint32_t)ranks[i]);
        else
            *bad = ranks[i];
        fresh = is_new;
    }
    map_fini(&seen);
    if (fresh)
        return list_group(&l);
    mem_free(l.at);
    return NULL;
}

struct mpi_group *mpi_gset_omit(struct mpi_group *g, uint32_t n, const int *ranks, int *bad)
{
    uint64_t *out;
    struct list l;

    for (uint32_t i = 0; i < n; i++)
        if (ranks[i] < 0 || (uint32_t)ranks[i] >= g->size) {
            *bad = ranks[i];
            return NULL;
        }
    if (!n)
        return mpi_group_ref(g);
    out = mem_zalloc((g->size / 64 + 1) * sizeof *out);
    for (uint32_t i = 0; i < n; i++)
        mark(out, (uint32_t)ranks[i]);
    l = list_make(g->size);
    for (uint32_t r = 0; r < g->size; r++)
        if (mark(out, r))
            l.at[l.n++] = mpi_group_world_rank(g, r);
    mem_free(out);
    return list_group(&l);
}

/* ---- comparison ---- */

int mpi_gset_subset(struct mpi_group *a, struct mpi_group *b)
{
    if (a == b || !a->size)
        return 1;
    if (a->size > b->size)
        return 0;
    if (a->kind == MPI_GROUP_RANGE && b->kind == MPI_GROUP_RANGE && a->stride % b->stride == 0)
        return mpi_group_rank_of(b, mpi_group_world_rank(a, 0)) != MPI_UNDEFINED &&
               mpi_group_rank_of(b, mpi_group_world_rank(a, a->size - 1)) != MPI_UNDEFINED;
    for (uint32_t i = 0; i < a->size; i++)
        if (mpi_group_rank_of(b, mpi_group_world_rank(a, i)) == MPI_UNDEFINED)
            return 0;
    return 1;
}

int mpi_gset_compare(struct mpi_group *a, struct mpi_group *b)
{
    if (a == b)
        return MPI_IDENT;
    return a->size == b->size && mpi_gset_subset(a, b) ? MPI_SIMILAR : MPI_UNEQUAL;
}
