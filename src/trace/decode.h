/*
 * decode.h - decodes records. A decoder reads block after block; what it points to is valid until
 * the next record. Damaged bytes are reported, never trusted.
 */
#ifndef TRACE_DECODE_H
#define TRACE_DECODE_H

#include "base/err.h"
#include "trace/format.h"
#include "trace/header.h"
#include "trace/stream.h"

/* An argument. Arrays and texts have a count. */
struct trace_value {
    int64_t
        number; /* a number; a buffer (format.h); the local number of a handle or request, or -1 */
    uint64_t count;
    union {
        const int64_t *items;
        const char *text;                    /* without a NUL at the end */
        const struct trace_status *statuses; /* a single one if it is no array */
    };
};

struct trace_event {
    unsigned head;        /* enum trace_head; TRACE_CALL: a call */
    unsigned fn;          /* number of the function in the trace's schema */
    int64_t enter, leave; /* ticks; other records have one time */
    uint64_t site;        /* 0: not known */
    int failed;           /* error class of a call */
    unsigned argc;
    const uint8_t *payload; /* of other records; of a call its site and arguments, as read */
    size_t bytes;
    /* Of a call: the request mentioned before it in the block, and up to its end. */
    int64_t request_before, request_after;
    struct trace_value args[TRACE_ARGS_MAX];
};

/* MPICH's error classes of calls that had their effect nevertheless: a message was longer than its
 * buffer. */
enum trace_error {
    TRACE_ERROR_TRUNCATE = 14,
    TRACE_ERROR_IN_STATUS = 17,
};

static inline int trace_event_is_done(const struct trace_event *e)
{
    return !e->failed || e->failed == TRACE_ERROR_TRUNCATE || e->failed == TRACE_ERROR_IN_STATUS;
}

struct trace_decoder {
    const struct trace_header *header;
    const uint8_t *at, *end;
    int64_t time, last_request;
    int failed;     /* of the next call */
    int64_t *items; /* of arrays of the current record */
    size_t item_count, item_room;
    struct trace_status *statuses;
    size_t status_count, status_room;
};

void trace_decoder_init(struct trace_decoder *, const struct trace_header *);
void trace_decoder_fini(struct trace_decoder *);
/* Starts a block, or continues it if `begins` is 0. */
void trace_decoder_block(struct trace_decoder *, const uint8_t *data, size_t bytes, int64_t base,
                         int begins);
/* Returns 1 with the next record, 0 at the end of the block, or ERR_INPUT if it is damaged. */
int trace_decoder_next(struct trace_decoder *, struct trace_event *, struct err *);

/* Reads an array of numbers from a payload into memory that the caller frees. Returns its end, or
 * NULL. */
const uint8_t *trace_read_array(const uint8_t *at, const uint8_t *end, int64_t **items,
                                uint64_t *count);

#endif
