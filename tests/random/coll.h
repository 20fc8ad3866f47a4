/*
 * coll.h - random collectives, some at a time: blocking, non-blocking and persistent; on
 * intercommunicators and among neighbours, too. Results are compared with what they must be.
 */
#ifndef TESTS_RANDOM_COLL_H
#define TESTS_RANDOM_COLL_H

#include "comms.h"

enum coll_kind {
    COLL_BARRIER, /* these are for intercommunicators, too */
    COLL_BCAST,
    COLL_ALLREDUCE,
    COLL_ALLGATHER,
    COLL_ALLTOALL,
    COLL_BOTH, /* those above */
    COLL_REDUCE = COLL_BOTH,
    COLL_GATHER,
    COLL_GATHERV,
    COLL_SCATTER,
    COLL_SCATTERV,
    COLL_ALLGATHERV,
    COLL_ALLTOALLV,
    COLL_REDUCE_SCATTER,
    COLL_REDUCE_SCATTER_BLOCK,
    COLL_SCAN,
    COLL_EXSCAN,
    COLL_KINDS,
};

enum coll_way { COLL_BLOCKING, COLL_LATER, COLL_PERSISTENT, COLL_WAYS };

/* A call. Each rank contributes `count` values to each of those that it sends to. */
struct coll {
    int kind, way, count, root, in_place;
    uint64_t id;
    long *out, *in;
    int *counts, *displs; /* member i: count + i % 3 values, if they differ */
    MPI_Request r;
};

static int count_of(const struct coll *k, int member)
{
    return k->count + member % 3;
}

/* A call, its non-blocking and its persistent form: the arguments are the same. */
#define COLL_CALL(name, ...)                                                    \
    (k->way == COLL_BLOCKING ? MPI_##name(__VA_ARGS__, c->comm)                 \
     : k->way == COLL_LATER  ? MPI_I##name##_LATER(__VA_ARGS__, c->comm, &k->r) \
                             : MPI_##name##_init(__VA_ARGS__, c->comm, MPI_INFO_NULL, &k->r))
#define MPI_IBcast_LATER MPI_Ibcast
#define MPI_IAllreduce_LATER MPI_Iallreduce
#define MPI_IAllgather_LATER MPI_Iallgather
#define MPI_IAllgatherv_LATER MPI_Iallgatherv
#define MPI_IAlltoall_LATER MPI_Ialltoall
#define MPI_IAlltoallv_LATER MPI_Ialltoallv
#define MPI_IReduce_LATER MPI_Ireduce
#define MPI_IGather_LATER MPI_Igather
#define MPI_IGatherv_LATER MPI_Igatherv
#define MPI_IScatter_LATER MPI_Iscatter
#define MPI_IScatterv_LATER MPI_Iscatterv
#define MPI_IReduce_scatter_LATER MPI_Ireduce_scatter
#define MPI_IReduce_scatter_block_LATER MPI_Ireduce_scatter_block
#define MPI_IScan_LATER MPI_Iscan
#define MPI_IExscan_LATER MPI_Iexscan

static void start_barrier(const struct comm *c, struct coll *k)
{
    if (k->way == COLL_BLOCKING)
        MPI_Barrier(c->comm);
    else if (k->way == COLL_LATER)
        MPI_Ibarrier(c->comm, &k->r);
    else
        MPI_Barrier_init(c->comm, MPI_INFO_NULL, &k->r);
}

static int root_in(const struct comm *c, const struct coll *k)
{
    if (!c->is_inter)
        return k->root;
    return !c->is_first                   ? k->root % c->first_size
           : c->rank == k->root % c->size ? MPI_ROOT
                                          : MPI_PROC_NULL;
}

static void start(const struct comm *c, struct coll *k)
{
    const MPI_Datatype type = MPI_LONG;
    const void *out = k->in_place ? MPI_IN_PLACE : k->out;
    int n = k->count, mine = count_of(k, c->rank), root = root_in(c, k);
    int *counts = k->counts, *displs = k->displs;
    switch ((enum coll_kind)k->kind) {
    case COLL_BARRIER:
        start_barrier(c, k);
        break;
    case COLL_BCAST:
        COLL_CALL(Bcast, k->in, n, type, root);
        break;
    case COLL_ALLREDUCE:
        COLL_CALL(Allreduce, out, k->in, n, type, MPI_SUM);
        break;
    case COLL_ALLGATHER:
        COLL_CALL(Allgather, out, n, type, k->in, n, type);
        break;
    case COLL_ALLTOALL:
        COLL_CALL(Alltoall, out, n, type, k->in, n, type);
        break;
    case COLL_REDUCE:
        COLL_CALL(Reduce, k->out, k->in, n, type, MPI_MAX, root);
        break;
    case COLL_GATHER:
        COLL_CALL(Gather, k->out, n, type, k->in, n, type, root);
        break;
    case COLL_GATHERV:
        COLL_CALL(Gatherv, k->out, mine, type, k->in, counts, displs, type, root);
        break;
    case COLL_SCATTER:
        COLL_CALL(Scatter, k->out, n, type, k->in, n, type, root);
        break;
    case COLL_SCATTERV:
        COLL_CALL(Scatterv, k->out, counts, displs, type, k->in, mine, type, root);
        break;
    case COLL_ALLGATHERV:
        COLL_CALL(Allgatherv, k->out, mine, type, k->in, counts, displs, type);
        break;
    case COLL_ALLTOALLV: /* everybody gets `mine` from everybody: as many as its own count */
        for (int i = 0; i < c->size; i++)
            counts[c->size + i] = mine, displs[c->size + i] = i * mine;
        COLL_CALL(Alltoallv, k->out, counts, displs, type, k->in, counts + c->size,
                  displs + c->size, type);
        break;
    case COLL_REDUCE_SCATTER:
        COLL_CALL(Reduce_scatter, k->out, k->in, counts, type, MPI_SUM);
        break;
    case COLL_REDUCE_SCATTER_BLOCK:
        COLL_CALL(Reduce_scatter_block, k->out, k->in, n, type, MPI_SUM);
        break;
    case COLL_SCAN:
        COLL_CALL(Scan, k->out, k->in, n, type, MPI_SUM);
        break;
    default:
        COLL_CALL(Exscan, k->out, k->in, n, type, MPI_SUM);
    }
    if (k->way == COLL_PERSISTENT)
        MPI_Start(&k->r);
}

/* ---- what must come out ---- */

/* The sum of what members before `end` contribute at index i. */
static long sum_before(int end, int i, uint64_t id)
{
    long sum = 0;
    for (int rank = 0; rank < end; rank++)
        sum += value_of(rank, i, id);
    return sum;
}

static long max_of(int size, int i, uint64_t id)
{
    long most = 0;
    for (int rank = 0; rank < size; rank++)
        if (value_of(rank, i, id) > most)
            most = value_of(rank, i, id);
    return most;
}

static void expect(const struct coll *k, int at, long wanted)
{
    CHECK(k->in[at] == wanted);
    run.sum += (uint64_t)k->in[at];
}

/* Blocks of `count` values at `from` in what each member contributes. */
static void expect_blocks(const struct coll *k, int members, int count, int from)
{
    for (int m = 0; m < members; m++)
        for (int i = 0; i < count; i++)
            expect(k, m * count + i, value_of(m, from + i, k->id));
}

static void expect_varied(const struct comm *c, const struct coll *k)
{
    for (int m = 0; m < c->size; m++)
        for (int i = 0; i < count_of(k, m); i++)
            expect(k, k->displs[m] + i, value_of(m, i, k->id));
}

static void verify(const struct comm *c, const struct coll *k)
{
    int peers = c->is_inter ? c->others : c->size, n = k->count, is_root = c->rank == k->root;
    int mine = count_of(k, c->rank);
    switch ((enum coll_kind)k->kind) {
    case COLL_BARRIER:
        break;
    case COLL_BCAST:
        for (int i = 0; i < n && !(c->is_inter && c->is_first); i++)
            expect(k, i, value_of(c->is_inter ? k->root % c->first_size : k->root, i, k->id));
        break;
    case COLL_ALLREDUCE:
        for (int i = 0; i < n; i++)
            expect(k, i, sum_before(peers, i, k->id));
        break;
    case COLL_ALLGATHER:
        expect_blocks(k, peers, n, 0);
        break;
    case COLL_ALLTOALL:
        expect_blocks(k, peers, n, c->rank * n);
        break;
    case COLL_REDUCE:
        for (int i = 0; i < n && is_root; i++)
            expect(k, i, max_of(c->size, i, k->id));
        break;
    case COLL_GATHER:
        if (is_root)
            expect_blocks(k, c->size, n, 0);
        break;
    case COLL_GATHERV:
        if (is_root)
            expect_varied(c, k);
        break;
    case COLL_ALLGATHERV:
        expect_varied(c, k);
        break;
    case COLL_SCATTER:
        for (int i = 0; i < n; i++)
            expect(k, i, value_of(k->root, c->rank * n + i, k->id));
        break;
    case COLL_SCATTERV:
        for (int i = 0; i < mine; i++)
            expect(k, i, value_of(k->root, k->displs[c->rank] + i, k->id));
        break;
    case COLL_ALLTOALLV:
        for (int m = 0; m < c->size; m++)
            for (int i = 0; i < mine; i++)
                expect(k, m * mine + i, value_of(m, k->displs[c->rank] + i, k->id));
        break;
    case COLL_REDUCE_SCATTER:
        for (int i = 0; i < mine; i++)
            expect(k, i, sum_before(c->size, k->displs[c->rank] + i, k->id));
        break;
    case COLL_REDUCE_SCATTER_BLOCK:
        for (int i = 0; i < n; i++)
            expect(k, i, sum_before(c->size, c->rank * n + i, k->id));
        break;
    case COLL_SCAN:
        for (int i = 0; i < n; i++)
            expect(k, i, sum_before(c->rank + 1, i, k->id));
        break;
    default:
        for (int i = 0; i < n && c->rank; i++)
            expect(k, i, sum_before(c->rank, i, k->id));
    }
}

/* ---- actions ---- */

static void prepare(const struct comm *c, struct coll *k, struct draw *d, int n)
{
    static const int counts[] = {1, 1, 2, 5, 33, 400, 3000};
    int peers = c->is_inter ? c->others : c->size, room = 0;
    *k = (struct coll){.kind = (int)draw(d, c->is_inter ? COLL_BOTH : COLL_KINDS),
                       .way = c->is_inter ? (int)draw(d, 2) : (int)draw(d, COLL_WAYS),
                       .count = counts[draw(d, 7)],
                       .root = (int)draw(d, (uint32_t)(c->is_inter ? c->first_size : c->size)),
                       .in_place = !c->is_inter && draw(d, 4) == 0,
                       .id = mix((uint64_t)run.action, (uint64_t)n),
                       .r = MPI_REQUEST_NULL};
    k->counts = malloc(4 * (size_t)(c->size + peers) * sizeof *k->counts);
    k->displs = k->counts + 2 * (c->size + peers);
    for (int i = 0; i < c->size; i++) {
        k->counts[i] = count_of(k, i);
        k->displs[i] = room;
        room += count_of(k, i);
    }
    room = (k->count + 3) * (c->size + peers);
    k->out = malloc((size_t)room * sizeof *k->out);
    k->in = malloc((size_t)room * sizeof *k->in);
    for (int i = 0; i < room; i++) {
        k->out[i] = value_of(c->rank, i, k->id);
        k->in[i] = -1;
    }
    k->in_place = k->in_place && (k->kind == COLL_ALLREDUCE || k->kind == COLL_ALLGATHER ||
                                  k->kind == COLL_ALLTOALL);
    int from = k->in_place && k->kind == COLL_ALLGATHER ? c->rank * k->count : 0;
    if (k->in_place || k->kind == COLL_BCAST)
        memcpy(k->in + from, k->out, (size_t)(room - from) * sizeof *k->in);
}

/* Several at a time; blocking ones among those that are pending. */
static void act_collectives(const struct comm *c)
{
    struct draw d = draw_shared(), own = draw_own();
    struct coll calls[4];
    MPI_Request r[4];
    MPI_Status s[4];
    int count = 1 + (int)draw(&d, 4), has_persistent = 0;
    for (int i = 0; i < count; i++) {
        prepare(c, &calls[i], &d, i);
        has_persistent |= calls[i].way == COLL_PERSISTENT;
        spend(&own);
        start(c, &calls[i]);
        r[i] = calls[i].r;
    }
    spend(&own);
    /* MPICH 4.0's MPI_Testall fails with persistent collectives that are not complete. */
    static const int ways[] = {0, 1, 3};
    complete(has_persistent ? ways[draw(&own, 3)] : (int)draw(&own, COMPLETIONS), count, r, s);
    for (int i = 0; i < count; i++) {
        verify(c, &calls[i]);
        if (r[i] != MPI_REQUEST_NULL)
            MPI_Request_free(&r[i]);
        free(calls[i].out);
        free(calls[i].in);
        free(calls[i].counts);
    }
}

/* On a ring or a torus: each neighbour's values arrive where they must. */
static void neighbours(MPI_Comm grid, struct draw *d)
{
    int sources[8], n, dims, rank = check_rank_in(grid), m = 0;
    int count = 1 + (int)draw(d, 50), way = (int)draw(d, 3);
    long out[8 * 51], in[8 * 51];
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Cartdim_get(grid, &dims);
    for (int i = 0; i < dims; i++, m += 2)
        MPI_Cart_shift(grid, i, 1, &sources[m], &sources[m + 1]);
    n = 2 * dims;
    for (int i = 0; i < n * count; i++)
        out[i] = value_of(rank, i, (uint64_t)run.action), in[i] = -1;
    if (way == 0)
        MPI_Neighbor_allgather(out, count, MPI_LONG, in, count, MPI_LONG, grid);
    else if (way == 1)
        MPI_Ineighbor_allgather(out, count, MPI_LONG, in, count, MPI_LONG, grid, &r);
    else {
        MPI_Neighbor_allgather_init(out, count, MPI_LONG, in, count, MPI_LONG, grid, MPI_INFO_NULL,
                                    &r);
        MPI_Start(&r);
    }
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    if (r != MPI_REQUEST_NULL)
        MPI_Request_free(&r);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < count && sources[i] != MPI_PROC_NULL; k++)
            CHECK(in[i * count + k] == value_of(sources[i], k, (uint64_t)run.action));
    if (way == 0)
        MPI_Neighbor_alltoall(out, count, MPI_LONG, in, count, MPI_LONG, grid);
    else {
        MPI_Ineighbor_alltoall(out, count, MPI_LONG, in, count, MPI_LONG, grid, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    /* What comes from below was sent upwards: the other block of that dimension. */
    for (int i = 0; i < n; i++)
        for (int k = 0; k < count && sources[i] != MPI_PROC_NULL; k++)
            CHECK(in[i * count + k] ==
                  value_of(sources[i], (i ^ 1) * count + k, (uint64_t)run.action));
}

static void act_neighbours(const struct comm *c)
{
    struct draw d = draw_shared(), own = draw_own();
    int dims[2] = {0, 0}, periods[2] = {(int)draw(&d, 2), (int)draw(&d, 2)};
    int n = 1 + (int)draw(&d, 2), reorder = (int)draw(&d, 2);
    MPI_Comm grid;
    MPI_Dims_create(c->size, n, dims);
    for (int i = 0; i < n; i++)
        periods[i] = periods[i] && dims[i] > 2; /* else both neighbours are the same one */
    spend(&own);
    MPI_Cart_create(c->comm, n, dims, periods, reorder, &grid);
    neighbours(grid, &d);
    MPI_Comm_free(&grid);
}

#endif
