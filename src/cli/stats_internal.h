/*
 * What the two readers of statistics share. Both fill ranks, group and pairs; the caller checks
 * them against each other.
 */
#ifndef CLI_STATS_INTERNAL_H
#define CLI_STATS_INTERNAL_H

#include "cli/stats_read.h"

int cli_stats_json(struct cli_stats *stats, const char *data, size_t size, struct err *err);
int cli_stats_csv(struct cli_stats *stats, const char *data, size_t size, struct err *err);

/* Appends a pair; ERR_MEMORY, or ERR_INPUT if there are too many to work with. */
int cli_stats_add(struct cli_stats *stats, struct cli_stats_pair pair, struct err *err);

/* The line, from 1, of an offset. O(offset). */
size_t cli_stats_line(const char *data, size_t offset);

/* The first line of a CSV statistics file. */
#define CLI_STATS_CSV_HEAD "kind,name,source,destination,count,bytes,time_s"

#endif
