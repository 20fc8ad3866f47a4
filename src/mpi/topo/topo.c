/*
 * topo.c - topology objects, and what all kinds share.
 *
 * A communicator with a topology is made like any other: rank 0 of the members makes it, a binomial
 * tree tells the others. All members know a Cartesian or graph topology; the first to come in a
 * process attaches it, before any of them uses it. In a distributed graph every member adds its own
 * neighbours.
 */
#include "mpi/topo/topo.h"

#include "base/mem.h"
#include "mpi/comm/check.h"
#include "mpi_impl.h"

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

int mpi_topo_make_comm(struct mpi_rank *self, struct mpi_comm *c, int n, int tag,
                       struct mpi_comm **made)
{
    mpi_comm_desc desc = MPI_COMM_DESC_NULL;
    int me = mpi_comm_my_rank(c, self), rc;

    *made = NULL;
    if (me >= n)
        return MPI_SUCCESS;
    if (me == 0)
        desc = mpi_comm_describe(
            mpi_comm_new(mpi_comm_first_ranks(self, c, n), mpi_errhandler_given(self, c)),
            (enum mpi_fn)self->fn, c);
    rc = mpi_comm_spread(self, c, NULL, me, n, tag, &desc);
    if (!rc)
        *made = mpi_comm_at(mpi_comm_adopt(self, c, desc));
    return rc;
}

int mpi_topo_check_parent(struct mpi_rank *self, MPI_Comm comm, const void *out,
                          struct mpi_comm **c)
{
    int rc = mpi_check_comm(self, comm, c);

    if (!rc && (*c)->remote)
        rc = mpi_raise(self, comm, MPI_ERR_COMM, "the communicator is an intercommunicator");
    return rc ? rc : mpi_check_ptr(self, comm, out, "the new communicator");
}

/* ---- neighbours ---- */

/* The steps -1 and +1 in each dimension. */
static void cart_neighbors(const struct mpi_topo *t, int me, struct mpi_neighbors *n)
{
    n->in = n->out = 2 * t->ndims;
    n->heap = mem_alloc((size_t)n->in * sizeof *n->heap + 1);
    for (int d = 0; d < t->ndims; d++) {
        n->heap[2 * d] = mpi_topo_cart_step(t, me, d, -1);
        n->heap[2 * d + 1] = mpi_topo_cart_step(t, me, d, 1);
    }
    n->sources = n->destinations = n->heap;
}

int mpi_topo_neighbors(const struct mpi_rank *self, const struct mpi_comm *c,
                       struct mpi_neighbors *n)
{
    const struct mpi_topo *t = c->topo;
    int me = mpi_comm_my_rank(c, self);

    *n = (struct mpi_neighbors){.in = 0};
    if (!t)
        return MPI_ERR_TOPOLOGY;
    if (t->kind == MPI_TOPO_CART) {
        cart_neighbors(t, me, n);
    } else if (t->kind == MPI_TOPO_GRAPH) {
        int first = me ? t->index[me - 1] : 0;

        n->in = n->out = t->index[me] - first;
        n->sources = n->destinations = t->edges + first;
    } else {
        const struct mpi_dist *own = mpi_topo_dist_of(t, me);

        n->in = own->in;
        n->out = own->out;
        n->sources = mpi_dist_sources(own);
        n->destinations = mpi_dist_destinations(own);
    }
    return MPI_SUCCESS;
}

void mpi_neighbors_fini(struct mpi_neighbors *n)
{
    mem_free(n->heap);
}

int mpi_topo_test(struct mpi_rank *self, MPI_Comm comm, int *status)
{
    static const int names[] = {MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH}; /* by enum mpi_topo_kind */
    struct mpi_comm *c;
    int rc = mpi_check_comm(self, comm, &c);

    if (!rc)
        rc = mpi_check_ptr(self, comm, status, "status");
    if (!rc)
        *status = c->topo ? names[c->topo->kind] : MPI_UNDEFINED;
    return rc;
}
