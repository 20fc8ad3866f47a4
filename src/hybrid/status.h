/*
 * status.h - how a rank or a simulator has failed.
 *
 * If a process fails, the launcher kills all others and combines their exit statuses, so that it
 * often returns that of the killed ones. Whoever fails therefore writes its status to a file
 * without a name that `orrery hybrid` has made, and the first one counts. Processes on other
 * computers do not find the file: the status is then what the launcher returns.
 *
 * If `orrery hybrid` itself gets a signal, it ends the launcher by SIGTERM, and reports the signal
 * that it got. The file then says that the simulators need not report theirs.
 */
#ifndef HYBRID_STATUS_H
#define HYBRID_STATUS_H

#define HYBRID_STATUS "ORRERY_HYBRID_STATUS" /* the path of the file */

/* Makes the file, and the variable for those that are started. Returns a descriptor, or -1. */
int hybrid_status_make(void);

/* Is the file there, and so `orrery hybrid` on this computer? */
int hybrid_status_is_here(const char *path);

/* A signal has come, which the caller reports; whether that is so. */
void hybrid_status_interrupt(int fd);
int hybrid_status_is_interrupted(const char *path);

/* The first status in the file, or 0. */
int hybrid_status_first(int fd);

/* Adds a status, as an exit has it, to the file at `path` (NULL: there is none), unless it is 0.
 * Signal handlers may call it. */
void hybrid_status_add(const char *path, int status);

#endif
