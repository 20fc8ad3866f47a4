/*
 * lossless.h - ports of fabrics that drop nothing, with virtual channels, for credit.c and pfc.c.
 * Never included outside net/packet/.
 *
 * A packet that has arrived at a switch occupies the buffer of the link that it came over until its
 * last byte has left on the next one. A node always takes what arrives. Each virtual channel of a
 * link has a buffer and a queue of its own, and the channels of a port take turns. How a port
 * learns whether it may send is up to the fabric (`flow` of struct packet_fabric_ops).
 *
 * Deadlocks are excluded by the order of channels. A route begins in channel 0 and takes the next
 * channel whenever the number of its next link is lower than that of the one before it. So the
 * pairs (channel, link) of a route only grow, packets wait in this order for each other, and the
 * last link, into a node, waits for nobody. This holds for all topologies and routings. With fewer
 * channels (net.packet.channels) a deadlock is possible, and is reported.
 */
#ifndef NET_PACKET_LOSSLESS_H
#define NET_PACKET_LOSSLESS_H

#include "net/packet/packet_internal.h"

struct packet_flow_ops {
    /* May the channel send its first packet now? Not asked for links into nodes. */
    int (*may_send)(struct packet_net *, struct packet_port *, struct packet_channel *, vtime now);
    /* When it may be able to, if it may not now; VTIME_NEVER: nobody knows. */
    vtime (*next)(const struct packet_port *, const struct packet_channel *);
    /* The channel has sent a packet. May be NULL. */
    void (*sent)(struct packet_channel *, const struct packet *);
    /* A packet has arrived over this channel of a link into a switch. May be NULL. */
    void (*arrived)(struct packet_net *, struct packet_port *, struct packet_channel *,
                    const struct packet *, vtime now);
    /* It will have left the switch at `end`. */
    void (*left)(struct packet_net *, struct packet_port *, struct packet_channel *,
                 const struct packet *, vtime end);
};

/* The functions of struct packet_fabric_ops. */
int packet_lossless_init(struct packet_net *, const struct platform_config *, struct err *);
void packet_lossless_enqueue(struct packet_net *, struct packet *, vtime now);
void packet_lossless_advance(struct packet_net *, struct packet_port *, vtime now);

/* What becomes free, by time. */
static inline int packet_credit_before(const struct packet_credit *a, const struct packet_credit *b)
{
    return a->t < b->t;
}
HEAP_FUNCTIONS(packet_credits, struct packet_credit, 2, 4, packet_credit_before, HEAP_UNTRACKED);

#endif
