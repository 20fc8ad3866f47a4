/*
 * run.h - declarations shared by the files that run the simulation: takeover.c sets it up and runs
 * it, hooks.c binds engine and vp to ranks, stop.c ends it early, crash.c reports where a rank was.
 */
#ifndef MPI_MAIN_RUN_H
#define MPI_MAIN_RUN_H

#include <signal.h>

#include "mpi/main/ending.h"
#include "mpi/rank.h"

struct mpi_run {
    struct mpi_ending end;         /* what this process knows about how the run ended */
    const struct mpi_rank *last;   /* the rank that has the turn, or had it last; NULL: none yet */
    volatile sig_atomic_t writing; /* output is being added */
};
extern struct mpi_run mpi_run;

/* Shows the run's progress to its watcher. */
void mpi_run_progress(void);
/* A rank has its first turn now. */
void mpi_run_starts(void);

/* ---- hooks.c ---- */
extern const struct vp_hooks mpi_vp_hooks;
extern const struct engine_ops mpi_engine_ops, mpi_engine_ops_paced; /* the second with emulate.h */

/* ---- stop.c ---- */
/* Handles signals that ask the run to end, and internal failures (log_fatal). */
void mpi_stop_init(void);
/* Ends the run now, with what its ranks have written so far. Any context. */
_Noreturn void mpi_end_early(enum run_cause cause, int status, const char *text);
/* Ends the run after the engine was stopped: because of a signal, an abort, or because nobody reads
 * the output. */
_Noreturn void mpi_stop(void);
/* mpi_abort_run. */
_Noreturn void run_abort(struct mpi_rank *self, int code, const char *why);

/* ---- procs.c: mpi_procs_item, mpi_procs_spawned ---- */
void run_item(uint32_t to, int tag, const void *data, size_t bytes);
void run_spawned(uint32_t rank, vtime when);

/* ---- crash.c: hooks of vp, and where a rank is that does not return to MPI ---- */
void mpi_crash(struct vp_rank *, int sig, void *addr, const void *context);
void mpi_crash_start_failed(struct vp_rank *, int error);
void mpi_crash_died(struct vp_rank *, int status);
void mpi_crash_lost(struct vp_rank *, const char *why);
void mpi_crash_where(const void *context);

#define MPI_WHERE_MAX 4096
/* Finds it, from the context that a signal interrupted; its process has that many seconds to
 * answer. */
void mpi_where_find(const void *context, int seconds);
/* The result; "" if it was not searched. */
const char *mpi_where_text(void);

#endif
