/*
 * rma.h - random one-sided communication: windows of all kinds, all ways to synchronise, all
 * operations. Each rank has a window of longs:
 *
 *     [0]          a sum that others accumulate to
 *     [1]          a counter, by MPI_Fetch_and_op: everybody gets another number
 *     [2]          a word that one of those who try swaps
 *     [3]          a sum, by MPI_Get_accumulate
 *     4 + origin   what that origin has put
 *     4 + size + i constants, to get
 */
#ifndef TESTS_RANDOM_RMA_H
#define TESTS_RANDOM_RMA_H

#include "comms.h"

enum {
    RMA_SUM,
    RMA_COUNTER,
    RMA_SWAP,
    RMA_FETCHED,
    RMA_SLOTS,
    RMA_CONSTANTS = 20,
    RMA_TARGETS = 4
};
enum rma_kind { RMA_CREATE, RMA_ALLOCATE, RMA_DYNAMIC, RMA_KINDS };
enum rma_sync { RMA_FENCE, RMA_PSCW, RMA_LOCK, RMA_LOCK_SHARED, RMA_LOCK_ALL, RMA_SYNCS };

struct rma {
    const struct comm *c;
    MPI_Win win;
    int kind, sync;
    long *memory;
    MPI_Aint *bases;          /* of the members' memory, in bytes: dynamic windows have addresses */
    int targets[RMA_TARGETS]; /* of this rank */
    long fetched;             /* the sum of the numbers it has got */
    int swapped;
};

/* A multiple of 64 bytes: windows of other sizes of MPICH 4.0's MPI_Win_allocate overlap. */
static int rma_words(const struct comm *c)
{
    return (RMA_SLOTS + c->size + RMA_CONSTANTS + 7) / 8 * 8;
}

/* The targets of a member, which all members know. */
static void rma_targets(const struct comm *c, int member, int targets[RMA_TARGETS])
{
    struct draw d = {mix(mix(run.seed, (uint64_t)run.action), (uint64_t)member)};
    for (int i = 0; i < RMA_TARGETS; i++)
        targets[i] = (int)draw(&d, (uint32_t)c->size);
}

/* Addresses are arguments of calls, and recorded: those of allocated memory depend on the order in
 * which ranks allocate it. */
static long rma_fixed[64];

static void rma_open(struct rma *w)
{
    const struct comm *c = w->c;
    MPI_Aint bytes = (MPI_Aint)((size_t)rma_words(c) * sizeof(long)), base = 0;
    w->bases = calloc((size_t)c->size, sizeof *w->bases);
    if (w->kind == RMA_ALLOCATE) {
        MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, c->comm, &w->memory, &w->win);
    } else if (w->kind == RMA_CREATE) {
        MPI_Alloc_mem(bytes, MPI_INFO_NULL, &w->memory);
        MPI_Win_create(w->memory, bytes, 1, MPI_INFO_NULL, c->comm, &w->win);
    } else {
        w->memory = rma_fixed;
        MPI_Win_create_dynamic(MPI_INFO_NULL, c->comm, &w->win);
        MPI_Win_attach(w->win, w->memory, bytes);
        MPI_Get_address(w->memory, &base);
        MPI_Allgather(&base, 1, MPI_AINT, w->bases, 1, MPI_AINT, c->comm);
    }
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, c->rank, 0, w->win);
    for (int i = 0; i < rma_words(c); i++)
        w->memory[i] = i < RMA_SLOTS + c->size ? 0 : value_of(c->rank, i, (uint64_t)run.action);
    MPI_Win_unlock(c->rank, w->win);
    MPI_Barrier(c->comm);
}

static void rma_close(struct rma *w)
{
    if (w->kind == RMA_DYNAMIC)
        MPI_Win_detach(w->win, w->memory);
    MPI_Win_free(&w->win);
    if (w->kind == RMA_CREATE)
        MPI_Free_mem(w->memory);
    free(w->bases);
}

static MPI_Aint rma_at(const struct rma *w, int target, int word)
{
    return w->bases[target] + (MPI_Aint)((size_t)word * sizeof(long));
}

/* ---- operations to a target, within an epoch ---- */

/* Puts to the same word in an epoch conflict: only the first access of a target puts. */
static int rma_puts(const struct rma *w, int i)
{
    int puts = 1;
    for (int k = 0; k < i; k++)
        puts &= w->targets[k] != w->targets[i];
    return puts;
}

/* A put into this rank's slot, and a get of constants; with requests, if the epoch allows them. */
static void rma_move(struct rma *w, int i, int with_requests, long *value, long *got)
{
    int target = w->targets[i], slot = RMA_SLOTS + w->c->rank, from = RMA_SLOTS + w->c->size;
    int puts = rma_puts(w, i);
    MPI_Request r[2];
    *value = value_of(w->c->rank, target, (uint64_t)run.action);
    if (!with_requests) {
        MPI_Put(value, puts, MPI_LONG, target, rma_at(w, target, slot), puts, MPI_LONG, w->win);
        MPI_Get(got, RMA_CONSTANTS, MPI_LONG, target, rma_at(w, target, from), RMA_CONSTANTS,
                MPI_LONG, w->win);
        return;
    }
    MPI_Rput(value, puts, MPI_LONG, target, rma_at(w, target, slot), puts, MPI_LONG, w->win, &r[0]);
    MPI_Rget(got, RMA_CONSTANTS, MPI_LONG, target, rma_at(w, target, from), RMA_CONSTANTS, MPI_LONG,
             w->win, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
}

static const long rma_one = 1, rma_zero;

static void rma_update(struct rma *w, int target, int with_requests, long *add, long *number,
                       long *was, long *before)
{
    MPI_Aint sum = rma_at(w, target, RMA_SUM), fetched = rma_at(w, target, RMA_FETCHED);
    MPI_Request r[2];
    *add = w->c->rank + 1;
    if (with_requests) {
        MPI_Raccumulate(add, 1, MPI_LONG, target, sum, 1, MPI_LONG, MPI_SUM, w->win, &r[0]);
        MPI_Rget_accumulate(add, 1, MPI_LONG, before, 1, MPI_LONG, target, fetched, 1, MPI_LONG,
                            MPI_SUM, w->win, &r[1]);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    } else {
        MPI_Accumulate(add, 1, MPI_LONG, target, sum, 1, MPI_LONG, MPI_SUM, w->win);
        MPI_Get_accumulate(add, 1, MPI_LONG, before, 1, MPI_LONG, target, fetched, 1, MPI_LONG,
                           MPI_SUM, w->win);
    }
    MPI_Fetch_and_op(&rma_one, number, MPI_LONG, target, rma_at(w, target, RMA_COUNTER), MPI_SUM,
                     w->win);
    MPI_Compare_and_swap(add, &rma_zero, was, MPI_LONG, target, rma_at(w, target, RMA_SWAP),
                         w->win);
}

struct rma_result {
    long value, got[RMA_CONSTANTS], add, number, was, before;
};

static void rma_start(struct rma *w, int i, int with_requests, struct rma_result *r)
{
    int target = w->targets[i];
    rma_move(w, i, with_requests, &r->value, r->got);
    rma_update(w, target, with_requests, &r->add, &r->number, &r->was, &r->before);
}

/* What has arrived here, once the epoch is over. */
static void rma_take(struct rma *w, int i, const struct rma_result *r)
{
    int target = w->targets[i], from = RMA_SLOTS + w->c->size;
    for (int k = 0; k < RMA_CONSTANTS; k++)
        CHECK(r->got[k] == value_of(target, from + k, (uint64_t)run.action));
    CHECK(r->before >= 0 && r->number >= 0);
    w->fetched += r->number;
    w->swapped += r->was == 0;
    note((uint64_t)r->number);
    note((uint64_t)r->was);
    note((uint64_t)r->before);
}

/* ---- epochs ---- */

static void rma_fence(struct rma *w, struct draw *own)
{
    struct rma_result r[RMA_TARGETS];
    MPI_Win_fence(MPI_MODE_NOPRECEDE, w->win);
    for (int i = 0; i < RMA_TARGETS; i++)
        rma_start(w, i, 0, &r[i]), spend(own);
    MPI_Win_fence(0, w->win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win);
    for (int i = 0; i < RMA_TARGETS; i++)
        rma_take(w, i, &r[i]);
}

/* Those that this rank accesses, and those that access it; without repetition. */
static MPI_Group rma_group(const struct rma *w, int are_origins)
{
    int ranks[64], count = 0, targets[RMA_TARGETS];
    MPI_Group all, group;
    for (int m = 0; m < w->c->size; m++) {
        int is_in = 0;
        rma_targets(w->c, are_origins ? m : w->c->rank, targets);
        for (int i = 0; i < RMA_TARGETS; i++)
            is_in |= targets[i] == (are_origins ? w->c->rank : m);
        if (is_in)
            ranks[count++] = m;
    }
    MPI_Comm_group(w->c->comm, &all);
    MPI_Group_incl(all, count, ranks, &group);
    MPI_Group_free(&all);
    return group;
}

static void rma_pscw(struct rma *w, struct draw *own)
{
    struct rma_result r[RMA_TARGETS];
    MPI_Group origins = rma_group(w, 1), targets = rma_group(w, 0);
    int flag = 0, tests = (int)draw(own, 2);
    spend(own);
    MPI_Win_post(origins, 0, w->win);
    MPI_Win_start(targets, 0, w->win);
    for (int i = 0; i < RMA_TARGETS; i++)
        rma_start(w, i, 0, &r[i]);
    spend(own);
    MPI_Win_complete(w->win);
    for (; tests && !flag;)
        MPI_Win_test(w->win, &flag);
    if (!flag)
        MPI_Win_wait(w->win);
    for (int i = 0; i < RMA_TARGETS; i++)
        rma_take(w, i, &r[i]);
    MPI_Group_free(&origins);
    MPI_Group_free(&targets);
}

static void rma_lock(struct rma *w, struct draw *own)
{
    int type = w->sync == RMA_LOCK ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED;
    for (int i = 0; i < RMA_TARGETS; i++) {
        struct rma_result r;
        spend(own);
        MPI_Win_lock(type, w->targets[i], 0, w->win);
        rma_start(w, i, (int)draw(own, 2), &r);
        if (draw(own, 2))
            MPI_Win_flush_local(w->targets[i], w->win);
        MPI_Win_unlock(w->targets[i], w->win);
        rma_take(w, i, &r);
    }
}

static void rma_lock_all(struct rma *w, struct draw *own)
{
    MPI_Win_lock_all(0, w->win);
    for (int i = 0; i < RMA_TARGETS; i++) {
        struct rma_result r;
        rma_start(w, i, (int)draw(own, 2), &r);
        spend(own);
        if (draw(own, 2)) {
            MPI_Win_flush_local_all(w->win); /* what was fetched is here with the next one */
            MPI_Win_flush(w->targets[i], w->win);
        } else {
            MPI_Win_flush_all(w->win);
        }
        rma_take(w, i, &r);
    }
    MPI_Win_unlock_all(w->win);
}

/* ---- what must be there afterwards ---- */

static void rma_verify(struct rma *w)
{
    const struct comm *c = w->c;
    long sum = 0, wanted[3] = {0, 0, 0}, mine[3], all[3];
    int hits = 0, targets[RMA_TARGETS];
    MPI_Barrier(c->comm);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, c->rank, 0, w->win);
    for (int m = 0; m < c->size; m++) {
        int count = 0;
        rma_targets(c, m, targets);
        for (int i = 0; i < RMA_TARGETS; i++)
            count += targets[i] == c->rank;
        CHECK(w->memory[RMA_SLOTS + m] == (count ? value_of(m, c->rank, (uint64_t)run.action) : 0));
        sum += (long)count * (m + 1);
        hits += count;
    }
    CHECK(w->memory[RMA_SUM] == sum && w->memory[RMA_FETCHED] == sum);
    CHECK(w->memory[RMA_COUNTER] == hits);
    CHECK((w->memory[RMA_SWAP] != 0) == (hits > 0));
    MPI_Win_unlock(c->rank, w->win);
    wanted[0] = (long)hits * (hits - 1) / 2;
    wanted[1] = hits > 0;
    mine[0] = w->fetched, mine[1] = w->swapped, mine[2] = 0;
    MPI_Allreduce(MPI_IN_PLACE, wanted, 3, MPI_LONG, MPI_SUM, c->comm);
    MPI_Allreduce(mine, all, 3, MPI_LONG, MPI_SUM, c->comm);
    CHECK(all[0] == wanted[0] && all[1] == wanted[1]);
    run.sum += (uint64_t)sum;
}

static void act_one_sided(const struct comm *c)
{
    struct draw d = draw_shared(), own = draw_own();
    struct rma w = {.c = c, .kind = (int)draw(&d, RMA_KINDS), .sync = (int)draw(&d, RMA_SYNCS)};
    rma_targets(c, c->rank, w.targets);
    spend(&own);
    rma_open(&w);
    if (w.sync == RMA_FENCE)
        rma_fence(&w, &own);
    else if (w.sync == RMA_PSCW)
        rma_pscw(&w, &own);
    else if (w.sync == RMA_LOCK_ALL)
        rma_lock_all(&w, &own);
    else
        rma_lock(&w, &own);
    rma_verify(&w);
    rma_close(&w);
}

/* Members of a node store into each other's memory. */
static void act_shared(const struct comm *c)
{
    struct draw own = draw_own();
    MPI_Comm node;
    MPI_Win win;
    MPI_Aint bytes;
    long *memory, *next;
    int unit;
    MPI_Comm_split_type(c->comm, MPI_COMM_TYPE_SHARED, c->rank, MPI_INFO_NULL, &node);
    int rank = check_rank_in(node), size = check_size_of(node);
    MPI_Win_allocate_shared(2 * sizeof(long), sizeof(long), MPI_INFO_NULL, node, &memory, &win);
    MPI_Win_shared_query(win, (rank + 1) % size, &bytes, &unit, &next);
    CHECK(bytes >= (MPI_Aint)(2 * sizeof(long)) && unit == (int)sizeof(long));
    MPI_Win_fence(0, win);
    spend(&own);
    next[0] = value_of(rank, 0, (uint64_t)run.action);
    MPI_Win_fence(0, win);
    CHECK(memory[0] == value_of((rank + size - 1) % size, 0, (uint64_t)run.action));
    MPI_Win_free(&win);
    MPI_Comm_free(&node);
}

#endif
