/*
 * yield.c - a rank yields: a decision that is due now and decides nothing.
 */
#include "mpi/clock.h"
#include "mpi/p2p/p2p_internal.h"

void p2p_yield(struct mpi_rank *self)
{
    mpi_clock_begin(self);
    mpi_clock_add(self, mpi_world.test_cost);
    mpi_drain(self);
    while (!mpi_decision_step(self, self->ent.clock, NULL))
        ;
    mpi_clock_end();
}
