/*
 * pairs.h - traffic from rank to rank. When there are too many pairs, ranks are merged two by two,
 * as often as necessary.
 */
#ifndef ANALYSIS_PAIRS_H
#define ANALYSIS_PAIRS_H

#include "analysis/analysis.h"
#include "analysis/delays.h"
#include "base/map.h"

struct pair {
    uint32_t from, to;
    uint64_t messages, bytes;
    double time;                     /* ticks */
    struct delay_snapshot *sender;   /* when it last sent to the other one */
    struct delay_snapshot *receiver; /* when it last received from the other one */
};

struct pairs {
    struct pair *items;
    size_t count, most;
    struct map by_ranks; /* to number + 1 */
    unsigned shift;      /* 2^shift ranks are merged into one */
    uint32_t generation; /* when it changes, numbers of pairs become invalid */
    struct delays *delays;
};

void pairs_init(struct pairs *, size_t most, struct delays *);
void pairs_fini(struct pairs *);
/* The number of a pair. */
uint32_t pairs_find(struct pairs *, uint32_t from, uint32_t to);
/* Moves them to the result. */
void pairs_result(struct pairs *, double second, struct analysis *);

#endif
