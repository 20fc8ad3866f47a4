/*
 * tcp_segments.h - the segments that a half of a connection has sent and that are not acknowledged,
 * in the order of the stream: what a sender knows of each of them.
 *
 *     first                                                     end       numbers of segments
 *       |  |sacked|  lost  |lost, again|  |sacked|sacked|  |  |  |
 *
 * A number is that of the segment since the connection was opened, modulo 2^32. In flight is what
 * was sent, is not known to have arrived and does not count as lost, or was sent again since.
 *
 * Without selective acknowledgements no segment is marked as sacked; `sacked` counts duplicates.
 *
 * Out of memory ends the process. Nothing here switches.
 */
#ifndef NET_PACKET_TCP_SEGMENTS_H
#define NET_PACKET_TCP_SEGMENTS_H

#include "base/vtime.h"
#include "net/packet/ranges.h"

#define TCP_SEGMENT_SACKED 1u /* the receiver has it */
#define TCP_SEGMENT_LOST 2u
#define TCP_SEGMENT_AGAIN 4u /* lost, sent again, and in flight since */
#define TCP_SEGMENT_EVER 8u  /* was sent more than once */

struct tcp_segment {
    uint64_t end;   /* offset in the stream behind its last byte */
    vtime sent;     /* for the last time */
    uint32_t flags; /* TCP_SEGMENT_* */
};

/* A segment that was sent again. */
struct tcp_resend {
    vtime sent;
    uint32_t number;
};

struct tcp_segments {
    struct tcp_segment *at;       /* a ring */
    uint32_t room;                /* a power of two, or 0 */
    uint32_t first, end;          /* of the ring */
    uint32_t sacked, lost, again; /* how many have the flag */
    uint32_t next_lost;           /* none before it is lost and not sent again */
    uint32_t next_first;          /* all before it that were sent once are sacked or lost */
    uint32_t losses;              /* of all time, modulo 2^32 */
    struct tcp_resend *resends;   /* a ring, in the order of time; some have no effect any longer */
    uint32_t resend_first, resend_end, resend_room;
    struct packet_ranges ranges; /* bytes of those that are sacked */
};

void tcp_segments_fini(struct tcp_segments *);
static inline uint32_t tcp_segments_count(const struct tcp_segments *s)
{
    return s->end - s->first;
}
static inline uint32_t tcp_segments_in_flight(const struct tcp_segments *s)
{
    return tcp_segments_count(s) - s->sacked - s->lost + s->again;
}
static inline struct tcp_segment *tcp_segments_at(const struct tcp_segments *s, uint32_t number)
{
    return &s->at[number & (s->room - 1)];
}
/* Is segment a before b? Their distance is below 2^31. */
static inline int tcp_segments_before(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) < 0;
}
/* Was sent once, is not sacked, and does not count as lost; or was sent again, and does not count
 * as lost since. */
static inline int tcp_segment_waits(const struct tcp_segment *seg)
{
    return !(seg->flags & TCP_SEGMENT_SACKED) &&
           (!(seg->flags & TCP_SEGMENT_LOST) || seg->flags & TCP_SEGMENT_AGAIN);
}

/* The next segment, up to this offset, is sent. */
void tcp_segments_push(struct tcp_segments *, uint64_t end, vtime now);
/* The first one is acknowledged. */
void tcp_segments_pop(struct tcp_segments *);
/* The first whose end is behind the offset; s->end: none. O(log count). */
uint32_t tcp_segments_find(const struct tcp_segments *, uint64_t offset);
/* The receiver has it. */
void tcp_segments_sack(struct tcp_segments *, struct tcp_segment *);
/* It is lost, for the first time or again. */
void tcp_segments_lose(struct tcp_segments *, uint32_t number);
/* Nothing is lost after all. O(count). */
void tcp_segments_unlose(struct tcp_segments *);
/* It is sent again. */
void tcp_segments_resend(struct tcp_segments *, uint32_t number, vtime now);
/* Without selective acknowledgements: no more have arrived than are neither acknowledged nor
 * lost. */
void tcp_segments_limit(struct tcp_segments *);
/* The first that is lost and not sent again; s->end: none. */
uint32_t tcp_segments_next_lost(struct tcp_segments *);
/* None is longer than `most`: those that are become several. `start`: the offset where the first
 * begins. O(count). */
void tcp_segments_split(struct tcp_segments *, uint64_t start, uint32_t most);

#endif
