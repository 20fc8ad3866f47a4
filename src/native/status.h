/*
 * status.h - how ranks that run natively, or their simulators, have ended.
 *
 * If a process fails, the launcher kills all others and combines their exit statuses, so that it
 * often returns that of the killed ones, or 0 if it was terminated itself. So each rank writes when
 * it begins and when it ends by itself, and whoever fails writes its status, to a file without a
 * name that `orrery hybrid` or `orrery record` has made. The first status counts. Those on other
 * computers do not find the file: the status is then what the launcher returns.
 *
 * If the command itself gets a signal, it ends the launcher by SIGTERM, and reports the signal that
 * it got. The file then says that the simulators need not report theirs.
 */
#ifndef NATIVE_STATUS_H
#define NATIVE_STATUS_H

#define NATIVE_STATUS "ORRERY_NATIVE_STATUS" /* the path of the file */

/* Makes the file, and the variable for those that are started. Returns a descriptor, or -1. */
int native_status_make(void);

/* Is the file there, and so the command on this computer? */
int native_status_is_here(const char *path);

/* A signal has come, which the caller reports; whether that is so. */
void native_status_interrupt(int fd);
int native_status_is_interrupted(const char *path);

/* The first status in the file, or 0. */
int native_status_first(int fd);
/* How many ranks have begun and did not end by themselves, and how many did. */
int native_status_cut_off(int fd, int *ended);

/* A rank begins, or ends by itself; for a `path` as below. */
void native_status_begin(const char *path);
void native_status_end(const char *path);

/* Adds a status, as an exit has it, to the file at `path` (NULL: there is none), unless it is 0.
 * Signal handlers may call it. */
void native_status_add(const char *path, int status);

#endif
