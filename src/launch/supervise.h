/*
 * supervise.h - runs a command that starts processes, such as a launcher of MPI, and watches all of
 * them: who died, and who was stopped.
 *
 *     orrery -- guard -- command (mpiexec) -- helper (hydra_pmi_proxy) -- ranks
 *
 * Whatever happens, the command ends with everything that it has started (guard.h). If one of the
 * processes between us and the ranks dies, nobody else may notice: then this reports it and ends
 * the others. A stopped process is reported, and may continue. What an `orrery run` among them has
 * started is its own to watch (watch.h, workers.h).
 */
#ifndef LAUNCH_SUPERVISE_H
#define LAUNCH_SUPERVISE_H

#include "launch/argv.h"

struct launch_supervise_watch {
    int every_ms;                  /* how often to ask is_over; -1: never */
    int (*is_over)(void *context); /* whether to kill the command */
    /* A signal has come, and the command is about to be ended; or NULL. */
    void (*interrupted)(void *context);
    void *context;
    int passes_on;    /* the command is an `orrery run`, which reports the signal that it gets */
    int starts_ranks; /* an `orrery run` starts native ranks, too, which it does not watch */
};

/* How a command ended. */
struct launch_supervise_end {
    int status;  /* its exit status; 128 + the signal if one ended it; 3 if `is_lost` */
    int signal;  /* SIGINT, SIGTERM or SIGHUP that this process received meanwhile, or 0: then the
                   command and all its descendants have been killed */
    int is_lost; /* the command, a helper of it or the guard was killed, which was reported */
};

/*
 * Runs the command and appends what it writes to standard output to `out`; its input is empty. What
 * it writes to standard error is passed on until a signal comes: a launcher that is ended while it
 * starts ranks complains. Returns 0, or ERR_SYSTEM if it cannot be started.
 */
int launch_supervise_capture(const struct launch_argv *, struct buf *out,
                             struct launch_supervise_end *, struct err *);

/* Runs a command whose streams are those of this process, and which the second argument watches
 * (NULL: not). */
int launch_supervise_run(const struct launch_argv *, const struct launch_supervise_watch *,
                         struct launch_supervise_end *, struct err *);

#endif
