/*
 * sctp.h - real SCTP, the stack of usrsctp, for sctp.c (the transport), sctp_stack.c (stacks of
 * nodes and their sockets) and sctp_system.c (time, timers, memory and chance for the stack). Never
 * included outside net/packet/.
 *
 *     message -> sctp_end -> socket of the rank -> stack of its node -> packet -> ...
 *                                                                                 |
 *     message <- sctp_end <- socket of the rank <- stack of its node <------------'
 *
 * Each node has a stack of its own. An association between two ranks has two ends, one at each, and
 * is opened by the first message. The stack keeps its state in one variable, which holds that of
 * the node for which it ran last; others' is in their struct sctp_host. All that the stack does, it
 * does on behalf of one end: it sends that end's packets, starts its timers and receives for it.
 */
#ifndef NET_PACKET_SCTP_H
#define NET_PACKET_SCTP_H

#include "net/packet/packet_internal.h"
#include "net/sctp_base.h"

#define SCTP_IP_HEADER 20
#define SCTP_COMMON_HEADER 12 /* ports, tag and checksum, at the beginning of each packet */
#define SCTP_DATA_HEADER 16   /* of each piece of a message in it */
#define SCTP_PIECE 65536      /* a message behind a longer one on the same node waits this much */

struct socket;

/* A timer as the stack declares it (struct sctp_callout); the links of its list are ours to use. */
struct sctp_timer {
    struct sctp_timer *next; /* of the same end, in the order they were started */
    vtime at;
    uint32_t unused;
    void *argument;
    void (*expired)(void *);
    int flags;
};

/* A node, and the state of its stack while that is not in use. */
struct sctp_host {
    struct sctp_state *state;
    uint32_t node;
    uint32_t links; /* addresses that it knows */
    char base[SCTP_BASE_SIZE];
};

/* A socket of a rank, for all associations with the same options. */
struct sctp_endpoint {
    struct sctp_host *host;
    struct socket *socket;
    uint64_t send_buffer; /* it keeps the options with which it was opened */
    uint32_t piece;       /* longest part of a message that is sent as one */
    uint16_t port, link;  /* its address */
};

/* A piece of data whose acknowledgement is waited for (sctp_rtt.c). */
struct sctp_rtt {
    vtime sent_at;
    uint32_t watched; /* its number */
    uint32_t next;    /* number of the first piece that was not yet sent */
    uint8_t has_sent, is_watching;
};

struct sctp_end {
    struct packet_stream base;
    struct sctp_end *peer;
    struct sctp_endpoint *endpoint;
    struct packet_parcel *sending; /* the first that the stack has not taken wholly; NULL: none */
    uint64_t sent;                 /* offset in the stream of what the stack has taken */
    uint64_t queued;               /* bytes that the stack has, as it last said */
    struct sctp_timer *timers;
    struct sctp_rtt rtt; /* if somebody asks */
};

struct sctp_packet {
    struct packet base;
    uint32_t bytes;
    unsigned char data[]; /* from the common header on; the checksum is missing */
};

/* What the stack has allocated. */
struct sctp_block;
struct sctp_memory {
    struct pool pool;
    struct sctp_block *large; /* those that the pool does not free by itself */
    uint64_t bytes;           /* of all */
};

struct sctp_state {
    struct packet_net *net;
    struct sctp_memory memory;
    struct rng rng;
    struct map host_of_node; /* addresses, as numbers */
    struct map sets;         /* numbers of sets of options, those of both directions and an MTU */
    struct map endpoints;    /* by rank and set of options, likewise */
    struct map ports;        /* in use at nodes: node << 16 | port */
    struct map numbers;      /* in use by endpoints, which have their address and port from that */
    char *zeros;             /* what messages consist of */
};

/* ---- sctp_system.c ---- */

/* The stack runs on behalf of this end (NULL: of a node as a whole) until sctp_system_leave. */
void sctp_system_enter(struct sctp_host *, struct sctp_end *);
void sctp_system_leave(void);
/* That end, and the node. */
struct sctp_end *sctp_system_end(void);
const struct sctp_host *sctp_system_host(void);
/* Nothing of this state is in use any longer: frees all that the stack allocated. */
void sctp_system_fini(struct sctp_state *);
/* Calls what is due, on behalf of the end, and sets the stream's timer for the rest. */
void sctp_system_expire(struct sctp_end *, vtime now);
/* For memory that the stack hands over. */
void sctp_own_free(void *);

/* ---- sctp_stack.c ---- */

/* The socket for what two ranks send each other, at the first of them, in packets of at most `mtu`
 * bytes. */
struct sctp_endpoint *sctp_stack_endpoint(struct sctp_state *, const struct packet_stream *out,
                                          const struct packet_stream *in, uint32_t mtu);
/* Sends a piece of a message in the stream of its substream; 0: there is no room now. */
int sctp_stack_send(struct sctp_end *, uint32_t substream, uint32_t bytes);
/* A packet from the peer has arrived. */
void sctp_stack_input(struct sctp_end *, const struct sctp_packet *);
/* The congestion window of an association that is open; 0: it is not. */
uint64_t sctp_stack_window(struct sctp_end *);
/* Sums what all stacks have counted into the counts of the network. */
void sctp_stack_count(struct sctp_state *, uint64_t *counts);
/* What the stack tells the transport: bytes have come; so many are not yet acknowledged. */
void sctp_received(struct sctp_end *, uint32_t substream, uint64_t bytes);
void sctp_acknowledged(struct sctp_end *, uint64_t queued);
/* A packet that the stack sends on behalf of an end. */
void sctp_output(struct sctp_end *, const void *data, uint32_t bytes, int can_mark);

/* ---- sctp_rtt.c ---- */

/* A packet is sent. */
void sctp_rtt_sent(struct sctp_rtt *, const void *data, uint32_t bytes, vtime now);
/* One is received: returns the round trip that it ends; -1: none. */
vtime sctp_rtt_received(struct sctp_rtt *, const void *data, uint32_t bytes, vtime now);

/* ---- sctp_image.c ---- */

void sctp_image(struct packet_net *, const struct packet *, const struct packet_ends *,
                struct buf *out);

#endif
