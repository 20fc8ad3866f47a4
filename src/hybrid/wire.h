/*
 * wire.h - what the processes of `orrery hybrid` and their stand-ins in the simulator send each
 * other.
 *
 * A process sends messages: a head, then pieces of its streams (trace/stream.h): definitions of its
 * handles, and the calls it makes, in the order in which it makes them, as a trace has them. A
 * call is sent before the process blocks in it. The time of a call is what the process has computed
 * until then, in picoseconds, and counts no time within MPI. If the head asks, the stand-in answers
 * after the last call of the message.
 *
 * With `--order real` the real MPI chooses which message a receive from any source gets, and which
 * request MPI_Waitany completes. A message that contains such a call and no other *tells*: another
 * one follows when the call has returned, and says what has come of it.
 *
 * A process with MPI_THREAD_MULTIPLE sends the calls of each thread as a stream of its own, and
 * every call in a message of its own, in the order in which its threads make them. It also says
 * when a thread begins and ends, and when all threads that are not in a call wait for others. If
 * there are several threads, one that has made a call asks, and goes on when the stand-in does.
 *
 * A receive is cancelled only if it has no message on either side: with `--order real` the stand-in
 * says whether it has one in virtual time, and, if not, the process whether it has one in real time
 * (HYBRID_TELL). With `--order virtual` the real MPI does not see a receive that may be cancelled
 * before the stand-in knows its message.
 */
#ifndef HYBRID_WIRE_H
#define HYBRID_WIRE_H

#include <stdint.h>

#define HYBRID_STANDIN "orrery-hybrid-mpi"
#define HYBRID_LIBRARY "liborrery-hybrid.so"
#define HYBRID_VARIABLE "ORRERY_HYBRID" /* how computing counts */
#define HYBRID_ORDER "ORRERY_HYBRID_ORDER"
#define HYBRID_SIMULATORS "ORRERY_HYBRID_SIMULATORS" /* how many; 1 if not set */
#define HYBRID_CANCELS "ORRERY_HYBRID_CANCELS"       /* set if the program may cancel receives */
#define HYBRID_ORDER_REAL "real"
#define HYBRID_ORDER_VIRTUAL "virtual"
#define HYBRID_COMPUTE_AUTO "auto"
#define HYBRID_COMPUTE_WALL "wall"
#define HYBRID_COMPUTE_PROCESSOR "processor"
#define HYBRID_COMPUTE_NONE "none"

enum hybrid_ask {
    HYBRID_ASK_NOTHING,
    HYBRID_ASK_TIME,   /* the clock alone */
    HYBRID_ASK_RESULT, /* and what has come of the last call */
    HYBRID_ASK_MAYBE,  /* the same; but the process can make its call before that */
};

/* Matches follow, which are known now, then 32-bit indices of completed requests, up to a multiple
 * of 8, then pieces. */
struct hybrid_head {
    uint8_t ask; /* enum hybrid_ask */
    uint8_t is_last;
    uint8_t tells;
    uint8_t is_failed;   /* the call that was to be told of has failed */
    uint8_t kind;        /* enum hybrid_kind */
    uint8_t is_threaded; /* threads may call MPI at the same time */
    uint8_t rests;       /* enum hybrid_rest */
    uint8_t counts;      /* enum run_counted: how its computing does */
    uint32_t match_count, index_count;
    uint32_t thread, other; /* which one; the one that begins */
    uint32_t inside;        /* how many threads are in calls that may block */
    uint32_t kept_us;       /* how long the process waited for a processor, at its end */
    int64_t computed;       /* by the thread, so far */
    uint64_t failures;      /* its calls that may have failed so far: the stand-in's may, too */
};

/* Do threads compute that are not in calls? */
enum hybrid_rest {
    HYBRID_COMPUTES,
    HYBRID_ALL_WAIT, /* no: they wait for the end of others */
    HYBRID_SLEEPS,   /* it seems not, but they may wake by themselves */
};

/* What a message is about. */
enum hybrid_kind {
    HYBRID_CALLS,  /* of the thread, or the outcome of one */
    HYBRID_BEGINS, /* it has started another thread */
    HYBRID_ENDS,
    HYBRID_ASKS,  /* it has ended its last call, and asks when that is complete */
    HYBRID_RESTS, /* nothing but that */
};

/* Its bytes follow, up to a multiple of 8. */
struct hybrid_piece {
    uint32_t flags; /* enum trace_piece_flag */
    uint32_t bytes;
    int64_t base;
};

#define HYBRID_CANCELLED INT32_MIN /* for a source: the receive was cancelled in time */

/* For the flag of an answer: messages have arrived for receives (their indices) of which only the
 * process can say which message they get; or a receive can be cancelled here. The process says what
 * it knows, and a second answer follows. */
#define HYBRID_TELL 2

/* The process makes its call now: others wait for it there. Nothing else is said. */
#define HYBRID_GO 3

/* A receive from any source that has got its message, or one that was cancelled. */
struct hybrid_match {
    int64_t request;     /* its number; -1: of the call itself */
    int32_t source, tag; /* the source is a rank of the communicator */
};

/* Indices of completed requests follow as 32-bit numbers, then, from a multiple of 8, matches. */
struct hybrid_answer {
    int64_t clock; /* virtual time at the end of the call, in picoseconds */
    int32_t flag;
    int32_t index_count;
    int32_t match_count;
    int32_t is_failed;  /* the virtual MPI has refused the last call, as the real one will */
    uint32_t thread;    /* that has asked */
    double speed;       /* of the simulated processor: computing takes that much less time */
    int64_t clock_cost; /* of reading a clock, in picoseconds */
};

#endif
