/*
 * neighbor.c - the neighbourhood collectives (MPI-4.0, 8.6): messages from all sources and to all
 * destinations of the caller in the topology, all at once. Cost: alpha + d n beta for d neighbours
 * and blocks of n bytes. Where there is no neighbour (MPI_PROC_NULL) the block is unchanged.
 *
 * Two ranks may be neighbours more than once. In a graph the messages between them are matched in
 * the order of their lists. In a Cartesian topology a message sent in one direction arrives from
 * the other: in a dimension of one or two ranks, the block sent down is the one received from
 * above. So receives are started for the step up before the step down, and sends in the opposite
 * order.
 */
#include "mpi/coll/coll_internal.h"
#include "mpi/comm/topology.h"

/* Starts everything; returns the number of requests. */
static uint32_t start_all(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                          const struct mpi_neighbors *n, struct mpi_req *reqs)
{
    int swap = c->topo->kind == MPI_TOPO_CART;
    uint32_t count = 0;

    for (int i = 0; i < n->in; i++) {
        struct coll_block b = coll_recv_block(a, i ^ swap);
        mpi_coll_irecv(self, c, &reqs[count++], b.buf, b.count, b.type, n->sources[i ^ swap],
                       MPI_TAG_NEIGHBOR);
    }
    for (int i = 0; i < n->out; i++) {
        struct coll_block b = coll_send_block(a, i);
        mpi_coll_isend(self, c, &reqs[count++], b.buf, b.count, b.type, n->destinations[i],
                       MPI_TAG_NEIGHBOR);
    }
    return count;
}

int coll_neighbor(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    struct mpi_neighbors n;
    struct mpi_req *reqs;
    int rc = mpi_topo_neighbors(self, c, &n);

    if (rc)
        return rc;
    reqs = (struct mpi_req *)mem_alloc(((size_t)n.in + (size_t)n.out) * sizeof *reqs + 1);
    rc = mpi_p2p_waitall(self, reqs, start_all(self, c, a, &n, reqs));
    mem_free(reqs);
    mpi_neighbors_fini(&n);
    return rc;
}

void coll_count_blocks(const struct mpi_rank *self, const struct mpi_comm *c, int op_id, int *sends,
                       int *receives)
{
    *sends = *receives = (int)mpi_comm_peers(c);
    if (op_id < MPI_COLL_neighbor_allgather || !c->topo)
        return;
    struct mpi_degrees degrees = mpi_topo_degrees(self, c);
    *sends = degrees.out;
    *receives = degrees.in;
}
