/*
 * env.h - names of the environment variables by which the command and the library communicate.
 */
#ifndef BASE_ENV_H
#define BASE_ENV_H

/* Descriptor of the run page; its presence makes the preloaded library take the process over. */
#define ENV_RUN_FD "ORRERY_RUN_FD"

/* Name of the host that runs the ranks (vp/host.h), which the library must know as soon as it is
 * loaded. */
#define ENV_HOST "ORRERY_HOST"

/* A memory file that `orrery run` shares with the workers it started. */
#define ENV_WORKERS "ORRERY_WORKERS"

/* The memory file that holds the workers' pending output. */
#define ENV_BOOKS "ORRERY_BOOKS"

/* The memory file with the table of which process has which rank, if there is one. */
#define ENV_PLACEMENT "ORRERY_PLACEMENT"

/* The memory file that describes the simulated machine. */
#define ENV_MACHINE "ORRERY_MACHINE"

/* The programs of a run, as a command line, if there are several. */
#define ENV_PROGRAMS "ORRERY_PROGRAMS"

/* Where processes on other computers connect to, and what they say then (launch/remote.h). */
#define ENV_JOIN "ORRERY_JOIN"

/* Set by users: path of the native MPI library to use with several processes. */
#define ENV_NATIVE_MPI "ORRERY_NATIVE_MPI"

/* Set by users: microseconds of host time by which recording a call takes longer, to show that
 * virtual time does not change. */
#define ENV_TRACE_DELAY "ORRERY_TRACE_DELAY"

/* Set by users: which modules say what they do (base/log_module.h). */
#define ENV_LOG "ORRERY_LOG"

/* Set by tests, for the hostile build: which allocation fails (mem_fail_at). */
#define ENV_FAIL_ALLOCATION "ORRERY_FAIL_ALLOCATION"

#endif
