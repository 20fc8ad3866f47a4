/*
 * message.h - packets of transport message, for message.c and their image in captures
 * (message_image.c). Never included outside net/packet/.
 */
#ifndef NET_PACKET_MESSAGE_H
#define NET_PACKET_MESSAGE_H

#include "net/packet/packet_internal.h"

struct message_packet {
    struct packet base;
    struct packet_parcel *parcel;
    uint32_t bytes;
    uint32_t number;           /* in the stream */
    uint8_t is_first, is_last; /* of its message */
};

/* packet_transport_ops.image */
void message_image(struct packet_net *, const struct packet *, const struct packet_ends *,
                   struct buf *out);

#endif
