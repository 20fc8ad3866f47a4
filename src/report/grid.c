/*
 * grid.c - builds the overview of the timeline, level by level (see grid.h).
 *
 * A row stores changes between bins, not sums, so that a call costs the same however long it is.
 * Values are integers: the same calls give the same cells in any order.
 */
#include "report/grid.h"

#include <string.h>

#include "base/mem.h"

#define ONE ((uint64_t)1 << 20) /* a rank for a whole bin */

static unsigned choose_bins(uint64_t rows, uint64_t calls, uint64_t cells)
{
    unsigned bins = GRID_BINS_MIN;
    uint64_t most = cells / rows, wanted = 4 * (calls / rows + 1);
    while (bins < GRID_BINS_MAX && 2 * (uint64_t)bins <= most && bins < wanted)
        bins *= 2;
    return bins;
}

static void level_init(struct grid_level *l, uint64_t ranks, uint64_t group, uint64_t calls,
                       uint64_t cells)
{
    l->group = group;
    l->rows = (ranks + group - 1) / group;
    l->bins = choose_bins(l->rows, calls, cells);
    l->steps = (unsigned)__builtin_ctz(l->bins / GRID_BINS_MIN);
    l->shift = (unsigned)__builtin_ctz(GRID_BINS_MAX / l->bins);
    l->changes = mem_zalloc((l->bins + 2) * sizeof *l->changes);
    for (unsigned i = 0; i <= l->steps; i++)
        l->cells[i] = mem_zalloc(l->rows * (l->bins >> i));
}

void grid_init(struct grid *g, uint64_t ranks, uint64_t calls, int64_t end, uint64_t cells)
{
    memset(g, 0, sizeof *g);
    g->scale = (double)(GRID_BINS_MAX * ONE) / (double)end;
    g->ranks = ranks;
    uint64_t group = 1;
    while (ranks / group * GRID_BINS_MIN > cells)
        group *= 2;
    for (; g->level_count < GRID_LEVELS_MAX; group *= 2) {
        struct grid_level *l = &g->levels[g->level_count++];
        level_init(l, ranks, group, calls, cells);
        if (l->rows <= GRID_ROWS)
            break;
    }
}

void grid_fini(struct grid *g)
{
    for (unsigned i = 0; i < g->level_count; i++) {
        mem_free(g->levels[i].changes);
        for (unsigned k = 0; k <= g->levels[i].steps; k++)
            mem_free(g->levels[i].cells[k]);
    }
}

/* A time in 2^-20 of the bins that a level has at most. */
static uint64_t scale_time(const struct grid *g, int64_t time)
{
    uint64_t at = time <= 0 ? 0 : (uint64_t)((double)time * g->scale), end = GRID_BINS_MAX * ONE;
    return at < end ? at : end;
}

void grid_add(struct grid *g, enum report_kind kind, int64_t from, int64_t to)
{
    uint64_t begin = scale_time(g, from), end = scale_time(g, to);
    end = end < begin ? begin : end;
    for (unsigned i = 0; i < g->level_count; i++) {
        struct grid_level *l = &g->levels[i];
        uint64_t first = begin >> l->shift, last = end >> l->shift;
        int64_t before = (int64_t)(first % ONE), within = (int64_t)(last % ONE);
        /* up to `to`, minus what is before `from` */
        int64_t(*at)[REPORT_KINDS] = l->changes + last / ONE;
        at[0][kind] += within - (int64_t)ONE;
        at[1][kind] -= within;
        at = l->changes + first / ONE;
        at[0][kind] += (int64_t)ONE - before;
        at[1][kind] += before;
    }
}

static uint8_t make_cell(const int64_t sums[REPORT_KINDS])
{
    int64_t there = sums[REPORT_COMPUTE], all = 0;
    unsigned most = REPORT_COMPUTE + 1;
    if (there <= 0)
        return 0;
    for (unsigned k = REPORT_COMPUTE + 1; k < REPORT_KINDS; k++) {
        all += sums[k];
        most = sums[k] > sums[most] ? k : most;
    }
    all = all < there ? all : there; /* several threads */
    int64_t share = (2 * all * (GRID_SHARES - 1) + there) / (2 * there);
    return (uint8_t)(1 + (most - 1) * GRID_SHARES + (unsigned)share);
}

/* Writes the cells of a row with bins halved `step` times, from the sums of the bins. */
static void make_row(struct grid_level *l, uint64_t row, unsigned step,
                     int64_t (*sums)[REPORT_KINDS])
{
    unsigned bins = l->bins >> step;
    uint8_t *cells = l->cells[step] + row * bins;
    for (unsigned b = 0; b < bins; b++) {
        if (step)
            for (unsigned k = 0; k < REPORT_KINDS; k++)
                sums[b][k] = sums[2 * b][k] + sums[2 * b + 1][k];
        cells[b] = make_cell(sums[b]);
    }
}

static void close_row(struct grid_level *l, uint64_t row)
{
    for (unsigned b = 1; b < l->bins; b++)
        for (unsigned k = 0; k < REPORT_KINDS; k++)
            l->changes[b][k] += l->changes[b - 1][k];
    for (unsigned step = 0; step <= l->steps; step++)
        make_row(l, row, step, l->changes);
    memset(l->changes, 0, (l->bins + 2) * sizeof *l->changes);
}

void grid_end_rank(struct grid *g, uint64_t rank)
{
    for (unsigned i = 0; i < g->level_count; i++) {
        struct grid_level *l = &g->levels[i];
        if ((rank + 1) % l->group == 0 || rank + 1 == g->ranks)
            close_row(l, rank / l->group);
    }
}

void grid_write(const struct grid *g, struct chunks *chunks, struct json *json)
{
    json_array_begin(json);
    for (unsigned i = 0; i < g->level_count; i++) {
        const struct grid_level *l = &g->levels[i];
        for (unsigned step = 0; step <= l->steps; step++) {
            unsigned bins = l->bins >> step;
            json_object_begin(json);
            json_key(json, "group");
            json_uint(json, l->group);
            json_key(json, "rows");
            json_uint(json, l->rows);
            json_key(json, "bins");
            json_uint(json, bins);
            json_key(json, "chunk");
            json_uint(json, chunks_add(chunks, l->cells[step], l->rows * bins));
            json_object_end(json);
        }
    }
    json_array_end(json);
}
