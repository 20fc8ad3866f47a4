/*
 * calls.h - what the functions of a trace do, as far as an analysis needs it: which of them send,
 * receive, complete requests or are collective, and the positions of their arguments. The table is
 * built once from the schema of the trace; the number of a function is its index.
 */
#ifndef ANALYSIS_CALLS_H
#define ANALYSIS_CALLS_H

#include "trace/decode.h"

enum call_kind {
    CALL_LOCAL, /* does not concern other ranks, or is not analysed */
    CALL_INIT,
    CALL_FINALIZE,
    CALL_SEND,
    CALL_BSEND, /* never waits for the receiver */
    CALL_ISEND,
    CALL_SEND_INIT,
    CALL_RECV,
    CALL_IRECV,
    CALL_RECV_INIT,
    CALL_SENDRECV,
    CALL_ISENDRECV,
    CALL_START,
    CALL_STARTALL,
    CALL_WAIT,
    CALL_WAITALL,
    CALL_WAITANY,
    CALL_WAITSOME,
    CALL_TEST,
    CALL_TESTALL,
    CALL_TESTANY,
    CALL_TESTSOME,
    CALL_GET_STATUS, /* a test that completes nothing */
    CALL_FREE,       /* frees a request */
    CALL_CANCEL,
    CALL_PROBE,
    CALL_MPROBE,
    CALL_IMPROBE,
    CALL_MRECV,
    CALL_IMRECV,
    CALL_COLLECTIVE,
    CALL_ICOLLECTIVE,
    CALL_COLLECTIVE_INIT,
    CALL_RMA,
};

/* Who waits for whom in a collective. */
enum call_class {
    CALL_NO_COLLECTIVE,
    CALL_BARRIER,
    CALL_NXN,
    CALL_FROM_ROOT,
    CALL_TO_ROOT,
    CALL_SCAN,
};

/* Which count tells the bytes that a rank passes to a collective, in total or for each member. */
enum call_share {
    CALL_GIVES_NOTHING,
    CALL_GIVES_ONE,       /* sendcount, or count */
    CALL_GIVES_EACH,      /* sendcount for every member */
    CALL_GIVES_COUNTS,    /* the sum of sendcounts */
    CALL_ROOT_GIVES_ONE,  /* the root alone */
    CALL_ROOT_GIVES_EACH, /* the root alone, to every member */
    CALL_ROOT_GIVES_COUNTS,
};

/* Positions of arguments in an event; -1: the function has none. */
struct call_shape {
    uint8_t kind;   /* enum call_kind */
    uint8_t class;  /* enum call_class */
    uint8_t share;  /* enum call_share */
    uint8_t blocks; /* communication that returns when it is done */
    int8_t comm, dest, source, send_tag, recv_tag, count, type, counts, types, recv_count,
        recv_type;
    int8_t request, status, flag, index, out_count, root, message, place, partitions;
};

/* One for each function of the schema; free it with mem_free. */
struct call_shape *calls_of(const struct trace_schema *);

/* The number of requests that a call has completed, and each of them. */
size_t calls_completed(const struct call_shape *, const struct trace_event *);
int64_t calls_completed_request(const struct call_shape *, const struct trace_event *, size_t i);
const struct trace_status *calls_completed_status(const struct call_shape *,
                                                  const struct trace_event *, size_t i);
/* The requests that were passed to a call. */
size_t calls_given(const struct call_shape *, const struct trace_event *);
int64_t calls_given_request(const struct call_shape *, const struct trace_event *, size_t i);

/* Whether the call is a test that found nothing complete. */
static inline int calls_is_failed_test(const struct call_shape *s, const struct trace_event *e)
{
    if (s->kind == CALL_TESTSOME)
        return s->out_count >= 0 && e->args[s->out_count].number <= 0;
    return s->kind >= CALL_TEST && s->kind <= CALL_GET_STATUS && s->flag >= 0 &&
           e->args[s->flag].number == 0;
}

#endif
