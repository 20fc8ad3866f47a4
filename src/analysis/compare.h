/*
 * compare.h - compares two sets of statistics, element by element. Each group has the mean, maximum
 * and variance of the errors of its elements; rows that only one side has are a difference in
 * structure, and have no error.
 *
 * The order of elements does not depend on the side, so the symmetric and the logarithmic error
 * stay the same, to the last bit, if the sides are swapped.
 */
#ifndef ANALYSIS_COMPARE_H
#define ANALYSIS_COMPARE_H

#include <stdint.h>

#include "analysis/table.h"

enum compare_metric {
    COMPARE_SYMMETRIC, /* |a - b| / ((a + b) / 2): 0 to 2 */
    COMPARE_LOG,       /* |ln(a / b)|, at most COMPARE_LOG_MOST */
    /* |b - a| / a: the first side is the reference; 1 if that is 0 and the other is not. */
    COMPARE_RELATIVE,
    COMPARE_METRICS,
};
const char *compare_metric_name(enum compare_metric);

#define COMPARE_LOG_MOST \
    13.815510557964274 /* ln(10^6): what is 0 on one side counts as a factor of a million */
#define COMPARE_DIFFERENCES 20
#define COMPARE_ONLY 10

/* The error of two values; both 0: 0. */
double compare_error(enum compare_metric, double a, double b);

struct compare_options {
    enum compare_metric metric;
    int skeleton; /* traffic and structure, no times */
};

struct compare_group {
    const char *name;
    uint64_t values; /* that were compared, without those that are 0 on both sides */
    double mean, max, variance;
    uint64_t rows;           /* of either side, in tables that have a structure */
    uint64_t only_a, only_b; /* rows of one side alone */
    double structure;        /* their share */
    int is_compared;         /* it has values to compare */
};

/* What differs most, by its share of the column, not by its error. */
struct compare_difference {
    const char *table, *row, *column, *unit;
    double a, b, error, weight;
};

/* A row that only one side has. */
struct compare_only {
    const char *table, *row;
    int is_b;
};

struct comparison {
    struct compare_options options;
    struct compare_group *groups;
    size_t group_count;
    struct compare_difference differences[COMPARE_DIFFERENCES + 1]; /* largest first */
    size_t difference_count;
    struct compare_only only[COMPARE_ONLY]; /* the first ones */
    size_t only_count;
    struct tables memory; /* of texts */
};

/* Groups that only one side has are ignored. ERR_INPUT if they have none in common. */
int compare_run(struct comparison *, const struct tables *a, const struct tables *b,
                const struct compare_options *, struct err *);
void compare_fini(struct comparison *);

/* As tables, for writing; and for people. */
void compare_tables(const struct comparison *, struct tables *out);
void compare_text(const struct comparison *, struct buf *out);

#endif
