/*
 * ending.h - the end of a run: merges the results of all processes.
 */
#ifndef MPI_MAIN_ENDING_H
#define MPI_MAIN_ENDING_H

#include "mpi/team.h"

#define MPI_ENDING_REFUSED 3 /* exit status: a call of the program was refused */

/* What one process knows about how the run ended. */
struct mpi_ending {
    int32_t bad_status; /* of the lowest rank that ended with a status other than 0 ... */
    uint32_t bad_rank;
    uint64_t unfinalized;      /* ranks that ended without MPI_Finalize ... */
    uint32_t unfinalized_rank; /* ... and the first of them */
    vtime last;                /* largest final clock */
    int32_t abort_cause;       /* enum run_cause, ... */
    /* ... exit status of the earliest MPI_Abort or fatal MPI error here, ... */
    int32_t abort_status;
    uint32_t abort_rank;  /* ... who made it ... */
    char abort_text[512]; /* ... and what it said */
    int32_t refused;      /* a call was refused that the host of ranks does not support */
    struct mpi_team_status now;
};

/* Writes all output and messages, fills the run page, writes the statistics, and ends the process,
 * together with the others. Any context, with vp_current() NULL. */
void mpi_end(struct mpi_ending *, enum engine_end) __attribute__((noreturn));

#endif
