/*
 * phases.c - rows of phases, and their means.
 */
#include "analysis/phases.h"

#include <math.h>
#include <string.h>

#include "analysis/memory.h"
#include "base/array.h"

#define ROW_LEAST 64
#define ROW_MOST ((size_t)1 << 18) /* a row is one attribute in XML, which readers limit to 10 MB */

void phases_init(struct phases *p, uint64_t ranks, size_t cells)
{
    *p = (struct phases){.row_most = cells / (ranks ? ranks : 1)};
    if (p->row_most < ROW_LEAST)
        p->row_most = ROW_LEAST;
    if (p->row_most > ROW_MOST)
        p->row_most = ROW_MOST;
}

void phases_fini(struct phases *p)
{
    for (size_t i = 0; i < p->count; i++) {
        for (size_t k = 0; k < p->comms[i].row_count; k++)
            mem_free(p->comms[i].rows[k].times);
        mem_free(p->comms[i].rows);
        mem_free(p->comms[i].row.times);
        mem_free(p->comms[i].functions);
    }
    mem_free(p->comms);
    mem_free(p->touched);
    *p = (struct phases){0};
}

static void halve(struct phases_row *row)
{
    for (uint32_t i = 0; i < row->count; i++)
        row->times[i / 2] = i % 2 ? row->times[i / 2] + row->times[i] : row->times[i];
    row->count = (row->count + 1) / 2;
}

/* Two phases become one. */
static void coarsen(struct phases_comm *c)
{
    if (c->row.count % 2)
        c->pending = c->merged + (c->pending ? c->pending - c->merged : 0);
    else
        c->pending = 0;
    c->merged *= 2;
    halve(&c->row);
    for (size_t i = 0; i < c->row_count; i++) {
        halve(&c->rows[i]);
        c->rows[i].times = mem_realloc(c->rows[i].times,
                                       (c->rows[i].count + 1) * sizeof *c->rows[i].times);
    }
    for (uint32_t i = 0; i < c->function_count; i++)
        c->functions[i / 2] = c->functions[i];
    c->function_count = (c->function_count + 1) / 2;
}

static void add(struct phases *p, struct phases_comm *c, int64_t time, unsigned fn)
{
    if (c->pending) {
        c->row.times[c->row.count - 1] += (double)time;
        if (++c->pending == c->merged)
            c->pending = 0;
    } else {
        if (c->row.count == p->row_most) {
            coarsen(c);
            add(p, c, time, fn);
            return;
        }
        ARRAY_RESERVE(c->row.times, c->room, c->row.count + 1u, 16);
        c->row.times[c->row.count++] = (double)time;
        c->pending = c->merged > 1;
    }
    if (c->row_count)
        return;
    if (c->row.count > c->function_count) {
        ARRAY_EXTEND(c->functions, c->function_count);
        c->function_count++;
    }
    c->functions[c->row.count - 1] = (uint16_t)fn;
}

void phases_collective(struct phases *p, uint32_t comm, unsigned fn, int64_t enter, int64_t leave)
{
    if (comm >= ANALYSIS_PHASE_COMMS) {
        if (comm != HANDLES_NONE && comm - ANALYSIS_PHASE_COMMS >= p->left_out)
            p->left_out = comm - ANALYSIS_PHASE_COMMS + 1;
        return;
    }
    if (comm >= p->count) {
        size_t count = comm + 1;
        p->comms = mem_realloc(p->comms, count * sizeof *p->comms);
        memset(p->comms + p->count, 0, (count - p->count) * sizeof *p->comms);
        p->touched = mem_realloc(p->touched, count * sizeof *p->touched);
        for (size_t i = p->count; i < count; i++)
            p->comms[i].merged = 1;
        p->count = count;
    }
    struct phases_comm *c = &p->comms[comm];
    if (c->is_open)
        add(p, c, enter > c->last ? enter - c->last : 0, fn);
    else
        p->touched[p->touched_count++] = comm;
    c->is_open = 1;
    c->last = leave;
}

void phases_rank_end(struct phases *p, uint32_t rank)
{
    for (size_t i = 0; i < p->touched_count; i++) {
        struct phases_comm *c = &p->comms[p->touched[i]];
        if (c->row.count) {
            ARRAY_EXTEND(c->rows, c->row_count);
            struct phases_row *row = &c->rows[c->row_count++];
            *row = (struct phases_row){.rank = rank, .count = c->row.count};
            row->times = mem_alloc(row->count * sizeof *row->times);
            memcpy(row->times, c->row.times, row->count * sizeof *row->times);
        }
        c->row.count = 0;
        c->pending = 0;
        c->is_open = 0;
    }
    p->touched_count = 0;
}

/* ---- the result ---- */

static void summarize(struct analysis_phases *r, uint64_t phase)
{
    struct analysis_phase *s = &r->phases[phase];
    double squares = 0;
    for (uint64_t i = 0; i < r->ranks; i++) {
        double time = r->times[i * r->count + phase];
        if (isnan(time))
            continue;
        double from_mean = time - s->mean;
        s->min = s->ranks == 0 || time < s->min ? time : s->min;
        s->max = s->ranks == 0 || time > s->max ? time : s->max;
        s->mean += from_mean / (double)++s->ranks;
        squares += from_mean * (time - s->mean);
    }
    s->deviation = s->ranks ? sqrt(squares / (double)s->ranks) : 0;
}

static void result_of(const struct phases_comm *c, const struct trace_schema *schema, double second,
                      struct analysis *a, struct analysis_phases *r)
{
    uint32_t *ranks = analysis_keep(a, c->row_count * sizeof *ranks);
    for (size_t i = 0; i < c->row_count; i++) {
        r->count = c->rows[i].count > r->count ? c->rows[i].count : r->count;
        ranks[i] = c->rows[i].rank;
    }
    double *times = analysis_keep(a, c->row_count * r->count * sizeof *times);
    for (size_t i = 0; i < c->row_count; i++)
        for (uint64_t k = 0; k < r->count; k++)
            times[i * r->count + k] = k < c->rows[i].count ? c->rows[i].times[k] * second : NAN;
    r->ranks = c->row_count;
    r->merged = c->merged;
    r->rank = ranks;
    r->times = times;
    r->phases = analysis_keep(a, r->count * sizeof *r->phases);
    for (uint64_t k = 0; k < r->count; k++) {
        r->phases[k] = (struct analysis_phase){0};
        r->phases[k].function = k < c->function_count
                                    ? analysis_keep_text(a, schema->fns[c->functions[k]].name)
                                    : "";
        summarize(r, k);
    }
}

void phases_result(struct phases *p, const struct handles_book *book,
                   const struct trace_schema *schema, double second, struct analysis *a)
{
    a->phases = analysis_keep(a, (p->count + 1) * sizeof *a->phases);
    a->phases_left_out = p->left_out;
    for (size_t i = 0; i < p->count; i++) {
        if (!p->comms[i].row_count)
            continue;
        struct analysis_phases *r = &a->phases[a->phases_count++];
        *r = (struct analysis_phases){.comm = analysis_keep_text(a, book->comms[i].name)};
        result_of(&p->comms[i], schema, second, a, r);
    }
}
