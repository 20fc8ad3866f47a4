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
 * The plain case - measured, all nodes alike, no noise, nothing recorded - is mpi_charge (clock.c) alone
 * and does not come here.
 */
#ifndef MPI_PROCESSOR_PROCESSOR_H
#define MPI_PROCESSOR_PROCESSOR_H

#include "mpi/rank.h"

struct processor_regions;
struct processor_tape;

struct processor_ops {
    const char *name;
    int mode; /* enum run_compute */
    /* May be NULL. */
    int (*init)(const struct run_options *, struct err *);
    /* Picoseconds on this computer, whose speed is 1, for a slice of `ticks` that ends with a call of fn
     * (MPI_FN_COUNT: something else). */
    vtime (*slice)(struct mpi_rank *, uint64_t ticks, enum mpi_fn fn);
    /* May be NULL: what ticks are counted by; NULL: ticks_now. */
    uint64_t (*now)(void);
};

/* Chooses the model. Sets mpi_world.measured and mpi_world.plain. */
int processor_init(const struct run_options *, struct err *);
/* Writes what was recorded; scheduler context, in the end. */
int processor_finish(struct err *);

/* Does what slices ran here matter? */
int processor_is_timed(void);

/* A slice is over. */
void processor_slice(struct mpi_rank *self, uint64_t ticks, enum mpi_fn fn);

/* The program has declared time. */
void processor_declare(struct mpi_rank *self, vtime dt);

/* What a slice takes on the machine, over what it took here, where all ranks are alike (mpi_world.plain). */
double processor_factor(void);

/* Speed of the rank's processor, without what its neighbours do to it. */
double processor_speed(const struct mpi_rank *self);

#endif
