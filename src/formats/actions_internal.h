/*
 * actions_internal.h - shared by the files of actions.h: actions.c takes calls apart,
 * actions_start.c follows messages and operations from start to completion, actions_coll.c knows
 * collectives.
 */
#ifndef FORMATS_ACTIONS_INTERNAL_H
#define FORMATS_ACTIONS_INTERNAL_H

#include "base/mem.h"
#include "formats/actions.h"

enum { PROC_NULL = -1, ANY_SOURCE = -2 }; /* of MPICH's ABI, as in traces */

/* A started operation. */
struct operation {
    uint8_t kind; /* enum action_kind: ACTION_ISEND, IRECV, ICOLL */
    uint8_t is_done;
    const struct trace_local_item *comm;
    int64_t peer, world, tag;
    uint64_t bytes, flow;
    size_t receive; /* of receives: number in order of posting */
    const struct mpi_effect *does;
    int64_t root;
    uint64_t sent, received;
    struct action_blocks blocks;
    size_t also; /* number + 1 of the send that the same request is for */
};

/* The message of a posted receive. */
struct received {
    const struct trace_local_item *comm;
    int64_t world, tag;
    uint64_t bytes;
    uint64_t flow;
    int is_known, is_cancelled;
};

/* The value of an argument, or `otherwise` if the function has no such argument. */
static inline int64_t action_number(const struct trace_event *e, int at, int64_t otherwise)
{
    return at >= 0 ? e->args[at].number : otherwise;
}

/* The flow of the next message of its kind from one rank to another. */
uint64_t actions_next_flow(struct actions *, uint64_t comm, int64_t from, int64_t to, int64_t tag);

/* Frees the blocks of their owner. */
static inline void action_free(struct action_blocks *b)
{
    if (b->is_owner)
        mem_free(b->each);
    b->is_owner = 0;
}

/* Adds an action of the current call, to be filled in. */
struct action *actions_push(struct actions *, enum action_kind);

/* The send or receive of a call, blocking or not. */
struct action action_make_send(struct actions *, const struct mpi_effect *,
                               const struct trace_event *);
struct action action_make_recv(struct actions *, const struct mpi_effect *,
                               const struct trace_event *);

/* What a blocking call does. */
void action_send_now(struct actions *, struct action send);
void action_recv_now(struct actions *, struct action recv, const struct trace_status *);

/* A non-blocking call, or one that makes a persistent request. */
void action_begin(struct actions *, const struct mpi_effect *, const struct trace_event *,
                  struct action);
/* MPI_Isendrecv: one request for both. */
void action_begin_both(struct actions *, const struct mpi_effect *, const struct trace_event *);
/* The operation of a persistent request starts. */
void action_start(struct actions *, int64_t request, struct action);

/* A request is complete, or was tested and is not. */
void action_complete(struct actions *, int64_t request, const struct trace_status *);
void action_tested(struct actions *, int64_t request);

struct action action_of_coll(const struct actions *, const struct mpi_effect *,
                             const struct trace_event *);

#endif
