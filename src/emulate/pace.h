/*
 * pace.h - scaled real time: how simulated time and the computer's clock depend on each other.
 *
 *     real time  =  base + simulated time x factor
 *
 * The factor may change while the program runs. Then the line bends: it is a chain of pieces, each
 * of which begins where the one before it ends, so every moment has one simulated time.
 *
 * A call of a process reaches the simulator somewhat later than the process made it. So the
 * simulator's schedule is that of the processes, shifted by this overhead: it executes an event at
 * base + time x factor + overhead, and a call that is late by no more than that is not late at all.
 *
 * The state lies in memory that the simulator and all processes share. Only the simulator changes
 * it. Processes on other computers have a copy (remote_clock.h). Real time is CLOCK_MONOTONIC in
 * nanoseconds.
 */
#ifndef EMULATE_PACE_H
#define EMULATE_PACE_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/vtime.h"

/* A straight piece of the line from real to simulated time. */
struct emulate_piece {
    int64_t wall; /* real time at which it begins */
    vtime time;   /* simulated time at which it begins */
    double factor;
};

#define EMULATE_BINS 32

/* The largest of some values, by when they occurred: intervals of equal width, which double when
 * time outgrows them. */
struct emulate_trend {
    vtime width;
    vtime most[EMULATE_BINS];
    uint32_t bins; /* used */
};

struct emulate_pace {
    _Atomic uint32_t changes; /* odd while the pieces change; 0: time has not begun. A futex. */
    struct emulate_piece now, before;
    int64_t overhead; /* nanoseconds */
    vtime reached;    /* what emulate_now last returned */
    /* what was measured */
    vtime max_behind; /* the latest event: how long after its time it was executed */
    struct emulate_trend trend;
    vtime max_late; /* the latest call, beyond the overhead */
    vtime lost;     /* by which all calls together were late: times are too long by that at most */
    uint64_t events, late;
    double factor_least, factor_most;
};

int64_t emulate_wall(void);

/* Time 0 is at `wall`. Wakes all that sleep. */
void emulate_begin(struct emulate_pace *, int64_t wall, double factor, int64_t overhead);
/* The factor is another one from `wall` on, which is not before the last change. Wakes all that
 * sleep, since they must sleep for a shorter or longer time. */
void emulate_change(struct emulate_pace *, int64_t wall, double factor);

/* For a process with a clock of its own, which is ahead of the simulator's by so many nanoseconds:
 * its copy becomes what the simulator's is. Wakes all that sleep. */
void emulate_follow(struct emulate_pace *mine, const struct emulate_piece *now,
                    const struct emulate_piece *before, int64_t overhead, int64_t ahead);

/* The simulated time at that moment, and the moment of a time. */
vtime emulate_time_at(const struct emulate_pace *, int64_t wall);
int64_t emulate_wall_of(const struct emulate_pace *, vtime);

/* For the simulator: the time up to which it executes events at that moment. Never decreases. */
vtime emulate_now(struct emulate_pace *, int64_t wall);
/* For the simulator: how long until an event at t is to be executed, in nanoseconds; at most
 * `most`. */
int64_t emulate_until(const struct emulate_pace *, vtime t, int64_t wall, int64_t most);

/* For a process: sleeps until the moment of t; also waits for time to begin. */
void emulate_sleep(struct emulate_pace *, vtime t);

/* An event of time t is executed when `now` was reached. */
void emulate_executed(struct emulate_pace *, vtime t, vtime now);
/* A call of time t came when `now` was reached; returns the time that it has. */
vtime emulate_called(struct emulate_pace *, vtime t, vtime now);

/* Real time for each simulated time so far. */
double emulate_mean_factor(const struct emulate_pace *);

/* The pieces as they were at one moment; returns the number of changes until then, 0: none, time
 * has not begun. */
uint32_t emulate_look(const struct emulate_pace *, struct emulate_piece *now,
                      struct emulate_piece *before);

#endif
