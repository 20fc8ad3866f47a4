/*
 * sctp_image.c - the bytes of a packet of SCTP, for captures: those that the stack made. They lack
 * the checksum, which is the CRC32c of the packet (RFC 9260, appendix A).
 */
#include "net/packet/capture.h"
#include "net/packet/sctp.h"

#define CHECKSUM_AT 8 /* in the common header */

/* The remainder of four bits more, in reflected order. */
static uint32_t crc32c(const unsigned char *at, size_t bytes)
{
    static const uint32_t step[16] = {
        0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
        0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
        0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
    };
    uint32_t crc = UINT32_MAX;

    for (; bytes > 0; bytes--) {
        crc ^= *at++;
        crc = crc >> 4 ^ step[crc & 15];
        crc = crc >> 4 ^ step[crc & 15];
    }
    return ~crc;
}

void sctp_image(struct packet_net *n, const struct packet *base, const struct packet_ends *ends,
                struct buf *out)
{
    const struct sctp_packet *p = (const struct sctp_packet *)base;
    uint32_t crc = crc32c(p->data, p->bytes);
    size_t at = out->len;

    (void)n, (void)ends;
    buf_add(out, (const char *)p->data, p->bytes);
    for (int i = 0; i < 4; i++)
        out->data[at + CHECKSUM_AT + (size_t)i] = (char)(crc >> 8 * i);
}
