/*
 * The processor models and what they share. Never included outside processor/.
 */
#ifndef MPI_PROCESSOR_INTERNAL_H
#define MPI_PROCESSOR_INTERNAL_H

#include "mpi/ext.h"
#include "mpi/processor/processor.h"

extern const struct processor_ops processor_measured_ops;
extern const struct processor_ops processor_counters_ops;
extern const struct processor_ops processor_replay_ops;
extern const struct processor_ops processor_table_ops;

/* ---- noise.c ---- */
void processor_noise_init(const struct platform *);
/* How long `dt` of work that begins at t takes when the system interrupts it. */
vtime processor_noise(const struct mpi_rank *self, vtime t, vtime dt);

/* ---- record.c ---- */
/* Opens the file; what slices took is kept from now on. */
int processor_record_init(const struct run_options *, struct err *);
void processor_record(struct mpi_rank *self, enum mpi_fn fn, vtime dt);
int processor_record_finish(struct err *);

/* What ends a slice has a name: the function, or the reading of a clock (MPI_FN_COUNT). */
static inline const char *processor_call_name(int fn)
{
    return fn == MPI_FN_COUNT ? "clock" : mpi_fn_name[fn];
}

/* Calls whose number depends on time, so that another machine may make more or fewer of them. */
static inline int processor_is_polling(uint64_t fn)
{
    return fn == MPI_FN_COUNT || (fn < MPI_FN_COUNT && (mpi_fn_flags[fn] & MPI_FNFLAG_POLLS));
}

/* ---- region.c ---- */
int processor_regions_init(const struct run_options *, struct err *);
/* Is the rank in a region whose time is settled? */
int processor_is_muted(const struct mpi_rank *self);
/* A slice took so long. */
void processor_regions_count(struct mpi_rank *self, vtime dt);

/* The group of nodes that says how fast the rank is; NULL: none does. */
const struct platform_group *processor_group(const struct mpi_rank *self);

#endif
