/*
 * team_internal.h - what the starter of a run with several processes shares with its workers: a page of
 * memory. Workers on other machines do not find it.
 */
#ifndef CLI_TEAM_INTERNAL_H
#define CLI_TEAM_INTERNAL_H

#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"

#define TEAM_MAGIC 0x4f525254u /* "ORRT" */
#define TEAM_STREAMS 3
#define TEAM_WORKERS_MAX 1024 /* that are watched, and get signals directly */
#define TEAM_FAILED 3

struct team_worker {
    volatile int32_t pid;  /* 0: not there yet */
    volatile int32_t left; /* it ends by itself now */
    volatile int32_t spill,
        spill_seen; /* a descriptor + 1 that the starter is to open, and has opened */
};

struct team_page {
    uint32_t magic;
    int32_t streams[TEAM_STREAMS]; /* descriptors of the starter's standard streams in every worker */
    volatile int32_t joined; /* a worker uses them: the launcher carries no output of the run */
    volatile int32_t ending; /* a signal has ended the run: who comes now leaves again */
    int32_t claimed;         /* somebody is about to say how the run ended */
    int32_t worker_count;    /* workers on this machine */
    struct team_worker workers[TEAM_WORKERS_MAX];
    volatile int32_t status, set; /* of the run, once it is known and was reported */
};

/* How many workers are on this machine, and can be watched. */
int team_workers(const struct team_page *);

/* The first to ask gets a 1, and is to say how the run ended. */
int team_claim(struct team_page *);

/* Maps the page; NULL if that fails. */
struct team_page *team_page_map(int fd);

/* What a worker on another machine says by its standard error when it knows how the run ended: a line that
 * the starter takes out. */
#define TEAM_MARK "\001orrery run ended with status "

/* What the launcher prints. */
struct team_launcher {
    struct buf kept;    /* its own words, while the workers' output does not come this way */
    struct buf pending; /* the end of what has come, which may become a mark */
    int told, status;   /* a worker said so */
};

void team_launcher_init(struct team_launcher *);
void team_launcher_fini(struct team_launcher *);
/* May a little be written to the descriptor without waiting? */
int team_launcher_fit(int fd);
/* Reads from a pipe of the launcher's. If workers on this machine have joined, these are words to be kept,
 * else output to be passed on to standard stream `to`. Returns 0 at the end. */
int team_launcher_take(struct team_launcher *, int pipe, int to, int joined);

/* What the starter remembers of the health of the others; all zero but for the first three at the start. */
struct team_health {
    const struct team_page *page;
    pid_t guard, launcher;
    uint32_t procs; /* workers there are to be; 0: unknown, they may be anywhere */
    double next;    /* look */
    /* since when one is stopped, or none can come any more, or one has left; 0: it is not so */
    double stopped, absent, left;
    int seen_helper; /* the launcher has started one, which is to start workers */
    char why[200];   /* the run cannot go on */
};

/* To be called often; looks around now and then. Returns 1, with `why`, if the run cannot go on. */
int team_health_check(struct team_health *, double now);

#endif
