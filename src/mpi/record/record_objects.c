/*
 * record_objects.c - what the virtual MPI knows of its objects, for the recorder
 * (recorder/objects.h).
 */
#include <string.h>

#include "base/mem.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/group.h"
#include "mpi/comm/topology.h"
#include "mpi/datatype/datatype.h"
#include "mpi/op/op.h"
#include "mpi_roles.h"
#include "recorder/objects.h"

int recorder_comm(struct mpi_rank *self, uint64_t handle, struct recorder_comm *out)
{
    const struct mpi_comm *c = mpi_comm_of(self, (MPI_Comm)handle);
    if (!c)
        return 0;
    *out = (struct recorder_comm){.size = c->group->size,
                                  .others = c->remote ? c->remote->size : 0,
                                  .rank = mpi_comm_my_rank(c, self),
                                  .is_inter = c->remote != NULL,
                                  .hash = c->group->hash,
                                  .other_hash = c->remote ? c->remote->hash : 0};
    return 1;
}

int64_t recorder_comm_member(struct mpi_rank *self, uint64_t handle, int other, uint32_t rank)
{
    const struct mpi_comm *c = mpi_comm_of(self, (MPI_Comm)handle);
    return mpi_group_world_rank(other ? c->remote : c->group, rank);
}

int64_t recorder_comm_degree(struct mpi_rank *self, uint64_t handle, unsigned kind)
{
    struct mpi_comm *c = mpi_comm_of(self, (MPI_Comm)handle);
    struct mpi_neighbors n;
    if (!c || !c->topo)
        return 0;
    if (kind == MPI_LENGTH_DIMS)
        return c->topo->kind == MPI_TOPO_CART ? c->topo->ndims : 0;
    if (mpi_topo_neighbors(self, c, &n) != MPI_SUCCESS)
        return 0;
    int64_t degree = kind == MPI_LENGTH_INDEGREE ? n.in : n.out;
    mpi_neighbors_fini(&n);
    return degree;
}

void recorder_type(struct mpi_rank *self, uint64_t handle, struct recorder_type *out)
{
    const struct mpi_type *type = mpi_type_get((MPI_Datatype)handle);
    (void)self;
    *out = (struct recorder_type){0};
    if (!type)
        return;
    out->size = type->size;
    out->lower = type->lb;
    out->extent = type->extent;
    strncpy(out->name, mpi_type_name(type), sizeof out->name - 1);
}

int64_t *recorder_group(struct mpi_rank *self, uint64_t handle, uint32_t *count)
{
    const struct mpi_group *g = mpi_group_get((MPI_Group)handle);
    (void)self;
    *count = g ? g->size : 0;
    int64_t *ranks = mem_alloc(((size_t)*count + 1) * sizeof *ranks);
    for (uint32_t i = 0; i < *count; i++)
        ranks[i] = mpi_group_world_rank(g, i);
    return ranks;
}

int recorder_op_commutes(struct mpi_rank *self, uint64_t handle)
{
    const struct mpi_op *op = mpi_op_get((MPI_Op)handle);
    (void)self;
    return op && op->commute;
}

int recorder_is_no_array(const void *items)
{
    return items == MPI_UNWEIGHTED || items == MPI_WEIGHTS_EMPTY;
}
