/*
 * live_internal.h - what live.c and live_sides.c share.
 */
#ifndef MPI_LIVE_INTERNAL_H
#define MPI_LIVE_INTERNAL_H

#include "mpi/side.h"

/* Whether the rank's process has sent something that the rank has not taken; takes it, which the
 * caller frees with proc_link_free. */
int mpi_live_has_item(const struct mpi_rank *self);
void *mpi_live_take(const struct mpi_rank *self, size_t *bytes);

/* Does the process's call only return after others have sent something, as far as known here? */
int mpi_live_is_led(struct mpi_rank *self, const struct orrery_own_call *);
/* For the report of a deadlock. */
void mpi_live_explain(struct mpi_rank *self, const struct orrery_own_call *);

/* The list of the rank's sides. */
struct mpi_side **mpi_live_sides(const struct mpi_rank *self);

#endif
