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

enum key_type { KEY_TIME, KEY_BANDWIDTH, KEY_SIZE, KEY_COUNT, KEY_FACTOR, KEY_NAME };

struct key {
    const char *name;
    enum key_type type;
    size_t offset;
    int positive; /* 0 is refused */
    const char *value, *help;
};

#define FIELD(member) offsetof(struct platform_config, member)

static const struct key keys[] = {
    {"nodes.speed", KEY_FACTOR, FIELD(nodes_speed), 1, "1",
     "speed of a processor relative to this computer: measured time is divided by it"},
    {"nodes.ranks", KEY_COUNT, FIELD(nodes_ranks), 1, "1", "ranks on each node"},
    {"net.model", KEY_NAME, FIELD(net_model), 1, "constant", "network model"},
    {"net.latency", KEY_TIME, FIELD(net_latency), 0, "50us", "time of an empty message"},
    {"net.bandwidth", KEY_BANDWIDTH, FIELD(net_bandwidth), 1, "1Gbps",
     "bandwidth between two ranks, or 'inf'"},
    {"net.latency_factor", KEY_FACTOR, FIELD(net_latency_factor), 0, "1",
     "multiplies the latency"},
    {"net.bandwidth_factor", KEY_FACTOR, FIELD(net_bandwidth_factor), 1, "1",
     "multiplies the bandwidth"},
    {"mpi.eager_limit", KEY_SIZE, FIELD(mpi_eager_limit), 0, "64KiB",
     "larger messages wait for their receive (rendezvous)"},
    {"mpi.send_overhead", KEY_TIME, FIELD(mpi_send_overhead), 0, "0s",
     "processor time of the sender per message"},
    {"mpi.recv_overhead", KEY_TIME, FIELD(mpi_recv_overhead), 0, "0s",
     "processor time of the receiver per message"},
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

static int parse_name(const char *text, char *out, struct err *err)
{
    size_t size = sizeof((struct platform_config *)0)->net_model;
    if (!*text || strlen(text) >= size)
        return err_set(err, ERR_INPUT, "bad name '%s': expected 1 to %zu characters", text,
                       size - 1);
    memset(out, 0, size);
    memcpy(out, text, strlen(text));
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
        char name[sizeof((struct platform_config *)0)->net_model];
    } value;
    size_t size = sizeof value.time;
    int zero = 0, rc = ERR_INTERNAL;
    switch (key->type) {
    case KEY_TIME:
        rc = units_parse_time(text, &value.time, err);
        zero = rc == 0 && value.time == 0;
        break;
    case KEY_BANDWIDTH:
        rc = units_parse_bandwidth(text, &value.number, err);
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
        rc = parse_name(text, value.name, err);
        size = sizeof value.name;
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
    switch (key->type) {
    case KEY_TIME:
        memcpy(&time, from, sizeof time);
        print_time(time, out);
        break;
    case KEY_BANDWIDTH:
        memcpy(&number, from, sizeof number);
        buf_adds(out, isinf(number) ? "inf" : units_format_double(text, sizeof text, number));
        buf_adds(out, isinf(number) ? "" : "bps");
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
        buf_adds(out, from);
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
