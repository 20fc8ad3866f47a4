/*
 * tcp.h - a model of TCP as Linux has it, for
 *
 *     tcp.c            connections, sending, timers
 *     tcp_input.c      packets that have arrived: acknowledgements and round trips
 *     tcp_receive.c    packets that have arrived: data, and when it is acknowledged
 *     tcp_segments.c   what was sent and is not acknowledged
 *     tcp_rack.c       what of it is lost, by time (RFC 8985), and probes
 *     tcp_recovery.c   what a sender does about it
 *     tcp_rate.c       at which rate segments arrive
 *     congestion.c     the algorithms for congestion control
 *
 * Never included outside net/packet/.
 *
 * A connection between two ranks is two halves, one at each. A half sends the stream of its rank
 * and receives that of the other. Sequence numbers are offsets in the stream: 64 bits, no wrapping.
 * Windows of congestion control count segments, as in Linux; that of a receiver counts bytes.
 */
#ifndef NET_PACKET_TCP_H
#define NET_PACKET_TCP_H

#include "net/packet/packet_internal.h"
#include "net/packet/ranges.h"
#include "net/packet/tcp_segments.h"

#define TCP_HEADER 52 /* IP 20, TCP 20, timestamps 12 */
#define TCP_SYN_HEADER 60
#define TCP_BLOCKS 3             /* ranges in a selective acknowledgement, beside timestamps */
#define TCP_RECENT 4             /* ranges that a receiver remembers for that */
#define TCP_DUPLICATES 3         /* segments or acknowledgements behind a gap that mean a loss */
#define TCP_SLACK (2 * VTIME_MS) /* of timers, as in Linux: two ticks of its clock */
#define TCP_UNLIMITED UINT32_MAX /* a threshold that nothing has set */

#define TCP_SYN 1u
#define TCP_ACK 2u     /* of a SYN */
#define TCP_ECHO 4u    /* the receiver has seen marks (ECE) */
#define TCP_REDUCED 8u /* the sender has reduced its window because of marks (CWR) */
#define TCP_PROBE 32u  /* is the window of the receiver still closed? */
#define TCP_TWICE 16u  /* its first block is what the receiver got twice (D-SACK, RFC 2883) */

struct tcp_packet {
    struct packet base;
    uint64_t seq, ack;
    uint64_t edge;     /* the receiver takes what is before this */
    vtime stamp, echo; /* when it was sent; the stamp of what was received last, -1: none */
    uint32_t bytes;
    uint8_t flags; /* TCP_* */
    uint8_t blocks;
    struct packet_range block[]; /* that the sender of this packet has */
};

enum tcp_state { TCP_CLOSED = 0, TCP_SYN_SENT, TCP_SYN_RECEIVED, TCP_OPEN };
/* Reducing: marks were seen. Fast: something was lost. Timeout: all of it may be. Each ends when
 * what was sent before it is acknowledged. */
enum tcp_recovery { TCP_NORMAL = 0, TCP_REDUCING, TCP_FAST, TCP_TIMEOUT };

/* What cubic keeps, in segments and microseconds. */
struct tcp_cubic {
    uint32_t most;     /* window before the last reduction */
    uint32_t origin;   /* window at the plateau */
    uint32_t friendly; /* window that NewReno would have */
    uint32_t acked;    /* segments that NewReno has not used */
    uint32_t each;     /* the window grows by one for so many segments */
    uint32_t last;     /* the window for which that was computed */
    vtime last_at;     /* when it was computed */
    vtime start;       /* of this period of growth; -1: it has not begun */
    uint64_t k;        /* microseconds from there to the plateau */
};

/* What hystart.c keeps. */
struct tcp_hystart {
    uint64_t round_end; /* the round ends when this is acknowledged */
    vtime round_start, last_ack;
    vtime round_rtt; /* the least of the round */
    vtime least_rtt; /* of all since the last timeout; 0: not measured */
    uint32_t samples;
    uint8_t has_ended; /* slow start, by it */
};

/* What bbr.c keeps. Rates are in segments per second, times 256. */
#define TCP_BBR_ROUNDS 11
struct tcp_bbr {
    uint64_t best[TCP_BBR_ROUNDS]; /* rates of the last rounds, the highest of each */
    uint64_t round_end;            /* the round ends when so many have arrived */
    uint64_t pace;                 /* bytes per second */
    uint64_t full_rate;            /* when it last grew much */
    vtime least_rtt, least_at;     /* VTIME_NEVER: not known; when it was measured */
    vtime phase_at;                /* when the phase began */
    vtime probe_end;               /* VTIME_NEVER: the window has not fallen yet */
    uint64_t burst;                /* segments that have arrived since then: */
    vtime burst_at;
    uint64_t random;
    uint64_t policed_rate;
    uint64_t interval_delivered;
    vtime interval_at;
    uint32_t interval_lost, interval_rounds;
    uint32_t round;
    uint32_t extra[2]; /* segments that came beyond the rate, in the last rounds and before */
    uint32_t window;   /* to return to */
    uint32_t gain, window_gain;
    uint8_t mode, phase, full_rounds, extra_rounds, extra_at;
    uint8_t before; /* enum tcp_recovery at the last acknowledgement */
    uint8_t is_full, has_rtt, begins_round, conserves, was_idle, probe_round, is_policed,
        is_sampling;
};

/* What swift.c keeps. */
struct tcp_swift {
    uint64_t window; /* segments, times 65536 */
    vtime empty;     /* round trip if nothing waits */
    vtime cut_at;    /* when the window last fell */
    uint32_t timeouts;
};

/* What dctcp.c keeps. */
struct tcp_dctcp {
    uint64_t end;             /* of the window of data that is looked at */
    uint32_t alpha;           /* share of marked segments, over time */
    uint32_t arrived, marked; /* segments of this window */
};

/* What tcp_rate.c keeps of each segment: how many had arrived when it was sent. */
struct tcp_sent {
    uint64_t delivered;
    vtime at;           /* when it was sent; -1: not known */
    vtime first;        /* when what had arrived last was sent */
    vtime delivered_at; /* when it had arrived */
    uint8_t is_limited; /* the sender had no more to send */
};

struct tcp_rate {
    struct tcp_sent *at; /* a ring, as that of segments */
    uint32_t room;
    vtime first_sent, delivered_at; /* of what has arrived last */
    uint64_t limited; /* until so many have arrived, their sender had no more; 0: none */
};

/* A measurement: the segments of which an acknowledgement tells. */
struct tcp_rate_sample {
    uint64_t delivered, before; /* so many have arrived since `before` had */
    vtime interval;             /* in this time; 0: not measured */
    vtime last_sent, delivered_at;
    uint8_t is_limited;
};

/* What tcp_rack.c keeps: the segment that was sent last of those that have arrived. */
struct tcp_rack {
    vtime sent, rtt;
    uint64_t end;
    uint64_t widened; /* delivered: when the window for reordering last grew */
    uint8_t steps;    /* that window, in quarters of the least round trip */
    uint8_t persists; /* recoveries for which it stays so */
    uint8_t advanced, has_twice;
};

/* For proportional rate reduction and undo (tcp_recovery.c). */
struct tcp_repair {
    uint64_t end;               /* it ends when this is acknowledged */
    uint64_t undo_from;         /* what was acknowledged when it began; UINT64_MAX: no undo */
    int64_t undo_left;          /* segments sent again of which no D-SACK came; -1: none yet */
    vtime resent_at;            /* the first segment that was sent again; -1: none */
    uint32_t window, threshold; /* before it; threshold 0: not to be restored */
    uint32_t delivered, sent;   /* since it began */
    uint32_t timeouts;          /* one after the other */
    uint8_t is_trial;           /* was the timeout right? (F-RTO, RFC 5682) */
    uint8_t only_new;           /* to find out, new data is sent, and nothing again */
};

struct tcp_half {
    struct packet_stream base; /* base.acked is the first byte that is not acknowledged */
    struct tcp_half *peer;
    uint8_t state;         /* enum tcp_state */
    uint8_t recovery;      /* enum tcp_recovery */
    uint8_t has_reduced;   /* because of marks, and has not said so */
    uint8_t is_limited;    /* by the window, since `used_end` */
    uint8_t has_reordered; /* the network did, at some time */
    uint8_t has_repeated;  /* the last probe was a segment that was sent before */
    uint32_t mss;          /* bytes of a segment, as its route takes them */
    uint32_t batch_left;   /* bytes that its batch takes */
    /* as a sender */
    uint64_t next;
    uint64_t offered; /* the receiver takes what is before this */
    struct tcp_segments segments;
    uint64_t delivered;            /* segments that are known to have arrived */
    uint32_t window, threshold;    /* of congestion control */
    uint32_t grown;                /* segments that count for the next one of the window */
    uint32_t used, lately;         /* most in flight: of a window of data; since `used_at` */
    uint64_t used_end;             /* where that window of data ends */
    vtime used_at;                 /* when the window was last used up */
    vtime sent_at;                 /* when data was last sent */
    vtime batch_gone, before_gone; /* when the last batch, and the one before it, leaves the node */
    vtime room_at;                 /* when another may be sent; VTIME_NEVER: now */
    vtime pace_at;                 /* when congestion control lets the next segment go */
    vtime srtt, rto;               /* srtt 0: not measured */
    vtime deviation, deviation_max, variance; /* tcp_input.c */
    uint64_t variance_end;                    /* the next round trip for `variance` begins here */
    vtime least_rtt;                          /* 0: not measured */
    vtime resend_at;                          /* VTIME_NEVER: nothing to wait for */
    vtime reorder_at; /* when what is missing is lost; VTIME_NEVER: nothing is missing */
    vtime probe_at;   /* VTIME_NEVER: no probe is needed */
    uint64_t probed;  /* what was sent with a probe, up to its end; 0: none */
    struct tcp_repair repair;
    struct tcp_rack rack;
    struct tcp_rate rate;
    union { /* of congestion control */
        struct {
            struct tcp_cubic cubic;
            struct tcp_hystart hystart;
        };
        struct tcp_dctcp dctcp;
        struct tcp_bbr bbr;
        struct tcp_swift swift;
    };
    /* as a receiver of the peer's stream */
    uint64_t received;           /* all bytes before this */
    uint64_t said;               /* what it last acknowledged */
    uint64_t edge;               /* it takes what is before this, as the sender was told */
    vtime read_at;               /* when the program will have taken all that was received */
    struct packet_ranges early;  /* bytes behind it */
    uint64_t recent[TCP_RECENT]; /* in which ranges of these something came, the last first */
    struct packet_range twice;   /* what came although it was there; empty: nothing to say */
    vtime ack_at;                /* of a delayed acknowledgement; VTIME_NEVER: none */
    vtime echo;                  /* stamp to be returned; -1: nothing was received */
    vtime received_at;           /* when data last came */
    uint8_t recent_count;
    uint8_t quick;        /* acknowledgements that are not delayed */
    uint8_t is_answering; /* data goes back soon after data has come: acknowledgements go with it */
    uint8_t is_marked; /* something came with a mark, and the sender has not said that it knows */
    uint8_t must_ack;
    uint8_t duplicates; /* acknowledgements of a gap that were sent at once */
    uint8_t held;       /* and those that were not, since */
};

/* What an acknowledgement says, for all who want to know. */
struct tcp_ack_news {
    const struct tcp_packet *packet;
    vtime now;
    uint64_t before;    /* base.acked before it */
    uint64_t reported;  /* the highest byte that was sacked before it */
    uint64_t delivered; /* tcp_half.delivered before it */
    uint32_t in_flight; /* before it */
    uint32_t arrived;   /* segments that are known to have arrived now, and were not before */
    uint32_t lost;      /* segments that are found to be lost */
    vtime first_sent;   /* of what it acknowledges and was sent once; -1: nothing is */
    vtime last_sent;
    vtime sacked_sent;  /* the same for what it reports as received behind a gap, the first */
    uint8_t advances;   /* it acknowledges something new */
    uint8_t reports;    /* it reports something new behind a gap */
    uint8_t is_plain;   /* some of what it tells of was sent once, before the recovery */
    uint8_t has_resent; /* some was sent again */
    uint8_t lost_again; /* some that was sent again is lost */
    uint8_t is_echo;    /* of marks */
    uint8_t may_grow;   /* the window is used, and there is no recovery that sets it */
    vtime rtt;          /* of the last segment; -1: not known */
    struct tcp_rate_sample rate; /* if congestion control asks for it */
};

/* Congestion control: one file per algorithm, and the table in congestion.c. Windows are in
 * segments. */
struct tcp_congestion_ops {
    const char *name;
    int echoes_each;  /* a receiver echoes the mark of each packet, not only that there was one */
    int acks_at_once; /* a receiver does not delay acknowledgements */
    int wants_rate;   /* tcp_rate.c measures it */
    int sets_window;  /* always: it is not reduced in a recovery, nor when it is not used */
    /* The connection is open. May be NULL. */
    void (*init)(struct tcp_half *, vtime now);
    /* An acknowledgement: the window may grow if news->may_grow. */
    void (*on_ack)(struct tcp_half *, const struct tcp_ack_news *);
    /* Something was lost: returns the window that the sender shall fall back to. */
    uint32_t (*on_loss)(struct tcp_half *, vtime now);
    /* Marks came, the first since the last reduction: the same. */
    uint32_t (*on_ecn)(struct tcp_half *, vtime now);
    /* A timeout begins, after on_loss: what was known of the path does not hold. May be NULL. */
    void (*on_timeout)(struct tcp_half *, vtime now);
    /* New data is sent, and before it none was in flight for so long. May be NULL. */
    void (*on_start)(struct tcp_half *, vtime idle, vtime now);
    /* Segments shall leave at so many bytes per second; 0: as they come. NULL: always so. */
    uint64_t (*pacing)(const struct tcp_half *);
};

extern const struct tcp_congestion_ops tcp_newreno_ops, tcp_cubic_ops, tcp_dctcp_ops, tcp_bbr_ops,
    tcp_swift_ops;
const struct tcp_congestion_ops *tcp_congestion_find(const char *name); /* NULL: unknown */
/* Slow start; returns what is left of `acked` segments for the time behind it. */
uint32_t tcp_slow_start(struct tcp_half *, uint32_t acked);
/* The window grows by one for each `each` of them. */
void tcp_grow(struct tcp_half *, uint32_t each, uint32_t acked);

/* ---- tcp.c ---- */

/* Sends what may be sent: what is lost first. */
void tcp_output(struct packet_net *, struct tcp_half *, vtime now);
/* Sends an acknowledgement without data, or with these flags. */
void tcp_send_empty(struct packet_net *, struct tcp_half *, uint8_t flags, vtime now);
/* New data has been acknowledged: the timers begin anew. */
void tcp_restart(struct packet_net *, struct tcp_half *, vtime now);
/* One more segment of the stream. */
void tcp_send_new(struct packet_net *, struct tcp_half *, uint64_t bytes, vtime now);
/* A segment that was sent before. */
void tcp_send_again(struct packet_net *, struct tcp_half *, uint32_t number, vtime now);
/* New bytes that may be sent as one segment; 0: none now. */
uint64_t tcp_next_new(const struct tcp_half *);

/* ---- tcp_rack.c ---- */

/* A segment has arrived. */
void tcp_rack_advance(struct tcp_half *, const struct tcp_segment *, const struct tcp_ack_news *);
/* Adapts the window for reordering, once per acknowledgement. */
void tcp_rack_adapt(struct tcp_half *, const struct tcp_ack_news *);
/* Marks what is lost by now. */
void tcp_rack_find(struct tcp_half *, vtime now);
/* After new data or an acknowledgement: says when a probe is due. */
void tcp_rack_plan(struct tcp_half *, vtime now);
/* The acknowledgement of a probe. Returns true if it shows a loss. */
int tcp_rack_probed(struct tcp_half *, const struct tcp_ack_news *);
/* When it has something to do, and does it. */
vtime tcp_rack_next(const struct tcp_half *);
void tcp_rack_expire(struct packet_net *, struct tcp_half *, vtime now);

/* ---- tcp_recovery.c ---- */

/* An acknowledgement that is not just of new data in order, or came in a recovery. */
void tcp_recovery_ack(struct tcp_half *, struct tcp_ack_news *);
/* It has told of segments that arrived: in a reduction the window follows. */
void tcp_recovery_reduce(struct tcp_half *, const struct tcp_ack_news *);
/* Something was found to be lost by a timer. */
void tcp_recovery_begin(struct tcp_half *, vtime now);
/* A probe has shown that something was lost, which has arrived since. */
void tcp_recovery_note(struct tcp_half *, vtime now);
/* The retransmission timer has expired. */
void tcp_recovery_time_out(struct tcp_half *, vtime now);
/* The threshold that is kept if the window falls for reasons other than congestion. */
uint32_t tcp_recovery_threshold(const struct tcp_half *);
/* Is the window being reduced segment by segment? */
static inline int tcp_recovery_reduces(const struct tcp_half *h)
{
    return h->recovery == TCP_REDUCING || h->recovery == TCP_FAST;
}

/* ---- tcp_rate.c ---- */

/* A segment is sent, and is in the list. */
void tcp_rate_sent(struct tcp_half *, uint32_t number, vtime now);
/* It has arrived. */
void tcp_rate_arrived(struct tcp_half *, uint32_t number, struct tcp_ack_news *);
/* All that have arrived with this acknowledgement are counted: measures the rate. */
void tcp_rate_measure(struct tcp_half *, struct tcp_ack_news *);
/* The sender has nothing more to send, although it might. */
void tcp_rate_limited(struct tcp_half *);
/* Segments have other numbers now. */
void tcp_rate_forget(struct tcp_half *);
void tcp_rate_fini(struct tcp_half *);

/* ---- hystart.c ---- */

/* A round trip took so long, outside of a recovery. */
void tcp_hystart_sample(struct tcp_half *, vtime rtt, vtime now);
/* What it knew of the path does not hold any longer. */
void tcp_hystart_reset(struct tcp_half *, vtime now);

/* ---- tcp_image.c ---- */

/* packet_transport_ops.image */
void tcp_image(struct packet_net *, const struct packet *, const struct packet_ends *,
               struct buf *out);

/* ---- tcp_input.c, tcp_receive.c ---- */

void tcp_input(struct packet_net *, struct packet *, vtime now);
/* Data has come: keeps it, and plans the acknowledgement. */
void tcp_receive(struct packet_net *, struct tcp_half *, const struct tcp_packet *, vtime now);
/* The ranges that the next packet reports, at most TCP_BLOCKS: how many. The first is h->twice if
 * that is not empty. */
uint8_t tcp_receive_blocks(const struct tcp_half *, struct packet_range *block);
/* The edge of the window that the next packet offers. */
uint64_t tcp_receive_edge(struct tcp_half *, vtime now);
/* A packet says all that was to be said. */
void tcp_receive_said(struct packet_net *, struct tcp_half *, vtime now);

#endif
