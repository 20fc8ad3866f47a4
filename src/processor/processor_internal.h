/*
 * processor_internal.h - the processor models and what they share. Never included outside this
 * module.
 */
#ifndef PROCESSOR_INTERNAL_H
#define PROCESSOR_INTERNAL_H

#include "processor/processor.h"

extern const struct processor_ops processor_measured_ops;
extern const struct processor_ops processor_counters_ops;
extern const struct processor_ops processor_recorded_ops;
extern const struct processor_ops processor_table_ops;

/* A rank's tape: what it has recorded, or how far it has read. */
struct processor_tape {
    unsigned char *data;
    uint32_t len, room;
    uint64_t block; /* recorded: number of the next block among the rank's */
    uint32_t at;    /* recorded: read up to here */
    uint64_t slices;
};

struct processor_regions; /* region.c */

struct processor_state {
    struct processor_tape *tape;       /* record.c, recorded.c: times of its slices */
    struct processor_regions *regions; /* region.c: the regions it is in */
};

/* ---- processor.c ---- */
extern const struct processor_host *processor_host;
/* The rank's state, NULL if it has none; the same, allocated if necessary. */
struct processor_state *processor_state(uint32_t index);
struct processor_state *processor_state_get(uint32_t index);
/* Its tape, allocated if necessary. */
struct processor_tape *processor_tape_get(uint32_t index);
/* The group of nodes that sets the rank's speed; NULL: none does. */
const struct platform_group *processor_group(uint32_t index);

static inline uint32_t processor_rank_id(uint32_t index)
{
    return rank_map_number(processor_host->map, index);
}

/* ---- noise.c ---- */
void processor_noise_init(const struct platform *);
/* How long `dt` of work that begins at t takes when the system interrupts it. */
vtime processor_noise(uint32_t index, vtime t, vtime dt);

/* ---- record.c ---- */
/* Opens the file. */
int processor_record_init(const struct run_options *, struct err *);
int processor_record_finish(struct err *);

/* ---- region.c ---- */
int processor_regions_init(const struct run_options *, struct err *);
/* A slice took this long. */
void processor_regions_count(uint32_t index, vtime dt);

#endif
