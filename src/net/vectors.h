/*
 * vectors.h - values over time that a network model records: lengths of queues, windows and round
 * trips of connections (--vectors).
 *
 * A vector keeps up to NET_VECTOR_SAMPLES samples. It has all of them until it is full; then two
 * neighbours become one, and those that follow are merged while they are closer together than the
 * vector's spacing, which doubles each time. A merged sample has the time of the first, and the
 * least, the greatest and the last value.
 *
 * Out of memory ends the process. Nothing here switches.
 */
#ifndef NET_VECTORS_H
#define NET_VECTORS_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/vtime.h"
#include "net/port_names.h"

#define NET_VECTOR_SAMPLES 512
#define NET_VECTORS_MOST 2048 /* more than that are counted, but not kept */

struct net_sample {
    vtime t;
    uint64_t least, most, last;
};

/* What is measured: name, unit, and whether values are times in picoseconds. */
#define NET_VECTOR_KINDS(X)         \
    X(QUEUE, "queue", "bytes", 0)   \
    X(WINDOW, "window", "bytes", 0) \
    X(RTT, "rtt", "s", 1)

#define NET_VECTOR_ENUM(name, text, unit, is_time) NET_VECTOR_##name,
enum net_vector_kind { NET_VECTOR_KINDS(NET_VECTOR_ENUM) NET_VECTOR_KIND_COUNT };
#undef NET_VECTOR_ENUM

struct net_vector {
    char name[NET_NAME_MAX]; /* "queue.s0-n3", "window.r0-r1" */
    enum net_vector_kind kind;
    vtime spacing; /* 0: all samples are there */
    struct net_sample *at;
    uint32_t count, room;
};

struct net_vectors {
    const char *pattern; /* borrowed; patterns of names (net_name_matches) */
    struct net_vector **list;
    uint32_t count, room;
    uint64_t left_out;
};

int net_vector_is_time(enum net_vector_kind);

void net_vectors_init(struct net_vectors *, const char *pattern);
void net_vectors_fini(struct net_vectors *);
/* A new vector of `place`, such as a port; NULL if nobody wants it, or if there are too many. */
struct net_vector *net_vectors_add(struct net_vectors *, enum net_vector_kind, const char *place);
/* Adds a value; times do not decrease. */
void net_vector_put(struct net_vector *, vtime t, uint64_t value);

/* As JSON, or as CSV: vector,unit,time_s,least,most,last. */
void net_vectors_json(const struct net_vectors *, struct buf *out);
void net_vectors_csv(const struct net_vectors *, struct buf *out);

#endif
