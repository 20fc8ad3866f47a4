/*
 * sctp_rtt.c - round trips of an association, from its packets: the time from a piece of data that
 * was sent for the first time to the acknowledgement of all up to it. The stack's own figures are
 * in milliseconds.
 *
 * One piece is watched at a time. If it is sent again, what comes back says nothing (Karn), and the
 * next one is watched.
 */
#include "net/packet/sctp.h"

enum { DATA = 0, SACK = 3, CHUNK_HEADER = 4, NUMBER_AT = 4 };

static uint32_t get32(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* The next chunk of a packet that has a number in it: its type; -1: there is none. */
static int next_chunk(const unsigned char *data, uint32_t bytes, uint32_t *at, uint32_t *number)
{
    while (*at + CHUNK_HEADER + NUMBER_AT <= bytes) {
        const unsigned char *chunk = data + *at;
        uint32_t length = (uint32_t)chunk[2] << 8 | chunk[3];

        *number = get32(chunk + NUMBER_AT);
        if (length < CHUNK_HEADER)
            return -1;
        *at += (length + 3) & ~3u;
        if (chunk[0] == DATA || chunk[0] == SACK)
            return chunk[0];
    }
    return -1;
}

/* Numbers wrap: is a at or behind b? */
static int is_behind(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) >= 0;
}

void sctp_rtt_sent(struct sctp_rtt *r, const void *data, uint32_t bytes, vtime now)
{
    uint32_t at = SCTP_COMMON_HEADER, number;
    int type;

    while ((type = next_chunk(data, bytes, &at, &number)) >= 0) {
        if (type != DATA)
            continue;
        if (r->has_sent && !is_behind(number, r->next)) {
            if (r->is_watching && number == r->watched)
                r->is_watching = 0;
            continue;
        }
        if (!r->is_watching) {
            r->is_watching = 1;
            r->watched = number;
            r->sent_at = now;
        }
        r->has_sent = 1;
        r->next = number + 1;
    }
}

vtime sctp_rtt_received(struct sctp_rtt *r, const void *data, uint32_t bytes, vtime now)
{
    uint32_t at = SCTP_COMMON_HEADER, number;
    int type;

    while ((type = next_chunk(data, bytes, &at, &number)) >= 0)
        if (type == SACK && r->is_watching && is_behind(number, r->watched)) {
            r->is_watching = 0;
            return now - r->sent_at;
        }
    return -1;
}
