/*
 * stats_collect.c - merges the counters of all processes.
 *
 * A part is the counters of one process as bytes; parts follow each other in one buffer:
 *
 *     struct part | rows: who sent to whom | for each rank: struct rank_part, its calls
 *
 * Pairs are exact if all processes together saw at most MPI_STATS_PAIRS_MAX of them, and by groups
 * otherwise, as with one process.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "mpi/ext.h"
#include "mpi/stats_internal.h"
#include "mpi_effects.h"

struct part {
    struct mpi_stats sum; /* its pointers are invalid elsewhere */
    uint64_t rows, ranks;
};
struct rank_part {
    uint32_t rank, calls;
    vtime end;
};

/* ---- collecting ---- */

static void add_row(struct buf *out, uint64_t *count, uint32_t src, uint32_t dst, uint64_t messages,
                    uint64_t bytes)
{
    struct mpi_row row = {src, dst, messages, bytes};

    buf_add(out, &row, sizeof row);
    ++*count;
}

static void add_pairs(struct buf *out, uint64_t *count)
{
    for (uint32_t i = 0; i < engine_known(&mpi_world.engine); i++) {
        const struct mpi_rank *r = &mpi_world.ranks[i];
        uint32_t rank = mpi_rank_id(r);

        if (r->pair.messages)
            add_row(out, count, rank, r->pair.dst, r->pair.messages, r->pair.bytes);
        for (uint32_t k = 0; k < r->pair_count; k++)
            add_row(out, count, rank, r->pairs[k].dst, r->pairs[k].messages, r->pairs[k].bytes);
    }
}

static void add_cells(struct buf *out, uint64_t *count)
{
    const struct mpi_stats *s = mpi_world.stats;

    mpi_stats_fold_inline();
    for (uint32_t i = 0; i < s->groups; i++)
        for (uint32_t k = 0; k < s->groups; k++) {
            const struct mpi_cell *c = &s->matrix[(size_t)i * s->groups + k];

            if (c->messages)
                add_row(out, count, i, k, c->messages, c->bytes);
        }
}

static void add_rank(struct buf *out, uint32_t index)
{
    const struct mpi_rank *r = &mpi_world.ranks[index];
    const struct mpi_call_list *l = mpi_rare_find(r) ? mpi_rare_find(r)->calls : NULL;
    struct rank_part p = {mpi_rank_id(r), l ? l->count : 0, mpi_world.stats->rank_end[index]};

    buf_add(out, &p, sizeof p);
    if (l)
        buf_add(out, l->at, l->count * sizeof l->at[0]);
}

void mpi_stats_collect(struct buf *out)
{
    const struct mpi_stats *s = mpi_world.stats;
    size_t at = out->len;
    struct part *part = mem_zalloc(sizeof *part);

    part->sum = *s;
    buf_add(out, part, sizeof *part);
    if (s->aggregated)
        add_cells(out, &part->rows);
    else
        add_pairs(out, &part->rows);
    for (uint32_t i = 0; s->detail && i < engine_known(&mpi_world.engine); i++)
        if (i < mpi_rank_map()->count || engine_is_started(&mpi_world.ranks[i].ent)) {
            add_rank(out, i);
            part->ranks++;
        }
    memcpy(out->data + at, part, sizeof *part);
    mem_free(part);
}

struct run_access mpi_stats_accesses(const struct mpi_stats *s)
{
    struct run_access done = s->access;

    for (unsigned fn = 0; fn < MPI_FN_COUNT; fn++)
        if (mpi_fn_effect[fn].kind == MPI_DOES_FILE)
            run_access_add(&done, &(struct run_access){.io_time = s->time[fn]});
    return done;
}

/* ---- reading ---- */

static void add_counters(struct mpi_stats *to, const struct mpi_stats *from)
{
    for (unsigned i = 0; i < MPI_FN_COUNT; i++) {
        to->calls[i] += from->calls[i];
        if (__builtin_add_overflow(to->time[i], from->time[i], &to->time[i]))
            to->time[i] = VTIME_NEVER;
    }
    for (int k = 0; k < 2; k++) {
        to->messages[k] += from->messages[k];
        to->bytes[k] += from->bytes[k];
    }
    run_access_add(&to->access, &from->access);
    for (unsigned i = 0; i < MPI_STATS_BUCKETS; i++)
        to->buckets[i] += from->buckets[i];
    to->pairs += from->pairs;
    to->aggregated |= from->aggregated;
    to->group = from->group;
    to->groups = from->groups;
}

static int by_fn(const void *a, const void *b)
{
    const struct mpi_call *x = a, *y = b;

    return x->fn < y->fn ? -1 : x->fn > y->fn;
}

static size_t read_rank(struct mpi_report *r, const char *data)
{
    struct rank_part p;
    struct mpi_call_list *l;
    size_t bytes;

    memcpy(&p, data, sizeof p);
    r->rank_end[p.rank] = p.end;
    if (p.rank >= r->ranks)
        r->ranks = p.rank + 1;
    bytes = p.calls * sizeof l->at[0];
    if (p.calls) {
        l = mem_alloc(sizeof *l + bytes);
        l->count = p.calls;
        memcpy(l->at, data + sizeof p, bytes);
        qsort(l->at, l->count, sizeof l->at[0], by_fn);
        r->rank_calls[p.rank] = l;
    }
    return sizeof p + bytes;
}

/* Turns exact rows of one part into rows of groups, if other parts have groups. */
static void read_rows(struct mpi_report *r, const struct part *part, const char *data)
{
    struct mpi_row *to = r->rows + r->row_count;
    int fold = r->sum.aggregated && !part->sum.aggregated;

    memcpy(to, data, part->rows * sizeof *to);
    for (uint64_t i = 0; fold && i < part->rows; i++) {
        to[i].src /= r->sum.group;
        to[i].dst /= r->sum.group;
    }
    r->row_count += part->rows;
}

static int by_pair(const void *a, const void *b)
{
    const struct mpi_row *x = a, *y = b;

    if (x->src != y->src)
        return x->src < y->src ? -1 : 1;
    return (x->dst > y->dst) - (x->dst < y->dst);
}

static void sort_rows(struct mpi_report *r)
{
    size_t n = 0;

    qsort(r->rows, r->row_count, sizeof *r->rows, by_pair);
    for (size_t i = 0; i < r->row_count; i++) {
        if (n && by_pair(&r->rows[n - 1], &r->rows[i]) == 0) {
            r->rows[n - 1].messages += r->rows[i].messages;
            r->rows[n - 1].bytes += r->rows[i].bytes;
        } else {
            r->rows[n++] = r->rows[i];
        }
    }
    r->row_count = n;
}

/* Calls fn with each part and the start of its rows; returns the total number of rows. */
static uint64_t each_part(struct mpi_report *r, const struct buf *parts,
                          size_t (*fn)(struct mpi_report *, const struct part *, const char *))
{
    struct part *part = mem_alloc(sizeof *part);
    uint64_t rows = 0;

    for (size_t at = 0; at < parts->len;) {
        memcpy(part, parts->data + at, sizeof *part);
        at += sizeof *part;
        rows += part->rows;
        at += fn(r, part, parts->data + at);
    }
    mem_free(part);
    return rows;
}

static size_t read_counters(struct mpi_report *r, const struct part *part, const char *data)
{
    size_t at = part->rows * sizeof(struct mpi_row);

    add_counters(&r->sum, &part->sum);
    for (uint64_t i = 0; i < part->ranks; i++)
        at += read_rank(r, data + at);
    return at;
}

static size_t read_pairs(struct mpi_report *r, const struct part *part, const char *data)
{
    size_t at = part->rows * sizeof(struct mpi_row);
    struct rank_part p;

    read_rows(r, part, data);
    for (uint64_t i = 0; i < part->ranks; i++) {
        memcpy(&p, data + at, sizeof p);
        at += sizeof p + p.calls * sizeof(struct mpi_call);
    }
    return at;
}

void mpi_report_read(struct mpi_report *r, const struct buf *parts)
{
    uint64_t rows;

    memset(r, 0, sizeof *r);
    r->ranks = mpi_world.size;
    r->rank_end = mem_zalloc(mpi_world.room * sizeof *r->rank_end);
    r->rank_calls = mem_zalloc(mpi_world.room * sizeof *r->rank_calls);
    rows = each_part(r, parts, read_counters);
    r->sum.aggregated |= r->sum.pairs > MPI_STATS_PAIRS_MAX;
    r->rows = mem_alloc(rows * sizeof *r->rows);
    each_part(r, parts, read_pairs);
    sort_rows(r);
}

void mpi_report_fini(struct mpi_report *r)
{
    for (uint32_t i = 0; i < r->ranks; i++)
        mem_free(r->rank_calls[i]);
    mem_free(r->rank_calls);
    mem_free(r->rank_end);
    mem_free(r->rows);
}
