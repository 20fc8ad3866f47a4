/*
 * tcp.h - a model of TCP, for tcp.c (connections, sending), tcp_input.c (receiving) and congestion
 * control (newreno.c, cubic.c). Never included outside net/packet/.
 *
 * A connection between two ranks is two halves, one at each. A half sends the stream of its rank
 * and receives that of the other. Sequence numbers are offsets in the stream: 64 bits, no wrapping.
 *
 *     0 .... acked .... resent_to .... lost_to .... next .... limit     offsets of what is sent
 *            |  lost, sent again  | lost |  in flight | not yet sent
 *
 * Bytes that the receiver has beyond `acked` are in `sacked`. What counts as in flight is the bytes
 * of [acked, resent_to) and [lost_to, next) that are not in it (RFC 6675). Outside of a recovery
 * nothing is lost.
 */
#ifndef NET_PACKET_TCP_H
#define NET_PACKET_TCP_H

#include "net/packet/packet_internal.h"
#include "net/packet/ranges.h"

#define TCP_HEADER 52 /* IP 20, TCP 20, timestamps 12 */
#define TCP_SYN_HEADER 60
#define TCP_BLOCKS 3 /* ranges in a selective acknowledgement, beside timestamps */

#define TCP_SYN 1u
#define TCP_ACK 2u     /* of a SYN */
#define TCP_ECHO 4u    /* the receiver has seen marks (ECE) */
#define TCP_REDUCED 8u /* the sender has reduced its window because of marks (CWR) */
#define TCP_STALE 16u  /* its echo was in an earlier packet, too */
#define TCP_TWICE 32u  /* the receiver got something that it had (D-SACK, RFC 2883) */

struct tcp_packet {
    struct packet base;
    uint64_t seq, ack;
    vtime stamp, echo; /* when it was sent; the stamp of what was received last, -1: none */
    uint32_t bytes;
    uint8_t flags; /* TCP_* */
    uint8_t blocks;
    struct packet_range block[]; /* that the sender of this packet has */
};

enum tcp_state { TCP_CLOSED = 0, TCP_SYN_SENT, TCP_SYN_RECEIVED, TCP_OPEN };
enum tcp_recovery { TCP_NORMAL = 0, TCP_FAST, TCP_TIMEOUT };

/* What cubic keeps (RFC 9438), in bytes and microseconds. */
struct tcp_cubic {
    uint64_t most;     /* window before the last reduction */
    uint64_t origin;   /* window at the plateau */
    uint64_t friendly; /* window that NewReno would have */
    vtime start;       /* of this period of growth; -1: it has not begun */
    uint64_t k;        /* microseconds from there to the plateau */
};

/* What hystart.c keeps. */
struct tcp_hystart {
    uint64_t round_end; /* the round ends when this is acknowledged */
    vtime round_start, last_ack;
    vtime round_rtt; /* the least of the round */
    vtime least_rtt; /* of all; 0: not measured */
    uint32_t samples;
};

struct tcp_half {
    struct packet_stream base; /* base.acked is the first byte that is not acknowledged */
    struct tcp_half *peer;
    uint8_t state;     /* enum tcp_state */
    uint8_t recovery;  /* enum tcp_recovery */
    uint8_t quick;     /* acknowledgements that are not delayed, at the beginning */
    uint8_t is_marked; /* what it received since its last packet has marks */
    uint8_t must_ack;
    uint8_t has_reduced;  /* because of marks, and has not said so */
    uint8_t has_echoed;   /* `echo` */
    uint8_t is_limited;   /* by the window, since `used_end` */
    uint8_t has_twice;    /* has received something that it had, and has not said so */
    uint8_t has_repeated; /* the last probe was a segment that was sent before */
    uint32_t duplicates;  /* acknowledgements of nothing new, one after the other */
    uint32_t mss;         /* bytes of a segment, as its route takes them */
    uint32_t batch_left;  /* bytes that its batch takes */
    /* as a sender */
    uint64_t next, resent_to, lost_to;
    uint64_t recover;              /* the recovery ends when this is acknowledged */
    uint64_t reduced;              /* what was sent when marks last reduced the window */
    uint64_t window, threshold;    /* of congestion control, in bytes */
    uint64_t fraction;             /* newreno: of a byte of growth */
    uint64_t used, used_end;       /* most in flight of a window of data, and where that ends */
    vtime sent_at;                 /* when data was last sent */
    vtime batch_gone, before_gone; /* when the last batch, and the one before it, leaves the node */
    vtime room_at;                 /* when another may be sent; VTIME_NEVER: now */
    struct packet_ranges sacked;
    vtime srtt, rttvar, rto; /* RFC 6298; srtt 0: not measured */
    vtime resend_at;         /* VTIME_NEVER: nothing to wait for */
    vtime reorder_at;        /* when what is missing is lost; VTIME_NEVER: nothing is missing */
    vtime probe_at;          /* VTIME_NEVER: no probe is needed */
    uint64_t probed;         /* what was sent with a probe, up to its end; 0: none */
    struct tcp_cubic cubic;
    struct tcp_hystart hystart;
    /* as a receiver of the peer's stream */
    uint64_t received;          /* all bytes before this */
    struct packet_ranges early; /* bytes behind it */
    uint64_t unacked;           /* bytes since the last acknowledgement */
    vtime ack_at;               /* of a delayed acknowledgement; VTIME_NEVER: none */
    vtime echo;                 /* stamp to be returned; -1: nothing was received */
};

/* Congestion control: one file per algorithm, and the table in congestion.c. */
struct tcp_congestion_ops {
    const char *name;
    /* So many bytes were acknowledged, outside of a fast recovery: the window may grow. */
    void (*grow)(struct tcp_half *, uint64_t acked, uint32_t mss, vtime now);
    /* Something was lost or marked: returns the window that the sender shall fall back to. */
    uint64_t (*reduce)(struct tcp_half *, uint32_t mss);
    /* A round trip took so long, outside of a recovery. May be NULL. */
    void (*sample)(struct tcp_half *, vtime rtt, vtime now);
};

extern const struct tcp_congestion_ops tcp_newreno_ops, tcp_cubic_ops;
const struct tcp_congestion_ops *tcp_congestion_find(const char *name); /* NULL: unknown */
const char *tcp_congestion_name(unsigned i);                            /* NULL beyond the last */

/* Slow start; returns what is left of `acked` for the time behind it. */
static inline uint64_t tcp_slow_start(struct tcp_half *h, uint64_t acked)
{
    uint64_t room = h->threshold > h->window ? h->threshold - h->window : 0;
    uint64_t now = acked < room ? acked : room;

    h->window += now;
    return acked - now;
}

/* ---- tcp.c ---- */

/* Sends what may be sent. */
void tcp_output(struct packet_net *, struct tcp_half *, vtime now);
/* Sends an acknowledgement without data, or with these flags. */
void tcp_send_empty(struct packet_net *, struct tcp_half *, uint8_t flags, vtime now);
/* The window falls, and what is not acknowledged now must be before it falls again. */
void tcp_reduce(struct tcp_half *);
/* Restarts the timer if there is anything to wait for. */
void tcp_restart(struct packet_net *, struct tcp_half *, vtime now);

/* One segment, in its place in the stream. */
void tcp_send_data(struct packet_net *, struct tcp_half *, uint64_t seq, uint64_t bytes, vtime now);
/* New bytes that may be sent as one segment; 0: none now. */
uint64_t tcp_next_new(const struct tcp_half *);

/* ---- tcp_loss.c ---- */

/* After an acknowledgement: finds what is lost, and begins a recovery. */
void tcp_loss_find(struct packet_net *, struct tcp_half *, vtime now);
/* After new data or an acknowledgement: says when a probe is due. */
void tcp_loss_plan(struct tcp_half *, vtime now);
/* More was acknowledged: was it the probe? */
void tcp_loss_acked(struct tcp_half *, const struct tcp_packet *);
/* When it has something to do, and does it. */
vtime tcp_loss_next(const struct tcp_half *);
void tcp_loss_expire(struct packet_net *, struct tcp_half *, vtime now);

/* ---- hystart.c ---- */

/* tcp_congestion_ops.sample */
void tcp_hystart_sample(struct tcp_half *, vtime rtt, vtime now);

/* ---- tcp_image.c ---- */

/* packet_transport_ops.image */
void tcp_image(struct packet_net *, const struct packet *, const struct packet_ends *,
               struct buf *out);

/* ---- tcp_input.c ---- */

void tcp_input(struct packet_net *, struct packet *, vtime now);

#endif
