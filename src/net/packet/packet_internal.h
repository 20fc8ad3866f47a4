/*
 * packet_internal.h - what the parts of the packet network share. Never included outside
 * net/packet/.
 *
 *     message -> stream -> [transport] -> packets -> [fabric] -> port -> link -> port -> ...
 *                  ^                                                               |
 *                  '------------- [transport] <------------------------------------'
 *
 * A *stream* carries the messages from one rank to another, one after the other, as bytes. A
 * transport cuts it into packets and makes sure that all arrive (struct packet_transport_ops). The
 * fabric carries packets from node to node (struct packet_fabric_ops). A *port* is the beginning of
 * a link with its queue: the link of a node into the network, or a link that leaves a switch.
 *
 * Events are ordered by (time, kind, number of the port or stream), and all packets on a link stay
 * in order. So a run is determined by what is submitted.
 */
#ifndef NET_PACKET_PACKET_INTERNAL_H
#define NET_PACKET_PACKET_INTERNAL_H

#include "base/heap.h"
#include "base/map.h"
#include "base/pool.h"
#include "base/rng.h"
#include "net/submissions.h"
#include "net/net_internal.h"
#include "net/packet/packet.h"
#include "net/topology/topology.h"
#include "net/vectors.h"

struct buf;
struct packet_capture;
struct packet_ends;
struct packet_net;
struct packet_port;
struct packet_stream;
struct packet_tap;

/* ---- packets ---- */

/* The ports that a packet passes, shared by packets. */
struct packet_route {
    uint32_t refs;
    uint16_t count;
    uint16_t mtu; /* the least of the links */
    struct packet_port *ports[];
};

#define PACKET_CAN_MARK 1u    /* its transport understands marks */
#define PACKET_MARKED 2u      /* a queue was long (ECN) */
#define PACKET_BROKEN 4u      /* the link that it is on corrupts it */
#define PACKET_STEPPED 8u     /* the link before it had the channel before it (lossless.h) */
#define PACKET_CONTROL 32u    /* it goes from the end of its stream to the beginning */
#define PACKET_BACKGROUND 16u /* of no stream: it is forgotten where it arrives (schedule.c) */

/* A packet as the fabric sees it; the transport's fields follow. */
struct packet {
    struct packet *next; /* at a port */
    vtime start;         /* when it begins to leave the port */
    vtime arrival;       /* when its last byte is at the end of the link */
    struct packet_route *route;
    struct packet_stream *stream; /* whose end it goes to; NULL: PACKET_BACKGROUND */
    uint32_t wire;                /* bytes on a link */
    uint16_t size;                /* of the allocation */
    uint8_t hop;                  /* the port that it is at: route->ports[hop] */
    uint8_t channel;              /* virtual channel of that link */
    uint8_t flags;                /* PACKET_* */
};

/* A packet of `size` bytes with its head, to be sent along a route of the stream; counted as
 * injected. `bytes`: what it has beside the framing. */
struct packet *packet_new(struct packet_net *, struct packet_stream *, struct packet_route *,
                          size_t size, uint32_t bytes);
void packet_free(struct packet_net *, struct packet *);

/* ---- ports ---- */

/* A packet's buffer that becomes free again. */
struct packet_credit {
    vtime t;
    uint64_t bytes;
};
HEAP_STRUCT(packet_credits, struct packet_credit);

/* A sender hears that it shall pause, or resume. */
struct packet_signal {
    vtime t;
    uint8_t pauses;
};

/* A virtual channel of a link (lossless.h). */
struct packet_channel {
    struct packet *head, *tail;    /* that wait */
    struct packet_credits returns; /* what will be free; pfc: what will leave the buffer */
    uint64_t free;                 /* credit: bytes of the buffer at the other end */
    /* pfc */
    uint64_t held;                 /* bytes in that buffer */
    struct packet_signal *signals; /* that the sender has not heard: from signal_first on */
    uint32_t signal_first, signal_count, signal_room;
    uint8_t asked;     /* the sender was asked to pause */
    uint8_t is_paused; /* the sender has heard that */
};

struct packet_port {
    uint32_t index; /* in packet_net.ports */
    uint32_t link;  /* number in the topology */
    uint32_t from, to;
    uint8_t is_nic;  /* it leaves a node */
    uint8_t is_last; /* it leads to a node */
    uint32_t mtu;
    uint64_t ps_per_byte;
    double error_rate;
    vtime delay;
    vtime free_at;      /* when the last byte of what was sent has left */
    vtime last_arrival; /* of what was sent */
    /* Packets on the link and, in fabrics that drop, those that wait, in order. */
    struct packet *head, *tail;
    struct packet *waiting; /* the first that was not yet sent when the port was last used */
    uint64_t queued;        /* bytes of those that wait */
    double mean;            /* red: mean length of the queue */
    uint32_t since_drop;    /* red: packets since the last drop */
    /* of fabrics that drop nothing */
    struct packet_channel *channels;
    uint64_t pause_above, resume_below; /* pfc */
    uint32_t channel_count;
    uint32_t turn;                 /* the channel that is asked first */
    uint8_t is_blocked;            /* something waits for a buffer, and none will become free */
    vtime wake_at;                 /* of its event; VTIME_NEVER: none */
    struct packet_stream *leaving; /* of a node: who waits until the packet has left */
    /* for the results */
    uint64_t bytes, packets, dropped, queue_max;
    vtime busy;
    struct packet_tap *leaves, *arrives; /* who sees its packets (capture.h); NULL: nobody */
    struct net_vector *queue;            /* its length over time; NULL: nobody asks */
};

struct packet_flow_ops;

struct packet_fabric_ops {
    const char *name;
    const char *const *uses;            /* settings that not all fabrics use; ends with NULL */
    const struct packet_flow_ops *flow; /* lossless.h; NULL: the fabric drops packets */
    int (*init)(struct packet_net *, const struct platform_config *, struct err *);
    /* A port is new. NULL: nothing to do. */
    void (*port)(struct packet_net *, struct packet_port *);
    /* The packet is at port route->ports[hop] now, and is sent, put into its queue, or dropped. */
    void (*enqueue)(struct packet_net *, struct packet *, vtime now);
    /* The port asked to be woken now (packet_port_wake). NULL: it never does. */
    void (*advance)(struct packet_net *, struct packet_port *, vtime now);
    /* The packet has arrived at the end of the link of its port and is lost there. NULL: nothing to
     * do. */
    void (*lose)(struct packet_net *, struct packet *, vtime now);
};

/* How long the port needs for a packet that it begins to send at t; VTIME_NEVER: the link is
 * down. Updates the port's delay. */
vtime packet_port_time(struct packet_net *, struct packet_port *, uint32_t bytes, vtime t);
/* The packet begins to leave at p->start, which is not before free_at, and takes `time`. */
void packet_port_send(struct packet_net *, struct packet_port *, struct packet *, vtime time);
/* Calls the fabric's `advance` at t, if that is earlier than it would anyway. */
void packet_port_wake(struct packet_net *, struct packet_port *, vtime t);
/* The length of its queue has changed. */
static inline void packet_port_queue(struct packet_port *port, vtime t)
{
    if (__builtin_expect(port->queue != NULL, 0))
        net_vector_put(port->queue, t, port->queued);
}
/* The packet is gone, for a reason that is a count. */
void packet_drop(struct packet_net *, struct packet_port *, struct packet *, enum net_count why);

extern const struct packet_fabric_ops packet_drop_tail_ops, packet_red_ops, packet_ecn_ops,
    packet_credit_ops, packet_pfc_ops;

/* What a queue of limited length does with a packet. */
enum packet_verdict { PACKET_TAKE, PACKET_MARK, PACKET_REFUSE };
typedef enum packet_verdict packet_admit_fn(struct packet_net *, struct packet_port *,
                                            const struct packet *, vtime now);
/* queue.c: for fabrics whose ports are queues of limited length. */
void packet_queue_enqueue(struct packet_net *, struct packet *, vtime now, packet_admit_fn *);
int packet_queue_init(struct packet_net *, const struct platform_config *, struct err *);

/* ---- streams ---- */

/* A message in a stream. */
struct packet_parcel {
    struct engine_msg *msg;
    struct packet_parcel *next;
    uint64_t bytes;     /* as the sender gave them */
    uint64_t end;       /* offset in the stream behind its last byte */
    uint64_t left;      /* bytes that have not arrived, for transports that count them */
    uint64_t cookie;    /* of the notice; 0: none */
    uint32_t substream; /* messages of different substreams may overtake each other */
};

/* Options of connections, shared by all that have the same. */
struct packet_options {
    uint64_t send_buffer, receive_buffer;
    uint64_t read_time; /* of a byte, for vtime_mul_q; 0: none */
    const struct tcp_congestion_ops *congestion;
    uint32_t initial_window;
    vtime min_rto, first_rto, delayed_ack, target_delay;
    uint8_t sack, nagle, hystart, rack, restart_idle, small_queue;
};

struct packet_stream {
    uint32_t index;    /* in packet_net.streams */
    uint32_t src, dst; /* ranks */
    uint32_t epoch;    /* of the route */
    struct packet_route *route;
    const struct packet_options *options;
    /* Messages that have not gone out; those from `unwritten` on are not wholly in the send
     * buffer. */
    struct packet_parcel *head, *tail, *unwritten;
    uint64_t end;                    /* bytes of all messages so far */
    uint64_t acked;                  /* bytes that have left the send buffer */
    vtime last;                      /* arrival of the last message that went out */
    struct net_vector *window, *rtt; /* over time; NULL: nobody asks */
    vtime timer_at;                  /* of its event; VTIME_NEVER: none */
};

struct packet_transport_ops {
    const char *name;
    const char *const *uses; /* settings that not all transports use; ends with NULL */
    int needs_lossless;      /* it does not repeat what is lost */
    uint32_t mtu_least, mtu_most;
    uint8_t protocol;   /* in IP headers of captures */
    size_t stream_size; /* of the structure that begins with a struct packet_stream */
    int (*init)(struct packet_net *, const struct platform_config *, struct err *);
    /* Are these options possible? May be NULL: all are. */
    int (*check)(const struct packet_options *, struct err *);
    /* The stream is new. */
    void (*connect)(struct packet_net *, struct packet_stream *, vtime now);
    /* There are more bytes in the stream. */
    void (*write)(struct packet_net *, struct packet_stream *, vtime now);
    /* A packet has arrived at its destination; takes it over. */
    void (*input)(struct packet_net *, struct packet *, vtime now);
    /* A packet of the stream has left its node; only with fabrics that say so. May be NULL. */
    void (*left)(struct packet_net *, struct packet_stream *, vtime now);
    /* The stream's timer (packet_stream_timer). May be NULL. */
    void (*timer)(struct packet_net *, struct packet_stream *, vtime now);
    void (*destroy)(struct packet_net *, struct packet_stream *); /* may be NULL */
    /* Sets those of n->counts that the transport counts by itself. May be NULL. */
    void (*count)(struct packet_net *);
    /* All streams are destroyed. May be NULL. */
    void (*fini)(struct packet_net *);
    /* For captures (capture.h): appends the bytes of a packet behind its IP header, with checksums;
     * the packet is on its way or has just arrived. NULL: they cannot be shown. */
    void (*image)(struct packet_net *, const struct packet *, const struct packet_ends *,
                  struct buf *out);
};

extern const struct packet_transport_ops packet_message_ops, packet_sctp_ops, packet_tcp_ops;

/* Settings of SCTP, which are known without its stack, too. */
#define PACKET_SCTP_USES                                                                           \
    "net.packet.receive_buffer", "net.packet.initial_window", "net.packet.min_rto",                \
        "net.packet.first_rto", "net.packet.delayed_ack", "net.packet.nagle", "net.packet.jitter", \
        "net.packet.streams", "net.packet.stream_count"

/* The stream between two ranks; NULL: there is none yet. */
struct packet_stream *packet_stream_find(struct packet_net *, uint32_t src, uint32_t dst);
/* Makes it; its owner allocates transport->stream_size zeroed bytes. */
void packet_stream_init(struct packet_net *, struct packet_stream *, uint32_t src, uint32_t dst);
/* Adds a message at time `now`. */
void packet_stream_append(struct packet_net *, struct packet_stream *, struct engine_msg *,
                          const struct engine_call *, vtime now);
/* All bytes below `offset` have left the send buffer: others may enter it. */
void packet_stream_ack(struct packet_net *, struct packet_stream *, uint64_t offset, vtime now);
/* All bytes below `offset` have arrived, and are read one by one until `end`: messages that are
 * complete go out when their last byte is read. */
void packet_stream_arrived(struct packet_net *, struct packet_stream *, uint64_t offset, vtime end);
/* So many more bytes of a substream have arrived: messages that are complete go out. */
void packet_stream_arrived_of(struct packet_net *, struct packet_stream *, uint32_t substream,
                              uint64_t bytes, vtime now);
/* Messages at the head of the stream that have no bytes left go out. */
void packet_stream_release(struct packet_net *, struct packet_stream *, vtime now);
/* Bytes that may be sent: all that are in the send buffer. */
static inline uint64_t packet_stream_limit(const struct packet_stream *s)
{
    uint64_t room = s->acked + s->options->send_buffer;

    return room < s->end ? room : s->end;
}
/* For transports: what the window of the stream is now, and how long a round trip took. */
static inline void packet_stream_window(struct packet_stream *s, vtime now, uint64_t bytes)
{
    if (__builtin_expect(s->window != NULL, 0))
        net_vector_put(s->window, now, bytes);
}
static inline void packet_stream_rtt(struct packet_stream *s, vtime now, vtime rtt)
{
    if (__builtin_expect(s->rtt != NULL, 0))
        net_vector_put(s->rtt, now, (uint64_t)rtt);
}
/* Calls the transport's `timer` at t, if that is earlier than it would anyway. */
void packet_stream_timer(struct packet_net *, struct packet_stream *, vtime t);

/* The route of the stream's packets now, borrowed until the next call for the stream: the same for
 * all, or with `vary` chosen anew for each if the routing does so. */
struct packet_route *packet_stream_route(struct packet_net *, struct packet_stream *, vtime now,
                                         int vary);

/* ---- events ---- */

enum packet_event_kind { PACKET_ARRIVAL = 0, PACKET_WAKE, PACKET_TIMER };

struct packet_event {
    vtime t;
    uint64_t key; /* kind << 32 | index of the port or stream */
};
HEAP_STRUCT(packet_events, struct packet_event);

static inline int packet_event_before(const struct packet_event *a, const struct packet_event *b)
{
    return a->t < b->t || (a->t == b->t && a->key < b->key);
}
HEAP_FUNCTIONS(packet_events, struct packet_event, 4, 64, packet_event_before, HEAP_UNTRACKED);

static inline void packet_event_add(struct packet_events *events, enum packet_event_kind kind,
                                    uint32_t index, vtime t)
{
    packet_events_push(events, (struct packet_event){t, (uint64_t)kind << 32 | index});
}

/* ---- the network ---- */

struct packet_net {
    struct net *net;
    struct engine *engine;
    const struct platform *machine;
    const struct packet_fabric_ops *fabric;
    const struct packet_transport_ops *transport;
    void *transport_state;                     /* of transports that have one */
    const struct message_control_ops *control; /* of transport message; NULL: none */
    struct packet_events events;
    struct submissions entering; /* messages that will be sent: struct packet_entry */
    struct packet_entry **same;  /* those of the same time and ranks, to be sorted */
    uint32_t same_count, same_room;
    uint64_t notices; /* pending */
    int has_noticed;  /* in this advance */
    vtime now;
    struct pool pool;
    struct rng rng;
    struct map port_of_link; /* index + 1 */
    struct packet_port **ports;
    uint32_t port_count, port_room;
    struct map stream_of_ranks; /* index + 1, by (source, destination) */
    struct packet_stream **streams;
    uint32_t stream_count, stream_room;
    struct packet_options *options; /* for all connections; then one for each item of the list */
    struct packet_load *loads;      /* schedule.c: background load */
    uint32_t load_count;
    vtime options_at; /* when options next change; VTIME_NEVER: they do not */
    struct topo_route route;
    uint64_t salt;
    uint32_t epoch; /* changes of links so far */
    int has_changes, varies;
    int has_failed;   /* the run ends in the middle of an event: a packet may be nowhere */
    int is_scheduled; /* options change, or there is background load */
    vtime jitter;
    uint32_t mtu_least, mtu_most; /* of all links */
    uint32_t framing, header;
    struct packet_capture *capture; /* NULL: none */
    struct net_vectors *vectors;    /* NULL: none */
    uint32_t substreams;            /* of a stream, set by its transport; 0 or 1: one */
    uint64_t in_flight;
    uint64_t counts[NET_COUNTS];
};

/* Creates the route between two nodes; the caller has a reference. Ends the run if there is
 * none. */
struct packet_route *packet_route_new(struct packet_net *, uint32_t src, uint32_t dst, vtime now);
static inline struct packet_route *packet_route_ref(struct packet_route *r)
{
    r->refs++;
    return r;
}
void packet_route_unref(struct packet_net *, struct packet_route *);

/* sizes.c: sizes of packets, and error rates; the transport is known. */
int packet_sizes_init(struct packet_net *, const struct platform *, struct err *);

/* schedule.c: options that change, and background load. When something next happens; what happens
 * up to now. */
int packet_schedule_init(struct packet_net *, struct err *);
void packet_schedule_fini(struct packet_net *);
vtime packet_schedule_next(const struct packet_net *);
void packet_schedule_step(struct packet_net *, vtime now);

/* options.c: the options of a connection. */
int packet_options_init(struct packet_net *, const struct platform *, struct err *);
void packet_options_fini(struct packet_net *);
const struct packet_options *packet_options_of(const struct packet_net *, uint32_t src_node,
                                               uint32_t dst_node);

#endif
