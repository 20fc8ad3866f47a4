/*
 * processor.h - how long the program's own work takes on the simulated machine.
 *
 * A *slice* is what a rank computes between two calls of the virtual MPI (or of anything else that
 * is simulated). The processor model (--compute) decides how long it takes; each model is one file,
 * listed in processor.c:
 *
 *     measured   as long as it ran on this computer
 *     counters   according to a hardware counter
 *     replay     as long as in an earlier run
 *     table      as measured, except that regions in a table take the time given there
 *     none       no time: no model is called
 *
 * divided by the speed of the node, times the slowdown by the node's other ranks (nodes.sharing),
 * plus the noise of its system. Declared time (orrery_compute, orrery_flops) is added. Regions
 * (orrery_region) are for tables and for sampling.
 *
 * Ranks are identified by their index among those of the process (engine/rank_map.h), and calls by
 * numbers whose names the user of this module provides. Nothing here moves a clock: functions
 * return how long work takes that begins at a given time. The plain case - measured, all nodes
 * alike, no noise, nothing recorded - is a multiplication by processor_factor, and needs no call.
 */
#ifndef PROCESSOR_PROCESSOR_H
#define PROCESSOR_PROCESSOR_H

#include "base/vtime.h"
#include "engine/rank_map.h"
#include "platform/nodes.h"
#include "run/run.h"

/* State of a rank: a tape, regions. Allocated when first needed. */
struct processor_state;

/* What the models know about the run, and how they reach its ranks. Borrowed for the whole run. */
struct processor_host {
    const struct run_options *options;
    const struct platform *machine;
    const struct platform_nodes *nodes;
    const struct rank_map *map;
    /* Names of the calls that end a slice, by number below `calls`. */
    unsigned calls;
    const char *(*call_name)(unsigned call);
    /* Is it a polling call, which a program makes more or less often on another machine? */
    int (*call_polls)(unsigned call);
    /* The rank's state; NULL if it has none yet, unless `make` asks to allocate it. */
    struct processor_state **(*state)(uint32_t index, int make);
    /* Ends the run, because the rank does something that cannot be simulated. Does not return. */
    void (*fail)(uint32_t index, const char *why);
};

struct processor_ops {
    const char *name;
    int mode; /* enum run_compute */
    /* May be NULL. */
    int (*init)(const struct processor_host *, struct err *);
    /* Picoseconds for a slice of `ticks` that ends with a call, on this computer, whose speed is
     * 1. */
    vtime (*slice)(uint32_t index, uint64_t ticks, unsigned call);
    /* The function that counts ticks; NULL: ticks_now. */
    uint64_t (*now)(void);
};

/* Chooses the model. Called once, when machine and nodes are known. */
int processor_init(const struct processor_host *, struct err *);
/* Writes what was recorded; scheduler context, at the end of the run. */
int processor_finish(struct err *);

/* Do slices take time? */
int processor_is_measured(void);
/* Do they, and is it the plain case (above)? */
int processor_is_plain(void);
/* Does the model depend on how long slices ran on this computer? */
int processor_is_timed(void);
/* The function that counts ticks; NULL: ticks_now. */
uint64_t (*processor_clock(void))(void);

/* How long a finished slice takes that began at `now`. *host: how long it took on this computer,
 * according to the model. */
vtime processor_slice(uint32_t index, vtime now, uint64_t ticks, unsigned call, vtime *host);

/* Is the run recorded? Then pass it the time that slices took on this computer. */
int processor_is_recording(void);
void processor_record(uint32_t index, unsigned call, vtime host);

/* How long declared time takes from `now` on. */
vtime processor_declare(uint32_t index, vtime now, vtime dt);

/* The ratio of a slice's time on the machine to its time here, if all ranks are alike (the plain
 * case). */
double processor_factor(void);

/* Speed of the rank's processor, without the slowdown by other ranks of the node. */
double processor_speed(uint32_t index);

/* ---- region.c ---- */
/* The rank enters a region. Returns 1 if the program must run it, 0 if it may skip it. *dt is the
 * region's time, to be charged now, if that is fixed; otherwise 0. */
int processor_region_enter(uint32_t index, vtime now, const char *name, vtime *dt);
void processor_region_leave(uint32_t index);
/* Is the rank in a region whose time is fixed? */
int processor_is_muted(uint32_t index);

#endif
