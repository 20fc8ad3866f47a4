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
#include "mpi/record/record.h"
#include "mpi_impl.h"
#include "mpi_roles.h"
#include "recorder/objects.h"

static int comm_of(struct mpi_rank *self, uint64_t handle, struct recorder_comm *out)
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

static int64_t member(struct mpi_rank *self, uint64_t handle, int other, uint32_t rank)
{
    const struct mpi_comm *c = mpi_comm_of(self, (MPI_Comm)handle);
    return mpi_group_world_rank(other ? c->remote : c->group, rank);
}

static int64_t degree(struct mpi_rank *self, uint64_t handle, unsigned kind)
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

static int64_t amount_of_graph(struct mpi_rank *self, enum mpi_length which, MPI_Comm comm,
                               int member)
{
    int nodes = 0, edges = 0;
    if (which == MPI_LENGTH_NEIGHBORS) {
        mpi_graph_neighbors_count(self, comm, member, &nodes);
        return nodes;
    }
    mpi_graphdims_get(self, comm, &nodes, &edges);
    return which == MPI_LENGTH_NODES ? nodes : edges;
}

static int64_t amount_of_dist(struct mpi_rank *self, enum mpi_length which, MPI_Comm comm)
{
    int in = 0, out = 0, weighted = 0;
    mpi_dist_graph_neighbors_count(self, comm, &in, &out, &weighted);
    if (!weighted &&
        (which == MPI_LENGTH_SOURCE_WEIGHTS || which == MPI_LENGTH_DESTINATION_WEIGHTS))
        return 0;
    return which <= MPI_LENGTH_SOURCE_WEIGHTS ? in : out;
}

static int64_t amount(struct mpi_rank *self, enum mpi_length which, uint64_t handle, int member)
{
    const struct mpi_type *type;
    if (which <= MPI_LENGTH_DIMS)
        return degree(self, handle, which);
    if (which <= MPI_LENGTH_NEIGHBORS)
        return amount_of_graph(self, which, (MPI_Comm)handle, member);
    if (which <= MPI_LENGTH_DESTINATION_WEIGHTS)
        return amount_of_dist(self, which, (MPI_Comm)handle);
    type = mpi_type_get((MPI_Datatype)handle);
    if (!type)
        return 0;
    return which == MPI_LENGTH_INTEGERS       ? (int64_t)type->nints
           : which == MPI_LENGTH_ADDRESSES    ? (int64_t)type->naints
           : which == MPI_LENGTH_LARGE_COUNTS ? (int64_t)type->ncounts
                                              : (int64_t)type->ntypes;
}

static int neighbours(struct mpi_rank *self, uint64_t handle, struct recorder_neighbours *out)
{
    struct mpi_comm *c = mpi_comm_of(self, (MPI_Comm)handle);
    struct mpi_neighbors n;
    if (!c || !c->topo || mpi_topo_neighbors(self, c, &n) != MPI_SUCCESS)
        return 0;
    *out = (struct recorder_neighbours){recorder_ranks(n.sources, n.in),
                                        recorder_ranks(n.destinations, n.out), (uint32_t)n.in,
                                        (uint32_t)n.out};
    mpi_neighbors_fini(&n);
    return 1;
}

static void type_of(struct mpi_rank *self, uint64_t handle, struct recorder_type *out)
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

static int64_t *group_of(struct mpi_rank *self, uint64_t handle, uint32_t *count)
{
    const struct mpi_group *g = mpi_group_get((MPI_Group)handle);
    (void)self;
    *count = g ? g->size : 0;
    int64_t *ranks = mem_alloc(((size_t)*count + 1) * sizeof *ranks);
    for (uint32_t i = 0; i < *count; i++)
        ranks[i] = mpi_group_world_rank(g, i);
    return ranks;
}

static int op_commutes(struct mpi_rank *self, uint64_t handle)
{
    const struct mpi_op *op = mpi_op_get((MPI_Op)handle);
    (void)self;
    return op && op->commute;
}

static int is_no_array(const void *items)
{
    return items == MPI_UNWEIGHTED || items == MPI_WEIGHTS_EMPTY;
}

const struct recorder_mpi mpi_record_objects = {.comm = comm_of,
                                                .member = member,
                                                .neighbours = neighbours,
                                                .amount = amount,
                                                .type = type_of,
                                                .group = group_of,
                                                .op_commutes = op_commutes,
                                                .is_no_array = is_no_array,
                                                .define = mpi_record_define};
