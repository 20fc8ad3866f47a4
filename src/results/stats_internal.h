/*
 * stats_internal.h - what the two readers of statistics share. Both fill ranks, group and pairs;
 * the caller checks that these are consistent.
 */
#ifndef RESULTS_STATS_INTERNAL_H
#define RESULTS_STATS_INTERNAL_H

#include "results/stats_read.h"

int results_stats_json(struct results_stats *stats, const char *data, size_t size, struct err *err);
int results_stats_csv(struct results_stats *stats, const char *data, size_t size, struct err *err);

/* Appends a pair; ERR_MEMORY, or ERR_INPUT if there are too many to work with. */
int results_stats_add(struct results_stats *stats, struct results_stats_pair pair, struct err *err);

/* The line, from 1, of an offset. O(offset). */
size_t results_stats_line(const char *data, size_t offset);

/* The first line of a CSV statistics file. */
#define RESULTS_STATS_CSV_HEAD "kind,name,source,destination,count,bytes,time_s"

#endif
