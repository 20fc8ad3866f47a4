/*
 * cart.c - Cartesian communicators (MPI-4.0, 8.5).
 *
 * Ranks are laid out in row-major order and never reordered.
 */
#include <string.h>

#include "base/mem.h"
#include "mpi/comm/check.h"
#include "mpi/create/create.h"
#include "mpi/p2p/tags.h"
#include "mpi/topo/topo.h"
#include "mpi_impl.h"

/* ---- objects ---- */

/* Copies its arguments; one ref for the caller. */
static struct mpi_topo *make_cart(int ndims, const int *dims, const int *periods)
{
    struct mpi_topo *t = mem_alloc(sizeof *t + 2 * (size_t)ndims * sizeof(int));

    t->refs = 1;
    t->kind = MPI_TOPO_CART;
    t->ndims = ndims;
    t->dims = (int *)(t + 1);
    t->periods = t->dims + ndims;
    for (int i = 0; i < ndims; i++) {
        t->dims[i] = dims[i];
        t->periods[i] = periods[i] != 0;
    }
    return t;
}

/* ---- checks ---- */

static int check_cart(struct mpi_rank *self, MPI_Comm comm, struct mpi_comm **c)
{
    int rc = mpi_check_comm(self, comm, c);

    if (!rc && (!(*c)->topo || (*c)->topo->kind != MPI_TOPO_CART))
        rc = mpi_raise(self, comm, MPI_ERR_TOPOLOGY, "the communicator has no Cartesian topology");
    return rc;
}

/* Dimensions for a grid in c; *nodes: its size. `class` is raised if it does not fit. */
static int check_grid(struct mpi_rank *self, const struct mpi_comm *c, int ndims, const int *dims,
                      int class, int *nodes)
{
    int64_t product = 1;

    for (int i = 0; i < ndims; i++) {
        if (dims[i] <= 0)
            return mpi_raise(self, c->handle, MPI_ERR_DIMS, "dimension %d is %d", i, dims[i]);
        if (product <= INT32_MAX)
            product *= dims[i];
    }
    if (product > (int64_t)c->group->size)
        return mpi_raise(self, c->handle, class,
                         "the grid needs more ranks than the communicator has (%u)",
                         c->group->size);
    *nodes = (int)product;
    return MPI_SUCCESS;
}

/* ---- creating ---- */

int mpi_cart_create(struct mpi_rank *self, MPI_Comm comm_old, int ndims, const int dims[],
                    const int periods[], int reorder, MPI_Comm *comm_cart)
{
    struct mpi_comm *c, *made;
    int rc = mpi_check_intra(self, comm_old, &c), n;

    (void)reorder;
    if (!rc) {
        *comm_cart = MPI_COMM_NULL;
        rc = check_grid(self, c, ndims, dims, MPI_ERR_ARG, &n);
    }
    if (!rc)
        rc = mpi_topo_make_comm(self, c, n, MPI_TAG_CART_CREATE, &made);
    if (rc)
        return rc;
    if (made && !made->topo)
        made->topo = make_cart(ndims, dims, periods);
    *comm_cart = made ? made->handle : MPI_COMM_NULL;
    return MPI_SUCCESS;
}

/* The topology of the dimensions that remain. */
static struct mpi_topo *sub_topo(const struct mpi_topo *t, const int *remain)
{
    struct mpi_topo *sub = make_cart(t->ndims, t->dims, t->periods);

    sub->ndims = 0;
    for (int d = 0; d < t->ndims; d++)
        if (remain[d]) {
            sub->dims[sub->ndims] = t->dims[d];
            sub->periods[sub->ndims++] = t->periods[d];
        }
    return sub;
}

int mpi_cart_sub(struct mpi_rank *self, MPI_Comm comm, const int remain_dims[], MPI_Comm *newcomm)
{
    struct mpi_comm *c, *part;
    int rc = check_cart(self, comm, &c), color = 0, key = 0, remaining = 0, me;

    if (!rc && c->topo->ndims)
        rc = mpi_check_ptr(self, comm, remain_dims, "remain_dims");
    if (rc)
        return rc;
    me = mpi_comm_my_rank(c, self);
    for (int d = 0; d < c->topo->ndims; d++) {
        int *place = remain_dims[d] ? &key : &color;

        *place = *place * c->topo->dims[d] + mpi_topo_cart_coord(c->topo, me, d);
        remaining += remain_dims[d] != 0;
    }
    if (!remaining) /* like a grid without dimensions: rank 0 has it */
        color = me ? MPI_UNDEFINED : 0;
    rc = mpi_comm_divide(self, c, color, key, MPI_TAG_CART_SUB, newcomm);
    part = rc ? NULL : mpi_comm_at(*newcomm);
    if (part && !part->topo)
        part->topo = sub_topo(c->topo, remain_dims);
    return rc;
}

int mpi_cart_map(struct mpi_rank *self, MPI_Comm comm, int ndims, const int dims[],
                 const int periods[], int *newrank)
{
    struct mpi_comm *c;
    int rc = mpi_check_comm(self, comm, &c), n, me;

    (void)periods;
    if (!rc)
        rc = check_grid(self, c, ndims, dims, MPI_ERR_DIMS, &n);
    if (rc)
        return rc;
    me = mpi_comm_my_rank(c, self);
    *newrank = me < n ? me : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

/* ---- queries ---- */

int mpi_cartdim_get(struct mpi_rank *self, MPI_Comm comm, int *ndims)
{
    struct mpi_comm *c;
    int rc = check_cart(self, comm, &c);

    if (!rc)
        *ndims = c->topo->ndims;
    return rc;
}

static int check_room(struct mpi_rank *self, const struct mpi_comm *c, int maxdims)
{
    if (maxdims >= c->topo->ndims)
        return MPI_SUCCESS;
    return mpi_raise(self, c->handle, MPI_ERR_ARG, "maxdims is %d, the topology has %d dimensions",
                     maxdims, c->topo->ndims);
}

int mpi_cart_get(struct mpi_rank *self, MPI_Comm comm, int maxdims, int dims[], int periods[],
                 int coords[])
{
    struct mpi_comm *c;
    int rc = check_cart(self, comm, &c), me;

    if (!rc)
        rc = check_room(self, c, maxdims);
    if (rc)
        return rc;
    me = mpi_comm_my_rank(c, self);
    for (int d = 0; d < c->topo->ndims; d++) {
        dims[d] = c->topo->dims[d];
        periods[d] = c->topo->periods[d];
        coords[d] = mpi_topo_cart_coord(c->topo, me, d);
    }
    return MPI_SUCCESS;
}

int mpi_cart_coords(struct mpi_rank *self, MPI_Comm comm, int rank, int maxdims, int coords[])
{
    struct mpi_comm *c;
    int rc = check_cart(self, comm, &c);

    if (!rc && (rank < 0 || (uint32_t)rank >= c->group->size))
        rc = mpi_raise(self, comm, MPI_ERR_RANK, "rank %d is not in the communicator (size %u)",
                       rank, c->group->size);
    if (!rc)
        rc = check_room(self, c, maxdims);
    for (int d = 0; !rc && d < c->topo->ndims; d++)
        coords[d] = mpi_topo_cart_coord(c->topo, rank, d);
    return rc;
}

int mpi_cart_rank(struct mpi_rank *self, MPI_Comm comm, const int coords[], int *rank)
{
    struct mpi_comm *c;
    int rc = check_cart(self, comm, &c), at = 0;

    for (int d = 0; !rc && d < c->topo->ndims; d++) {
        int size = c->topo->dims[d], x = coords[d];

        if (c->topo->periods[d])
            x = (x % size + size) % size;
        else if (x < 0 || x >= size)
            return mpi_raise(self, comm, MPI_ERR_ARG,
                             "coordinate %d is %d, the dimension has size %d and is not periodic",
                             d, x, size);
        at = at * size + x;
    }
    if (!rc)
        *rank = at;
    return rc;
}

int mpi_cart_shift(struct mpi_rank *self, MPI_Comm comm, int direction, int disp, int *rank_source,
                   int *rank_dest)
{
    struct mpi_comm *c;
    int rc = check_cart(self, comm, &c), me;

    if (!rc && c->topo->ndims == 0)
        rc = mpi_raise(self, comm, MPI_ERR_TOPOLOGY, "the topology has no dimensions");
    if (!rc && (direction < 0 || direction >= c->topo->ndims))
        rc = mpi_raise(self, comm, MPI_ERR_ARG, "there is no dimension %d (the topology has %d)",
                       direction, c->topo->ndims);
    if (rc)
        return rc;
    me = mpi_comm_my_rank(c, self);
    *rank_source = mpi_topo_cart_step(c->topo, me, direction, -(int64_t)disp);
    *rank_dest = mpi_topo_cart_step(c->topo, me, direction, disp);
    return MPI_SUCCESS;
}
