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

/* Has a rank ended without MPI_Finalize? */
int native_status_is_left(const char *path);

/* A signal has come, which the caller reports; whether that is so. */
void native_status_interrupt(int fd);
int native_status_is_interrupted(const char *path);

struct native_status {
    int first;         /* the first status in the file, or 0 */
    int killed;        /* the process id of a simulator that was killed, or 0 */
    int cut_off;       /* ranks that have begun and did not end by themselves */
    int ended;         /* ranks that ended by themselves */
    int left;          /* ranks that ended without MPI_Finalize */
    int is_left_first; /* a rank did so before any failed */
};

void native_status_read(int fd, struct native_status *);

/* A rank begins, or ends by itself, or does so with success but without MPI_Finalize, which
 * launchers take as a reason to end the others; for a `path` as below. */
void native_status_begin(const char *path);
void native_status_end(const char *path);
void native_status_leave(const char *path);
/* A simulator was killed, and not by the launcher, which kills all that belongs to it. */
void native_status_kill(const char *path, int pid);

/* Adds a status, as an exit has it, to the file at `path` (NULL: there is none), unless it is 0.
 * Signal handlers may call it. */
void native_status_add(const char *path, int status);

/* ends.c: from now on `say_end` is told with which status this process ends, before it does: 128 +
 * the signal if it crashes; and `say_abort` with which status MPI aborts it, which then kills it.
 * Both may be called by signal handlers. A process that somebody else kills says nothing. */
void native_ends_watch(void (*say_end)(int status), void (*say_abort)(int status));

#endif
