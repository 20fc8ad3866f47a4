/*
 * folds.h - reductions by a user's operation that is not commutative: the order of ranks counts.
 * Values are maps x -> a x + b, and the operation is their composition.
 */
#ifndef TESTS_RANDOM_FOLDS_H
#define TESTS_RANDOM_FOLDS_H

#include "comms.h"

struct fold_map {
    uint64_t a, b;
};

static struct fold_map fold_join(struct fold_map first, struct fold_map then)
{
    return (struct fold_map){then.a * first.a, then.a * first.b + then.b};
}

/* A user's function: inout = in . inout, where `in` is of lower ranks. */
static void fold(void *in, void *inout, int *len, MPI_Datatype *type)
{
    const struct fold_map *x = in;
    struct fold_map *y = inout;
    int size = 0;
    MPI_Type_size(*type, &size); /* a callback may call what is local */
    for (int i = 0; i < *len && size == (int)sizeof *x; i++)
        y[i] = fold_join(x[i], y[i]);
}

static struct fold_map fold_of(int rank, int i)
{
    uint64_t id = mix(run.seed, (uint64_t)run.action);
    return (struct fold_map){(uint64_t)value_of(rank, 2 * i, id) * 2 + 1,
                             (uint64_t)value_of(rank, 2 * i + 1, id)};
}

static struct fold_map fold_until(int end, int i)
{
    struct fold_map all = {1, 0};
    for (int rank = 0; rank < end; rank++)
        all = fold_join(all, fold_of(rank, i));
    return all;
}

static void fold_expect(const struct fold_map *got, int count, int end)
{
    for (int i = 0; i < count; i++) {
        struct fold_map wanted = fold_until(end, i);
        CHECK(got[i].a == wanted.a && got[i].b == wanted.b);
        run.sum += got[i].a ^ got[i].b;
    }
}

/* Into `in`; returns how many ranks from 0 on it then combines there, or 0. */
static int fold_start(const struct comm *c, int kind, int root, struct fold_map *out,
                      struct fold_map *in, int count, MPI_Datatype type, MPI_Op op, MPI_Request *r)
{
    switch (kind) {
    case 0:
        MPI_Allreduce(out, in, count, type, op, c->comm);
        return c->size;
    case 1:
        MPI_Iallreduce(out, in, count, type, op, c->comm, r);
        return c->size;
    case 2:
        MPI_Reduce(out, in, count, type, op, root, c->comm);
        return c->rank == root ? c->size : 0;
    case 3:
        MPI_Ireduce(out, in, count, type, op, root, c->comm, r);
        return c->rank == root ? c->size : 0;
    case 4:
        MPI_Scan(out, in, count, type, op, c->comm);
        return c->rank + 1;
    case 5:
        MPI_Iscan(out, in, count, type, op, c->comm, r);
        return c->rank + 1;
    default:
        MPI_Exscan(out, in, count, type, op, c->comm);
        return c->rank;
    }
}

static void act_folds(const struct comm *c)
{
    static const int counts[] = {1, 3, 40, 700, 5000};
    struct draw d = draw_shared(), own = draw_own();
    int count = counts[draw(&d, 5)], kind = (int)draw(&d, 7),
        root = (int)draw(&d, (uint32_t)c->size);
    struct fold_map *out = malloc((size_t)count * sizeof *out);
    struct fold_map *in = malloc((size_t)count * sizeof *in);
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Datatype type;
    MPI_Op op;
    for (int i = 0; i < count; i++)
        out[i] = fold_of(c->rank, i);
    MPI_Type_contiguous(2, MPI_UINT64_T, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(fold, 0, &op);
    spend(&own);
    int ranks = fold_start(c, kind, root, out, in, count, type, op, &r);
    spend(&own);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    fold_expect(in, ranks ? count : 0, ranks);
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    free(out);
    free(in);
}

#endif
