/*
 * net.h - network models: when does a message that leaves now arrive?
 *
 * A model is one struct net_ops in one file and one line of the table in net.c. There are two
 * kinds:
 *
 *  - Free of contention: the arrival is a function of the send alone, so messages carry it and no
 *    event queue is needed. With several processes such a model is evaluated wherever a message is
 *    sent (NET_SPLIT_FREE).
 *  - With contention: messages share something, and are handled in order of time. The model is the
 *    engine's medium (engine.h), an entity whose every step is a decision. If they share what is
 *    at their ends alone, each process has a part of it (NET_SPLIT_MEDIA), else it exists on
 *    process 0 only (NET_SPLIT_NONE).
 *
 * The model's device sends messages (device.h).
 *
 * The processor time for a message (overheads) depends on its size and on whether it stays within a
 * node (curve.h).
 */
#ifndef NET_NET_H
#define NET_NET_H

#include <stdint.h>

#include "base/err.h"
#include "base/vtime.h"
#include "engine/engine.h"
#include "engine/medium.h"
#include "net/curve.h"
#include "net/device.h"
#include "net/overcommit.h"
#include "platform/nodes.h"

struct buf;
struct json;
struct net;
struct net_vectors;
struct topo;

/* What a model counts during a run: name, key in results, what it is. */
#define NET_COUNT_LIST(X)                                                      \
    X(PACKETS, "packets", "packets sent")                                      \
    X(DELIVERED, "delivered", "packets that arrived")                          \
    X(DROPPED_FULL, "dropped_full", "packets dropped by queues")               \
    X(DROPPED_ERROR, "dropped_error", "packets lost by links")                 \
    X(DROPPED_DOWN, "dropped_down", "packets dropped at links that were down") \
    X(IN_FLIGHT, "in_flight", "packets that had not arrived at the end")       \
    X(MARKED, "marked", "packets marked by queues")                            \
    X(PAUSES, "pauses", "pauses that full buffers asked for")                  \
    X(HOPS, "hops", "packets that links carried")                              \
    X(RETRANSMITTED, "retransmitted", "segments sent again")                   \
    X(TIMEOUTS, "timeouts", "retransmission timeouts")                         \
    X(CONNECTIONS, "connections", "connections")                               \
    X(BACKGROUND, "background", "packets of background load")                  \
    X(ACKED, "acknowledged_bytes", "bytes that left send buffers")             \
    X(QUEUE_MAX, "queue_max_bytes", "longest queue")

#define NET_COUNT_ENUM(name, key, text) NET_##name,
enum net_count { NET_COUNT_LIST(NET_COUNT_ENUM) NET_COUNTS };
#undef NET_COUNT_ENUM

/* What a link carried. */
struct net_traffic_link {
    uint32_t link;     /* number in the topology */
    uint32_t from, to; /* vertices of the topology */
    uint64_t packets, bytes, dropped, queue_max;
    vtime busy; /* time during which it sent */
};

/* The counts of a run, and its busiest links, those first. */
#define NET_TRAFFIC_LINKS 8
struct net_traffic {
    uint64_t counts[NET_COUNTS];
    uint32_t links;
    struct net_traffic_link link[NET_TRAFFIC_LINKS];
};

/* What is to be recorded of packets. Borrowed until the end of the run; NULL: nothing. */
struct net_watch {
    const char *pcap;    /* folder for pcap files: an absolute path */
    const char *pcap_at; /* where packets are captured: patterns (packet/capture.h) */
    const char *vectors; /* patterns of values to be recorded over time (vectors.h) */
};

/* How a model works when the ranks are distributed over several processes. */
enum net_split {
    NET_SPLIT_FREE = 0, /* anywhere, without order */
    NET_SPLIT_MEDIA,    /* a part of the medium on each process, in windows of one lookahead */
    NET_SPLIT_NONE,     /* on one process, in windows of one lookahead: it is serial */
};

struct net_ops {
    const char *name;
    /* Settings and lists that this model uses, but not all models do ("net.topology.*": a whole
     * section); ends with NULL. Settings that no model names are used by all. */
    const char *const *uses;
    /* Without contention: the model to use where links are overcommitted. */
    const char *instead;
    enum net_split split;
    /* Sends according to this model, unless init chooses another one. */
    const struct device_ops *device;
    /* Prepares the model for the machine; nodes, curves and factors are set already. */
    int (*init)(struct net *, const struct platform *, struct err *);
    void (*fini)(struct net *); /* may be NULL */
    /* Time from t, when the message leaves its sender, to its arrival. With contention: only for
     * direct messages. */
    vtime (*delay)(const struct net *, uint32_t src, uint32_t dst, uint64_t bytes, vtime t);
    /* Time for which the sender's side is busy with the message. May be NULL: bytes at the curve's
     * bandwidth. */
    vtime (*drain)(const struct net *, uint32_t src, uint32_t dst, uint64_t bytes, vtime t);
    /* net->load is there now: counts what links carry. May be NULL: the medium does. */
    void (*meter)(struct net *);
    /* Records packets (net_watch). May be NULL: there are none. */
    int (*watch)(struct net *, const struct net_watch *, struct err *);
    int (*watch_end)(struct net *, struct err *);
    /* Fills in what was counted, at the end. May be NULL: nothing. */
    void (*traffic)(struct net *, struct net_traffic *);
    /* The run ends at t, but messages are in flight: counts what links have carried of them. May be
     * NULL: they were counted when they left. */
    void (*settle)(struct net *, vtime t);
    /* Calls `take` for each link that carried something. NULL as `traffic`. */
    void (*links)(struct net *, void (*take)(void *owner, const struct net_traffic_link *),
                  void *owner);
    /* With contention, on process 0, or on all (NET_SPLIT_MEDIA): fills in the medium. */
    void (*medium)(struct net *, struct engine *, struct engine_medium *);
};

/* Which messages of a program between the same two ranks may overtake each other. */
enum net_substreams {
    NET_SUBSTREAMS_ONE = 0, /* none */
    NET_SUBSTREAMS_COMM,    /* those of different communicators */
    NET_SUBSTREAMS_TAG,     /* and those with different tags */
};

struct net {
    const struct net_ops *ops;
    vtime latency;        /* for device_uniform.h, after factors */
    uint64_t ps_per_byte; /* likewise, 44.20 fixed point; 0: infinitely fast */
    struct net_overcommit overcommit;
    const struct device_ops *device;
    int direct_within;  /* messages within a node bypass the medium, if there is one */
    int rewinds;        /* as in struct platform */
    int curved;         /* overheads depend on the message, too */
    int drain_varies;   /* and net_drain on when it is sent */
    uint8_t substreams; /* enum net_substreams; if not NET_SUBSTREAMS_ONE, `substream` is needed */
    /* The substream of a message of a program, as engine_call.tie; 0: it has none. */
    uint64_t (*substream)(const struct engine_msg *, enum net_substreams);
    vtime lookahead; /* smallest delay between two ranks */
    double latency_factor, bandwidth_factor;
    uint32_t ranks, local; /* in all, and of this process */
    struct platform_nodes nodes;
    struct net_curve inter, intra;
    struct topo *topo;           /* of models that have one; else NULL */
    struct bins *load;           /* what links of the topology carry; NULL: nobody asks */
    int is_watched;              /* net_watch */
    struct net_vectors *vectors; /* what is recorded over time; NULL: nothing */
    void *state;                 /* the model's state */
};

/* Chooses the model by name and prepares it for that many ranks in all. The machine is borrowed. */
int net_init(struct net *, const struct platform *, uint64_t ranks, struct err *);
void net_fini(struct net *);

/* Counts from the first message on what the links of the topology carry: bytes by number of the
 * link, in bins of picoseconds. With several processes each counts what it sends, or process 0 all.
 * Directly after net_init, before the device is used. Nothing if the model has no links. */
void net_meter(struct net *);
/* The run was aborted at t: counts what is in flight. */
void net_settle(struct net *, vtime t);

/* Records packets from the first one on. After the medium was made, on its process. ERR_INPUT: the
 * model cannot. */
int net_watch(struct net *, const struct net_watch *, struct err *);
/* Writes what is left, at the end; the first failure, if there was one. Nothing without
 * net_watch. */
int net_watch_end(struct net *, struct err *);

/* What was counted; 0: the model counts nothing, or does not on this process. */
int net_traffic(struct net *, struct net_traffic *);
const char *net_count_key(enum net_count);
/* Adds what was counted and all links that carried something to statistics: a member "network" of
 * a JSON object, or rows of CSV. Nothing if the model counts nothing. `end`: virtual time of the
 * run. */
void net_traffic_json(struct net *, vtime end, struct json *);
void net_traffic_csv(struct net *, struct buf *out);
/* Puts a link in its place among the busiest, or drops the least busy one. */
void net_traffic_link(struct net_traffic *, const struct net_traffic_link *);

/* The table, for help and checks: names; NULL beyond the last. Static. */
const char *net_model_name(unsigned i);
const char *const *net_model_uses(unsigned i);   /* net_ops.uses */
const char *net_model_instead(const char *name); /* net_ops.instead, or NULL */

static inline uint32_t net_node(const struct net *n, uint32_t rank)
{
    return platform_node_of(&n->nodes, rank);
}
static inline const struct net_curve *net_curve(const struct net *n, uint32_t src, uint32_t dst)
{
    return net_node(n, src) == net_node(n, dst) ? &n->intra : &n->inter;
}

static inline vtime net_delay(const struct net *n, uint32_t src, uint32_t dst, uint64_t bytes,
                              vtime t)
{
    return n->ops->delay(n, src, dst, bytes, t);
}

/* Time for which the sender's side is busy with a message that leaves at t, if there is no
 * contention. */
vtime net_drain(const struct net *, uint32_t src, uint32_t dst, uint64_t bytes, vtime t);

/* Processor time for a message; only if n->curved. */
vtime net_send_cost(const struct net *, uint32_t src, uint32_t dst, uint64_t bytes);
vtime net_recv_cost(const struct net *, uint32_t src, uint32_t dst, uint64_t bytes);

#endif
