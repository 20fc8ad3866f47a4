/*
 * factor.h - a factor that adapts to what the simulator has to do.
 *
 * While messages are in the network, the simulator needs time for their events: a *communication*
 * phase. Its factor grows while events are executed too late and do not become less late, and
 * shrinks slowly while they are in time. While processes only compute, nothing has to be simulated,
 * and the factor is the smallest one with which the processes get enough processor time.
 */
#ifndef EMULATE_FACTOR_H
#define EMULATE_FACTOR_H

#include "emulate/pace.h"

struct emulate_control {
    double least; /* while processes compute */
    double most;
    double factor;   /* of communication */
    vtime tolerance; /* events that are late by less are in time */
    /* moments, in nanoseconds */
    int64_t active;  /* an event was last executed */
    int64_t changed; /* the factor last changed */
    int64_t judged;  /* an event was last found late */
    double late;     /* how late it was, in nanoseconds of real time; 0: one was in time since */
    int64_t calm;    /* since when no event was late */
};

void emulate_control_init(struct emulate_control *, double least, vtime tolerance);

/* The simulator has executed an event that was `behind` its time (-1: it has not, it waits).
 * Changes the factor from `wall` on if that is useful. */
void emulate_adapt(struct emulate_control *, struct emulate_pace *, int64_t wall, vtime behind);

#endif
