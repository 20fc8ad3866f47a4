/*
 * stats.c - who sent to whom, and per-rank detail.
 *
 * A rank's first peer is counted in the rank itself, further ones in a table of its own, both
 * exact. When all tables together hold more than MPI_STATS_PAIRS_MAX pairs, they are folded into
 * one matrix of groups of nodes and freed; from then on only the first peers are exact until
 * the end, where they are folded too.
 */
#include "mpi/stats.h"

#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "mpi/ext.h"
#include "mpi/stats_internal.h"

#define GROUPS_MAX 2048u

void mpi_stats_init(int detail)
{
    struct mpi_stats *s = mem_zalloc(sizeof *s);
    uint64_t per_node = mpi_world.opt->platform.nodes_ranks;
    uint64_t nodes = (mpi_world.size + per_node - 1) / per_node;
    uint64_t nodes_per_group = (nodes + GROUPS_MAX - 1) / GROUPS_MAX;

    s->group = (uint32_t)(nodes_per_group * per_node < mpi_world.size ? nodes_per_group * per_node
                                                                      : mpi_world.size);
    s->groups = (mpi_world.size + s->group - 1) / s->group;
    s->detail = detail;
    if (detail)
        s->rank_end = mem_zalloc(mpi_world.size * sizeof *s->rank_end);
    mpi_world.stats = s;
}

/* ---- pairs ---- */

static void count_cell(uint32_t src, uint32_t dst, uint64_t messages, uint64_t bytes)
{
    struct mpi_stats *s = mpi_world.stats;
    struct mpi_cell *c = &s->matrix[(size_t)(src / s->group) * s->groups + dst / s->group];

    c->messages += messages;
    c->bytes += bytes;
}

static struct mpi_pair *table_slot(struct mpi_pair *table, uint32_t cap, uint32_t dst)
{
    uint32_t mask = cap - 1, at = (dst * 0x9e3779b1u) >> 7 & mask;

    while (table[at].messages && table[at].dst != dst)
        at = (at + 1) & mask;
    return &table[at];
}

static void table_grow(struct mpi_rank *r)
{
    uint32_t cap = r->pairs ? 2 * r->pair_cap : 4;
    struct mpi_pair *table = mem_zalloc(cap * sizeof *table);

    for (uint32_t i = 0; r->pairs && i < r->pair_cap; i++)
        if (r->pairs[i].messages)
            *table_slot(table, cap, r->pairs[i].dst) = r->pairs[i];
    mem_free(r->pairs);
    r->pairs = table;
    r->pair_cap = cap;
}

static void fold_rank(struct mpi_rank *r)
{
    if (!r->pairs)
        return;
    for (uint32_t i = 0; i < r->pair_cap; i++)
        if (r->pairs[i].messages)
            count_cell(mpi_rank_id(r), r->pairs[i].dst, r->pairs[i].messages, r->pairs[i].bytes);
    mem_free(r->pairs);
    r->pairs = NULL;
    r->pair_cap = r->pair_count = 0;
}

static void aggregate(void)
{
    struct mpi_stats *s = mpi_world.stats;

    s->matrix = mem_map((size_t)s->groups * s->groups * sizeof *s->matrix, 0);
    if (!s->matrix)
        log_fatal("no memory for the statistics of pairs");
    s->aggregated = 1;
    for (uint32_t i = 0; i < mpi_world.size; i++)
        fold_rank(&mpi_world.ranks[i]);
}

static void table_count(struct mpi_rank *self, uint32_t dst, uint64_t bytes)
{
    struct mpi_pair *p;

    if (!self->pairs || 4 * self->pair_count >= 3 * self->pair_cap)
        table_grow(self);
    p = table_slot(self->pairs, self->pair_cap, dst);
    if (!p->messages) {
        *p = (struct mpi_pair){.dst = dst};
        self->pair_count++;
        mpi_world.stats->pairs++;
    }
    p->messages += p->messages != UINT32_MAX;
    p->bytes += bytes;
    if (mpi_world.stats->pairs > MPI_STATS_PAIRS_MAX)
        aggregate();
}

void mpi_stats_pair_slow(struct mpi_rank *self, uint32_t dst, uint64_t bytes)
{
    if (!self->pair.messages) {
        self->pair = (struct mpi_pair){dst, 1, bytes};
        mpi_world.stats->pairs++;
    } else if (mpi_world.stats->aggregated) {
        count_cell(mpi_rank_id(self), dst, 1, bytes);
    } else {
        table_count(self, dst, bytes);
    }
}

/* ---- detail ---- */

void mpi_stats_detail(struct mpi_rank *self, enum mpi_fn fn, vtime dt)
{
    struct mpi_ext *x = mpi_ext_get(self);
    struct mpi_call_list *l = x->calls;
    uint32_t i = 0;

    while (l && i < l->count && l->at[i].fn != fn)
        i++;
    if (!l || i == l->count) {
        l = mem_realloc(l, sizeof *l + (i + 1) * sizeof l->at[0]);
        l->count = i + 1;
        l->at[i] = (struct mpi_call){.fn = fn};
        x->calls = l;
    }
    l->at[i].calls++;
    l->at[i].time += dt;
}

void mpi_stats_rank_end(struct mpi_rank *self)
{
    struct mpi_stats *s = mpi_world.stats;

    if (s->detail)
        s->rank_end[mpi_rank_id(self)] = self->ent.clock;
}

void mpi_stats_fold_inline(void)
{
    for (uint32_t i = 0; i < mpi_world.size; i++) {
        struct mpi_pair *p = &mpi_world.ranks[i].pair;

        if (p->messages)
            count_cell(i, p->dst, p->messages, p->bytes);
        p->messages = 0;
    }
}
