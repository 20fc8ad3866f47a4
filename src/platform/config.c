/*
 * config.c - the table of settings, and functions over all of it.
 *
 * Each key has one line in the table: name, type, field, default as text, bounds and help. The
 * defaults are parsed like any user's value, so the manual, --help and the program cannot differ.
 * Every value prints as a text that reads back to the same bits.
 */
#include "platform/config.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "platform/field_internal.h"

#define FIELD(member) offsetof(struct platform_config, member)

// clang-format off
#define ALGORITHM(i, operation, call)                                      \
    {"mpi." operation, KEY_NAME, FIELD(mpi_algorithm[i]), 1, "auto",       \
     "algorithm of " call ", or auto"}
// clang-format on

static const struct key keys[] = {
    {"name", KEY_NAME, FIELD(name), 0, "ethernet-1g", "the name of the machine, for reports"},
    {"description", KEY_TEXT, FIELD(description), 0, "a cluster with gigabit Ethernet",
     "what the machine is, in a few words"},
    {"nodes.count", KEY_COUNT, FIELD(nodes_count), 0, "0",
     "nodes of the machine; 0: as many as the ranks need"},
    {"nodes.ranks", KEY_COUNT, FIELD(nodes_ranks), 1, "1", "ranks on each node"},
    {"nodes.placement", KEY_NAME, FIELD(nodes_placement), 1, "block",
     "where ranks are: block, cyclic, or list (nodes.map in a file)"},
    {"nodes.speed", KEY_FACTOR, FIELD(nodes_speed), 1, "1",
     "speed of a processor relative to this computer: measured time is divided by it"},
    {"nodes.gigaflops", KEY_FACTOR, FIELD(nodes_gigaflops), 1, "1",
     "10^9 operations per second, for programs that declare them (orrery_flops)"},
    {"nodes.gigahertz", KEY_FACTOR, FIELD(nodes_gigahertz), 1, "1",
     "clock of a processor, for --compute counters"},
    {"nodes.cpi", KEY_FACTOR, FIELD(nodes_cpi), 1, "1",
     "cycles per instruction (or whatever is counted), for --compute counters"},
    {"nodes.streaming_part", KEY_FACTOR, FIELD(nodes_streaming_part), 0, "0.1",
     "part of computing that streams through memory, from 0 to 1, for nodes.sharing"},
    {"nodes.random_part", KEY_FACTOR, FIELD(nodes_random_part), 0, "0.1",
     "part of computing that accesses memory at random, for nodes.sharing"},
    {"nodes.noise_period", KEY_TIME, FIELD(nodes_noise_period), 0, "0s",
     "the system interrupts every rank this often; 0: never"},
    {"nodes.noise_duration", KEY_TIME, FIELD(nodes_noise_duration), 0, "0s",
     "length of such an interruption"},
    {"nodes.noise_file", KEY_PATH, FIELD(nodes_noise_file), 0, "",
     "a file of recorded noise: start and duration per line"},
    {"net.model", KEY_NAME, FIELD(net_model), 1, "loggops", "network model"},
    {"net.latency", KEY_TIME, FIELD(net_latency), 0, "50us",
     "time of an empty message, without the hops"},
    {"net.bandwidth", KEY_BANDWIDTH, FIELD(net_bandwidth), 1, "1Gbps",
     "bandwidth of a node's link, or 'inf'"},
    {"net.latency_factor", KEY_FACTOR, FIELD(net_latency_factor), 0, "1",
     "multiplies all latencies of the network"},
    {"net.bandwidth_factor", KEY_FACTOR, FIELD(net_bandwidth_factor), 1, "1",
     "multiplies all bandwidths of the network"},
    {"net.gap", KEY_TIME, FIELD(net_gap), 0, "0s",
     "time that an adapter needs after a message, before the next (model loggops)"},
    {"net.free_bytes", KEY_SIZE, FIELD(net_free_bytes), 0, "0",
     "bytes of each message that take no time; 1 as in LogGOPSim (model loggops)"},
    {"net.hop_latency", KEY_TIME, FIELD(net_hop_latency), 0, "0s",
     "time that each switch on the route adds (models hops, flow, packet)"},
    {"net.nic_bandwidth", KEY_BANDWIDTH, FIELD(net_nic_bandwidth), 1, "inf",
     "most that a node can send, or receive, in total (models flow, packet)"},
    {"net.routing", KEY_NAME, FIELD(net_routing), 1, "minimal",
     "how routes are chosen: minimal, dmodk, ecmp, valiant, adaptive"},
    {"net.packet.transport", KEY_NAME, FIELD(packet_transport), 1, "tcp",
     "what carries messages as packets (model packet): tcp, sctp, message"},
    {"net.packet.fabric", KEY_NAME, FIELD(packet_fabric), 1, "drop-tail",
     "queues of switches: drop-tail, red, ecn; credit, pfc: nothing is dropped"},
    {"net.packet.mtu", KEY_SIZE, FIELD(packet_mtu), 1, "1500",
     "most bytes of a packet on a link, with the headers of the transport, without framing; the "
     "least of a route counts"},
    {"net.packet.framing", KEY_SIZE, FIELD(packet_framing), 0, "38",
     "bytes that a link adds to a packet; Ethernet: 38, with preamble and gap"},
    {"net.packet.header", KEY_SIZE, FIELD(packet_header), 1, "40",
     "bytes that the MPI library adds to a message"},
    {"net.packet.error_rate", KEY_FACTOR, FIELD(packet_error_rate), 0, "0",
     "probability that a link loses a packet, from 0 to below 1; net.links has those of single links"},
    {"net.packet.seed", KEY_COUNT, FIELD(packet_seed), 0, "1",
     "seed of all random choices of the packet network"},
    {"net.packet.queue", KEY_SIZE, FIELD(packet_queue), 1, "256KiB",
     "queue of each port of a switch (fabrics that drop)"},
    {"net.packet.mark_above", KEY_SIZE, FIELD(packet_mark_above), 0, "64KiB",
     "fabric ecn: packets that find more than this in the queue are marked"},
    {"net.packet.red_low", KEY_SIZE, FIELD(packet_red_low), 0, "64KiB",
     "fabric red: mean queue above which packets are dropped; rate control: marked"},
    {"net.packet.red_high", KEY_SIZE, FIELD(packet_red_high), 1, "192KiB",
     "fabric red: mean length above which all are dropped"},
    {"net.packet.red_chance", KEY_FACTOR, FIELD(packet_red_chance), 0, "0.1",
     "fabric red: probability of a drop just below red_high"},
    {"net.packet.red_weight", KEY_FACTOR, FIELD(packet_red_weight), 1, "0.002",
     "fabric red: weight of the present length in the mean"},
    {"net.packet.buffer", KEY_SIZE, FIELD(packet_buffer), 1, "64KiB",
     "fabrics credit, pfc: buffer at the end of a link, for each of its virtual channels"},
    {"net.packet.channels", KEY_COUNT, FIELD(packet_channels), 0, "0",
     "fabrics credit, pfc: virtual channels of a link; 0: as many as exclude deadlocks"},
    {"net.packet.pause_above", KEY_SIZE, FIELD(packet_pause_above), 0, "0",
     "fabric pfc: bytes in a buffer above which its sender pauses; 0: as many as leave room for "
     "what is sent until then"},
    {"net.packet.resume_below", KEY_SIZE, FIELD(packet_resume_below), 0, "0",
     "fabric pfc: bytes in a buffer at which its sender resumes; 0: two packets below pause_above"},
    {"net.packet.send_buffer", KEY_SIZE, FIELD(packet_send_buffer), 1, "1MiB",
     "send buffer of a connection: a full one holds the sender back"},
    {"net.packet.receive_buffer", KEY_SIZE, FIELD(packet_receive_buffer), 1, "1MiB",
     "receive buffer of a connection (transports tcp, sctp)"},
    {"net.packet.read_bandwidth", KEY_BANDWIDTH, FIELD(packet_read_bandwidth), 1, "inf",
     "TCP: how fast the receiver of a connection takes data from its buffer"},
    {"net.packet.congestion", KEY_NAME, FIELD(packet_congestion), 1, "cubic",
     "congestion control of TCP: cubic, newreno, bbr, swift, dctcp (with ecn)"},
    {"net.packet.initial_window", KEY_COUNT, FIELD(packet_initial_window), 1, "10",
     "TCP, SCTP: packets that may be sent before the first acknowledgement"},
    {"net.packet.window_scale", KEY_COUNT, FIELD(packet_window_scale), 0, "7",
     "TCP: the largest window offered is 65535 bytes, doubled this many times; up to 14"},
    {"net.packet.min_rto", KEY_TIME, FIELD(packet_min_rto), 1, "200ms",
     "TCP, SCTP: least time after which a packet is sent again; for SCTP in milliseconds"},
    {"net.packet.first_rto", KEY_TIME, FIELD(packet_first_rto), 1, "1s",
     "TCP, SCTP: this time before any round trip has been measured"},
    {"net.packet.delayed_ack", KEY_TIME, FIELD(packet_delayed_ack), 0, "40ms",
     "TCP, SCTP: how long a receiver may wait before it acknowledges; 0: not at all"},
    {"net.packet.target_delay", KEY_TIME, FIELD(packet_target_delay), 1, "25us",
     "TCP with swift: how long packets may wait in queues, beside the time of the empty path"},
    {"net.packet.jitter", KEY_TIME, FIELD(packet_jitter), 0, "1us",
     "TCP, SCTP: a packet leaves its node up to this much later, at random"},
    {"net.packet.sack", KEY_FLAG, FIELD(packet_sack), 0, "true",
     "TCP: receivers say which segments they have (selective acknowledgements)"},
    {"net.packet.nagle", KEY_FLAG, FIELD(packet_nagle), 0, "false",
     "TCP, SCTP: a small packet waits while others are not acknowledged"},
    {"net.packet.hystart", KEY_FLAG, FIELD(packet_hystart), 0, "true",
     "TCP with cubic: slow start ends when the path is full, not when a packet is lost"},
    {"net.packet.rack", KEY_FLAG, FIELD(packet_rack), 0, "true",
     "TCP with sack: losses are found by time, too, and the end of data is probed (RFC 8985)"},
    {"net.packet.restart_idle", KEY_FLAG, FIELD(packet_restart_idle), 0, "true",
     "TCP: the window of a connection that sent nothing for a retransmission time becomes small again"},
    {"net.packet.small_queue", KEY_FLAG, FIELD(packet_small_queue), 0, "true",
     "TCP: a connection has only what it sends in 2 ms in the queue of its node (not with lossless fabrics)"},
    {"net.packet.rate_control", KEY_NAME, FIELD(packet_rate_control), 1, "none",
     "transport message: none, or dcqcn: senders slow down when packets are marked"},
    {"net.packet.streams", KEY_NAME, FIELD(packet_streams), 1, "one",
     "SCTP: messages that share a stream, which others overtake: one, communicator, tag"},
    {"net.packet.stream_count", KEY_COUNT, FIELD(packet_stream_count), 1, "16",
     "SCTP: streams of an association, unless net.packet.streams is one"},
    {"net.intra.latency", KEY_TIME, FIELD(intra_latency), 0, "500ns",
     "time of an empty message between ranks of a node (not model constant)"},
    {"net.intra.bandwidth", KEY_BANDWIDTH, FIELD(intra_bandwidth), 1, "40Gbps",
     "bandwidth between two ranks of a node (not model constant)"},
    {"net.intra.memory_bandwidth", KEY_BANDWIDTH, FIELD(intra_memory), 1, "inf",
     "bandwidth that all ranks of a node share (model flow)"},
    {"net.topology.kind", KEY_NAME, FIELD(topo_kind), 1, "switch",
     "switch, star, torus, mesh, fat-tree, dragonfly, hypercube, graph"},
    {"net.topology.dims", KEY_DIMS, FIELD(topo_dims), 0, "",
     "torus, mesh: size per dimension, such as 8x8x4; hypercube: how many"},
    {"net.topology.down", KEY_DIMS, FIELD(topo_down), 0, "",
     "fat tree: children of a switch per level, from the bottom, such as 16x8x8"},
    {"net.topology.up", KEY_DIMS, FIELD(topo_up), 0, "",
     "fat tree: parents per level, from the nodes, such as 1x8x4"},
    {"net.topology.parallel", KEY_DIMS, FIELD(topo_parallel), 0, "",
     "fat tree: cables to each parent, per level"},
    {"net.topology.groups", KEY_COUNT, FIELD(topo_groups), 0, "0", "dragonfly: groups"},
    {"net.topology.routers", KEY_COUNT, FIELD(topo_routers), 0, "0",
     "dragonfly: routers in a group"},
    {"net.topology.nodes", KEY_COUNT, FIELD(topo_nodes), 1, "1",
     "dragonfly, torus, mesh, hypercube: nodes at a router"},
    {"net.topology.global", KEY_COUNT, FIELD(topo_global), 0, "0",
     "dragonfly: links of a router to other groups"},
    {"net.topology.bandwidth", KEY_BANDWIDTH, FIELD(topo_bandwidth), 0, "0",
     "bandwidth of a link between switches; 0: as net.bandwidth"},
    {"net.topology.global_bandwidth", KEY_BANDWIDTH, FIELD(topo_global_bandwidth), 0, "0",
     "dragonfly: bandwidth of a link between groups; 0: as others"},
    {"net.topology.global_latency", KEY_TIME, FIELD(topo_global_latency), 0, "0s",
     "dragonfly: latency that a link between groups adds to that of the hop"},
    {"net.topology.file", KEY_PATH, FIELD(topo_file), 0, "", "graph: a file of its links"},
    {"mpi.eager_limit", KEY_SIZE, FIELD(mpi_eager_limit), 0, "64KiB",
     "larger messages wait for their receive (rendezvous)"},
    {"mpi.send_overhead", KEY_TIME, FIELD(mpi_send_overhead), 0, "0s",
     "processor time of the sender per message"},
    {"mpi.recv_overhead", KEY_TIME, FIELD(mpi_recv_overhead), 0, "0s",
     "processor time of the receiver per message"},
    {"mpi.send_per_kib", KEY_TIME, FIELD(mpi_send_per_kib), 0, "0s",
     "processor time of the sender per 1024 bytes"},
    {"mpi.recv_per_kib", KEY_TIME, FIELD(mpi_recv_per_kib), 0, "0s",
     "processor time of the receiver per 1024 bytes"},
    {"mpi.unexpected_cost", KEY_TIME, FIELD(mpi_unexpected_cost), 0, "0s",
     "additional processor time of the receiver for an unexpected message"},
    {"mpi.unexpected_per_kib", KEY_TIME, FIELD(mpi_unexpected_per_kib), 0, "0s",
     "the same per 1024 bytes"},
    {"mpi.request_cost", KEY_TIME, FIELD(mpi_request_cost), 0, "0s",
     "additional processor time of each non-blocking send or receive"},
    {"mpi.match_cost", KEY_TIME, FIELD(mpi_match_cost), 0, "0s",
     "processor time of a message received, for each other receive that was pending"},
    {"mpi.peer_cost", KEY_TIME, FIELD(mpi_peer_cost), 0, "0s",
     "additional processor time of a send if the previous one went to another rank"},
    {"mpi.test_cost", KEY_TIME, FIELD(mpi_test_cost), 1, "100ns",
     "time of MPI_Test*, MPI_Iprobe, MPI_Improbe and of a yield"},
    {"mpi.clock_cost", KEY_TIME, FIELD(mpi_clock_cost), 1, "25ns", "time of reading any clock"},
    {"mpi.spawn_cost", KEY_TIME, FIELD(mpi_spawn_cost), 0, "10ms",
     "time of MPI_Comm_spawn to start ranks, however many"},
    {"mpi.collectives", KEY_NAME, FIELD(mpi_collectives), 1, "mpich",
     "how collectives are carried out: as mpich or openmpi choose, or model: by a formula"},
    {"mpi.collective_factor", KEY_FACTOR, FIELD(mpi_collective_factor), 0, "1",
     "with mpi.collectives=model multiplies their time; 0: they cost nothing"},
    ALGORITHM(0, "barrier", "MPI_Barrier"),
    ALGORITHM(1, "bcast", "MPI_Bcast"),
    ALGORITHM(2, "gather", "MPI_Gather"),
    ALGORITHM(3, "gatherv", "MPI_Gatherv"),
    ALGORITHM(4, "scatter", "MPI_Scatter"),
    ALGORITHM(5, "scatterv", "MPI_Scatterv"),
    ALGORITHM(6, "allgather", "MPI_Allgather"),
    ALGORITHM(7, "allgatherv", "MPI_Allgatherv"),
    ALGORITHM(8, "alltoall", "MPI_Alltoall"),
    ALGORITHM(9, "alltoallv", "MPI_Alltoallv"),
    ALGORITHM(10, "alltoallw", "MPI_Alltoallw"),
    ALGORITHM(11, "reduce", "MPI_Reduce"),
    ALGORITHM(12, "allreduce", "MPI_Allreduce"),
    ALGORITHM(13, "reduce_scatter", "MPI_Reduce_scatter"),
    ALGORITHM(14, "reduce_scatter_block", "MPI_Reduce_scatter_block"),
    ALGORITHM(15, "scan", "MPI_Scan"),
    ALGORITHM(16, "exscan", "MPI_Exscan"),
    {"io.servers", KEY_COUNT, FIELD(io_servers), 1, "4", "file servers"},
    {"io.stripe", KEY_SIZE, FIELD(io_stripe), 1, "1MiB",
     "bytes of a file on one server before the next server has its turn"},
    {"io.latency", KEY_TIME, FIELD(io_latency), 0, "100us", "time of a server for each request"},
    {"io.bandwidth", KEY_BANDWIDTH, FIELD(io_bandwidth), 1, "8Gbps",
     "bandwidth of a server, or 'inf'"},
    {"io.open_cost", KEY_TIME, FIELD(io_open_cost), 0, "1ms",
     "time of a server to open, delete or resize a file"},
};
#define KEYS (sizeof keys / sizeof keys[0])

const struct key *config_keys(size_t *count)
{
    *count = KEYS;
    return keys;
}

void platform_config_init(struct platform_config *config)
{
    memset(config, 0, sizeof *config);
    field_defaults(keys, KEYS, config);
}

size_t platform_config_count(void)
{
    return KEYS;
}

const char *platform_config_key(size_t i)
{
    assert(i < KEYS);
    return keys[i].name;
}

const char *platform_config_text(size_t i)
{
    assert(i < KEYS);
    return keys[i].help;
}

void platform_config_value(const struct platform_config *config, size_t i, struct buf *out)
{
    assert(i < KEYS);
    field_print(&keys[i], config, out);
}

void platform_setting_help(size_t i, struct buf *out)
{
    assert(i < KEYS);
    field_help(&keys[i], "", out);
}

void platform_config_help(struct buf *out)
{
    for (size_t i = 0; i < KEYS; i++)
        platform_setting_help(i, out);
}
