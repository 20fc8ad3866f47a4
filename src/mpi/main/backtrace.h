/*
 * backtrace.h - requests to the process that watches the program (struct run_question in
 * run/run.h). Any context, also a signal handler; vp_current() is NULL.
 */
#ifndef MPI_MAIN_BACKTRACE_H
#define MPI_MAIN_BACKTRACE_H

#include <stddef.h>

#include "run/run.h"
#include "vp/crash.h"

/* Sends a request and waits for the answer; returns 0 if none came in time. */
int mpi_ask(enum run_ask);

/* The call stack of a rank: lines of text with functions, files and line numbers, or with bare
 * addresses if the watcher does not answer. Returns their length. */
size_t mpi_backtrace_text(const struct vp_backtrace *, char *out, size_t n);

/* The function, file and line number of what vp_caller has found: "main+0x1c in app (FILE:7)". If
 * they are unknown, returns `site`. */
const char *mpi_site_text(const char *site, char *out, size_t n);

#endif
