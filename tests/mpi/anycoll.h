/*
 * Any collective in any form, for the random tests: what a rank sends follows from a number of the
 * call, so that every rank can compute what it must hold in the end.
 */
#ifndef TESTS_MPI_ANYCOLL_H
#define TESTS_MPI_ANYCOLL_H

#include "check.h"

enum any_op {
    ANY_BARRIER,
    ANY_BCAST,
    ANY_GATHER,
    ANY_SCATTER,
    ANY_ALLGATHER,
    ANY_ALLTOALL,
    ANY_GATHERV,
    ANY_SCATTERV,
    ANY_ALLGATHERV,
    ANY_ALLTOALLV,
    ANY_ALLTOALLW,
    ANY_REDUCE,
    ANY_ALLREDUCE,
    ANY_SCAN,
    ANY_EXSCAN,
    ANY_REDUCE_SCATTER_BLOCK,
    ANY_REDUCE_SCATTER,
    ANY_OPS
};
enum any_form { ANY_NOW, ANY_LATER, ANY_INIT };
enum { ANY_UNTOUCHED = -77 };

struct any {
    int op, form, wide, root, count, in_place, ordered, gaps;
    int id; /* of this run of the call */
    MPI_Comm comm;
    int rank, size;
    /* made by any_make */
    int width;  /* ints per item */
    int stride; /* ints from one item to the next */
    MPI_Datatype type;
    int *send, *recv, ints;
    int *scounts, *rcounts, *displs;
    MPI_Count *scounts_c, *rcounts_c;
    MPI_Aint *displs_c;
    MPI_Datatype *stypes, *rtypes;
    MPI_Request request;
};

static MPI_Datatype any_gap_type, any_pair_type;
static MPI_Op any_affine;

/* (a, b) stands for x -> a x + b; in is applied after inout. Does not commute. */
static void any_compose(void *in, void *inout, int *n, MPI_Datatype *type)
{
    unsigned *f = in, *g = inout;

    (void)type;
    for (int i = 0; i < *n; i++, f += 2, g += 2) {
        g[1] = f[0] * g[1] + f[1];
        g[0] = f[0] * g[0];
    }
}

__attribute__((unused)) static void any_init(void)
{
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &any_gap_type);
    MPI_Type_commit(&any_gap_type);
    MPI_Type_contiguous(2, MPI_INT, &any_pair_type);
    MPI_Type_commit(&any_pair_type);
    MPI_Op_create(any_compose, 0, &any_affine);
}

__attribute__((unused)) static void any_fini(void)
{
    MPI_Type_free(&any_gap_type);
    MPI_Type_free(&any_pair_type);
    MPI_Op_free(&any_affine);
}

/* Int i that rank "from" has for rank "to". */
static int any_value(const struct any *k, int from, int to, int i)
{
    unsigned x = (unsigned)(k->id * 7919 + from * 1009 + to * 131 + i * 7 + 1);
    return (int)((x * 2654435761u) >> 8) | 1;
}

/* Items of the block from one rank to another; the same in both directions. */
static int any_items(const struct any *k, int from, int to)
{
    switch (k->op) {
    case ANY_BARRIER:
        return 0;
    case ANY_GATHERV:
    case ANY_ALLGATHERV:
        return (from * 3 + k->root) % (k->count + 1);
    case ANY_SCATTERV:
    case ANY_REDUCE_SCATTER:
        return (to * 3 + k->root) % (k->count + 1);
    case ANY_ALLTOALLV:
    case ANY_ALLTOALLW:
        return (from * to + from + to + k->root) % (k->count + 1);
    default:
        return k->count;
    }
}

/* Where the block of a rank begins, in items: those with a count per rank have room between. */
static int any_place(const struct any *k, int r)
{
    if (k->op == ANY_REDUCE_SCATTER) {
        int sum = 0;
        for (int i = 0; i < r; i++)
            sum += any_items(k, k->rank, i);
        return sum;
    }
    return r * (k->count + (k->op >= ANY_GATHERV && k->op <= ANY_ALLTOALLW));
}

static int any_is_reduction(const struct any *k)
{
    return k->op >= ANY_REDUCE;
}

/* Only the root has it in place in gather, scatter and reduce. */
static int any_here(const struct any *k)
{
    int rooted = k->op == ANY_GATHER || k->op == ANY_GATHERV || k->op == ANY_SCATTER ||
                 k->op == ANY_SCATTERV || k->op == ANY_REDUCE;

    return k->in_place && k->op > ANY_BCAST && (!rooted || k->rank == k->root);
}

/* ---- buffers ---- */

/* Types per block of alltoallw: with gaps or without, as it happens. */
static int any_w_stride(const struct any *k, int r, int is_send)
{
    return (k->rank + r + (is_send && !k->in_place)) % 2 ? 2 : 1;
}

static void any_arrays(struct any *k)
{
    int n = k->size;

    k->scounts = malloc(sizeof(int) * n), k->rcounts = malloc(sizeof(int) * n);
    k->displs = malloc(sizeof(int) * n), k->displs_c = malloc(sizeof(MPI_Aint) * n);
    k->scounts_c = malloc(sizeof(MPI_Count) * n), k->rcounts_c = malloc(sizeof(MPI_Count) * n);
    k->stypes = malloc(sizeof(MPI_Datatype) * n), k->rtypes = malloc(sizeof(MPI_Datatype) * n);
    for (int r = 0; r < n; r++) {
        int scale = k->op == ANY_ALLTOALLW ? 2 * (int)sizeof(int) : 1;
        k->scounts[r] = any_items(k, k->op == ANY_SCATTERV ? k->root : k->rank, r);
        k->rcounts[r] = any_items(k, r, k->rank);
        if (k->op == ANY_REDUCE_SCATTER)
            k->rcounts[r] = any_items(k, k->rank, r);
        k->displs[r] = any_place(k, r) * scale;
        k->displs_c[r] = k->displs[r];
        k->scounts_c[r] = k->scounts[r];
        k->rcounts_c[r] = k->rcounts[r];
        k->stypes[r] = any_w_stride(k, r, 1) == 2 ? any_gap_type : MPI_INT;
        k->rtypes[r] = any_w_stride(k, r, 0) == 2 ? any_gap_type : MPI_INT;
    }
}

/* op, form, wide, root, count, in_place, ordered, gaps and comm are set. */
__attribute__((unused)) static void any_make(struct any *k)
{
    MPI_Comm_rank(k->comm, &k->rank);
    MPI_Comm_size(k->comm, &k->size);
    k->root %= k->size;
    k->width = any_is_reduction(k) && k->ordered ? 2 : 1;
    k->stride = k->op == ANY_ALLTOALLW || (!any_is_reduction(k) && k->gaps) ? 2 : k->width;
    k->type = any_is_reduction(k) ? (k->ordered ? any_pair_type : MPI_INT)
                                  : (k->gaps ? any_gap_type : MPI_INT);
    k->ints = (k->size * (k->count + 1) + 1) * 2;
    k->send = malloc(sizeof(int) * k->ints);
    k->recv = malloc(sizeof(int) * k->ints);
    k->request = MPI_REQUEST_NULL;
    any_arrays(k);
}

__attribute__((unused)) static void any_free(struct any *k)
{
    void *all[] = {k->send,      k->recv,      k->scounts,  k->rcounts, k->displs,
                   k->scounts_c, k->rcounts_c, k->displs_c, k->stypes,  k->rtypes};

    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

/* A block of `to` as rank `from` has it. */
static void any_put(const struct any *k, int *buf, int at, int from, int to, int items, int stride)
{
    int *p = buf + at * k->stride;

    for (int i = 0; i < items; i++)
        for (int j = 0; j < k->width; j++)
            p[i * stride + j] = any_value(k, from, to, i * k->width + j);
}

static int any_stride(const struct any *k, int r, int is_send)
{
    return k->op == ANY_ALLTOALLW ? any_w_stride(k, r, is_send) : k->stride;
}

__attribute__((unused)) static void any_fill(struct any *k)
{
    int here = any_here(k), is_root = k->rank == k->root;

    for (int i = 0; i < k->ints; i++)
        k->send[i] = k->recv[i] = ANY_UNTOUCHED;
    switch (k->op) {
    case ANY_BARRIER:
        break;
    case ANY_BCAST:
        if (is_root)
            any_put(k, k->recv, 0, k->root, 0, k->count, k->stride);
        break;
    case ANY_GATHER:
    case ANY_GATHERV:
    case ANY_ALLGATHER:
    case ANY_ALLGATHERV:
        any_put(k, here ? k->recv : k->send, here ? any_place(k, k->rank) : 0, k->rank, 0,
                any_items(k, k->rank, 0), k->stride);
        break;
    case ANY_SCATTER:
    case ANY_SCATTERV:
    case ANY_ALLTOALL:
    case ANY_ALLTOALLV:
    case ANY_ALLTOALLW:
        if (!is_root && k->op != ANY_ALLTOALL && k->op != ANY_ALLTOALLV && k->op != ANY_ALLTOALLW)
            break;
        for (int r = 0; r < k->size; r++)
            any_put(k, here && k->op != ANY_SCATTER && k->op != ANY_SCATTERV ? k->recv : k->send,
                    any_place(k, r), k->rank, r, any_items(k, k->rank, r), any_stride(k, r, 1));
        break;
    default: { /* reductions */
        int blocks = k->op == ANY_REDUCE_SCATTER || k->op == ANY_REDUCE_SCATTER_BLOCK ? k->size : 1;
        for (int r = 0; r < blocks; r++)
            any_put(k, here ? k->recv : k->send, any_place(k, r), k->rank, r,
                    any_items(k, k->rank, r), k->stride);
    }
    }
}

/* ---- the call ---- */

#define ANY_FORMS(k, later, Now, ...)                                   \
    ((k)->form == ANY_NOW     ? MPI_##Now(__VA_ARGS__)                  \
     : (k)->form == ANY_LATER ? MPI_##later(__VA_ARGS__, &(k)->request) \
                              : MPI_##Now##_init(__VA_ARGS__, MPI_INFO_NULL, &(k)->request))
#define ANY_FORMS_C(k, later, Now, ...)                                     \
    ((k)->form == ANY_NOW     ? MPI_##Now##_c(__VA_ARGS__)                  \
     : (k)->form == ANY_LATER ? MPI_##later##_c(__VA_ARGS__, &(k)->request) \
                              : MPI_##Now##_init_c(__VA_ARGS__, MPI_INFO_NULL, &(k)->request))
#define ANY_BOTH(k, later, Now, ...) \
    ((k)->wide ? ANY_FORMS_C(k, later, Now, __VA_ARGS__) : ANY_FORMS(k, later, Now, __VA_ARGS__))

static int any_vector(struct any *k, const void *s, void *r)
{
    MPI_Datatype t = k->type;
    int n = any_items(k, k->rank, 0), m = any_items(k, k->root, k->rank);

    switch (k->op) {
    case ANY_GATHERV:
        return k->wide ? ANY_FORMS_C(k, Igatherv, Gatherv, s, n, t, r, k->rcounts_c, k->displs_c, t,
                                     k->root, k->comm)
                       : ANY_FORMS(k, Igatherv, Gatherv, s, n, t, r, k->rcounts, k->displs, t,
                                   k->root, k->comm);
    case ANY_SCATTERV:
        return k->wide ? ANY_FORMS_C(k, Iscatterv, Scatterv, k->send, k->scounts_c, k->displs_c, t,
                                     r, m, t, k->root, k->comm)
                       : ANY_FORMS(k, Iscatterv, Scatterv, k->send, k->scounts, k->displs, t, r, m,
                                   t, k->root, k->comm);
    case ANY_ALLGATHERV:
        return k->wide ? ANY_FORMS_C(k, Iallgatherv, Allgatherv, s, n, t, r, k->rcounts_c,
                                     k->displs_c, t, k->comm)
                       : ANY_FORMS(k, Iallgatherv, Allgatherv, s, n, t, r, k->rcounts, k->displs, t,
                                   k->comm);
    case ANY_ALLTOALLV:
        return k->wide ? ANY_FORMS_C(k, Ialltoallv, Alltoallv, s, k->scounts_c, k->displs_c, t, r,
                                     k->rcounts_c, k->displs_c, t, k->comm)
                       : ANY_FORMS(k, Ialltoallv, Alltoallv, s, k->scounts, k->displs, t, r,
                                   k->rcounts, k->displs, t, k->comm);
    default:
        return k->wide ? ANY_FORMS_C(k, Ialltoallw, Alltoallw, s, k->scounts_c, k->displs_c,
                                     k->stypes, r, k->rcounts_c, k->displs_c, k->rtypes, k->comm)
                       : ANY_FORMS(k, Ialltoallw, Alltoallw, s, k->scounts, k->displs, k->stypes, r,
                                   k->rcounts, k->displs, k->rtypes, k->comm);
    }
}

static int any_reduction(struct any *k, const void *s, void *r)
{
    MPI_Op op = k->ordered ? any_affine : MPI_SUM;
    MPI_Datatype t = k->type;
    int n = k->count;

    switch (k->op) {
    case ANY_REDUCE:
        return ANY_BOTH(k, Ireduce, Reduce, s, r, n, t, op, k->root, k->comm);
    case ANY_ALLREDUCE:
        return ANY_BOTH(k, Iallreduce, Allreduce, s, r, n, t, op, k->comm);
    case ANY_SCAN:
        return ANY_BOTH(k, Iscan, Scan, s, r, n, t, op, k->comm);
    case ANY_EXSCAN:
        return ANY_BOTH(k, Iexscan, Exscan, s, r, n, t, op, k->comm);
    case ANY_REDUCE_SCATTER_BLOCK:
        return ANY_BOTH(k, Ireduce_scatter_block, Reduce_scatter_block, s, r, n, t, op, k->comm);
    default:
        return k->wide ? ANY_FORMS_C(k, Ireduce_scatter, Reduce_scatter, s, r, k->rcounts_c, t, op,
                                     k->comm)
                       : ANY_FORMS(k, Ireduce_scatter, Reduce_scatter, s, r, k->rcounts, t, op,
                                   k->comm);
    }
}

__attribute__((unused)) static int any_call(struct any *k)
{
    int scatters = k->op == ANY_SCATTER || k->op == ANY_SCATTERV, here = any_here(k), n = k->count;
    const void *s = here && !scatters ? MPI_IN_PLACE : k->send;
    void *r = here && scatters ? MPI_IN_PLACE : k->recv;
    MPI_Datatype t = k->type;

    switch (k->op) {
    case ANY_BARRIER:
        return ANY_FORMS(k, Ibarrier, Barrier, k->comm);
    case ANY_BCAST:
        return ANY_BOTH(k, Ibcast, Bcast, k->recv, n, t, k->root, k->comm);
    case ANY_GATHER:
        return ANY_BOTH(k, Igather, Gather, s, n, t, r, n, t, k->root, k->comm);
    case ANY_SCATTER:
        return ANY_BOTH(k, Iscatter, Scatter, s, n, t, r, n, t, k->root, k->comm);
    case ANY_ALLGATHER:
        return ANY_BOTH(k, Iallgather, Allgather, s, n, t, r, n, t, k->comm);
    case ANY_ALLTOALL:
        return ANY_BOTH(k, Ialltoall, Alltoall, s, n, t, r, n, t, k->comm);
    default:
        return any_is_reduction(k) ? any_reduction(k, s, r) : any_vector(k, s, r);
    }
}

/* ---- the result ---- */

static void any_check_block(const struct any *k, int at, int from, int to, int items, int stride)
{
    const int *p = k->recv + at * k->stride;

    for (int i = 0; i < items; i++) {
        for (int j = 0; j < k->width; j++)
            CHECK(p[i * stride + j] == any_value(k, from, to, i * k->width + j));
        for (int j = k->width; j < stride; j++)
            CHECK(p[i * stride + j] == ANY_UNTOUCHED);
    }
}

/* Result of ranks 0 .. last for block `to`. */
static void any_check_reduced(const struct any *k, int last, int to, int items)
{
    for (int i = 0; i < items; i++) {
        unsigned want[2] = {0, 0};
        for (int r = last; r >= 0; r--) {
            unsigned f[2] = {(unsigned)any_value(k, r, to, i * k->width), 0};
            if (k->width == 2)
                f[1] = (unsigned)any_value(k, r, to, i * 2 + 1);
            if (k->width == 1)
                want[0] += f[0];
            else if (r == last)
                want[0] = f[0], want[1] = f[1];
            else
                want[1] = f[0] * want[1] + f[1], want[0] = f[0] * want[0];
        }
        for (int j = 0; j < k->width; j++)
            CHECK((unsigned)k->recv[i * k->width + j] == want[j]);
    }
}

__attribute__((unused)) static void any_verify(const struct any *k)
{
    int me = k->rank, is_root = me == k->root;
    int gathers = k->op != ANY_ALLTOALL && k->op != ANY_ALLTOALLV && k->op != ANY_ALLTOALLW;

    switch (k->op) {
    case ANY_BARRIER:
        break;
    case ANY_BCAST:
        any_check_block(k, 0, k->root, 0, k->count, k->stride);
        break;
    case ANY_SCATTER:
    case ANY_SCATTERV:
        if (!any_here(k))
            any_check_block(k, 0, k->root, me, any_items(k, k->root, me), k->stride);
        break;
    case ANY_GATHER:
    case ANY_GATHERV:
    case ANY_ALLGATHER:
    case ANY_ALLGATHERV:
    case ANY_ALLTOALL:
    case ANY_ALLTOALLV:
    case ANY_ALLTOALLW:
        if ((k->op == ANY_GATHER || k->op == ANY_GATHERV) && !is_root)
            break;
        for (int r = 0; r < k->size; r++)
            any_check_block(k, any_place(k, r), r, gathers ? 0 : me, any_items(k, r, me),
                            any_stride(k, r, 0));
        break;
    case ANY_REDUCE:
        if (is_root)
            any_check_reduced(k, k->size - 1, 0, k->count);
        break;
    case ANY_ALLREDUCE:
        any_check_reduced(k, k->size - 1, 0, k->count);
        break;
    case ANY_SCAN:
        any_check_reduced(k, me, 0, k->count);
        break;
    case ANY_EXSCAN:
        if (me > 0)
            any_check_reduced(k, me - 1, 0, k->count);
        break;
    default:
        any_check_reduced(k, k->size - 1, me, any_items(k, me, me));
        break;
    }
}

#endif
