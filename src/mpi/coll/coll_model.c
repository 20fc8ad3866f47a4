/*
 * coll_model.c - collectives as a cost model (mpi.collectives=model), after Riesen's hybrid
 * simulator: "a logarithmic fan-out and fan-in", with a factor that may be 0, for collectives that
 * cost nothing.
 *
 *     T = factor * ceil(log2 P) * (alpha + n_eff * beta)
 *
 * alpha is net.latency and both overheads, beta the inverse of net.bandwidth and what a byte costs
 * the processors; n_eff, for a message or block of n bytes, is
 *
 *     barrier                                   0
 *     bcast, reduce, allreduce, scan, exscan    n
 *     gather, scatter, allgather, alltoall,
 *     reduce_scatter_block                      n (P - 1) / ceil(log2 P): all blocks but one
 *     gatherv, scatterv                         the same with the sum of the blocks but the root's
 *     allgatherv, reduce_scatter                the same with (P - 1) / P of the sum
 *     alltoallv, alltoallw                      the same with what the rank sends to others, or
 *                                               receives, whichever is more
 *
 * and the ranks leave at
 *
 *     barrier, allreduce, allgather*, alltoall*, reduce_scatter*    last entry + T
 *     scan, exscan                 last entry of this and the lower ranks + T
 *     bcast, scatter*              root: its entry; others: max(own entry, root's entry + T)
 *     reduce, gather*              root: last entry + T; others: their own entry
 *
 * Empty collectives, and those of one rank, cost nothing and do not wait, as with algorithms.
 *
 * How it works. Data and entry times travel in *free* messages (MPI_MSG_FREE): they arrive at the
 * time at which they are sent, and cost neither side anything. So an algorithm run with free
 * messages moves the data and ends at the latest entry that it depends on; select_model below picks
 * for each operation the one that depends on the ranks listed above and takes the fewest messages:
 * 2 (P - 1) where all wait for all, P - 1 where the root is at one end. T is added once: by the
 * ranks that wait for it, or, where the root is the source, to the time that its messages carry.
 *
 * Why this is safe. A free message arrives without lookahead, so it may arrive before safe_until
 * (engine.h, invariant 3). That invariant serves decisions: none may be taken while a message that
 * could change it can still come. A free message changes none, since only a receive from a named
 * source on the collective context takes it, whenever that happens. What matters is what a rank
 * *sends* after it has left. Let the engine be quiescent and d the smallest due time. From then on
 * everything is caused by decisions due at d or later, through messages. A rank that leaves a
 * collective, leaves at the latest of the entries it depended on, or later: if one of these was
 * made since, it is at d or later, so is what the rank sends, and that arrives at d + lookahead =
 * safe_until or later. If none was, the rank would have left before: free messages are taken by
 * blocked ranks without any decision. That is why a rank must never wait for one on whose entry it
 * does not depend: it would continue in the past of that rank. Hence there are no trees for bcast,
 * scatter, reduce and gather, where a rank in the middle would come between the root and others:
 * their P - 1 messages go directly.
 *
 * There is one kind of decision that free messages do change: a test, or a wait for any, of a
 * non-blocking collective. It completes at an entry plus T, or at the caller's own entry. So the
 * lookahead must not be more than the smallest T (mpi_coll_least_time): with factor 0 it is 0, and
 * decisions are taken one by one.
 *
 * With factor 0 all of this holds; the smallest T is 0.
 */
#include <math.h>

#include "mpi/coll/coll_select.h"

static struct {
    vtime alpha;
    uint64_t beta; /* 2^-20 ps per byte, as in net.h */
    double factor;
} model;

/* ---- the choice ---- */

#define STEPS(operation) static const struct coll_step operation##_steps[]
#define TO(operation, name)                                       \
    {                                                             \
        COLL_ANY, COLL_ANY_BYTES, COLL_ID_##operation##_##name, 0 \
    }

STEPS(barrier) = {TO(barrier, binomial)};
STEPS(bcast) = {TO(bcast, linear)};
STEPS(gather) = {TO(gather, linear)};
STEPS(gatherv) = {TO(gatherv, linear)};
STEPS(scatter) = {TO(scatter, linear)};
STEPS(scatterv) = {TO(scatterv, linear)};
STEPS(allgather) = {TO(allgather, bruck)};
STEPS(allgatherv) = {TO(allgatherv, bruck)};
STEPS(alltoall) = {TO(alltoall, replace),
                   {COLL_ANY, 1024, COLL_ID_alltoall_bruck, 0},
                   TO(alltoall, spread)};
STEPS(alltoallv) = {TO(alltoallv, replace), TO(alltoallv, spread)};
STEPS(alltoallw) = {TO(alltoallw, replace), TO(alltoallw, spread)};
STEPS(reduce) = {TO(reduce, linear)};
STEPS(allreduce) = {TO(allreduce, reduce_bcast)};
STEPS(reduce_scatter) = {TO(reduce_scatter, reduce_scatterv)};
STEPS(reduce_scatter_block) = {TO(reduce_scatter_block, reduce_scatter)};
STEPS(scan) = {TO(scan, linear)};
STEPS(exscan) = {TO(exscan, linear)};

#define OF(operation) [MPI_COLL_##operation] = {operation##_steps, COLL_BLOCK}

const struct coll_selector coll_select_model = {
    .name = "model",
    .of = {OF(barrier), OF(bcast), OF(gather), OF(gatherv), OF(scatter), OF(scatterv),
           OF(allgather), OF(allgatherv), OF(alltoall), OF(alltoallv), OF(alltoallw), OF(reduce),
           OF(allreduce), OF(reduce_scatter), OF(reduce_scatter_block), OF(scan), OF(exscan)},
};

/* ---- the cost ---- */

void mpi_coll_model(vtime alpha, double ps_per_byte, double factor)
{
    model.alpha = alpha;
    model.beta = (uint64_t)llround(ps_per_byte * 1048576.0);
    model.factor = factor;
    mpi_world.free_collectives = 1;
}

/* Bytes of all blocks that a rank sends, or receives, but its own. */
static uint64_t side_bytes(const struct mpi_coll_args *a, int sends)
{
    uint64_t sum = 0;

    if (sends && a->sbuf == MPI_IN_PLACE)
        return 0;
    for (int i = 0; i < a->size; i++) {
        struct coll_block b = sends ? coll_send_block(a, i) : coll_recv_block(a, i);
        if (i != a->rank)
            sum += coll_block_bytes(&b);
    }
    return sum;
}

/* ceil(log2 P) * n_eff. */
static uint64_t volume(const struct mpi_coll_args *a, uint64_t rounds)
{
    uint64_t others = (uint64_t)a->size - 1, sent, got;

    switch (a->op_id) {
    case MPI_COLL_barrier:
        return 0;
    case MPI_COLL_gather:
    case MPI_COLL_scatter:
    case MPI_COLL_allgather:
    case MPI_COLL_alltoall:
    case MPI_COLL_reduce_scatter_block:
        return coll_bytes(a, COLL_BLOCK) * others;
    case MPI_COLL_gatherv:
        return a->rank == a->root ? side_bytes(a, 0) : 0;
    case MPI_COLL_scatterv:
        return a->rank == a->root ? side_bytes(a, 1) : 0;
    case MPI_COLL_allgatherv:
    case MPI_COLL_reduce_scatter:
        return coll_bytes(a, COLL_TOTAL) / (uint64_t)a->size * others;
    case MPI_COLL_alltoallv:
    case MPI_COLL_alltoallw:
        sent = side_bytes(a, 1);
        got = side_bytes(a, 0);
        return sent > got ? sent : got;
    default:
        return coll_bytes(a, COLL_BLOCK) * rounds;
    }
}

vtime mpi_coll_least_time(void)
{
    return mpi_world.free_collectives ? vtime_scale(model.alpha, model.factor) : VTIME_NEVER;
}

vtime coll_model_time(const struct mpi_coll_args *a)
{
    uint64_t rounds = a->size > 1 ? 32 - (uint64_t)__builtin_clz((unsigned)a->size - 1) : 0;

    if (model.factor == 0)
        return 0;
    return vtime_scale(vtime_add(model.alpha * (vtime)rounds,
                                 vtime_mul_q(volume(a, rounds), model.beta)),
                       model.factor);
}

/* ---- a call ---- */

/* Empty blocks carry no time: here all wait for all first. */
static int has_gaps(const struct mpi_coll_args *a)
{
    return a->op_id == MPI_COLL_alltoallv || a->op_id == MPI_COLL_alltoallw ||
           a->op_id == MPI_COLL_reduce_scatter;
}

int coll_model_run(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    const struct mpi_coll_algorithm *alg = mpi_coll_choose(c, a);
    vtime entry = self->ent.clock;
    int rc = MPI_SUCCESS;

    switch (a->op_id) {
    case MPI_COLL_bcast:
    case MPI_COLL_scatter:
    case MPI_COLL_scatterv:
        if (a->rank != a->root)
            return alg->run(self, c, a);
        mpi_clock_add(self, coll_model_time(a)); /* the time that the messages carry */
        rc = alg->run(self, c, a);
        self->ent.clock = entry; /* the root never waits */
        return rc;
    case MPI_COLL_reduce:
    case MPI_COLL_gather:
    case MPI_COLL_gatherv:
        rc = alg->run(self, c, a);
        if (a->rank == a->root)
            mpi_clock_add(self, coll_model_time(a));
        return rc;
    default:
        if (has_gaps(a))
            rc = coll_barrier_binomial(self, c, NULL);
        if (!rc)
            rc = alg->run(self, c, a);
        mpi_clock_add(self, coll_model_time(a));
        return rc;
    }
}
