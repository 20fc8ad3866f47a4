/*
 * tcp_segments.c - the segments that TCP has sent and not seen acknowledged (see tcp_segments.h).
 */
#include "net/packet/tcp_segments.h"

#include <assert.h>
#include <string.h>

#include "base/array.h"
#include "base/hostile.h"
#include "base/mem.h"

#define LEAST HOSTILE(1u, 8u) /* room of a ring */

void tcp_segments_fini(struct tcp_segments *s)
{
    packet_ranges_fini(&s->ranges);
    mem_free(s->resends);
    mem_free(s->at);
    memset(s, 0, sizeof *s);
}

void tcp_segments_push(struct tcp_segments *s, uint64_t end, vtime now)
{
    assert_hot(tcp_segments_count(s) == 0 || tcp_segments_at(s, s->end - 1)->end < end);
    ARRAY_RING_RESERVE(s->at, s->room, s->first, tcp_segments_count(s), LEAST);
    *tcp_segments_at(s, s->end++) = (struct tcp_segment){.end = end, .sent = now};
}

/* It does not count as lost any longer. */
static void clear_lost(struct tcp_segments *s, struct tcp_segment *seg)
{
    assert_hot(s->lost >= s->again && s->lost <= tcp_segments_count(s));
    s->lost -= (seg->flags & TCP_SEGMENT_LOST) != 0;
    s->again -= (seg->flags & TCP_SEGMENT_AGAIN) != 0;
    seg->flags &= ~(TCP_SEGMENT_LOST | TCP_SEGMENT_AGAIN);
}

void tcp_segments_pop(struct tcp_segments *s)
{
    struct tcp_segment *seg = tcp_segments_at(s, s->first);

    assert_hot(tcp_segments_count(s) > 0);
    if (__builtin_expect(seg->flags != 0, 0)) {
        clear_lost(s, seg);
        s->sacked -= seg->flags & TCP_SEGMENT_SACKED;
    }
    s->first++;
}

uint32_t tcp_segments_find(const struct tcp_segments *s, uint64_t offset)
{
    uint32_t low = s->first, count = tcp_segments_count(s);

    while (count > 0) {
        uint32_t half = count / 2;

        if (tcp_segments_at(s, low + half)->end <= offset) {
            low += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return low;
}

void tcp_segments_sack(struct tcp_segments *s, struct tcp_segment *seg)
{
    clear_lost(s, seg);
    seg->flags |= TCP_SEGMENT_SACKED;
    s->sacked++;
}

void tcp_segments_lose(struct tcp_segments *s, uint32_t number)
{
    struct tcp_segment *seg = tcp_segments_at(s, number);

    assert(tcp_segment_waits(seg));
    if (s->lost == s->again || tcp_segments_before(number, s->next_lost))
        s->next_lost = number;
    s->losses++;
    s->lost += (seg->flags & TCP_SEGMENT_LOST) == 0;
    s->again -= (seg->flags & TCP_SEGMENT_AGAIN) != 0;
    seg->flags = (seg->flags | TCP_SEGMENT_LOST) & ~TCP_SEGMENT_AGAIN;
}

void tcp_segments_unlose(struct tcp_segments *s)
{
    for (uint32_t i = s->first; i != s->end; i++)
        clear_lost(s, tcp_segments_at(s, i));
    s->next_first = s->first;
}

static void note_resend(struct tcp_segments *s, uint32_t number, vtime now)
{
    ARRAY_RING_RESERVE(s->resends, s->resend_room, s->resend_first, s->resend_end - s->resend_first,
                       LEAST);
    s->resends[s->resend_end++ & (s->resend_room - 1)] = (struct tcp_resend){now, number};
}

void tcp_segments_resend(struct tcp_segments *s, uint32_t number, vtime now)
{
    struct tcp_segment *seg = tcp_segments_at(s, number);

    assert_hot(now >= seg->sent && number - s->first < tcp_segments_count(s));
    if (seg->flags & TCP_SEGMENT_LOST && !(seg->flags & TCP_SEGMENT_AGAIN)) {
        seg->flags |= TCP_SEGMENT_AGAIN;
        s->again++;
    }
    seg->flags |= TCP_SEGMENT_EVER;
    seg->sent = now;
    note_resend(s, number, now);
}

uint32_t tcp_segments_next_lost(struct tcp_segments *s)
{
    if (s->lost == s->again)
        return s->end;
    if (tcp_segments_before(s->next_lost, s->first))
        s->next_lost = s->first;
    for (; s->next_lost != s->end; s->next_lost++)
        if ((tcp_segments_at(s, s->next_lost)->flags & (TCP_SEGMENT_LOST | TCP_SEGMENT_AGAIN)) ==
            TCP_SEGMENT_LOST)
            return s->next_lost;
    return s->end;
}

void tcp_segments_limit(struct tcp_segments *s)
{
    if (s->sacked > tcp_segments_count(s) - s->lost)
        s->sacked = tcp_segments_count(s) - s->lost;
}

static void copy_flags(struct tcp_segments *s, uint32_t flags)
{
    s->sacked += (flags & TCP_SEGMENT_SACKED) != 0;
    s->lost += (flags & TCP_SEGMENT_LOST) != 0;
    s->again += (flags & TCP_SEGMENT_AGAIN) != 0;
}

/* Numbers change, so what refers to them begins anew. */
void tcp_segments_split(struct tcp_segments *s, uint64_t start, uint32_t most)
{
    struct tcp_segments old = *s;
    int is_marked = old.ranges.count > 0;

    s->at = NULL;
    s->room = s->resend_first = s->resend_end = 0;
    s->first = s->end = s->next_lost = s->next_first = 0;
    s->lost = s->again = 0;
    s->sacked = is_marked ? 0 : old.sacked;
    for (uint32_t i = old.first; i != old.end; i++) {
        const struct tcp_segment *seg = tcp_segments_at(&old, i);

        do {
            start = seg->end - start > most ? start + most : seg->end;
            tcp_segments_push(s, start, seg->sent);
            tcp_segments_at(s, s->end - 1)->flags = seg->flags;
            copy_flags(s, seg->flags);
            if (seg->flags & TCP_SEGMENT_EVER)
                note_resend(s, s->end - 1, seg->sent);
        } while (start < seg->end);
    }
    mem_free(old.at);
}
