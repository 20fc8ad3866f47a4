/*
 * message_image.c - the bytes of a packet of transport message, for captures: as RoCE version 2 has
 * them, which is the transport of InfiniBand in UDP (InfiniBand specification, annex A17).
 *
 *     UDP 8 | BTH 12: kind, destination, number of the packet | bytes, to a multiple of 4 | ICRC 4
 *
 * The queue pair of a rank is its number. The checksum of UDP is 0: the ICRC covers all that no
 * switch changes.
 */
#include <string.h>

#include "net/packet/capture.h"
#include "net/packet/message.h"

enum { ROCE_PORT = 4791, UDP_HEADER = 8, BTH = 12, ICRC = 4, IP_HEADER = 20 };
enum { SEND_FIRST = 0, SEND_MIDDLE = 1, SEND_LAST = 2, SEND_ONLY = 4 }; /* reliable connection */
enum { CONGESTION = 0x81 }; /* congestion notification of RoCE */

static uint32_t crc32(uint32_t crc, const void *data, size_t n)
{
    const uint8_t *at = data;

    for (; n > 0; n--) {
        crc ^= *at++;
        for (int i = 0; i < 8; i++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return crc;
}

/* Over a dummy header of the link, then IP, UDP and BTH with ones where switches change them. */
static uint32_t icrc(const char *ip, size_t bytes)
{
    static const uint8_t ones[8] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    static const uint8_t changing[] = {1, 8, 10, 11, 26, 27, 32}; /* TOS, TTL, checksums, FECN */
    uint8_t head[IP_HEADER + UDP_HEADER + BTH];
    uint32_t crc;

    memcpy(head, ip, sizeof head);
    for (size_t i = 0; i < sizeof changing; i++)
        head[changing[i]] = 0xff;
    crc = crc32(UINT32_MAX, ones, sizeof ones);
    crc = crc32(crc, head, sizeof head);
    return ~crc32(crc, ip + sizeof head, bytes - sizeof head);
}

static uint32_t kind_of(const struct message_packet *p)
{
    if (p->is_signal)
        return CONGESTION;
    if (p->is_first)
        return p->is_last ? SEND_ONLY : SEND_FIRST;
    return p->is_last ? SEND_LAST : SEND_MIDDLE;
}

void message_image(struct packet_net *n, const struct packet *base, const struct packet_ends *ends,
                   struct buf *out)
{
    const struct message_packet *p = (const struct message_packet *)base;
    uint32_t from = p->is_signal ? base->stream->dst : base->stream->src,
             to = p->is_signal ? base->stream->src : base->stream->dst;
    uint32_t padding = -p->bytes & 3, length = UDP_HEADER + BTH + p->bytes + padding + ICRC, crc;
    size_t ip = out->len - IP_HEADER;

    (void)n, (void)ends;
    packet_put16(out, 0xc000u | (packet_capture_port_of(from) & 0x3fff));
    packet_put16(out, ROCE_PORT);
    packet_put16(out, length);
    packet_put16(out, 0);
    packet_put16(out, kind_of(p) << 8 | padding << 4);
    packet_put16(out, 0xffff); /* the default partition */
    packet_put32(out, to & 0xffffff);
    packet_put32(out, (uint32_t)p->is_last << 31 | (p->number & 0xffffff));
    packet_put_zeros(out, p->bytes + padding);
    out->data[ip + 2] = (char)((length + IP_HEADER) >> 8); /* the ICRC covers the length of IP */
    out->data[ip + 3] = (char)(length + IP_HEADER);
    crc = icrc(out->data + ip, out->len - ip);
    for (int i = 0; i < ICRC; i++)
        buf_addc(out, (char)(crc >> 8 * i));
}
