/*
 * calls.h - what the functions of a trace do, derived from the names and roles of their arguments
 * in its schema: which send, receive, complete requests, or are collective.
 */
#ifndef FORMATS_CALLS_H
#define FORMATS_CALLS_H

#include "trace/schema.h"

enum call_kind {
    CALL_OTHER,
    CALL_SEND,
    CALL_RECV,
    CALL_SENDRECV,
    CALL_COMPLETE, /* waits and tests */
    CALL_START,    /* of persistent requests */
    CALL_CANCEL,
    CALL_FREE, /* of a request */
    CALL_PROBE,
    CALL_COLLECTIVE,
    CALL_RMA,
};

/* Collectives on a communicator, without the letters for nonblocking, persistent and large-count
 * forms. */
enum call_coll {
    COLL_BARRIER,
    COLL_BCAST,
    COLL_GATHER,
    COLL_GATHERV,
    COLL_SCATTER,
    COLL_SCATTERV,
    COLL_ALLGATHER,
    COLL_ALLGATHERV,
    COLL_ALLTOALL,
    COLL_ALLTOALLV,
    COLL_ALLTOALLW,
    COLL_REDUCE,
    COLL_ALLREDUCE,
    COLL_REDUCE_SCATTER,
    COLL_REDUCE_SCATTER_BLOCK,
    COLL_SCAN,
    COLL_EXSCAN,
    COLL_NEIGHBOR, /* any neighbourhood collective */
    COLL_CREATE,   /* creates a communicator or window */
    COLL_DESTROY,
    COLL_KINDS,
};

struct call_shape {
    enum call_kind kind;
    enum call_coll coll;
    int is_immediate;  /* returns a request */
    int is_persistent; /* returns a request that is started later */
    /* Positions of arguments, or -1. */
    int send_count, send_type, dest, send_tag;
    int recv_count, recv_type, source, recv_tag;
    int partitions;
    int comm, request, status, flag, index, outcount, root, message, win;
};

/* One for each function of the schema; free it with mem_free. */
struct call_shape *call_shapes_make(const struct trace_schema *);

/* The position of the argument of this name, or -1. */
int call_arg(const struct trace_fn *, const char *name);
/* The function's name without "MPI_": "Send". */
const char *call_bare_name(const struct trace_fn *);

#endif
