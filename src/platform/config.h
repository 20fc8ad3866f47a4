/*
 * config.h - the machine to simulate, as plain values.
 *
 * One table (config.c) names every key with its type, default and help; it serves --set, platform
 * files, the defaults, `orrery help settings`, the schema for editors and the manual. Things that a
 * machine has any number of (pieces of the cost curve, groups of nodes, ...) are in lists: lists.h.
 */
#ifndef PLATFORM_CONFIG_H
#define PLATFORM_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/vtime.h"

#define PLATFORM_NAME_MAX 24 /* with the NUL */
#define PLATFORM_PATH_MAX 512
#define PLATFORM_DIMS_MAX 8
#define PLATFORM_COLLECTIVES 17 /* operations that have an algorithm: mpi.barrier to mpi.exscan */

/* Some numbers, written "4x4x2". */
struct platform_dims {
    uint32_t count;
    uint32_t size[PLATFORM_DIMS_MAX]; /* the rest is 0 */
};

struct platform_config {
    char name[PLATFORM_NAME_MAX]; /* of the machine, for display */
    char description[PLATFORM_PATH_MAX];
    /* nodes */
    uint64_t nodes_count; /* 0: as many as the ranks need, or as the topology has */
    uint64_t nodes_ranks; /* ranks per node */
    char nodes_placement[PLATFORM_NAME_MAX]; /* of ranks on nodes: block, cyclic or list */
    double nodes_speed;                      /* program time on the machine = host time / speed */
    double nodes_gigaflops;                  /* of a processor of speed 1, for orrery_flops */
    double nodes_gigahertz, nodes_cpi;       /* --compute counters: clock, cycles per instruction */
    double nodes_streaming_part;             /* fraction of computing limited by memory bandwidth */
    double nodes_random_part;   /* fraction limited by memory latency; the rest is in the caches */
    vtime nodes_noise_period;   /* how often the system interrupts a rank */
    vtime nodes_noise_duration; /* how long each interruption takes; 0: there are none */
    char nodes_noise_file[PLATFORM_PATH_MAX]; /* recorded noise instead */
    /* net */
    char net_model[PLATFORM_NAME_MAX]; /* a name in net's table */
    vtime net_latency;                 /* from end to end, without hops */
    double net_bandwidth;              /* of a node's link, bits per second; INFINITY allowed */
    double net_latency_factor;         /* multiplies the latency */
    double net_bandwidth_factor;       /* multiplies the bandwidth */
    vtime net_gap;                     /* time that an adapter needs after a message */
    uint64_t net_free_bytes;           /* bytes of each message that take no time (loggops) */
    vtime net_hop_latency;             /* of each switch on the route */
    double net_nic_bandwidth; /* most that the ranks of a node send, or receive, together */
    char net_routing[PLATFORM_NAME_MAX]; /* a name in the table of routings */
    /* net.packet */
    char packet_transport[PLATFORM_NAME_MAX]; /* a name in the table of transports */
    char packet_fabric[PLATFORM_NAME_MAX];    /* a name in the table of fabrics */
    uint64_t packet_mtu;        /* most bytes of a packet: what it carries, and its headers */
    uint64_t packet_framing;    /* bytes that a link adds to it */
    uint64_t packet_header;     /* bytes that MPI adds to a message */
    double packet_error_rate;   /* probability that a link corrupts a packet */
    uint64_t packet_seed;       /* of all random choices of packets */
    uint64_t packet_queue;      /* of a port of a switch, in bytes */
    uint64_t packet_mark_above; /* ecn: bytes in the queue from which on packets are marked */
    uint64_t packet_red_low, packet_red_high; /* red: mean bytes in the queue */
    double packet_red_chance, packet_red_weight;
    uint64_t packet_buffer;       /* credit, pfc: bytes at the end of a link, per channel */
    uint64_t packet_channels;     /* likewise: virtual channels of a link; 0: as many as needed */
    uint64_t packet_pause_above;  /* pfc: bytes in a buffer; 0: as many as leave room */
    uint64_t packet_resume_below; /* pfc: bytes in a buffer; 0: two packets less than that */
    uint64_t packet_send_buffer;  /* of a connection */
    uint64_t packet_receive_buffer;
    double packet_read_bandwidth;              /* tcp: at which a receiver takes what has arrived */
    char packet_congestion[PLATFORM_NAME_MAX]; /* tcp: a name in the table of algorithms */
    uint64_t packet_initial_window;            /* tcp: segments */
    uint64_t packet_window_scale;              /* tcp: the window is at most 65535 << scale */
    vtime packet_jitter;                       /* tcp: most that a node delays a packet at random */
    vtime packet_min_rto, packet_first_rto, packet_delayed_ack, packet_target_delay;
    uint8_t packet_sack, packet_nagle, packet_hystart, packet_rack, packet_restart_idle,
        packet_small_queue;
    char packet_rate_control[PLATFORM_NAME_MAX]; /* message: a name in the table of algorithms */
    char packet_streams[PLATFORM_NAME_MAX];      /* sctp: which messages share a stream */
    uint64_t packet_stream_count;                /* sctp: how many streams there are */
    /* net.intra: between ranks of a node */
    vtime intra_latency;
    double intra_bandwidth; /* between two ranks */
    double intra_memory;    /* all ranks of a node together */
    /* net.topology */
    char topo_kind[PLATFORM_NAME_MAX];  /* a name in the table of topologies */
    struct platform_dims topo_dims;     /* torus, mesh: its size */
    struct platform_dims topo_down;     /* fat tree: children per level, from the bottom */
    struct platform_dims topo_up;       /* fat tree: parents per level */
    struct platform_dims topo_parallel; /* fat tree: cables to each parent */
    uint64_t topo_groups;               /* dragonfly: groups */
    uint64_t topo_routers;              /* dragonfly: routers in a group */
    uint64_t topo_nodes;                /* dragonfly, torus, mesh, hypercube: nodes at a router */
    uint64_t topo_global;               /* dragonfly: links to other groups at a router */
    double topo_bandwidth;              /* of links between switches; 0: as net.bandwidth */
    double topo_global_bandwidth; /* dragonfly: of links between groups; 0: as topo_bandwidth */
    vtime topo_global_latency;    /* dragonfly: of links between groups, in addition to the hop's */
    char topo_file[PLATFORM_PATH_MAX]; /* graph: its links */
    /* mpi */
    uint64_t mpi_eager_limit;     /* larger messages use rendezvous */
    vtime mpi_send_overhead;      /* sender's processor, per message */
    vtime mpi_recv_overhead;      /* receiver's processor, per message */
    vtime mpi_send_per_kib;       /* sender's processor, per 1024 bytes */
    vtime mpi_recv_per_kib;       /* receiver's processor, per 1024 bytes */
    vtime mpi_unexpected_cost;    /* additional, if the message came before the receive */
    vtime mpi_unexpected_per_kib; /* additional, per 1024 bytes of such a message */
    vtime mpi_request_cost; /* of a non-blocking send or receive, in addition to its message's */
    vtime mpi_match_cost;   /* of a receive, for each other receive that is pending */
    vtime mpi_peer_cost;    /* of a send that goes to another rank than the one before */
    vtime mpi_test_cost;    /* MPI_Test*, MPI_Iprobe, MPI_Improbe, yields */
    vtime mpi_clock_cost;   /* reading any clock */
    vtime mpi_spawn_cost;   /* of starting ranks, per call of MPI_Comm_spawn */
    char mpi_collectives[PLATFORM_NAME_MAX]; /* whose choice of algorithms, or model */
    double mpi_collective_factor;            /* model: multiplies its cost */
    char mpi_algorithm[PLATFORM_COLLECTIVES][PLATFORM_NAME_MAX]; /* of each operation, or auto */
    /* io */
    uint64_t io_servers; /* file servers */
    uint64_t io_stripe;  /* bytes of a file on one server before the next one's */
    vtime io_latency;    /* of a server, per request */
    double io_bandwidth; /* of a server, bits per second; INFINITY allowed */
    vtime io_open_cost;  /* of a server, per metadata operation */
};

/* Fills in every default. */
void platform_config_init(struct platform_config *);

/* Help text for all keys, wrapped to 80 columns: name, default, description. */
void platform_config_help(struct buf *out);

/* The entry of key i, as above. */
void platform_setting_help(size_t i, struct buf *out);

/* Keys by number, 0 <= i < count, in the order of the table, and their descriptions. Texts are
 * static. */
size_t platform_config_count(void);
const char *platform_config_key(size_t i);
const char *platform_config_text(size_t i);

/* Appends the value of key i as platform_set takes it; reading it back gives the same
 * value to the last bit. */
void platform_config_value(const struct platform_config *, size_t i, struct buf *out);

#endif
