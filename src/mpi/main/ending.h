/*
 * ending.h - the end of a run: merges the results of all processes.
 */
#ifndef MPI_MAIN_ENDING_H
#define MPI_MAIN_ENDING_H

#include "mpi/procs.h"

#define MPI_ENDING_REFUSED 3 /* exit status: a call of the program was refused */

/* What one process knows about how the run ended. */
struct mpi_ending {
    uint32_t bad_rank;         /* the lowest rank that ended with a status other than 0 */
    int32_t bad_status;        /* its status; 0: there is none */
    uint64_t unfinalized;      /* ranks that ended without MPI_Finalize */
    uint32_t unfinalized_rank; /* the first of these ranks */
    vtime last;                /* largest final clock */
    /* The earliest MPI_Abort or fatal MPI error here: its cause (enum run_cause), its exit status,
     * the rank that made it, and its message. */
    int32_t abort_cause, abort_status;
    uint32_t abort_rank;
    char abort_text[512];
    int32_t refused; /* a call was refused that the host of ranks does not support */
    struct mpi_procs_status now;
};

/* Writes all output and messages, fills the run page, writes the statistics, and ends the process,
 * together with the others. Any context, with vp_current() NULL. */
void mpi_end(struct mpi_ending *, enum engine_end) __attribute__((noreturn));

#endif
