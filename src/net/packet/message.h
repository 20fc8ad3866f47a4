/*
 * message.h - packets of transport message, for message.c and their image in captures
 * (message_image.c). Never included outside net/packet/.
 */
#ifndef NET_PACKET_MESSAGE_H
#define NET_PACKET_MESSAGE_H

#include "net/packet/packet_internal.h"

/* The rate of a stream, in bytes per second. */
struct message_rate {
    uint64_t line;         /* what the link of its node takes */
    uint64_t rate, target; /* below `line`: packets are paced */
    uint32_t alpha;        /* how much congestion there is */
    vtime alpha_at, raised_at;
    uint64_t counted; /* bytes since the last step by bytes */
    uint32_t by_time, by_bytes;
};

/* Rate control: one file per algorithm, and the table in message.c. A receiver of packets with
 * marks signals that to the sender, not more often than MESSAGE_SIGNAL_EVERY. */
struct message_control_ops {
    const char *name;
    /* The stream is new; `line` is set. */
    void (*init)(struct message_rate *);
    /* A signal has come. */
    void (*on_signal)(struct message_rate *, vtime now);
    /* So many bytes are sent. */
    void (*on_sent)(struct message_rate *, uint32_t bytes, vtime now);
};

#define MESSAGE_SIGNAL_EVERY (50 * VTIME_US)
#define MESSAGE_SIGNAL_BYTES 16 /* of a signal, that mean nothing */

extern const struct message_control_ops message_dcqcn_ops;

struct message_packet {
    struct packet base;
    struct packet_parcel *parcel;
    uint32_t bytes;
    uint32_t number;           /* in the stream */
    uint8_t is_first, is_last; /* of its message */
    uint8_t is_signal;         /* from the receiver: there was congestion */
};

/* packet_transport_ops.image */
void message_image(struct packet_net *, const struct packet *, const struct packet_ends *,
                   struct buf *out);

#endif
