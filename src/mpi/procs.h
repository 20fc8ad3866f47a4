/*
 * procs.h - the processes of one run as the virtual MPI sees them.
 *
 * With one process everything here is trivial. With several, process 0 leads: the ranks' output
 * goes through it, so that it comes in order; it knows how far all have come, learns when something
 * ends the run early, and gets each process's part of the result. Scheduler context, except where
 * noted.
 */
#ifndef MPI_PROCS_H
#define MPI_PROCS_H

#include <sys/types.h>

#include "base/buf.h"
#include "engine/output.h"
#include "engine/procs.h"
#include "mpi/rank.h"

enum mpi_procs_tag {
    MPI_PROCS_OUTPUT = PROCS_NOTE, /* lines for process 0, and a bound for what follows */
    MPI_PROCS_TAKEN,               /* from process 0: how many lines of the process it has taken */
    MPI_PROCS_STATUS,              /* how far the process has come, for the progress line */
    MPI_PROCS_STOP,                /* to process 0: end the run; from process 0: it ends */
    MPI_PROCS_GATHER,              /* to process 0: what the process contributes to the result */
    MPI_PROCS_RESULT,              /* from process 0: the exit status */
    MPI_PROCS_COMM = PROCS_ITEM,   /* a new communicator (create/announce.c) */
    MPI_PROCS_VERIFY,              /* collectives that ranks have called (verify_coll.c) */
    MPI_PROCS_ABORT,               /* a rank aborts the run: struct engine_due */
};

/* How far a process has come. */
struct mpi_procs_status {
    uint64_t ranks_started, ranks_done, messages, bytes;
    uint64_t memory; /* of other processes */
    vtime clock;
};

/* Why the run ends early. */
struct mpi_procs_stop {
    int32_t cause;   /* enum run_cause; RUN_CAUSE_NONE: it does not */
    int32_t status;  /* exit status */
    char text[8192]; /* the message, complete lines; "": none */
};

/* Joins the other processes, if any, and says in *map which ranks are here. */
void mpi_procs_open(const struct run_options *, struct rank_map *);
/* For the engine's configuration; NULL: there are no others. */
const struct engine_peers *mpi_procs_peers(void);
/* Before joining: where to keep lines in flight to process 0 (engine/output_ledger.h). A file that
 * ends there has no room for them. */
void mpi_procs_keep(int fd, off_t at);
/* Sends the output of this process to where it is put in order. */
void mpi_procs_output(struct output_config *);

/* Call it now and then: passes output on up to `bound`, a time before which no rank of this process
 * will write. */
void mpi_procs_release(vtime bound);
/* Call it now and then: tells process 0 how far this process has come. On process 0 *mine becomes
 * the sum of all. */
void mpi_procs_report(struct mpi_procs_status *mine);

/* Process 0, any context: that rank has been sent its spawn message, which arrives then: if it is
 * elsewhere, nothing later is released until its process has reported a bound. */
void mpi_procs_spawned(uint32_t rank, vtime when);

/* Sends bytes (copied) as an item (procs_item). Any context. */
void mpi_procs_item(uint32_t to, int tag, const void *data, size_t bytes);

/* A rank of this process aborts the run at that time. Any context. */
void mpi_procs_abort(struct engine_due);

/* Ends the run early; the first caller wins. When it returns, the other processes have been told
 * and stop, or too much time has passed. */
void mpi_procs_end_early(const struct mpi_procs_stop *);
/* A rank is about to start a thread. */
void mpi_procs_threads(void);

/* Batches of messages this process has sent to others. */
uint64_t mpi_procs_batches(void);
/* Why the run ended early, if it did. */
const struct mpi_procs_stop *mpi_procs_stopped(void);

/* All processes call this at the end. Process 0 gets the others' parts, one buffer per process (its
 * own is unchanged); 0: some did not answer in time, which happens only after an early end. */
int mpi_procs_gather(struct buf *parts);
/* Process 0 sends the exit status to the others; then the processes separate. `complete`: all have
 * answered so far. Returns 1 if all did until the end. */
int mpi_procs_leave(int *status, int complete);

#endif
