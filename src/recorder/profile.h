/*
 * profile.h - statistics instead of events (--profile-only): for each function its calls, their
 * time, and the bytes that they sent or gave and received. The memory of a rank is that of the
 * functions that it calls.
 */
#ifndef RECORDER_PROFILE_H
#define RECORDER_PROFILE_H

#include "recorder/recorder.h"

void recorder_profile_init(void);

/* A call that has returned at t; what it has received is in its lane. */
void recorder_profile_call(struct recorder_rank *, struct recorder_lane *, struct mpi_rank *self,
                           const struct recorder_call *, int64_t t);
/* Writes what was counted since the last time, as records of the rank's first thread. */
void recorder_profile_write(struct recorder_rank *);

#endif
