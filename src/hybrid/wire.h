/*
 * wire.h - what the processes of `orrery hybrid` and their stand-ins in the simulator send each
 * other.
 *
 * A process sends messages: a head, then pieces of its streams (trace/stream.h): definitions of its
 * handles, and the calls it makes, in the order in which it makes them, as a trace has them. A
 * call is sent before the process blocks in it. The time of a call is what the process has computed
 * until then, in picoseconds, and counts no time within MPI. If the head asks, the stand-in answers
 * after the last call of the message.
 */
#ifndef HYBRID_WIRE_H
#define HYBRID_WIRE_H

#include <stdint.h>

#define HYBRID_STANDIN "orrery-hybrid-mpi"
#define HYBRID_LIBRARY "liborrery-hybrid.so"
#define HYBRID_VARIABLE "ORRERY_HYBRID" /* how computing counts */
#define HYBRID_COMPUTE_AUTO "auto"
#define HYBRID_COMPUTE_WALL "wall"
#define HYBRID_COMPUTE_PROCESSOR "processor"
#define HYBRID_COMPUTE_NONE "none"

enum hybrid_ask {
    HYBRID_ASK_NOTHING,
    HYBRID_ASK_TIME,   /* the clock alone */
    HYBRID_ASK_RESULT, /* and what has come of the last call */
};

struct hybrid_head {
    uint32_t ask; /* enum hybrid_ask */
    uint32_t is_last;
    int64_t computed;  /* so far */
    uint64_t failures; /* calls of the last message that have failed: the stand-in's may, too */
};

/* Its bytes follow, up to a multiple of 8. */
struct hybrid_piece {
    uint32_t flags; /* enum trace_piece_flag */
    uint32_t bytes;
    int64_t base;
};

#define HYBRID_CANCELLED INT32_MIN /* for a source: the receive was cancelled in time */

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
    int32_t unused;
};

#endif
