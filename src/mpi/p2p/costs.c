/*
 * costs.c - what messages cost in real use beside a ping-pong: pieces by size, messages that come before
 * their receive, requests, matching among many receives, changing from one peer to another.
 *
 * Every cost follows from virtual times and from the order in which the rank's own program calls MPI, never
 * from the order in which the simulator runs the ranks: so a message is unexpected if it arrives before the
 * time of its receive, and a receive is matched among those that the program has started and not completed
 * yet, rather than among those that happen to be in a queue.
 */
#include "mpi/ext.h"
#include "mpi/p2p/p2p_internal.h"
#include "mpi/strand.h"

void mpi_costs_init(const struct platform_config *c)
{
    struct mpi_costs *costs = &mpi_world.costs;

    costs->unexpected = c->mpi_unexpected_cost;
    costs->unexpected_per_byte = net_per_byte(c->mpi_unexpected_per_kib);
    costs->request = c->mpi_request_cost;
    costs->match = c->mpi_match_cost;
    costs->peer = c->mpi_peer_cost;
    costs->varies = mpi_world.net.curved || costs->unexpected || costs->unexpected_per_byte || costs->peer;
    costs->requests = costs->request || costs->match;
}

/* Strands have clocks of their own, and run in no order that the program would know: they have no last
 * peer. */
static vtime peer_cost(struct mpi_rank *self, uint32_t dst)
{
    struct mpi_ext *x;
    int other;

    if (!mpi_world.costs.peer || mpi_strand_current)
        return 0;
    x = mpi_ext_get(self);
    other = x->last_peer != 0 && x->last_peer != dst + 1;
    x->last_peer = dst + 1;
    return other ? mpi_world.costs.peer : 0;
}

vtime mpi_costs_send(struct mpi_rank *self, uint32_t dst, uint64_t bytes)
{
    return vtime_add(net_send_cost(&mpi_world.net, mpi_rank_id(self), dst, bytes),
                     peer_cost(self, dst));
}

vtime mpi_costs_unexpected(vtime arrival, vtime posted, uint64_t bytes)
{
    const struct mpi_costs *c = &mpi_world.costs;

    return arrival < posted ? vtime_add(c->unexpected, vtime_mul_q(bytes, c->unexpected_per_byte)) : 0;
}

vtime mpi_costs_recv(const struct mpi_msg *m, vtime posted)
{
    return vtime_add(net_recv_cost(&mpi_world.net, m->em.src, m->em.dst, m->bytes),
                     mpi_costs_unexpected(m->em.arrival, posted, m->bytes));
}

/* ---- requests ---- */

void mpi_costs_match(struct mpi_rank *self)
{
    if (mpi_world.costs.match && self->ext)
        mpi_clock_add(self, vtime_scale(mpi_world.costs.match, self->ext->receives));
}

void mpi_costs_start(struct mpi_rank *self, int receives)
{
    mpi_clock_add(self, mpi_world.costs.request);
    if (receives)
        mpi_costs_match(self);
}

void mpi_costs_pend(struct mpi_rank *self, struct mpi_req *req)
{
    if (!mpi_world.costs.match)
        return;
    req->flags |= MPI_REQ_PENDING;
    mpi_ext_get(self)->receives++;
}

void mpi_costs_end(struct mpi_rank *self, struct mpi_req *req)
{
    if (!(req->flags & MPI_REQ_PENDING))
        return;
    req->flags &= (uint16_t)~MPI_REQ_PENDING;
    self->ext->receives--;
}
