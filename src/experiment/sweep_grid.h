/*
 * sweep_grid.h - the grid of a sweep: dimensions with their values, and the points they make.
 *
 * A list of values is separated by commas; an item of it may be a range: "1us..1ms*10" is 1us,
 * 10us, 100us, 1ms, and "0..1+0.25" is 0, 0.25, 0.5, 0.75, 1. Nothing here prints.
 */
#ifndef EXPERIMENT_SWEEP_GRID_H
#define EXPERIMENT_SWEEP_GRID_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

#define SWEEP_POINTS_MAX 100000

/* Keys that are not settings of the machine. */
#define SWEEP_RANKS "ranks"
#define SWEEP_PLATFORM "platform"
#define SWEEP_WHAT_IF "what-if"   /* of a replay */
#define SWEEP_NO_CHANGE "nothing" /* a value of it: the trace as it is */

struct sweep_value {
    char *text;
    double number;    /* seconds, bits per second, bytes or a plain number; NAN: a name */
    const char *unit; /* "s", "bit/s", "B" or ""; static */
};

struct sweep_dim {
    char *key;
    struct sweep_value *values;
    size_t count;
    const char *unit; /* of its values; NULL: they are names */
};

struct sweep_grid {
    struct sweep_dim *dims; /* in the order given; the last one changes fastest */
    size_t count;
};

/* The number and unit of a text; NAN and "" if it is not a number. */
double sweep_number(const char *text, const char **unit);

void sweep_grid_init(struct sweep_grid *);
void sweep_grid_fini(struct sweep_grid *);

/* Adds a dimension. ERR_INPUT for an empty value, a bad range, a key that is there (but items of
 * lists may be given again), or too many points. */
int sweep_grid_add(struct sweep_grid *, const char *key, const char *list, struct err *);

/* Adds one value to a dimension, which is made with its first; the text may have commas. */
int sweep_grid_add_value(struct sweep_grid *, const char *key, const char *text, struct err *);

/* Adds dimensions in the form of --set, "KEY=V1,V2,KEY=V1...": an item with "=" begins one. */
int sweep_grid_add_sets(struct sweep_grid *, const char *text, struct err *);

/* The dimension of that key, or NULL. */
const struct sweep_dim *sweep_grid_find(const struct sweep_grid *, const char *key);

/* Points are numbered from 0 to sweep_grid_points - 1; the value of one in dimension `dim`. */
size_t sweep_grid_points(const struct sweep_grid *);
size_t sweep_grid_index(const struct sweep_grid *, size_t point, size_t dim);
const struct sweep_value *sweep_grid_value(const struct sweep_grid *, size_t point, size_t dim);

/* Appends "KEY=VALUE, ..." of the dimensions with more than one value, but not of `without`. */
void sweep_grid_name(const struct sweep_grid *, size_t point, const struct sweep_dim *without,
                     struct buf *out);

/* The point that "KEY=VALUE,..." names; of dimensions not named, the first value. */
int sweep_grid_locate(const struct sweep_grid *, const char *text, size_t *point, struct err *);

/* Is there a choice in this dimension? */
static inline int sweep_dim_varies(const struct sweep_dim *dim)
{
    return dim->count > 1;
}

#endif
