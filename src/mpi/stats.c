/*
 * stats.c - who sent to whom, and per-rank detail.
 *
 * A rank's first peers are counted in the rank itself, further ones in a table of its own, both
 * exact. When all tables together hold more than MPI_STATS_PAIRS_MAX pairs, they are folded into
 * one matrix of groups of nodes and freed; from then on only the peers in the ranks are exact until
 * the end, where they are folded too.
 */
#include "mpi/stats.h"

#include <string.h>

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

static struct mpi_pair *table_slot(struct mpi_pair_table *t, uint32_t dst)
{
    uint32_t mask = t->cap - 1, at = (dst * 0x9e3779b1u) >> 7 & mask;

    while (t->at[at].messages && t->at[at].dst != dst)
        at = (at + 1) & mask;
    return &t->at[at];
}

static struct mpi_pair_table *table_grow(struct mpi_pair_table *old)
{
    uint32_t cap = old ? 2 * old->cap : 8;
    struct mpi_pair_table *t = mem_zalloc(sizeof *t + cap * sizeof t->at[0]);

    t->cap = cap;
    for (uint32_t i = 0; old && i < old->cap; i++)
        if (old->at[i].messages)
            *table_slot(t, old->at[i].dst) = old->at[i];
    t->count = old ? old->count : 0;
    mem_free(old);
    return t;
}

static void fold_rank(struct mpi_rank *r)
{
    struct mpi_pair_table *t = r->ext ? r->ext->pairs : NULL;

    if (!t)
        return;
    for (uint32_t i = 0; i < t->cap; i++)
        if (t->at[i].messages)
            count_cell(mpi_rank_id(r), t->at[i].dst, t->at[i].messages, t->at[i].bytes);
    mem_free(t);
    r->ext->pairs = NULL;
}

static void aggregate(void)
{
    struct mpi_stats *s = mpi_world.stats;

    s->matrix = mem_map((size_t)s->groups * s->groups * sizeof *s->matrix, 0);
    s->aggregated = 1;
    for (uint32_t i = 0; i < mpi_world.size; i++)
        fold_rank(&mpi_world.ranks[i]);
}

static void table_count(struct mpi_rank *self, uint32_t dst, uint64_t bytes)
{
    struct mpi_ext *x = mpi_ext_get(self);
    struct mpi_pair *p;

    if (!x->pairs || 2 * x->pairs->count >= x->pairs->cap)
        x->pairs = table_grow(x->pairs);
    p = table_slot(x->pairs, dst);
    if (!p->messages) {
        p->dst = dst;
        p->bytes = 0;
        x->pairs->count++;
        if (++mpi_world.stats->pairs > MPI_STATS_PAIRS_MAX) {
            p->messages = 1;
            p->bytes = bytes;
            aggregate();
            return;
        }
    }
    p->messages += p->messages != UINT32_MAX;
    p->bytes += bytes;
}

void mpi_stats_pair_slow(struct mpi_rank *self, uint32_t dst, uint64_t bytes)
{
    for (int i = 0; i < MPI_PAIRS_INLINE; i++) {
        struct mpi_pair *p = &self->pair[i];

        if (p->messages)
            continue;
        *p = (struct mpi_pair){dst, 1, bytes};
        mpi_world.stats->pairs++;
        return;
    }
    if (mpi_world.stats->aggregated)
        count_cell(mpi_rank_id(self), dst, 1, bytes);
    else
        table_count(self, dst, bytes);
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
    for (uint32_t i = 0; i < mpi_world.size; i++)
        for (int k = 0; k < MPI_PAIRS_INLINE; k++) {
            struct mpi_pair *p = &mpi_world.ranks[i].pair[k];

            if (p->messages)
                count_cell(i, p->dst, p->messages, p->bytes);
            p->messages = 0;
        }
}
