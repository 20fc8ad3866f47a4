/*
 * workers_internal.h - a page of memory that the starter of a run with several processes shares
 * with its workers. Workers on other machines do not have it.
 */
#ifndef LAUNCH_WORKERS_INTERNAL_H
#define LAUNCH_WORKERS_INTERNAL_H

#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"

#define WORKERS_MAGIC 0x4f525254u /* "ORRT" */
#define WORKERS_STREAMS 3
#define WORKERS_MAX 1024 /* workers that are watched and signalled directly */
#define WORKERS_FAILED 3

struct workers_one {
    volatile int32_t pid;  /* 0: not started yet */
    volatile int32_t left; /* it is about to end by itself */
    volatile int32_t spill,
        spill_seen; /* a descriptor + 1 that the starter is to open, and has opened */
};

struct workers_page {
    uint32_t magic;
    /* Descriptors of the starter's standard streams in every worker. */
    int32_t streams[WORKERS_STREAMS];
    volatile int32_t joined; /* a worker uses them, so the launcher carries no output of the run */
    volatile int32_t ending; /* a signal has ended the run: workers that start now leave again */
    int32_t claimed;         /* a process is about to report how the run ended */
    int32_t worker_count;    /* workers on this machine */
    struct workers_one workers[WORKERS_MAX];
    volatile int32_t status, set; /* of the run, once it is known and reported */
};

/* How many workers are on this machine and can be watched. */
int workers_watched(const struct workers_page *);

/* The first caller gets 1, and must report how the run ended. */
int workers_claim(struct workers_page *);

/* Maps the page; NULL if that fails. */
struct workers_page *workers_page_map(int fd);

/* A line by which a worker on another machine reports on standard error how the run ended; the
 * starter filters it out. */
#define WORKERS_MARK "\001orrery run ended with status "

/* The launcher's output. */
struct workers_launcher {
    struct buf kept;    /* its own messages, while the workers' output does not go through it */
    struct buf pending; /* the end of the input so far, which may be the start of a mark */
    int told, status;   /* reported by a worker */
};

void workers_launcher_init(struct workers_launcher *);
void workers_launcher_fini(struct workers_launcher *);
/* Can the descriptor take a little output without blocking? */
int workers_launcher_fit(int fd);
/* Reads from a pipe of the launcher. Its text is kept, or else passed on to standard stream `to`
 * as output of the run. Returns 0 at the end. */
int workers_launcher_take(struct workers_launcher *, int pipe, int to, int keep);

/* State of the health checks; initially all zero but for the first three fields. */
struct workers_health {
    const struct workers_page *page;
    pid_t guard, launcher;
    uint32_t procs; /* expected workers; 0: unknown, they may be anywhere */
    double next;    /* time of the next check */
    /* since when a process is stopped, workers are missing, or one has left; 0: not so */
    double stopped, absent, left;
    int seen_helper; /* the launcher has started a helper, which starts workers */
    char why[200];   /* why the run cannot continue */
};

/* Call it often; it checks now and then. Returns 1, with `why`, if the run cannot continue. */
int workers_health_check(struct workers_health *, double now);

/* Kills the helpers of the launcher that workers on this machine have as their parents. */
void workers_health_end_helpers(const struct workers_health *);

#endif
