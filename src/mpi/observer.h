/*
 * observer.h - events of ranks, for code that counts, checks or records them: statistics, leak
 * checks, recorded compute times, traces.
 *
 * An observer is a table of functions, one for each event that it wants. Attach it before the first
 * rank runs; several may be attached. Every event is reported in one place, a hook in observe.h. A
 * hook costs one test of mpi_world.observed, unless some observer wants the event.
 *
 * All functions run in the context of the rank concerned, in its own order of calls; rank_end may
 * also run in scheduler context. With several processes, each has its own observers, for its ranks.
 * With ranks as processes, one rank runs at a time and the simulator's memory is shared (mem_alloc,
 * static data), so it makes no difference to an observer. Functions must not switch ranks or call
 * MPI.
 *
 * `t` is the virtual time of the event. It is the rank's clock, except for received messages and
 * operations that run concurrently with the program (strand.h), which have their own times.
 */
#ifndef MPI_OBSERVER_H
#define MPI_OBSERVER_H

#include "mpi/rank.h"

/* Its program begins, or has ended. */
struct mpi_seen_rank {
    int status; /* rank_end: exit status */
};

/* A call begins or returns. MPI_Abort, and calls that end the run, do not return. MPI_Wtime and
 * MPI_Wtick are not reported. Each argument is a word: an integer, a handle or a pointer;
 * mpi_fn_signature (mpi_roles.h) says which, and gives the length of arrays. Output arguments are
 * valid when the call returns. */
struct mpi_seen_call {
    enum mpi_fn fn;
    const uint64_t *args;
    vtime began; /* leave: when the call was entered */
    int rc;      /* leave: what it returns, where that is an error class */
};

/* A message was sent, or its receipt is complete. `src` and `number` identify it: `number` counts
 * the messages of a source, and is 0 if no observer wants sends. Messages of collectives have an
 * odd context, which is that of their communicator + 1. */
struct mpi_seen_message {
    uint32_t src, dst; /* world ranks */
    uint32_t ctx;      /* context of the communicator */
    int32_t tag;
    uint64_t bytes;
    uint64_t number;
    /* The request that it completes, or MPI_REQUEST_NULL for a blocking call or a collective. */
    MPI_Request request;
};

/* A request. Its handle is valid from `made` or `start` until it is freed, or complete and not
 * persistent; then it may be reused. */
enum mpi_request_step {
    MPI_REQUEST_MADE, /* persistent, and not active */
    /* Reported when the call that starts it returns; its message may have been sent before. */
    MPI_REQUEST_START,
    MPI_REQUEST_COMPLETE,   /* the program has learned that it is complete */
    MPI_REQUEST_UNFINISHED, /* a test found it not complete */
    MPI_REQUEST_CANCEL,     /* it was cancelled; `complete` follows */
    MPI_REQUEST_FREE,       /* by MPI_Request_free */
};
struct mpi_seen_request {
    enum mpi_request_step step;
    MPI_Request request;
    int kind; /* enum mpi_req_kind (p2p.h) */
    int persistent, cancelled;
    int32_t source; /* complete receives: world rank of the sender, else -1 */
    int32_t tag;
    uint64_t bytes; /* of a complete send or receive */
};

/* A collective begins or ends at this rank; for non-blocking ones `request` identifies it. */
struct mpi_seen_collective {
    int ended;
    int operation; /* enum mpi_coll_op (coll/coll.h) */
    MPI_Comm comm;
    uint32_t ctx;            /* context of the communicator */
    int root;                /* MPI_UNDEFINED: there is none */
    uint64_t sent, received; /* bytes that the rank gives and gets, by its arguments */
    MPI_Request request;
};

/* Handles that the program got or freed. */
enum mpi_object {
    MPI_OBJECT_COMM = 0,
    MPI_OBJECT_GROUP,
    MPI_OBJECT_TYPE,
    MPI_OBJECT_OP,
    MPI_OBJECT_INFO,
    MPI_OBJECT_ERRHANDLER,
    MPI_OBJECT_KEYVAL,
    MPI_OBJECT_WIN,
    MPI_OBJECT_FILE,
    MPI_OBJECTS
};
struct mpi_seen_object {
    enum mpi_fn fn; /* the call that does so */
    enum mpi_object kind;
    uint64_t handle;     /* as a number; may be a null handle or a predefined one */
    MPI_Request request; /* that made it after its call had returned; 0: the call did */
};

/* Data of a file or a window is moved. */
enum mpi_access { MPI_ACCESS_READ = 0, MPI_ACCESS_WRITE = 1, MPI_ACCESS_RMA };
struct mpi_seen_access {
    enum mpi_access what;
    uint32_t peer; /* RMA: world rank of the target */
    uint64_t bytes;
};

/* The rank has computed. */
struct mpi_seen_slice {
    /* The call that ended the slice; MPI_FN_COUNT: something else, such as the reading of a
     * clock. */
    enum mpi_fn fn;
    int declared;  /* by orrery_compute or orrery_flops, or fixed for a region: not measured */
    vtime host;    /* what the processor model says, on this computer */
    vtime charged; /* what the rank's clock was moved by */
};

/* A part of the program with a name (orrery_region). */
struct mpi_seen_region {
    const char *name; /* NULL: the innermost ends */
};

/* Events: the function of struct mpi_observer, and what it gets. */
#define MPI_EVENTS(EVENT)                  \
    EVENT(rank_begin, mpi_seen_rank)       \
    EVENT(rank_end, mpi_seen_rank)         \
    EVENT(enter, mpi_seen_call)            \
    EVENT(leave, mpi_seen_call)            \
    EVENT(sent, mpi_seen_message)          \
    EVENT(received, mpi_seen_message)      \
    EVENT(request, mpi_seen_request)       \
    EVENT(collective, mpi_seen_collective) \
    EVENT(made, mpi_seen_object)           \
    EVENT(freed, mpi_seen_object)          \
    EVENT(access, mpi_seen_access)         \
    EVENT(slice, mpi_seen_slice)           \
    EVENT(region, mpi_seen_region)

/* Frequent events that not every observer of their kind wants. All get them if one does. */
enum mpi_frequent {
    MPI_NEW_REQUESTS = 1,        /* `request`: MADE and START */
    MPI_COLLECTIVE_MESSAGES = 2, /* `received` */
};

struct mpi_observer {
    const char *name;
#define MPI_EVENT(event, what) void (*event)(struct mpi_rank * self, vtime t, const struct what *);
    MPI_EVENTS(MPI_EVENT)
#undef MPI_EVENT
    /* Sends that are complete when they start share a request. An observer of requests that does
     * not need to see these may number them instead: their handles have the low bits of the number
     * (MPI_REQ_SENT_MASK). NULL, and `request` is there: every send has a request of its own. */
    uint32_t (*sent_number)(struct mpi_rank *self);
    unsigned ignores; /* enum mpi_frequent: not wanted, but may be reported */
    /* A rank will get the turn soon: time to prefetch what the events of it will need. */
    void (*prefetch)(const struct mpi_rank *);
};

enum mpi_event {
#define MPI_EVENT(event, what) MPI_EVENT_##event,
    MPI_EVENTS(MPI_EVENT)
#undef MPI_EVENT
};
/* Its bit in mpi_world.observed. */
#define MPI_SEES(event) (1u << MPI_EVENT_##event)
/* What the entries of calls report. */
#define MPI_SEES_CALLS \
    (MPI_SEES(enter) | MPI_SEES(leave) | MPI_SEES(request) | MPI_SEES(made) | MPI_SEES(freed))

/* The table must live as long as the run. */
void mpi_observer_attach(const struct mpi_observer *);

#endif
