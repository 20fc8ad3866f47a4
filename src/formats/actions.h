/*
 * actions.h - what the calls of a rank did: messages, completions, collectives. Formats whose
 * records are messages, not calls, are written from these.
 *
 * A message has the same `flow` at both ends, though neither knows the other: messages of one
 * source, destination, tag and communicator do not overtake each other in MPI, so both ends can
 * count them. Receives count in the order in which they were posted, but the message of a wildcard
 * is only known when it completes. So the records of a rank are read twice; memory is proportional
 * to the number of its receives.
 */
#ifndef FORMATS_ACTIONS_H
#define FORMATS_ACTIONS_H

#include "calls/calls.h"
#include "formats/members.h"

enum action_kind {
    ACTION_SEND,
    ACTION_RECV,
    ACTION_ISEND,
    ACTION_ISEND_DONE,
    ACTION_IRECV, /* posted; the source is known if it receives a message later */
    ACTION_IRECV_DONE,
    ACTION_TESTED, /* a request that was not complete */
    ACTION_CANCELLED,
    ACTION_COLL,
    ACTION_ICOLL,
    ACTION_ICOLL_DONE,
};

/* What a collective sends to each rank, and receives from each; only for those who ask for it. */
struct action_blocks {
    uint64_t sent, received; /* if all are alike */
    uint64_t *each;          /* else n that are sent, then n that are received; NULL: all alike */
    uint64_t n;
    int is_owner; /* whoever has this frees `each` */
};

struct action {
    enum action_kind kind;
    const struct trace_local_item *comm; /* NULL: not known */
    int64_t peer, world; /* rank in the communicator and in MPI_COMM_WORLD; -1: not known */
    int64_t tag;
    uint64_t bytes;
    uint64_t flow;    /* of messages; 0: not known */
    int64_t request;  /* the number of the operation, never reused; -1: blocking */
    int is_cancelled; /* a posted receive that will be cancelled */
    /* of collectives */
    const struct mpi_effect *does;
    int64_t root; /* in the communicator; -1: none */
    uint64_t sent, received;
    struct action_blocks blocks;
};

struct actions {
    struct trace *trace;
    const struct trace_local *local;
    const struct mpi_effect *shapes;
    struct members *members;
    uint64_t rank;
    struct action *list; /* of the last call */
    size_t count, room;
    int wants_blocks; /* of collectives */
    /* internal */
    struct map requests;             /* active ones: to an operation + 1 */
    struct map persistent, messages; /* templates + 1; communicators of matched probes + 1 */
    struct action *templates;
    size_t template_count;
    struct operation *operations; /* by number */
    size_t operation_count;
    struct received *receives; /* in order of posting */
    size_t receive_count, next_receive;
    struct map sent; /* messages by source, destination, tag, communicator */
    int is_first;    /* the first pass */
};

/* Reads all records of the rank once. The arguments are borrowed, and must live as long. */
void actions_open(struct actions *, struct trace *, const struct trace_local *,
                  const struct mpi_effect *, struct members *, uint64_t rank, int wants_blocks);
void actions_close(struct actions *);

/* Stores what a call did in `list`, in order. Calls must be passed in the order of the trace:
 * thread by thread. */
void actions_of(struct actions *, const struct trace_event *);

/* The bytes of that many items of a datatype, as the rank has defined it. */
uint64_t actions_bytes(const struct actions *, int64_t count, int64_t type);

#endif
