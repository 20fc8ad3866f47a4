/*
 * config.h - the machine to simulate, as plain values.
 *
 * One table (config.c) names every key with its type, default and help; it serves --set, the
 * defaults, `orrery run --help` and the manual.
 */
#ifndef PLATFORM_CONFIG_H
#define PLATFORM_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/vtime.h"

struct platform_config {
    /* nodes */
    double nodes_speed;          /* program time on the machine = host time / speed */
    uint64_t nodes_ranks;        /* ranks per node */
    /* net */
    char net_model[16];          /* a name in net's table */
    vtime net_latency;
    double net_bandwidth;        /* bits per second; INFINITY allowed */
    double net_latency_factor;   /* multiply latency ... */
    double net_bandwidth_factor; /* ... and bandwidth */
    /* mpi */
    uint64_t mpi_eager_limit;    /* larger messages use rendezvous */
    vtime mpi_send_overhead;     /* sender's processor, per message */
    vtime mpi_recv_overhead;     /* receiver's processor, per message */
    vtime mpi_test_cost;         /* MPI_Test*, MPI_Iprobe, MPI_Improbe, yields */
    vtime mpi_clock_cost;        /* reading any clock */
    /* io */
    uint64_t io_servers;         /* file servers */
    uint64_t io_stripe;          /* bytes of a file on one server before the next one's */
    vtime io_latency;            /* of a server, per request */
    double io_bandwidth;         /* of a server, bits per second; INFINITY allowed */
    vtime io_open_cost;          /* of a server, per metadata operation */
};

/* Fills in every default. */
void platform_config_init(struct platform_config *);

/* Applies "key=value,key=value". On error nothing after the bad item is applied and err says which
 * key or value, and what is allowed. */
int platform_config_set(struct platform_config *, const char *assignments, struct err *);

/* One entry per key for help texts, wrapped to 80 columns: name, default, what it is. */
void platform_config_help(struct buf *out);

/* Keys by number, 0 <= i < count, in the order of the table, and what they are. Texts are static. */
size_t platform_config_count(void);
const char *platform_config_key(size_t i);
const char *platform_config_text(size_t i);

/* Appends the value of key i as platform_config_set takes it; reading it back gives the same
 * value to the last bit. */
void platform_config_value(const struct platform_config *, size_t i, struct buf *out);

/* Appends "key=value" of every key, comma separated, as platform_config_set takes it. */
void platform_config_print(const struct platform_config *, struct buf *out);

#endif
