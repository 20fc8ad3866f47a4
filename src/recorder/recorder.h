/*
 * recorder.h - from calls to the records of a trace: what `orrery run --trace` and `orrery record`
 * share. An observer of the virtual MPI (mpi/record), or wrappers of the real one (native), report
 * calls to the recorder, and answer its queries about communicators and datatypes (objects.h).
 *
 * Requests are reported by handle, too, which must name one request at a time. recorder_done
 * reports what a call has received, before the call is left. Nothing here has locks: a rank's
 * threads take turns.
 */
#ifndef RECORDER_RECORDER_H
#define RECORDER_RECORDER_H

#include "base/map.h"
#include "mpi_roles.h"
#include "trace/part.h"

struct mpi_rank; /* see objects.h */
struct MPI_Status;

/* A call. Each argument is a word: an integer, a handle or a pointer (mpi_fn_signature). */
struct recorder_call {
    enum mpi_fn fn;
    const uint64_t *args;
    int64_t began; /* leave: when the call was entered */
    int rc;        /* leave: what it returns, if that is an error class */
    int is_early;  /* leave: it has not been made yet, and has no results */
};

/* Whether a call that returns this class has done what it is for: a message that is longer than its
 * buffer is received nevertheless. */
int recorder_has_done(int rc);

/* A receive that a call has completed. */
struct recorder_done {
    int64_t number; /* of the request; -1: of the call itself */
    struct trace_status status;
};

#define RECORDER_FEW_REQUESTS 8
#define RECORDER_FEW_DONE 4

/* Of a thread of a rank. What every call needs comes first. */
struct recorder_lane {
    struct trace_stream stream;
    uint32_t depth; /* nested calls: callbacks may make some */
    uint32_t fn;    /* of the outermost */
    int64_t enter;
    uint32_t request_count, done_count;
    int64_t *requests; /* numbers of those that were passed to the call */
    struct recorder_done *done;
    uint32_t request_room, done_room;
    /* `requests` and `done` of most calls */
    int64_t few_requests[RECORDER_FEW_REQUESTS];
    struct recorder_done few_done[RECORDER_FEW_DONE];
    int64_t given;              /* number of the object that was passed to the call by a pointer */
    uint64_t gone;              /* its handle, if the call frees it */
    uint32_t reserved;          /* number + 1 of what an early call makes; 0: none */
    uint64_t site;              /* of the call, if the trace has sites */
    struct recorder_lane *next; /* the lane of another thread */
    uint32_t regions;           /* open regions */
};

/* An object and its number + 1; 0: there is none. */
struct recorder_known {
    uint32_t handle, number;
};

/* A pending request and the low bits of its number. */
struct recorder_pending {
    uint32_t handle, number;
};

#define RECORDER_PENDING 16

/* Kinds of objects of which the last one is remembered: the next call is likely to use it, too. */
enum recorder_recent { RECORDER_COMM, RECORDER_TYPE, RECORDER_OP, RECORDER_WIN, RECORDER_RECENT };

/* A communicator of MPI_Comm_idup: its number is known at the call, its handle when the request is
 * complete. */
struct recorder_begun {
    int64_t request; /* number; -1: not known yet */
    uint32_t number;
    const void *at; /* where the call stores the handle */
};

/* State of a rank. What most calls need comes first. */
struct recorder_rank {
    int64_t next_request;
    struct recorder_known recent[RECORDER_RECENT];
    uint16_t lanes;                   /* 0: it has not begun */
    uint16_t pending_count;           /* requests in `pending` */
    uint32_t more_pending;            /* requests in `numbers` */
    int64_t now;                      /* when the last event was */
    struct recorder_profile *profile; /* sums, if events are not recorded (profile.h) */
    /* The first few requests, in any order. Others are in `numbers`. */
    struct recorder_pending pending[RECORDER_PENDING];
    struct recorder_lane lane; /* its first thread's */
    struct trace_stream locals;
    struct map numbers;       /* of handles, by role and handle: + 1 */
    struct map regions;       /* names, by hash: + 1 */
    struct map comms;         /* the number of communicators with the same members, by their hash */
    uint32_t next[MPI_ROLES]; /* numbers, by role */
    struct recorder_begun *begun; /* communicators whose requests are pending */
    uint32_t begun_count;
    uint32_t next_region;
};

struct recorder_mpi; /* objects.h */

/* Call it before anything else. The header and the table must live as long as there are records. */
void recorder_init(const struct trace_header *, const struct recorder_mpi *);

void recorder_rank_init(struct recorder_rank *, struct trace_sink *, uint64_t rank);
/* The MPI_COMM_WORLD of a rank that was spawned is another one: defines it, before any other. */
void recorder_world(struct recorder_rank *, struct mpi_rank *self, int64_t now);
/* A lane of one more thread. */
void recorder_lane_init(struct recorder_rank *, struct recorder_lane *);
/* Makes what was recorded so far that of another rank. */
void recorder_rank_rename(struct recorder_rank *, uint64_t rank);
/* Passes all records in memory to the sink. */
void recorder_rank_spill(struct recorder_rank *);
/* Ends recording: records the calls that have not returned, and spills. */
void recorder_rank_end(struct recorder_rank *, int64_t now);

/* Whether the beginning of such a call reads the state of the rank, not only of the thread. */
int recorder_looks_at(enum mpi_fn);
/* Whether the record of such a call depends only on the words that were passed to it, not on the
 * program's memory. */
int recorder_is_by_value(enum mpi_fn);
/* A call begins and returns. */
void recorder_enter(struct recorder_rank *, struct recorder_lane *, struct mpi_rank *self,
                    const struct recorder_call *, int64_t t);
void recorder_leave(struct recorder_rank *, struct recorder_lane *, struct mpi_rank *self,
                    const struct recorder_call *, int64_t t);
/* After an early call: what it has made gets its number; if it has failed, what it did not free
 * keeps its own. */
void recorder_bind(struct recorder_rank *, struct recorder_lane *, const struct recorder_call *);
void recorder_unfree(struct recorder_rank *, struct recorder_lane *, enum mpi_fn);
/* A message was received, by the current call of the thread or by a request (its number). */
void recorder_done(struct recorder_lane *, int64_t number, struct trace_status);

/*
 * Handles of requests that contain the low bits of their number, and need no table: for the many
 * sends that complete immediately. No request may stay pending while this many others start; other
 * requests may while 2^32 start.
 */
#define RECORDER_NUMBERED 0xae000000u
#define RECORDER_NUMBERED_MASK 0x01ffffffu

/* The number of a pending request, or -1. */
int64_t recorder_request(const struct recorder_rank *, uint32_t handle);
void recorder_forget_request(struct recorder_rank *, uint32_t handle);
/* A request is complete: what its call has made is there. To be called before it is forgotten. */
void recorder_made(struct recorder_rank *, int64_t request);
/* The position of the object that such a call frees, or -1. Its handle is invalid afterwards. */
int recorder_frees(enum mpi_fn);

/* A region of this name begins, or (NULL) the innermost one ends. */
void recorder_region(struct recorder_rank *, struct recorder_lane *, int64_t t, const char *name);

/* recorder_region for a function of the program, which gets its name when parts are merged. */
void recorder_function(struct recorder_rank *, struct recorder_lane *, int64_t t,
                       const void *address);

/* Bytes of a message, as the ABI keeps them in a status. */
uint64_t recorder_status_bytes(const struct MPI_Status *);

#endif
