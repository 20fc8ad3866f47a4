/*
 * format.h - the trace file (.orr) as it is on disk. Numbers are little-endian; a varint has 7 bits
 * per byte, lowest first, and the highest bit of a byte is set if more bytes follow; signed numbers
 * are zigzag varints.
 *
 * A file is a sequence of frames, each with a header of 32 bytes, a payload and a checksum of both:
 *
 *     HEADER       text: version, ranks, tick, properties, functions with the roles of their
 *                  arguments (header.h)
 *     DEFINITIONS  what ranks share: nodes, communicators, names (definitions.h)
 *     RECORDS      pieces of streams, see below
 *     INDEX        the offsets of the frames of records
 *     END          the offset of the index; always the last TRACE_END_BYTES of a complete file
 *
 * Each thread of each rank has a stream of records and one of local definitions (what its handles
 * mean). Streams are cut into blocks. Where a block ends depends on the stream alone: after the
 * record with which it has `block` bytes or more (a value of the header). Times are differences
 * within a block, so every block can be read by itself. In the file the blocks are sorted by rank,
 * thread, kind (definitions first) and number, as many to a frame as it takes to reach `block`
 * bytes. So two files with the same records are identical, byte for byte.
 *
 * During a run, its processes write *parts*: files of the same format, whose frames of records are
 * not compressed and hold pieces of blocks in any order, as memory filled up. Parts have no index
 * and no end. At the end they are merged into the file (merge.h). A part, or a file without an end,
 * is read up to its last whole frame.
 *
 *     piece      varint flags, rank, thread, base, records, bytes: of each piece, after the number
 *                of pieces; then the bytes of all of them. base: time before the first record
 *
 *     record     varint head
 *                a call:  head = TRACE_CALL + number of the function; varint time since the last
 *                         record's (at which the call was left), varint duration,
 *                         [varint call site], the arguments by their roles
 *                others:  varint time since the last record's, varint bytes of payload, payload
 *
 *     argument   number   zigzag varint
 *                handle   varint: 0 null, else local number + 1
 *                request  varint: 0 null, else 1 + zigzag of (number - that of the request
 *                         mentioned before in the block)
 *                buffer   varint: 0 a buffer, 1 no buffer, 2 MPI_IN_PLACE
 *                text     varint bytes, bytes
 *                status   varint 0: none; 1: received; 3: cancelled; then zigzag source and tag,
 *                         varint bytes
 *                array    varint items; unless it is empty, groups of them: varint
 *                         (count << 1 | same), then one value if all are the same, else each.
 *                         Values are zigzag differences from the item before (statuses: each by
 *                         itself, without groups)
 */
#ifndef TRACE_FORMAT_H
#define TRACE_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#define TRACE_VERSION 1
#define TRACE_MAGIC 0x4f72724fu /* "OrrO": starts every frame */
#define TRACE_SUFFIX ".orr"
#define TRACE_END_BYTES (sizeof(struct trace_frame) + sizeof(struct trace_end))
#define TRACE_VARINT_MAX 10
#define TRACE_FRAME_MAX ((size_t)1 << 30) /* no frame is larger, compressed or not */
/* A frame has at most so many times the bytes that are stored, and a few: else it is damaged. So
 * reading a file takes a time in proportion to its size, whoever wrote it. What would compress
 * better is followed by a frame that zstd skips. */
#define TRACE_RATIO_MAX 256
#define TRACE_RATIO_FREE 4096

/* What is recorded of a buffer. */
enum trace_buffer {
    TRACE_BUFFER_GIVEN,
    TRACE_BUFFER_NONE,
    TRACE_BUFFER_IN_PLACE,
};

enum trace_frame_kind {
    TRACE_FRAME_HEADER = 1,
    TRACE_FRAME_DEFINITIONS,
    TRACE_FRAME_RECORDS,
    TRACE_FRAME_INDEX,
    TRACE_FRAME_END,
};

enum trace_method {
    TRACE_STORED,
    TRACE_ZSTD,
};

struct trace_frame {
    uint32_t magic;
    uint8_t version;
    uint8_t kind;   /* enum trace_frame_kind */
    uint8_t method; /* enum trace_method */
    uint8_t spare;
    uint32_t stored; /* bytes of the payload in the file */
    uint32_t raw;    /* bytes of the uncompressed payload */
    uint64_t spare_too;
    uint64_t check; /* XXH3 of the payload, seeded with that of the header before this field */
};

struct trace_end {
    uint64_t index; /* offset of the index frame */
    uint64_t records;
};

enum trace_piece_flag {
    TRACE_PIECE_BEGINS = 1,      /* it is the first of a block */
    TRACE_PIECE_DEFINITIONS = 2, /* of the stream of local definitions */
};

/* Heads of records. Readers skip those they do not know. */
enum trace_head {
    TRACE_REGION_ENTER = 1, /* varint: local number of its name */
    TRACE_REGION_LEAVE,     /* nothing */
    TRACE_FAILED,           /* zigzag error class of the call in the next record */
    TRACE_OPEN, /* varint function, varint time since it was entered: a call that did not end */
    TRACE_LOST, /* varint number of records that could not be written */
    /* local definitions; each starts with its varint local number */
    TRACE_DEFINE_NAME, /* the rest is the text */
    /* u64 identity, varint kind, zigzag rank, varint size, varint size of the other group; with a
     * topology arrays of sources and destinations. */
    TRACE_DEFINE_COMM,
    TRACE_DEFINE_TYPE,  /* varint size, zigzag lower bound, zigzag extent, then its name */
    TRACE_DEFINE_GROUP, /* array of world ranks */
    /* Varint local number of its communicator, zigzag bytes, zigzag displacement unit. */
    TRACE_DEFINE_WIN,
    TRACE_DEFINE_FILE, /* the rest is the file's name */
    TRACE_DEFINE_OP,   /* varint: 1 if it commutes; then its name */
    /* sums of a function since the last such record, in traces without calls: varint function,
     * calls, their time, bytes sent (or passed to collectives), bytes received, time since the
     * start of the first call, messages sent, bytes passed to collectives; the record is at the end
     * of the last call */
    TRACE_PROFILE = 13,
    TRACE_CALL = 16,
};

/* ---- varints ---- */

static inline uint64_t trace_zigzag(int64_t value)
{
    return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static inline int64_t trace_unzigzag(uint64_t value)
{
    return (int64_t)(value >> 1 ^ (0 - (value & 1)));
}

/* Writes up to TRACE_VARINT_MAX bytes; returns the end. */
static inline uint8_t *trace_varint_put(uint8_t *at, uint64_t value)
{
    while (value >= 0x80) {
        *at++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *at++ = (uint8_t)value;
    return at;
}

/* Returns the end of the varint, or NULL if it does not end before `end` or has more than 64
 * bits. */
static inline const uint8_t *trace_varint_get(const uint8_t *at, const uint8_t *end,
                                              uint64_t *value)
{
    if (at < end && *at < 0x80) {
        *value = *at;
        return at + 1;
    }
    uint64_t sum = 0;
    for (unsigned shift = 0; at < end && shift < 64; shift += 7, at++) {
        if (shift == 63 && *at > 1)
            return NULL;
        sum |= (uint64_t)(*at & 0x7f) << shift;
        if (*at < 0x80) {
            *value = sum;
            return at + 1;
        }
    }
    return NULL;
}

/* The checksum of a frame. */
uint64_t trace_check(const struct trace_frame *, const void *payload);

/* The checksum of a frame whose payload consists of several spans. */
struct trace_span {
    const void *data;
    size_t bytes;
};
uint64_t trace_check_spans(const struct trace_frame *, const struct trace_span *, size_t count);

#endif
