/*
 * coll.c - the logarithmic model of collectives (Riesen: A Hybrid MPI Simulator, 2006, figure 7):
 *
 *     T(p, n) = a + b log2 p + c n log2 p
 *
 * With one number of ranks, a and b cannot be separated, and a is omitted; a barrier has no c.
 * Points with more ranks than cores are ignored, unless there are no others.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "calibrate/machine.h"

static const char *const kinds[] = {"barrier", "bcast",     "reduce",   "allreduce",      "gather",
                                    "scatter", "allgather", "alltoall", "reduce_scatter", "scan"};
#define KINDS (sizeof kinds / sizeof kinds[0])
_Static_assert(KINDS <= CALIBRATE_COLLECTIVES_MAX, "all fit");

static size_t collect(const struct calibrate_raw *raw, const char *kind, int crowded,
                      const struct calibrate_record **out)
{
    size_t count = 0;
    for (size_t i = 0; i < raw->count; i++)
        if (strcmp(raw->records[i].kind, kind) == 0 && raw->records[i].ranks > 1 &&
            raw->records[i].beyond_cores == crowded)
            out[count++] = &raw->records[i];
    return count;
}

/* Which terms the points can determine. */
static void look(struct calibrate_collective *c, const struct calibrate_record *const *r,
                 size_t count)
{
    for (size_t i = 0; i < count; i++) {
        c->has_constant |= r[i]->ranks != r[0]->ranks;
        c->has_bytes |= r[i]->bytes != r[0]->bytes;
    }
    c->points = count;
}

double calibrate_collective_predict(const struct calibrate_collective *c, uint32_t ranks,
                                    uint64_t bytes)
{
    double steps = log2(ranks);
    return c->a.value + c->b.value * steps + c->c.value * (double)bytes * steps;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_error(const struct calibrate_collective *c,
                           const struct calibrate_record *const *r, size_t count)
{
    double *errors = mem_alloc(count * sizeof *errors), middle;
    for (size_t i = 0; i < count; i++)
        errors[i] = r[i]->median > 0
                        ? fabs(calibrate_collective_predict(c, r[i]->ranks, r[i]->bytes) -
                               r[i]->median) /
                              r[i]->median
                        : 0;
    qsort(errors, count, sizeof *errors, by_value);
    middle = (errors[count / 2] + errors[(count - 1) / 2]) / 2;
    mem_free(errors);
    return middle;
}

static int fit_one(struct calibrate_collective *c, const struct calibrate_record *const *r,
                   size_t count)
{
    double *rows = mem_alloc(count * 3 * sizeof *rows), *y = mem_alloc(count * sizeof *y),
           *weight = mem_alloc(count * sizeof *weight), found[3], range[3];
    struct calibrate_value *terms[3];
    size_t columns = 0, at = 0;
    if (c->has_constant)
        terms[columns++] = &c->a;
    terms[columns++] = &c->b;
    if (c->has_bytes)
        terms[columns++] = &c->c;
    for (size_t i = 0; i < count; i++) {
        double steps = log2(r[i]->ranks);
        if (c->has_constant)
            rows[at++] = 1;
        rows[at++] = steps;
        if (c->has_bytes)
            rows[at++] = steps * (double)r[i]->bytes;
        y[i] = r[i]->median;
        weight[i] = calibrate_weight(r[i]->q1, r[i]->median, r[i]->q3);
    }
    int rc = calibrate_columns_fit(rows, y, weight, count, columns, found, range);
    for (size_t i = 0; i < columns && rc == 0; i++)
        *terms[i] = (struct calibrate_value){found[i], range[i]};
    mem_free(rows);
    mem_free(y);
    mem_free(weight);
    return rc;
}

void calibrate_collectives_fit(struct calibrate_machine *m, const struct calibrate_raw *raw)
{
    const struct calibrate_record **some = mem_alloc((raw->count + 1) * sizeof *some);
    m->collective_count = 0;
    for (size_t i = 0; i < KINDS; i++) {
        struct calibrate_collective *c = &m->collectives[m->collective_count];
        size_t crowded = collect(raw, kinds[i], 1, some), count = collect(raw, kinds[i], 0, some);
        memset(c, 0, sizeof *c);
        strcpy(c->kind, kinds[i]);
        c->left_out = count ? crowded : 0;
        if (!count)
            count = collect(raw, kinds[i], 1, some);
        look(c, some, count);
        if (count == 0 || fit_one(c, some, count))
            continue;
        c->error = median_error(c, some, count);
        m->collective_count++;
    }
    mem_free(some);
}
