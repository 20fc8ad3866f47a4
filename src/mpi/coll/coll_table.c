/*
 * coll_table.c - the algorithms by number, and which one an operation uses.
 *
 * Selectors follow the defaults of MPICH 4.0 for communicators without node hierarchy. They see
 * values that are equal on all ranks only (sizes, counts, the operation), so all ranks choose
 * alike.
 */
#include <string.h>

#include "mpi/coll/coll_internal.h"
#include "mpi/coll/inter.h"

#define ID(operation, name, needs) ID_##operation##_##name,
enum algorithm_id { MPI_COLL_ALGORITHMS(ID) ID_COUNT };

#define ROW(operation, name, needs) \
    {#operation, #name, MPI_COLL_##operation, needs, coll_##operation##_##name},
static const struct mpi_coll_algorithm algorithms[ID_COUNT] = {MPI_COLL_ALGORITHMS(ROW)};

/* By enum mpi_coll_op: the algorithm that was asked for, or NULL. */
static const struct mpi_coll_algorithm *forced[MPI_COLL_OPS];

enum {
    BCAST_SHORT = 12288, /* bytes; below: a tree */
    BCAST_LONG = 524288, /* from here: a ring */
    BCAST_RANKS = 8,     /* fewer ranks: a tree */
    REDUCE_SHORT = 2048,
    ALLGATHER_SHORT = 81920,
    ALLGATHER_LONG = 524288,
    ALLTOALL_SHORT = 256,
    ALLTOALL_MEDIUM = 32768,
    ALLTOALL_RANKS = 8,
    REDUCE_SCATTER_LONG = 524288,
};

static uint64_t item_bytes(const struct mpi_coll_args *a)
{
    return a->rcount * a->rtype->size;
}

static enum algorithm_id select_bcast(const struct mpi_coll_args *a)
{
    if (item_bytes(a) < BCAST_SHORT || a->size < BCAST_RANKS)
        return ID_bcast_binomial;
    if (item_bytes(a) < BCAST_LONG && coll_is_pow2(a->size))
        return ID_bcast_scatter_recursive_doubling_allgather;
    return ID_bcast_scatter_ring_allgather;
}

static enum algorithm_id select_allgather(const struct mpi_coll_args *a)
{
    uint64_t total = item_bytes(a) * (uint64_t)a->size;

    if (coll_is_pow2(a->size) && total < ALLGATHER_LONG)
        return ID_allgather_recursive_doubling;
    return total < ALLGATHER_SHORT ? ID_allgather_bruck : ID_allgather_ring;
}

static enum algorithm_id select_allgatherv(const struct mpi_coll_args *a)
{
    uint64_t total = 0;

    for (int i = 0; i < a->size; i++)
        total += coll_count(a, a->rcounts, i);
    total *= a->rtype->size;
    if (coll_is_pow2(a->size) && total < ALLGATHER_LONG)
        return ID_allgatherv_recursive_doubling;
    return total < ALLGATHER_SHORT ? ID_allgatherv_bruck : ID_allgatherv_ring;
}

static enum algorithm_id select_alltoall(const struct mpi_coll_args *a)
{
    if (a->sbuf == MPI_IN_PLACE)
        return ID_alltoall_replace;
    if (item_bytes(a) <= ALLTOALL_SHORT && a->size >= ALLTOALL_RANKS)
        return ID_alltoall_bruck;
    return item_bytes(a) <= ALLTOALL_MEDIUM ? ID_alltoall_spread : ID_alltoall_pairwise;
}

static enum algorithm_id select_alltoallv(const struct mpi_coll_args *a)
{
    return a->sbuf == MPI_IN_PLACE ? ID_alltoallv_replace : ID_alltoallv_spread;
}

static enum algorithm_id select_alltoallw(const struct mpi_coll_args *a)
{
    return a->sbuf == MPI_IN_PLACE ? ID_alltoallw_replace : ID_alltoallw_spread;
}

/* A user's operation may take items apart in its own way: it always gets whole vectors. */
static int may_cut(const struct mpi_coll_args *a)
{
    return item_bytes(a) > REDUCE_SHORT && a->op->kind != MPI_OP_USER &&
           a->rcount >= (uint64_t)coll_pow2_below(a->size);
}

static enum algorithm_id select_reduce(const struct mpi_coll_args *a)
{
    return may_cut(a) ? ID_reduce_rabenseifner : ID_reduce_binomial;
}

static enum algorithm_id select_allreduce(const struct mpi_coll_args *a)
{
    return may_cut(a) ? ID_allreduce_rabenseifner : ID_allreduce_recursive_doubling;
}

static enum algorithm_id select_reduce_scatter(const struct mpi_coll_args *a)
{
    if (!a->op->commute)
        return ID_reduce_scatter_ordered_halving;
    if (coll_block_sum(a, 0, a->size) * a->rtype->size < REDUCE_SCATTER_LONG)
        return ID_reduce_scatter_recursive_halving;
    return ID_reduce_scatter_pairwise;
}

static enum algorithm_id select_reduce_scatter_block(const struct mpi_coll_args *a)
{
    if (!a->op->commute)
        return ID_reduce_scatter_block_ordered_halving;
    if (coll_block_sum(a, 0, a->size) * a->rtype->size < REDUCE_SCATTER_LONG)
        return ID_reduce_scatter_block_recursive_halving;
    return ID_reduce_scatter_block_pairwise;
}

/* By enum mpi_coll_op: a selector, or the only algorithm. */
static const struct {
    enum algorithm_id (*select)(const struct mpi_coll_args *a);
    enum algorithm_id only;
} choice[MPI_COLL_OPS] = {
    [MPI_COLL_barrier] = {NULL, ID_barrier_dissemination},
    [MPI_COLL_bcast] = {select_bcast, ID_COUNT},
    [MPI_COLL_gather] = {NULL, ID_gather_binomial},
    [MPI_COLL_gatherv] = {NULL, ID_gatherv_linear},
    [MPI_COLL_scatter] = {NULL, ID_scatter_binomial},
    [MPI_COLL_scatterv] = {NULL, ID_scatterv_linear},
    [MPI_COLL_allgather] = {select_allgather, ID_COUNT},
    [MPI_COLL_allgatherv] = {select_allgatherv, ID_COUNT},
    [MPI_COLL_alltoall] = {select_alltoall, ID_COUNT},
    [MPI_COLL_alltoallv] = {select_alltoallv, ID_COUNT},
    [MPI_COLL_alltoallw] = {select_alltoallw, ID_COUNT},
    [MPI_COLL_reduce] = {select_reduce, ID_COUNT},
    [MPI_COLL_allreduce] = {select_allreduce, ID_COUNT},
    [MPI_COLL_reduce_scatter] = {select_reduce_scatter, ID_COUNT},
    [MPI_COLL_reduce_scatter_block] = {select_reduce_scatter_block, ID_COUNT},
    [MPI_COLL_scan] = {NULL, ID_scan_recursive_doubling},
    [MPI_COLL_exscan] = {NULL, ID_exscan_recursive_doubling},
};

/* Whether an algorithm works for these arguments. */
static int fits(const struct mpi_coll_algorithm *alg, const struct mpi_coll_args *a)
{
    if (alg->needs & COLL_NEED_POW2 && !coll_is_pow2(a->size))
        return 0;
    if (alg->needs & COLL_NEED_COMMUTE && !a->op->commute)
        return 0;
    if (alg->needs & COLL_NEED_ITEMS && a->rcount < (uint64_t)coll_pow2_below(a->size))
        return 0;
    if (alg->needs & COLL_NEED_IN_PLACE && a->sbuf != MPI_IN_PLACE)
        return 0;
    return !(alg->needs & COLL_NEED_SEPARATE && a->sbuf == MPI_IN_PLACE);
}

static const struct mpi_coll_algorithm *pick(const struct mpi_coll_args *a)
{
    if (forced[a->op_id] && fits(forced[a->op_id], a))
        return forced[a->op_id];
    return &algorithms[choice[a->op_id].select ? choice[a->op_id].select(a)
                                               : choice[a->op_id].only];
}

/* Nothing to move on any rank, as every rank can see for itself. */
static int is_empty(const struct mpi_coll_args *a)
{
    switch (a->op_id) {
    case MPI_COLL_gather:
        return (a->rank == a->root ? a->rcount * a->rtype->size : a->scount * a->stype->size) == 0;
    case MPI_COLL_scatter:
        return (a->rank == a->root ? a->scount * a->stype->size : a->rcount * a->rtype->size) == 0;
    case MPI_COLL_bcast:
    case MPI_COLL_allgather:
    case MPI_COLL_alltoall:
        return !item_bytes(a);
    case MPI_COLL_reduce:
    case MPI_COLL_allreduce:
    case MPI_COLL_scan:
    case MPI_COLL_exscan:
        return !a->rcount;
    case MPI_COLL_reduce_scatter:
    case MPI_COLL_reduce_scatter_block:
        return !coll_block_sum(a, 0, a->size);
    default:
        return 0;
    }
}

/* A communicator of one rank. */
static int run_alone(const struct mpi_coll_args *a)
{
    if (a->op_id <= MPI_COLL_bcast || a->op_id == MPI_COLL_exscan || a->sbuf == MPI_IN_PLACE ||
        a->rbuf == MPI_IN_PLACE)
        return MPI_SUCCESS;
    if (a->op_id >= MPI_COLL_reduce) {
        coll_copy(a->sbuf, a->rbuf, coll_block_count(a, 0), a->rtype);
        return MPI_SUCCESS;
    }
    struct coll_block from = coll_send_block(a, 0), to = coll_recv_block(a, 0);
    return coll_copy_block(&from, &to);
}

int mpi_coll_run(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    if (__builtin_expect(c->remote != NULL, 0))
        return mpi_inter_run(self, c, a);
    if (is_empty(a))
        return MPI_SUCCESS;
    if (a->op_id >= MPI_COLL_neighbor_allgather)
        return coll_neighbor(self, c, a);
    if (a->size == 1)
        return run_alone(a);
    return pick(a)->run(self, c, a);
}

int mpi_coll_barrier(struct mpi_rank *self, struct mpi_comm *c)
{
    const struct mpi_coll_algorithm *alg = forced[MPI_COLL_barrier];

    if (__builtin_expect(c->remote != NULL, 0))
        return inter_barrier_bcast(self, c, NULL);
    return (alg ? alg : &algorithms[choice[MPI_COLL_barrier].only])->run(self, c, NULL);
}

int mpi_coll_force(const char *operation, const char *algorithm)
{
    int known = -1;

    for (uint32_t i = 0; i < ID_COUNT; i++) {
        const struct mpi_coll_algorithm *alg = &algorithms[i];
        if (strcmp(alg->operation, operation))
            continue;
        known = alg->op_id;
        if (!strcmp(alg->name, algorithm)) {
            forced[alg->op_id] = alg;
            return 0;
        }
    }
    if (known < 0 || strcmp(algorithm, "auto"))
        return -1;
    forced[known] = NULL;
    return 0;
}

const struct mpi_coll_algorithm *mpi_coll_algorithm_at(uint32_t i)
{
    return i < ID_COUNT ? &algorithms[i] : NULL;
}
