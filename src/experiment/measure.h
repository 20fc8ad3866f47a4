/*
 * measure.h - the measuring program of `orrery calibrate`, run natively or in the simulator.
 */
#ifndef EXPERIMENT_MEASURE_H
#define EXPERIMENT_MEASURE_H

#include "base/buf.h"
#include "base/err.h"
#include "calibrate/raw.h"

#define EXPERIMENT_MEASURE_PROGRAM "orrery-calibrate-mpi"
#define EXPERIMENT_MEASURE_LAUNCHER "mpiexec.mpich"

/* How to measure; zero and NULL mean the default. */
struct experiment_measure {
    unsigned ranks;   /* as many as there are cores */
    unsigned samples; /* most per point */
    int quick;
    int pingpong_only;
    int progress;         /* draw a progress line */
    const char *launcher; /* words; "-n N" and the program follow */
};

/* Measures on this machine and appends the raw data, with comments on launcher and load. Warns of
 * what distorts the times. *signal (0 before): a signal that ended it, which is also an error. */
int experiment_measure_native(const struct experiment_measure *, struct buf *out, int *signal,
                              struct err *);

/* Measures the same ping-pong sizes as in `like`, within or between nodes, in the simulator on a
 * platform. The caller owns the result. */
int experiment_measure_simulated(const char *platform, const struct calibrate_raw *like,
                                 enum calibrate_where, struct calibrate_raw *out, int *signal,
                                 struct err *);

#endif
