/*
 * costs.c - what messages cost in real programs, beyond a ping-pong: pieces by size, messages that
 * come before their receive, requests, matching among many receives, changing from one peer to
 * another.
 *
 * A message is unexpected if the rank takes it from the network before its receive is posted: then
 * it is stored and copied. That happens if it arrives before the end of a wait for something else,
 * or before a message that was probed. While the rank computes, and when the message it wants is
 * there, other messages stay in the network. A receive is matched among those that the program has
 * started before and not completed.
 *
 * So every cost depends only on virtual times and on the order in which the rank's own program
 * calls MPI, never on the order in which the simulator runs the ranks. The receive keeps what must
 * be known when its message is matched.
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/mem.h"
#include "mpi/ext.h"
#include "mpi/p2p/p2p_internal.h"
#include "mpi/p2p/strand.h"

void mpi_costs_init(const struct platform_config *c)
{
    struct mpi_costs *costs = &mpi_world.costs;

    costs->unexpected = c->mpi_unexpected_cost;
    costs->unexpected_per_byte = net_per_byte(c->mpi_unexpected_per_kib);
    costs->request = c->mpi_request_cost;
    costs->match = c->mpi_match_cost;
    costs->peer = c->mpi_peer_cost;
    costs->varies = mpi_world.net.curved || costs->peer;
    costs->receives = costs->unexpected || costs->unexpected_per_byte || costs->match;
    costs->requests = costs->request || costs->receives;
    costs->charges = costs->receives || mpi_world.net.curved || c->mpi_recv_overhead;
}

/* Strands have their own clocks, and run in an order unknown to the program: they have no last
 * peer. */
static vtime peer_cost(struct mpi_rank *self, uint32_t dst)
{
    struct mpi_rare *x;
    int other;

    if (!mpi_world.costs.peer || mpi_strand_current)
        return 0;
    x = mpi_rare_get(self);
    other = x->last_peer != 0 && x->last_peer != dst + 1;
    x->last_peer = dst + 1;
    return other ? mpi_world.costs.peer : 0;
}

vtime mpi_costs_send(struct mpi_rank *self, uint32_t dst, uint64_t bytes)
{
    return vtime_add(net_send_cost(&mpi_world.net, mpi_rank_id(self), dst, bytes),
                     peer_cost(self, dst));
}

/* ---- receives ---- */

void mpi_costs_look(struct mpi_rank *self, vtime t)
{
    if (!mpi_strand_current && t >= mpi_rare_get(self)->looked)
        self->ext->rare->looked = t + 1;
}

/* Does the rank wait for it, and look for messages meanwhile? */
static int looks_for(const struct mpi_rank *self, const struct mpi_req *req)
{
    return req->complete > self->ent.clock &&
           (req->kind != MPI_REQ_RECV || (req->flags & MPI_REQ_LATE));
}

/* It takes what comes until it has received this one. */
void mpi_costs_wait(struct mpi_rank *self, const struct mpi_req *req)
{
    if (looks_for(self, req))
        mpi_costs_look(self, mpi_req_received_at(req));
}

/* Strands run in an order unknown to the program: what they receive is always expected. */
void mpi_costs_post(const struct mpi_rank *self, struct mpi_req *req)
{
    const struct mpi_rare *x = mpi_strand_current ? NULL : mpi_rare_find(self);

    req->looked = x ? x->looked : 0;
    req->pending = x ? x->receives : 0;
}

vtime mpi_costs_take(struct mpi_req *req, const struct mpi_msg *m)
{
    const struct mpi_costs *c = &mpi_world.costs;
    vtime cost = vtime_scale(c->match, req->pending);

    mpi_world.costs.matched[m->em.arrival >= req->posted]++;
    if (m->em.arrival > req->posted || m->kind == MPI_MSG_RTS)
        req->flags |= MPI_REQ_LATE;
    if (m->em.arrival >= req->looked)
        return cost;
    cost = vtime_add(cost, c->unexpected);
    return m->kind == MPI_MSG_RTS ? cost
                                  : vtime_add(cost, vtime_mul_q(m->bytes, c->unexpected_per_byte));
}

/*
 * Intervals in which the rank waited lately, and did not receive anything. An MPI library receives
 * whatever comes while a call waits; but here the rank learns only later, when it completes the
 * receive, what that was. As far as it waited after the message had come, it pays then with time
 * that has passed.
 */
#define WAITS 4
struct mpi_waits {
    struct {
        vtime from, to;
    } at[WAITS];
    uint32_t next; /* the oldest one */
};

static void note_wait(struct mpi_rank *self, vtime from, vtime to)
{
    struct mpi_rare *x = mpi_rare_get(self);

    if (!x->waits) {
        x->waits = pool_alloc(&mpi_world.pool, sizeof *x->waits);
        *x->waits = (struct mpi_waits){0};
    }
    x->waits->at[x->waits->next].from = from;
    x->waits->at[x->waits->next].to = to;
    x->waits->next = (x->waits->next + 1) % WAITS;
}

/* What remains of the cost for something that has come at t. */
static vtime pay_with_waits(const struct mpi_rank *self, vtime t, vtime cost)
{
    struct mpi_waits *w = mpi_rare_find(self) ? self->ext->rare->waits : NULL;

    for (uint32_t i = 0; w && cost && i < WAITS; i++) {
        vtime *from = &w->at[(w->next + i) % WAITS].from, to = w->at[(w->next + i) % WAITS].to;
        vtime begin = t > *from ? t : *from, spent = to - begin;

        if (spent <= 0)
            continue;
        spent = spent < cost ? spent : cost;
        *from = begin + spent;
        cost -= spent;
    }
    return cost;
}

/* Strands run beside the program: whatever they do takes its own time. */
void mpi_charge_receive(struct mpi_rank *self, vtime t, vtime cost)
{
    if (t > self->ent.clock) {
        if (!mpi_strand_current)
            note_wait(self, self->ent.clock, t);
        self->ent.clock = t;
    } else if (cost && !mpi_strand_current) {
        cost = pay_with_waits(self, t, cost);
    }
    mpi_clock_add(self, cost);
}

void mpi_charges_add(struct mpi_charges *charges, struct mpi_req *req)
{
    if (!(req->flags & MPI_REQ_COSTS))
        return;
    req->flags &= (uint16_t)~MPI_REQ_COSTS;
    ARRAY_RESERVE(charges->at, charges->room, charges->count + 1, 16);
    charges->at[charges->count++] = (struct mpi_charge){req->complete, req->cost, req};
}

static int compare_charges(const void *a, const void *b)
{
    const struct mpi_charge *x = a, *y = b;

    return x->complete != y->complete ? x->complete < y->complete ? -1 : 1
                                      : (x->cost > y->cost) - (x->cost < y->cost);
}

void mpi_charges_settle(struct mpi_rank *self, struct mpi_charges *charges)
{
    int looks = 0;

    if (charges->count > 1)
        qsort(charges->at, charges->count, sizeof charges->at[0], compare_charges);
    for (uint32_t i = 0; i < charges->count; i++) {
        looks |= mpi_costs_are_for_receives() && looks_for(self, charges->at[i].req);
        mpi_charge_receive(self, charges->at[i].complete, charges->at[i].cost);
    }
    if (looks)
        mpi_costs_look(self, self->ent.clock);
    mem_free(charges->at);
}

/* ---- requests ---- */

void mpi_costs_start(struct mpi_rank *self)
{
    mpi_clock_add(self, mpi_world.costs.request);
}

void mpi_costs_pend(struct mpi_rank *self, struct mpi_req *req)
{
    if (!mpi_world.costs.match)
        return;
    req->flags |= MPI_REQ_PENDING;
    mpi_rare_get(self)->receives++;
}

void mpi_costs_end(struct mpi_rank *self, struct mpi_req *req)
{
    if (!(req->flags & MPI_REQ_PENDING))
        return;
    req->flags &= (uint16_t)~MPI_REQ_PENDING;
    self->ext->rare->receives--;
}

void mpi_costs_finish(struct mpi_rank *self, struct mpi_req *req)
{
    if (mpi_world.costs.receives)
        mpi_costs_wait(self, req);
    mpi_costs_end(self, req);
}
