/*
 * processor.h - how long the program's own work takes on the simulated machine.
 *
 * A *slice* is what a rank computes between two calls of the virtual MPI (or of anything else that
 * is simulated). How long it takes is said by the processor model (--compute), one file each behind the
 * table in processor.c:
 *
 *     measured   as long as it ran here
 *     counters   by what a hardware counter counted
 *     replay     as long as in an earlier run
 *     table      as long as it ran here, but regions that a table names as long as it says
 *     none       no time: models are not asked
 *
 * divided by the speed of the node, times what the other ranks of the node do to it (nodes.sharing), plus the
 * noise of its system. Declared time (orrery_compute, orrery_flops)
 * comes on top. Regions (orrery_region) are for tables and for sampling.
 *
 * Ranks are named by their index among those of the process (engine/rank_map.h), and calls by numbers whose
 * meaning the user of this module has told. Nothing here moves a clock: functions return how long work takes
 * that begins at a time. The plain case - measured, all nodes alike, no noise, nothing recorded - is
 * multiplication by processor_factor, and need not come here.
 */
#ifndef PROCESSOR_PROCESSOR_H
#define PROCESSOR_PROCESSOR_H

#include "base/vtime.h"
#include "engine/rank_map.h"
#include "platform/nodes.h"
#include "run/run.h"

/* What a rank has of its own here: a tape, regions. Allocated when first needed. */
struct processor_state;

/* What the models are told of the run, and how they reach its ranks. Borrowed for good. */
struct processor_host {
    const struct run_options *options;
    const struct platform *machine;
    const struct platform_nodes *nodes;
    const struct rank_map *map;
    /* What ends a slice: numbers below `calls`. */
    unsigned calls;
    const char *(*call_name)(unsigned call);
    /* Is it a call whose number depends on time, so that another machine makes more or fewer of them? */
    int (*call_polls)(unsigned call);
    /* Where the rank keeps its state, or NULL: it has none yet, and is not asked to `make` room for it. */
    struct processor_state **(*state)(uint32_t index, int make);
    /* Ends the run, since the rank does what cannot be simulated. Does not return. */
    void (*fail)(uint32_t index, const char *why);
};

struct processor_ops {
    const char *name;
    int mode; /* enum run_compute */
    /* May be NULL. */
    int (*init)(const struct processor_host *, struct err *);
    /* Picoseconds on this computer, whose speed is 1, for a slice of `ticks` that ends with a call. */
    vtime (*slice)(uint32_t index, uint64_t ticks, unsigned call);
    /* May be NULL: what ticks are counted by; NULL: ticks_now. */
    uint64_t (*now)(void);
};

/* Chooses the model. Once, when machine and nodes are known. */
int processor_init(const struct processor_host *, struct err *);
/* Writes what was recorded; scheduler context, in the end. */
int processor_finish(struct err *);

/* Do slices take time? */
int processor_is_measured(void);
/* ... and is that the plain case (above)? */
int processor_is_plain(void);
/* Does it matter how long slices ran here? */
int processor_is_timed(void);
/* What counts ticks; NULL: ticks_now. */
uint64_t (*processor_clock(void))(void);

/* How long a slice takes that is over; it began at `now`. *host: how long it took on this computer, by the model. */
vtime processor_slice(uint32_t index, vtime now, uint64_t ticks, unsigned call, vtime *host);

/* Is the run recorded? Then hand it what slices took here. */
int processor_is_recording(void);
void processor_record(uint32_t index, unsigned call, vtime host);

/* How long declared time takes from `now` on. */
vtime processor_declare(uint32_t index, vtime now, vtime dt);

/* What a slice takes on the machine, over what it took here, where all ranks are alike (plain). */
double processor_factor(void);

/* Speed of the rank's processor, without what its neighbours do to it. */
double processor_speed(uint32_t index);

/* ---- region.c ---- */
/* The rank enters a region: 1 if the program is to run it, 0 if it may leave it out; *dt is how long the
 * region takes, which is to be charged now, if that is settled, and 0 otherwise. */
int processor_region_enter(uint32_t index, vtime now, const char *name, vtime *dt);
void processor_region_leave(uint32_t index);
/* Is the rank in a region whose time is settled? */
int processor_is_muted(uint32_t index);

#endif
