/*
 * The table of settings, and the generic code that reads, prints and explains it.
 *
 * Each key has one line in the table: name, type, field, default as text, bounds and help. The
 * defaults are parsed like any user's value, so the manual, --help and the program cannot differ.
 * Every value prints as a text that reads back to the same bits.
 */
#include "platform/config.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "base/units.h"

#define ASSIGNMENT_MAX 256

enum key_type { KEY_TIME, KEY_BANDWIDTH, KEY_SIZE, KEY_COUNT, KEY_FACTOR, KEY_NAME, KEY_PATH,
                KEY_DIMS };

struct key {
    const char *name;
    enum key_type type;
    size_t offset;
    int positive; /* 0 is refused */
    const char *value, *help;
};

#define FIELD(member) offsetof(struct platform_config, member)

static const struct key keys[] = {
    {"name", KEY_NAME, FIELD(name), 0, "", "a name of the machine, for reports"},
    {"nodes.count", KEY_COUNT, FIELD(nodes_count), 0, "0",
     "nodes of the machine; 0: as many as the ranks need"},
    {"nodes.ranks", KEY_COUNT, FIELD(nodes_ranks), 1, "1", "ranks on each node"},
    {"nodes.placement", KEY_NAME, FIELD(nodes_placement), 1, "block",
     "where ranks are: block, cyclic, or list (nodes.map in a file)"},
    {"nodes.speed", KEY_FACTOR, FIELD(nodes_speed), 1, "1",
     "speed of a processor relative to this computer: measured time is divided by it"},
    {"nodes.noise_period", KEY_TIME, FIELD(nodes_noise_period), 0, "0s",
     "the system interrupts every rank this often; 0: never"},
    {"nodes.noise_duration", KEY_TIME, FIELD(nodes_noise_duration), 0, "0s",
     "length of such an interruption"},
    {"nodes.noise_file", KEY_PATH, FIELD(nodes_noise_file), 0, "",
     "a file of recorded noise: start and duration per line"},
    {"net.model", KEY_NAME, FIELD(net_model), 1, "constant", "network model"},
    {"net.latency", KEY_TIME, FIELD(net_latency), 0, "50us",
     "time of an empty message, without the hops"},
    {"net.bandwidth", KEY_BANDWIDTH, FIELD(net_bandwidth), 1, "1Gbps",
     "bandwidth of a node's link, or 'inf'"},
    {"net.latency_factor", KEY_FACTOR, FIELD(net_latency_factor), 0, "1",
     "multiplies all latencies of the network"},
    {"net.bandwidth_factor", KEY_FACTOR, FIELD(net_bandwidth_factor), 1, "1",
     "multiplies all bandwidths of the network"},
    {"net.gap", KEY_TIME, FIELD(net_gap), 0, "0s",
     "least time between two messages that a rank sends (not model constant)"},
    {"net.hop_latency", KEY_TIME, FIELD(net_hop_latency), 0, "0s",
     "time that each switch on the way adds (models hops, flow)"},
    {"net.nic_bandwidth", KEY_BANDWIDTH, FIELD(net_nic_bandwidth), 1, "inf",
     "most that a node sends, or receives, in all (model flow)"},
    {"net.routing", KEY_NAME, FIELD(net_routing), 1, "minimal",
     "how ways are chosen: minimal, dmodk, ecmp, valiant, adaptive"},
    {"net.intra.latency", KEY_TIME, FIELD(intra_latency), 0, "500ns",
     "time of an empty message between ranks of a node (not model constant)"},
    {"net.intra.bandwidth", KEY_BANDWIDTH, FIELD(intra_bandwidth), 1, "40Gbps",
     "bandwidth between two ranks of a node (not model constant)"},
    {"net.intra.memory_bandwidth", KEY_BANDWIDTH, FIELD(intra_memory), 1, "inf",
     "what all ranks of a node have together (model flow)"},
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
     "dragonfly: latency of a link between groups, beside the hop's"},
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
    {"mpi.test_cost", KEY_TIME, FIELD(mpi_test_cost), 1, "100ns",
     "time of MPI_Test*, MPI_Iprobe, MPI_Improbe and of a yield"},
    {"mpi.clock_cost", KEY_TIME, FIELD(mpi_clock_cost), 1, "25ns", "time of reading any clock"},
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

static void *field(struct platform_config *config, const struct key *key)
{
    return (char *)config + key->offset;
}

static const void *field_const(const struct platform_config *config, const struct key *key)
{
    return (const char *)config + key->offset;
}

static int parse_name(const char *text, char *out, size_t size, struct err *err)
{
    if (strlen(text) >= size)
        return err_set(err, ERR_INPUT, "bad name '%s': expected at most %zu characters", text,
                       size - 1);
    memset(out, 0, size);
    memcpy(out, text, strlen(text));
    return 0;
}

/* "4x4x2"; nothing is none. */
static int parse_dims(const char *text, struct platform_dims *out, struct err *err)
{
    const char *at = text;
    memset(out, 0, sizeof *out);
    while (*at) {
        unsigned long value = 0;
        size_t digits = strspn(at, "0123456789");
        for (size_t i = 0; i < digits && i < 10; i++)
            value = 10 * value + (unsigned long)(at[i] - '0');
        if (digits == 0 || digits > 9 || value == 0 || out->count == PLATFORM_DIMS_MAX ||
            (at[digits] && (at[digits] != 'x' || !at[digits + 1])))
            return err_set(err, ERR_INPUT, "bad sizes '%s': expected up to %d numbers above 0, such "
                           "as 4x4x2", text, PLATFORM_DIMS_MAX);
        out->size[out->count++] = (uint32_t)value;
        at += digits + (at[digits] == 'x');
    }
    return 0;
}

/* Parses into a value of its own first: the field changes only on success. */
static int set_value(struct platform_config *config, const struct key *key, const char *text,
                     struct err *err)
{
    union {
        vtime time;
        double number;
        uint64_t count;
        char name[PLATFORM_NAME_MAX];
        char path[PLATFORM_PATH_MAX];
        struct platform_dims dims;
    } value;
    size_t size = sizeof value.time;
    int zero = 0, rc = ERR_INTERNAL;
    switch (key->type) {
    case KEY_TIME:
        rc = units_parse_time(text, &value.time, err);
        zero = rc == 0 && value.time == 0;
        break;
    case KEY_BANDWIDTH:
        if (!key->positive && strcmp(text, "0") == 0) {
            rc = 0;
            value.number = 0;
        } else {
            rc = units_parse_bandwidth(text, &value.number, err);
        }
        break;
    case KEY_FACTOR:
        rc = units_parse_double(text, &value.number, err);
        zero = rc == 0 && value.number == 0;
        break;
    case KEY_SIZE:
        rc = units_parse_size(text, &value.count, err);
        zero = rc == 0 && value.count == 0;
        break;
    case KEY_COUNT:
        rc = units_parse_count(text, &value.count, err);
        zero = rc == 0 && value.count == 0;
        break;
    case KEY_NAME:
        size = sizeof value.name;
        rc = parse_name(text, value.name, size, err);
        if (rc == 0 && key->positive && !*value.name)
            rc = err_set(err, ERR_INPUT, "must not be empty");
        break;
    case KEY_PATH:
        size = sizeof value.path;
        rc = parse_name(text, value.path, size, err);
        break;
    case KEY_DIMS:
        size = sizeof value.dims;
        rc = parse_dims(text, &value.dims, err);
        break;
    }
    if (rc == 0 && zero && key->positive)
        rc = err_set(err, ERR_INPUT, "must be greater than 0");
    if (rc)
        return err_prefix(err, "%s", key->name);
    memcpy(field(config, key), &value, size);
    return 0;
}

static const struct key *find_key(const char *name, struct err *err)
{
    struct nearest nearest = {.word = name};
    for (size_t i = 0; i < KEYS; i++) {
        if (strcmp(keys[i].name, name) == 0)
            return &keys[i];
        nearest_offer(&nearest, keys[i].name);
    }
    if (nearest.best)
        err_set(err, ERR_INPUT, "unknown setting '%s': did you mean '%s'?", name, nearest.best);
    else
        err_set(err, ERR_INPUT, "unknown setting '%s': 'orrery run --help' lists them", name);
    return NULL;
}

/* One "key=value" without the comma. */
static int set_one(struct platform_config *config, const char *item, size_t length,
                   struct err *err)
{
    char text[ASSIGNMENT_MAX];
    if (length >= sizeof text || memchr(item, 0, length))
        return err_set(err, ERR_INPUT, "setting '%.20s...' is too long", item);
    memcpy(text, item, length);
    text[length] = 0;
    char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return err_set(err, ERR_INPUT, "bad setting '%s': expected KEY=VALUE, such as "
                       "net.latency=10us", text);
    *equals = 0;
    const struct key *key = find_key(text, err);
    return key ? set_value(config, key, equals + 1, err) : ERR_INPUT;
}

int platform_config_set(struct platform_config *config, const char *assignments, struct err *err)
{
    for (const char *item = assignments;;) {
        size_t length = strcspn(item, ",");
        int rc = set_one(config, item, length, err);
        if (rc || !item[length])
            return rc;
        item += length + 1;
    }
}

void platform_config_init(struct platform_config *config)
{
    memset(config, 0, sizeof *config);
    for (size_t i = 0; i < KEYS; i++) {
        struct err err;
        int rc = set_value(config, &keys[i], keys[i].value, &err);
        assert(rc == 0);
        (void)rc;
    }
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

/* An integer in the largest unit that needs no fraction. */
static void print_time(vtime t, struct buf *out)
{
    static const struct {
        vtime size;
        const char *name;
    } units[] = {{VTIME_S, "s"}, {VTIME_MS, "ms"}, {VTIME_US, "us"}, {VTIME_NS, "ns"}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (t % units[i].size == 0) {
            buf_addf(out, "%lld%s", (long long)(t / units[i].size), units[i].name);
            return;
        }
    }
    buf_addf(out, "%lldps", (long long)t);
}

void platform_config_value(const struct platform_config *config, size_t i, struct buf *out)
{
    assert(i < KEYS);
    const struct key *key = &keys[i];
    const void *from = field_const(config, key);
    char text[UNITS_TEXT_MAX];
    vtime time;
    double number;
    uint64_t count;
    struct platform_dims dims;
    switch (key->type) {
    case KEY_TIME:
        memcpy(&time, from, sizeof time);
        print_time(time, out);
        break;
    case KEY_BANDWIDTH:
        memcpy(&number, from, sizeof number);
        buf_adds(out, isinf(number) ? "inf" : units_format_double(text, sizeof text, number));
        buf_adds(out, isinf(number) || number == 0 ? "" : "bps");
        break;
    case KEY_FACTOR:
        memcpy(&number, from, sizeof number);
        buf_adds(out, units_format_double(text, sizeof text, number));
        break;
    case KEY_SIZE:
    case KEY_COUNT:
        memcpy(&count, from, sizeof count);
        buf_addf(out, "%llu", (unsigned long long)count);
        break;
    case KEY_NAME:
    case KEY_PATH:
        buf_adds(out, from);
        break;
    case KEY_DIMS:
        memcpy(&dims, from, sizeof dims);
        for (uint32_t d = 0; d < dims.count; d++)
            buf_addf(out, "%s%u", d ? "x" : "", dims.size[d]);
        break;
    }
}

void platform_config_print(const struct platform_config *config, struct buf *out)
{
    for (size_t i = 0; i < KEYS; i++) {
        buf_addf(out, "%s%s=", i ? "," : "", keys[i].name);
        platform_config_value(config, i, out);
    }
}

void platform_config_help(struct buf *out)
{
    for (size_t i = 0; i < KEYS; i++) {
        char head[64];
        snprintf(head, sizeof head, "%s=%s", keys[i].name, keys[i].value);
        const char *text = keys[i].help;
        buf_addf(out, "  %-27s", head);
        if (strlen(head) > 27)
            buf_addf(out, "\n  %27s", "");
        /* 50 columns of help, broken at spaces */
        while (strlen(text) > 50) {
            size_t n = 50;
            while (n && text[n] != ' ')
                n--;
            buf_addf(out, " %.*s\n  %27s", (int)n, text, "");
            text += n + 1;
        }
        buf_addf(out, " %s\n", text);
    }
}
