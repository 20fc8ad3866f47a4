/*
 * graph.c - graph communicators (MPI-4.0, 8.5.3): every member passes and knows the whole graph.
 *
 * Ranks are never reordered. One copy of the graph is kept per process: neighbours of rank r are
 * edges[index[r - 1]] up to edges[index[r]], as the program gives them.
 */
#include <string.h>

#include "base/mem.h"
#include "mpi/comm/check.h"
#include "mpi/p2p/tags.h"
#include "mpi/topo/topo.h"
#include "mpi_impl.h"

static struct mpi_topo *make_graph(int nnodes, const int *index, const int *edges)
{
    size_t nodes = (size_t)nnodes, count = (size_t)index[nnodes - 1];
    struct mpi_topo *t = mem_alloc(sizeof *t + (nodes + count) * sizeof(int));

    t->refs = 1;
    t->kind = MPI_TOPO_GRAPH;
    t->nnodes = nnodes;
    t->index = (int *)(t + 1);
    t->edges = t->index + nnodes;
    memcpy(t->index, index, nodes * sizeof(int));
    if (count)
        memcpy(t->edges, edges, count * sizeof(int));
    return t;
}

/* Is it a graph of nnodes nodes that fits c? */
static int check_graph(struct mpi_rank *self, const struct mpi_comm *c, int nnodes,
                       const int *index, const int *edges)
{
    int rc = MPI_SUCCESS, before = 0;

    if ((uint32_t)nnodes > c->group->size)
        rc = mpi_raise(self, c->handle, MPI_ERR_ARG,
                       "the graph has %d nodes, the communicator %u ranks", nnodes, c->group->size);
    for (int i = 0; !rc && i < nnodes; before = index[i++])
        if (index[i] < before)
            rc = mpi_raise(self, c->handle, MPI_ERR_ARG, "index %d is %d, the one before %d", i,
                           index[i], before);
    if (!rc && before)
        rc = mpi_check_ptr(self, c->handle, edges, "edges");
    for (int i = 0; !rc && i < before; i++)
        if (edges[i] < 0 || edges[i] >= nnodes)
            rc = mpi_raise(self, c->handle, MPI_ERR_ARG, "edge %d leads to node %d of %d", i,
                           edges[i], nnodes);
    return rc;
}

int mpi_graph_create(struct mpi_rank *self, MPI_Comm comm_old, int nnodes, const int indx[],
                     const int edges[], int reorder, MPI_Comm *comm_graph)
{
    struct mpi_comm *c, *made;
    int rc = mpi_check_intra(self, comm_old, &c);

    (void)reorder;
    if (!rc)
        rc = check_graph(self, c, nnodes, indx, edges);
    if (!rc)
        rc = mpi_topo_make_comm(self, c, nnodes, MPI_TAG_GRAPH_CREATE, &made);
    if (rc)
        return rc;
    if (made && !made->topo)
        made->topo = make_graph(nnodes, indx, edges);
    *comm_graph = made ? made->handle : MPI_COMM_NULL;
    return MPI_SUCCESS;
}

int mpi_graph_map(struct mpi_rank *self, MPI_Comm comm, int nnodes, const int indx[],
                  const int edges[], int *newrank)
{
    struct mpi_comm *c;
    int rc = mpi_check_intra(self, comm, &c), me;

    if (!rc && nnodes < 1)
        rc = mpi_raise(self, comm, MPI_ERR_ARG, "the number of nodes is %d", nnodes);
    if (!rc)
        rc = check_graph(self, c, nnodes, indx, edges);
    if (rc)
        return rc;
    me = mpi_comm_my_rank(c, self);
    *newrank = me < nnodes ? me : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

/* ---- queries ---- */

static int check_topo(struct mpi_rank *self, MPI_Comm comm, const struct mpi_topo **t)
{
    struct mpi_comm *c;
    int rc = mpi_check_comm(self, comm, &c);

    if (!rc && (!c->topo || c->topo->kind != MPI_TOPO_GRAPH))
        rc = mpi_raise(self, comm, MPI_ERR_TOPOLOGY, "the communicator has no graph topology");
    if (!rc)
        *t = c->topo;
    return rc;
}

int mpi_graphdims_get(struct mpi_rank *self, MPI_Comm comm, int *nnodes, int *nedges)
{
    const struct mpi_topo *t;
    int rc = check_topo(self, comm, &t);

    if (rc)
        return rc;
    *nnodes = t->nnodes;
    *nedges = t->index[t->nnodes - 1];
    return MPI_SUCCESS;
}

/* Checks the room that the program has for `what`. */
static int check_room(struct mpi_rank *self, MPI_Comm comm, int max, int needed, const char *what)
{
    if (max < needed)
        return mpi_raise(self, comm, MPI_ERR_ARG, "there is room for %d %s of %d", max, what,
                         needed);
    return MPI_SUCCESS;
}

int mpi_graph_get(struct mpi_rank *self, MPI_Comm comm, int maxindex, int maxedges, int indx[],
                  int edges[])
{
    const struct mpi_topo *t;
    int rc = check_topo(self, comm, &t), count = rc ? 0 : t->index[t->nnodes - 1];

    if (!rc)
        rc = check_room(self, comm, maxindex, t->nnodes, "indices");
    if (!rc)
        rc = check_room(self, comm, maxedges, count, "edges");
    if (rc)
        return rc;
    memcpy(indx, t->index, (size_t)t->nnodes * sizeof *indx);
    if (count)
        memcpy(edges, t->edges, (size_t)count * sizeof *edges);
    return MPI_SUCCESS;
}

/* Locates the neighbours of a rank, and counts them. */
static int find_neighbors(struct mpi_rank *self, MPI_Comm comm, int rank, const int **edges, int *n)
{
    const struct mpi_topo *t;
    int rc = check_topo(self, comm, &t), first;

    if (rc)
        return rc;
    if (rank < 0 || rank >= t->nnodes)
        return mpi_raise(self, comm, MPI_ERR_RANK, "rank %d is not in the communicator (size %d)",
                         rank, t->nnodes);
    first = rank ? t->index[rank - 1] : 0;
    *edges = t->edges + first;
    *n = t->index[rank] - first;
    return MPI_SUCCESS;
}

int mpi_graph_neighbors_count(struct mpi_rank *self, MPI_Comm comm, int rank, int *nneighbors)
{
    const int *edges;
    int n, rc = find_neighbors(self, comm, rank, &edges, &n);

    if (!rc)
        *nneighbors = n;
    return rc;
}

int mpi_graph_neighbors(struct mpi_rank *self, MPI_Comm comm, int rank, int maxneighbors,
                        int neighbors[])
{
    const int *edges;
    int n, rc = find_neighbors(self, comm, rank, &edges, &n);

    if (!rc)
        rc = check_room(self, comm, maxneighbors, n, "neighbours");
    if (!rc && n)
        memcpy(neighbors, edges, (size_t)n * sizeof *neighbors);
    return rc;
}
