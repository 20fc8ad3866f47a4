/*
 * grid.h - the timeline as an overview: which share of its time a group of ranks was in MPI during
 * an interval, and mostly for what.
 *
 *     level 0    rows of 1 rank (more, if there are very many ranks); n bins across the whole time
 *     level 1    rows of 2 ranks, about twice as many bins
 *     ...        down to GRID_ROWS rows, so that each level has about GRID_CELLS cells
 *
 * Each level exists with all its bins, half of them, a quarter, ..., so that a picture of any part
 * of it needs about as many cells as it has pixels. A cell is a byte: 0 if no rank was running;
 * else 1 + (kind - 1) * GRID_SHARES + share: calls of this `kind` took most of the MPI time, and
 * MPI took share / (GRID_SHARES - 1) of the time.
 *
 * Ranks are added in order, so that only one row of each level is open: the cells are all the
 * memory it needs.
 */
#ifndef REPORT_GRID_H
#define REPORT_GRID_H

#include <stdint.h>

#include "base/json.h"
#include "report/chunk.h"
#include "report/kind.h"

#define GRID_CELLS ((uint64_t)1 << 22)
#define GRID_ROWS 256
#define GRID_BINS_MAX 65536
#define GRID_BINS_MIN 64
#define GRID_SHARES 31
#define GRID_LEVELS_MAX 64

struct grid_level {
    uint64_t group; /* ranks of a row */
    uint64_t rows;
    unsigned bins, steps; /* bins, and how often they are halved */
    unsigned shift;       /* how often the largest number of bins of a level is halved */
    int64_t(
        /* Of the open row: from one bin to the next, in 2^-20 of a bin. */
        *changes)[REPORT_KINDS];
    uint8_t *cells[17]; /* by how often the bins are halved */
};

struct grid {
    double scale; /* from times to 2^-20 of the bins that a level has at most */
    uint64_t ranks;
    unsigned level_count;
    struct grid_level levels[GRID_LEVELS_MAX];
};

/* For this many ranks with about this many calls in all; the last call ends at `end` > 0. A level
 * has up to `cells` cells, GRID_CELLS or less. */
void grid_init(struct grid *, uint64_t ranks, uint64_t calls, int64_t end, uint64_t cells);
void grid_fini(struct grid *);

/* Adds a call of the current rank, or with kind REPORT_COMPUTE the time in which the rank
 * ran. */
void grid_add(struct grid *, enum report_kind, int64_t from, int64_t to);
/* Ends rank `rank`; ranks are added in order. */
void grid_end_rank(struct grid *, uint64_t rank);

/* Writes the levels as chunks, and an array with their numbers. */
void grid_write(const struct grid *, struct chunks *, struct json *);

#endif
