/*
 * tcp_image.c - the bytes of a TCP packet, for captures: the header of RFC 9293 with the options
 * that the model has, in the sizes that it counts.
 *
 *     SYN     MSS 4, SACK permitted 2, timestamps 10, NOP 1, window scale 3      20 bytes
 *     others  NOP 2, timestamps 10; with blocks NOP 2, SACK 2 + 8 for each
 *
 * Sequence numbers begin with a hash of the two ranks. Times in timestamps are milliseconds, as
 * Linux has them. Blocks and numbers are those of the model, modulo 2^32.
 */
#include <string.h>

#include "base/rng.h"
#include "net/packet/capture.h"
#include "net/packet/tcp.h"

enum { FIN_BIT = 1, SYN_BIT = 2, PSH_BIT = 8, ACK_BIT = 16, ECE_BIT = 64, CWR_BIT = 128 };
enum { NOP = 1, MSS = 2, SCALE = 3, SACK_PERMITTED = 4, SACK = 5, STAMP = 8 };
enum { CHECKSUM_AT = 16, PLAIN = 20 };

/* The sequence number of the SYN from one rank to another. */
static uint32_t first_of(uint32_t src, uint32_t dst)
{
    uint64_t state = (uint64_t)src << 32 | dst;

    return (uint32_t)rng_splitmix(&state);
}

static void put_stamps(struct buf *out, const struct tcp_packet *p)
{
    packet_put16(out, STAMP << 8 | 10);
    packet_put32(out, (uint32_t)(p->stamp / VTIME_MS));
    packet_put32(out, p->echo >= 0 ? (uint32_t)(p->echo / VTIME_MS) : 0);
}

static void put_syn_options(const struct packet_net *n, struct buf *out, const struct tcp_packet *p)
{
    packet_put16(out, MSS << 8 | 4);
    packet_put16(out, p->base.route->mtu - 2u * PLAIN);
    packet_put16(out, p->base.stream->options->sack ? SACK_PERMITTED << 8 | 2 : NOP << 8 | NOP);
    put_stamps(out, p);
    packet_put16(out, NOP << 8 | SCALE);
    packet_put16(out, 3u << 8 | (uint32_t)n->machine->config.packet_window_scale);
}

static void put_options(struct buf *out, const struct tcp_packet *p, uint32_t first)
{
    packet_put16(out, NOP << 8 | NOP);
    put_stamps(out, p);
    if (p->blocks == 0)
        return;
    packet_put16(out, NOP << 8 | NOP);
    packet_put16(out, SACK << 8 | (2u + 8u * p->blocks));
    for (uint32_t i = 0; i < p->blocks; i++) {
        packet_put32(out, first + 1 + (uint32_t)p->block[i].from);
        packet_put32(out, first + 1 + (uint32_t)p->block[i].to);
    }
}

static uint32_t bits_of(const struct tcp_packet *p)
{
    int is_syn = p->flags & TCP_SYN, has_ack = !is_syn || p->flags & TCP_ACK;
    uint32_t bits = has_ack ? ACK_BIT : 0;

    if (is_syn) /* both ends understand marks (RFC 3168, section 6.1.1) */
        return bits | SYN_BIT | ECE_BIT | (has_ack ? 0u : CWR_BIT);
    bits |= p->bytes > 0 && p->bytes < ((struct tcp_half *)p->base.stream)->mss ? PSH_BIT : 0u;
    bits |= p->flags & TCP_ECHO ? ECE_BIT : 0u;
    return bits | (p->flags & TCP_REDUCED ? CWR_BIT : 0u);
}

/* The window that the receiver offers: scaled, except in a SYN. */
static uint32_t window_of(const struct packet_net *n, const struct tcp_packet *p)
{
    uint64_t window = p->edge - p->ack;

    if (!(p->flags & TCP_SYN))
        window >>= n->machine->config.packet_window_scale;
    return window < UINT16_MAX ? (uint32_t)window : UINT16_MAX;
}

void tcp_image(struct packet_net *n, const struct packet *base, const struct packet_ends *ends,
               struct buf *out)
{
    const struct tcp_packet *p = (const struct tcp_packet *)base;
    const struct packet_stream *s = base->stream;
    uint32_t mine = first_of(s->src, s->dst), other = first_of(s->dst, s->src);
    int is_syn = p->flags & TCP_SYN, has_ack = !is_syn || p->flags & TCP_ACK;
    uint32_t header = is_syn ? 2 * PLAIN
                             : TCP_HEADER - PLAIN + (p->blocks ? 4 + 8u * p->blocks : 0);
    size_t start = out->len;
    uint16_t sum;

    packet_put16(out, packet_capture_port_of(s->src));
    packet_put16(out, packet_capture_port_of(s->dst));
    packet_put32(out, mine + (is_syn ? 0 : 1 + (uint32_t)p->seq));
    packet_put32(out, has_ack ? other + 1 + (uint32_t)p->ack : 0);
    packet_put16(out, header / 4 << 12 | bits_of(p));
    packet_put16(out, window_of(n, p));
    packet_put32(out, 0); /* checksum, urgent pointer */
    if (is_syn)
        put_syn_options(n, out, p);
    else
        put_options(out, p, other);
    packet_put_zeros(out, p->bytes);
    sum = packet_checksum(ends, packet_tcp_ops.protocol, out->data + start, out->len - start);
    out->data[start + CHECKSUM_AT] = (char)(sum >> 8);
    out->data[start + CHECKSUM_AT + 1] = (char)sum;
}
