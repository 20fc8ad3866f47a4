/*
 * job.h - what is to be started: the programs of a run with their options, and how processes are
 * started.
 */
#ifndef LAUNCH_JOB_H
#define LAUNCH_JOB_H

#include "launch/apps.h"
#include "run/run.h"

struct launch_job {
    struct run_options opt;  /* for the library in the programs */
    struct launch_apps apps; /* the programs */
    const char *launcher;    /* command that starts processes, or NULL: the default */
    const char *listen;      /* of `orrery emulate`: where other computers connect to, or NULL */
    const char *mincut;      /* statistics for --placement mincut, or NULL */
    int quiet;
    int procs_auto; /* we choose the number of processes */
    int worker;     /* started by a launcher as one of several processes */
    int progress;   /* 1 yes, 0 no, -1: if stderr is a terminal */
};

#endif
