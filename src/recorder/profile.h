/*
 * profile.h - statistics instead of events (--profile-only): for each function its calls, their
 * time, and the bytes that they sent (or passed to collectives) and received. A rank uses memory
 * for the functions that it calls.
 */
#ifndef RECORDER_PROFILE_H
#define RECORDER_PROFILE_H

#include "recorder/recorder.h"

/* Counts a call that has returned at t; its lane has what it has received. */
void recorder_profile_call(struct recorder_rank *, struct recorder_lane *, struct mpi_rank *self,
                           const struct recorder_call *, int64_t t);
/* Writes what was counted since the last time, as records of the rank's first thread. */
void recorder_profile_write(struct recorder_rank *);

#endif
