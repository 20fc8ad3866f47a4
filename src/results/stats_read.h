/*
 * stats_read.h - reads who sent how many messages to whom from a statistics file (`orrery run
 * --stats`) in JSON or CSV, detected from the content. The rest of the file is only checked for
 * being well-formed. Nothing here switches.
 */
#ifndef RESULTS_STATS_READ_H
#define RESULTS_STATS_READ_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Source and destination are ranks, or groups of results_stats.group consecutive ranks. */
struct results_stats_pair {
    uint32_t source, destination;
    uint64_t messages;
};

struct results_stats {
    uint32_t ranks;
    uint32_t group;   /* ranks per entry of the pairs: 1, or more when aggregated */
    uint32_t entries; /* ranks / group, rounded up; all sources and destinations are less */
    size_t count, cap;
    struct results_stats_pair *pairs; /* in the order of the file */
};

/*
 * Reads a file; release with results_stats_fini. O(size of the file); memory is 16 bytes per pair.
 * ERR_SYSTEM if it cannot be read, ERR_MEMORY, or ERR_INPUT if it is damaged or not a statistics
 * file: "cannot use statistics 'x.json': line 12: ...".
 */
int results_stats_read(struct results_stats *stats, const char *path, struct err *err);

/* results_stats_read from memory, which is not needed afterwards; error texts begin at "line". */
int results_stats_parse(struct results_stats *stats, const void *data, size_t size,
                        struct err *err);

void results_stats_fini(struct results_stats *stats);

#endif
