/*
 * topology.c - topology objects, and the neighbours of a rank.
 */
#include "mpi/comm/topology.h"

#include "base/mem.h"
#include "mpi/comm/comm.h"

/* ---- objects ---- */

struct mpi_topo *mpi_topo_ref(struct mpi_topo *t)
{
    t->refs++;
    return t;
}

static void free_own(struct map *own)
{
    size_t at = 0;
    uint64_t rank, neighbours;

    while (map_next(own, &at, &rank, &neighbours))
        mem_free((void *)(uintptr_t)neighbours);
    map_fini(own);
}

void mpi_topo_unref(struct mpi_topo *t)
{
    if (--t->refs)
        return;
    if (t->kind == MPI_TOPO_DIST_GRAPH)
        free_own(&t->own);
    mem_free(t);
}

/* ---- neighbours ---- */

struct mpi_dist *mpi_topo_dist_of(const struct mpi_topo *t, int rank)
{
    return (struct mpi_dist *)(uintptr_t)*map_find(&t->own, (uint64_t)rank);
}

int mpi_topo_cart_step(const struct mpi_topo *t, int me, int d, int64_t disp)
{
    int64_t size = t->dims[d], x = mpi_topo_cart_coord(t, me, d), to = x + disp;

    if (t->periods[d])
        to = (to % size + size) % size;
    else if (to < 0 || to >= size)
        return MPI_PROC_NULL;
    return (int)(me + (to - x) * mpi_topo_cart_stride(t, d));
}

/* The steps -1 and +1 in each dimension. */
static void cart_neighbors(const struct mpi_topo *t, int me, struct mpi_neighbors *n)
{
    n->heap = mem_alloc((size_t)n->in * sizeof *n->heap + 1);
    for (int d = 0; d < t->ndims; d++) {
        n->heap[2 * d] = mpi_topo_cart_step(t, me, d, -1);
        n->heap[2 * d + 1] = mpi_topo_cart_step(t, me, d, 1);
    }
    n->sources = n->destinations = n->heap;
}

struct mpi_degrees mpi_topo_degrees(const struct mpi_rank *self, const struct mpi_comm *c)
{
    const struct mpi_topo *t = c->topo;
    int me = mpi_comm_my_rank(c, self), both;

    if (t->kind == MPI_TOPO_DIST_GRAPH) {
        const struct mpi_dist *own = mpi_topo_dist_of(t, me);

        return (struct mpi_degrees){own->in, own->out};
    }
    both = t->kind == MPI_TOPO_CART ? 2 * t->ndims : t->index[me] - (me ? t->index[me - 1] : 0);
    return (struct mpi_degrees){both, both};
}

int mpi_topo_neighbors(const struct mpi_rank *self, const struct mpi_comm *c,
                       struct mpi_neighbors *n)
{
    const struct mpi_topo *t = c->topo;
    int me = mpi_comm_my_rank(c, self);
    struct mpi_degrees degrees;

    *n = (struct mpi_neighbors){.in = 0};
    if (!t)
        return MPI_ERR_TOPOLOGY;
    degrees = mpi_topo_degrees(self, c);
    n->in = degrees.in;
    n->out = degrees.out;
    if (t->kind == MPI_TOPO_CART) {
        cart_neighbors(t, me, n);
    } else if (t->kind == MPI_TOPO_GRAPH) {
        n->sources = n->destinations = t->edges + (me ? t->index[me - 1] : 0);
    } else {
        const struct mpi_dist *own = mpi_topo_dist_of(t, me);

        n->sources = mpi_dist_sources(own);
        n->destinations = mpi_dist_destinations(own);
    }
    return MPI_SUCCESS;
}

void mpi_neighbors_fini(struct mpi_neighbors *n)
{
    mem_free(n->heap);
}
