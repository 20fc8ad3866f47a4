/*
 * stats.c - who sent to whom, and per-rank detail.
 *
 * A rank's first peer is counted in the rank itself, further ones in a list, both exactly. The list
 * is in the order in which peers were met, since programs repeat themselves: after one peer usually
 * comes the next in the list. When all lists together hold more than MPI_STATS_PAIRS_MAX pairs,
 * they are folded into one matrix of groups of nodes and freed; from then on only the first peers
 * are exact until the end, when they are folded, too.
 */
#include "mpi/stats.h"

#include <string.h>

#include "base/array.h"
#include "base/hostile.h"
#include "base/log.h"
#include "mpi/ext.h"
#include "mpi/stats_internal.h"

#define GROUPS_MAX 2048u
#define FIRST 4u /* capacity for the first pairs */
/* number of pairs of a rank from which they are indexed: above FIRST, a power of two */
#define INDEXED HOSTILE(2 * FIRST, 32u)

void mpi_stats_init(int detail)
{
    struct mpi_stats *s = mem_zalloc(sizeof *s);
    uint64_t per_node = mpi_world.opt->platform.nodes_ranks;
    uint64_t nodes = (mpi_world.room + per_node - 1) / per_node;
    uint64_t nodes_per_group = (nodes + GROUPS_MAX - 1) / GROUPS_MAX;

    s->group = (uint32_t)(nodes_per_group * per_node < mpi_world.room ? nodes_per_group * per_node
                                                                      : mpi_world.room);
    s->groups = (mpi_world.room + s->group - 1) / s->group;
    s->detail = detail;
    if (detail)
        s->rank_end = mem_zalloc(mpi_rank_map()->room * sizeof *s->rank_end);
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

/* The index of the pairs follows them, from INDEXED pairs on. */
static uint32_t *index_of(const struct mpi_rank *r, uint32_t cap)
{
    return (uint32_t *)(r->pairs + cap);
}

/* The capacity grows by doubling, so it follows from the number of pairs. */
static uint32_t room(uint32_t count)
{
    return (uint32_t)array_doubled(0, count, FIRST);
}

/* The slot of the index that holds dst, or the free slot where it belongs. Slots hold 1 + the
 * position. */
static uint32_t *index_slot(const struct mpi_rank *r, uint32_t cap, uint32_t dst)
{
    uint32_t *index = index_of(r, cap), mask = 2 * cap - 1, at = (dst * 0x9e3779b1u) >> 7 & mask;

    while (index[at] && r->pairs[index[at] - 1].dst != dst)
        at = (at + 1) & mask;
    return &index[at];
}

static void grow(struct mpi_rank *r, uint32_t cap)
{
    size_t index = cap >= INDEXED ? 2 * cap * sizeof(uint32_t) : 0;

    r->pairs = mem_realloc(r->pairs, cap * sizeof *r->pairs + index);
    if (!index)
        return;
    memset(index_of(r, cap), 0, index);
    for (uint32_t i = 0; i < r->pair_count; i++)
        *index_slot(r, cap, r->pairs[i].dst) = i + 1;
}

/* The position of dst, or pair_count. */
static uint32_t position_of(const struct mpi_rank *r, uint32_t cap, uint32_t dst)
{
    uint32_t i = 0;

    if (cap >= INDEXED) {
        i = *index_slot(r, cap, dst);
        return i ? i - 1 : r->pair_count;
    }
    while (i < r->pair_count && r->pairs[i].dst != dst)
        i++;
    return i;
}

static void pair_add(struct mpi_rank *r, uint32_t cap, uint32_t dst)
{
    if (!r->pairs || r->pair_count == cap) {
        cap = r->pairs ? 2 * cap : cap;
        grow(r, cap);
    }
    r->pairs[r->pair_count] = (struct mpi_pair){.dst = dst};
    if (cap >= INDEXED)
        *index_slot(r, cap, dst) = r->pair_count + 1;
    r->pair_count++;
    mpi_world.stats->pairs++;
}

static void fold_rank(struct mpi_rank *r)
{
    for (uint32_t i = 0; i < r->pair_count; i++)
        count_cell(mpi_rank_id(r), r->pairs[i].dst, r->pairs[i].messages, r->pairs[i].bytes);
    mem_free(r->pairs);
    r->pairs = NULL;
    r->pair_count = r->pair_next = 0;
}

static void aggregate(void)
{
    struct mpi_stats *s = mpi_world.stats;

    s->matrix = mem_map((size_t)s->groups * s->groups * sizeof *s->matrix, 0);
    if (!s->matrix)
        log_fatal("no memory for the statistics of pairs");
    s->aggregated = 1;
    for (uint32_t i = 0; i < engine_known(&mpi_world.engine); i++)
        fold_rank(&mpi_world.ranks[i]);
    mem_trim();
}

/* Ranks send to their peers in the order in which they met them, now and then to one in between
 * (a neighbour is also a partner in a collective). So it takes two in a row that were not expected
 * to expect the peer after the second one. After a new one, nothing is known. */
static void expect_after(struct mpi_rank *self, uint32_t i)
{
    int is_first = i < self->pair_count && self->pair_next < self->pair_count && !self->pair_missed;

    self->pair_missed = (uint32_t)is_first & 1;
    if (!is_first)
        self->pair_next = (i + 1 == self->pair_count ? 0 : i + 1) & INT32_MAX;
}

static void count_pair(struct mpi_rank *self, uint32_t dst, uint64_t bytes)
{
    uint32_t cap = room(self->pair_count), i = position_of(self, cap, dst);

    expect_after(self, i);
    if (i == self->pair_count)
        pair_add(self, cap, dst);
    self->pairs[i].messages += self->pairs[i].messages != UINT32_MAX;
    self->pairs[i].bytes += bytes;
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
        count_pair(self, dst, bytes);
    }
}

/* ---- detail ---- */

void mpi_stats_detail(struct mpi_rank *self, enum mpi_fn fn, vtime dt)
{
    struct mpi_rare *x = mpi_rare_get(self);
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
        s->rank_end[mpi_rank_index(self)] = self->ent.clock;
}

void mpi_stats_fold_inline(void)
{
    for (uint32_t i = 0; i < engine_known(&mpi_world.engine); i++) {
        struct mpi_pair *p = &mpi_world.ranks[i].pair;

        if (p->messages)
            count_cell(rank_map_number(mpi_rank_map(), i), p->dst, p->messages, p->bytes);
        p->messages = 0;
    }
}
