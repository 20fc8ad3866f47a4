/*
 * payload.h - numbers and arrays in the payload of definitions and other records (format.h).
 */
#ifndef TRACE_PAYLOAD_H
#define TRACE_PAYLOAD_H

#include "base/buf.h"
#include "trace/stream.h"

static inline void trace_write_varint(struct buf *out, uint64_t value)
{
    uint8_t text[TRACE_VARINT_MAX];
    buf_add(out, text, (size_t)(trace_varint_put(text, value) - text));
}

static inline void trace_write_number(struct buf *out, int64_t value)
{
    trace_write_varint(out, trace_zigzag(value));
}

/* Writes the head of a piece, which precedes its bytes. */
static inline void trace_write_piece(struct buf *out, const struct trace_piece *piece,
                                     unsigned flags)
{
    uint8_t text[6 * TRACE_VARINT_MAX], *at = trace_varint_put(text, flags);
    at = trace_varint_put(at, piece->rank);
    at = trace_varint_put(at, piece->thread);
    at = trace_varint_put(at, (uint64_t)piece->base);
    at = trace_varint_put(at, piece->records);
    at = trace_varint_put(at, piece->bytes);
    buf_add(out, text, (size_t)(at - text));
}

void trace_write_array(struct buf *out, const int64_t *items, size_t count);

static inline const uint8_t *trace_number_get(const uint8_t *at, const uint8_t *end, int64_t *value)
{
    uint64_t raw;
    at = trace_varint_get(at, end, &raw);
    if (at)
        *value = trace_unzigzag(raw);
    return at;
}

#endif
