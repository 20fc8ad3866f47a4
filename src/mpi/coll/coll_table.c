/*
 * coll_table.c - the algorithms by number, and the choice for a call.
 *
 * Rules for an operation (mpi.bcast=linear, a platform's list) take precedence over the selector,
 * the last rule first. A rule applies where its algorithm works; otherwise the next one is tried.
 */
#include <assert.h>
#include <string.h>

#include "mpi/coll/coll_select.h"
#include "mpi/coll/inter.h"

#define ROW(operation, name, needs) \
    {#operation, #name, MPI_COLL_##operation, needs, coll_##operation##_##name},
static const struct mpi_coll_algorithm algorithms[COLL_ID_COUNT] = {MPI_COLL_ALGORITHMS(ROW)};

static const struct coll_selector *selector = &coll_select_mpich;

/* A rule in force, the latest first. */
struct rule {
    struct rule *next;
    const struct mpi_coll_algorithm *alg;
    uint64_t from, to; /* bytes, both included */
    uint64_t ranks_from, ranks_to;
};
static struct rule *rules[MPI_COLL_exscan + 1];

/* ---- properties of a call ---- */

/* Of the blocks of all ranks. */
static uint64_t sum_bytes(const struct mpi_coll_args *a)
{
    uint64_t sum = 0;

    if (a->op_id == MPI_COLL_reduce_scatter)
        sum = coll_block_sum(a, 0, a->size);
    else
        for (int i = 0; i < a->size; i++)
            sum += coll_count(a, a->rcounts, i);
    return sum * a->rtype->size;
}

uint64_t coll_bytes(const struct mpi_coll_args *a, enum coll_measure measure)
{
    uint64_t block;

    switch (a->op_id) {
    case MPI_COLL_allgatherv:
    case MPI_COLL_reduce_scatter:
        return measure == COLL_TOTAL ? sum_bytes(a) : sum_bytes(a) / (uint64_t)a->size;
    case MPI_COLL_gather:
        block = a->rank == a->root ? a->rcount * a->rtype->size : a->scount * a->stype->size;
        break;
    case MPI_COLL_scatter:
        block = a->rank == a->root ? a->scount * a->stype->size : a->rcount * a->rtype->size;
        break;
    case MPI_COLL_barrier:
    case MPI_COLL_gatherv:
    case MPI_COLL_scatterv:
    case MPI_COLL_alltoallv:
    case MPI_COLL_alltoallw:
        return 0;
    default:
        block = a->rcount * a->rtype->size;
        break;
    }
    return measure == COLL_TOTAL ? block * (uint64_t)a->size : block;
}

/* A user's operation may depend on whole vectors, so it always gets these. */
static int may_cut(const struct mpi_coll_args *a)
{
    return a->op->kind != MPI_OP_USER && a->rcount >= (uint64_t)coll_pow2_below(a->size);
}

static int is_regular(const struct mpi_coll_args *a)
{
    for (int i = 1; i < a->size; i++)
        if (coll_block_count(a, i) != coll_block_count(a, 0))
            return 0;
    return 1;
}

static int holds(const struct mpi_comm *c, const struct mpi_coll_args *a, int when)
{
    if (!when)
        return 1;
    return (!(when & COLL_IF_POW2) || coll_is_pow2(a->size)) &&
           (!(when & COLL_IF_COMMUTE) || a->op->commute) &&
           (!(when & COLL_IF_ORDERED) || !a->op->commute) &&
           (!(when & COLL_IF_CUT) || may_cut(a)) && (!(when & COLL_IF_REGULAR) || is_regular(a)) &&
           (!(when & COLL_IF_NODES) || coll_nodes_shared(c));
}

/* Whether an algorithm works for these arguments. */
static int fits(const struct mpi_coll_algorithm *alg, const struct mpi_comm *c,
                const struct mpi_coll_args *a)
{
    int needs = alg->needs, nodes;

    if (!needs)
        return 1;
    if (needs & COLL_NEED_POW2 && !coll_is_pow2(a->size))
        return 0;
    if (needs & COLL_NEED_EVEN && a->size % 2)
        return 0;
    if (needs & COLL_NEED_COMMUTE && !a->op->commute)
        return 0;
    if (needs & COLL_NEED_ITEMS && a->rcount < (uint64_t)coll_pow2_below(a->size))
        return 0;
    if (needs & COLL_NEED_ITEM_EACH && a->rcount < (uint64_t)a->size)
        return 0;
    if (needs & COLL_NEED_NODES) {
        nodes = coll_nodes_shared(c);
        if (nodes < 2 && (!nodes || a->op_id == MPI_COLL_scan ||
                          (a->op_id >= MPI_COLL_reduce && !a->op->commute)))
            return 0;
    }
    if (needs & COLL_NEED_IN_PLACE && a->sbuf != MPI_IN_PLACE)
        return 0;
    return !(needs & COLL_NEED_SEPARATE && a->sbuf == MPI_IN_PLACE);
}

/* ---- the choice ---- */

static const struct mpi_coll_algorithm *by_rule(const struct mpi_comm *c,
                                                const struct mpi_coll_args *a)
{
    uint64_t bytes = coll_bytes(a, COLL_BLOCK), ranks = (uint64_t)a->size;

    for (const struct rule *r = rules[a->op_id]; r; r = r->next)
        if (bytes >= r->from && bytes <= r->to && ranks >= r->ranks_from && ranks <= r->ranks_to &&
            fits(r->alg, c, a))
            return r->alg;
    return NULL;
}

static const struct mpi_coll_algorithm *by_selector(const struct mpi_comm *c,
                                                    const struct mpi_coll_args *a)
{
    const struct coll_step *s = selector->of[a->op_id].step;
    uint64_t bytes = coll_bytes(a, (enum coll_measure)selector->of[a->op_id].measure);

    for (;; s++) {
        const struct mpi_coll_algorithm *alg = &algorithms[s->id];
        assert(alg->op_id == a->op_id); /* the last step has no limits */
        if ((s->ranks_below != COLL_ANY && (uint32_t)a->size >= s->ranks_below) ||
            (s->bytes_below != COLL_ANY_BYTES && bytes >= s->bytes_below) || !holds(c, a, s->when))
            continue;
        if (fits(alg, c, a))
            return alg;
        enum coll_id other = selector->otherwise ? selector->otherwise((enum coll_id)s->id)
                                                 : COLL_ID_COUNT;
        if (other != COLL_ID_COUNT && fits(&algorithms[other], c, a))
            return &algorithms[other];
    }
}

const struct mpi_coll_algorithm *mpi_coll_choose(const struct mpi_comm *c,
                                                 const struct mpi_coll_args *a)
{
    const struct mpi_coll_algorithm *alg = NULL;

    if (__builtin_expect(rules[a->op_id] != NULL, 0))
        alg = by_rule(c, a);
    return alg ? alg : by_selector(c, a);
}

/* There is nothing to move on any rank, as every rank can tell. */
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
        return a->rcount * a->rtype->size == 0;
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
    if (__builtin_expect(mpi_world.free_collectives, 0))
        return coll_model_run(self, c, a);
    return mpi_coll_choose(c, a)->run(self, c, a);
}

/*
 * The first ranks form a communicator for the duration of the call: another group, with the same
 * context. Messages between two ranks are matched in order, so they cannot be confused with others
 * of the call.
 */
int coll_nodes_run(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a, int me)
{
    struct mpi_comm firsts = {.ctx = c->ctx, .handle = c->handle, .group = coll_nodes_group(c)};
    struct mpi_coll_args part = *a;

    part.rank = me;
    part.size = (int)firsts.group->size;
    return mpi_coll_choose(&firsts, &part)->run(self, &firsts, &part);
}

/* Chooses the barrier; a separate function, so that it leaves nothing on the stack of a waiting
 * rank. */
static __attribute__((noinline)) const struct mpi_coll_algorithm *
choose_barrier(const struct mpi_comm *c)
{
    struct mpi_coll_args a = {.size = (int)c->group->size, .op_id = MPI_COLL_barrier};

    return mpi_coll_choose(c, &a);
}

static __attribute__((noinline)) int model_barrier(struct mpi_rank *self, struct mpi_comm *c)
{
    struct mpi_coll_args a = {.rank = mpi_comm_my_rank(c, self),
                              .size = (int)c->group->size,
                              .op_id = MPI_COLL_barrier};

    return coll_model_run(self, c, &a);
}

int mpi_coll_barrier(struct mpi_rank *self, struct mpi_comm *c)
{
    if (__builtin_expect(c->remote != NULL, 0))
        return inter_barrier_bcast(self, c, NULL);
    if (__builtin_expect(mpi_world.free_collectives, 0))
        return model_barrier(self, c);
    return choose_barrier(c)->run(self, c, NULL);
}

/* ---- settings ---- */

static const struct mpi_coll_algorithm *find(const char *operation, const char *algorithm,
                                             int *op_id)
{
    *op_id = -1;
    for (uint32_t i = 0; i < COLL_ID_COUNT; i++) {
        const struct mpi_coll_algorithm *alg = &algorithms[i];
        if (strcmp(alg->operation, operation))
            continue;
        *op_id = alg->op_id;
        if (!strcmp(alg->name, algorithm))
            return alg;
    }
    return NULL;
}

int mpi_coll_rule(const struct platform_rule *from)
{
    int op_id;
    const struct mpi_coll_algorithm *alg = find(from->op, from->algorithm, &op_id);

    if (!alg)
        return -1;
    struct rule *r = (struct rule *)mem_alloc(sizeof *r);
    *r = (struct rule){rules[op_id], alg, from->from, from->to, from->ranks_from, from->ranks_to};
    rules[op_id] = r;
    return 0;
}

int mpi_coll_force(const char *operation, const char *algorithm)
{
    int op_id;
    const struct mpi_coll_algorithm *alg = find(operation, algorithm, &op_id);

    if (op_id < 0 || (!alg && strcmp(algorithm, "auto")))
        return -1;
    while (rules[op_id]) {
        struct rule *r = rules[op_id];
        rules[op_id] = r->next;
        mem_free(r);
    }
    if (!alg)
        return 0;
    rules[op_id] = (struct rule *)mem_alloc(sizeof(struct rule));
    *rules[op_id] = (struct rule){NULL, alg, 0, UINT64_MAX, 0, UINT64_MAX};
    return 0;
}

int mpi_coll_select(const char *name)
{
    static const struct coll_selector *const all[] = {&coll_select_mpich, &coll_select_openmpi,
                                                      &coll_select_model};

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (!strcmp(all[i]->name, name)) {
            selector = all[i];
            return 0;
        }
    }
    return -1;
}
