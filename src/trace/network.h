/*
 * network.h - the links of the machine that a run was simulated on, and what they carried over
 * time: definitions (definitions.h) that `orrery run --trace` writes if the machine has a topology.
 *
 *     TOPOLOGY   varint nodes, vertices (nodes and switches), links; then its kind
 *     VERTEX     varint number, f32 x and y: where to draw it, in a square of side 1; nodes come
 *                before switches
 *     LINK       varint number, varint numbers of the vertices from which and to which it leads,
 *                f64 bytes per second
 *     VECTOR     varint bytes of the name, the name, varint 1: values are ticks, else 0; arrays of
 *                times, least and greatest values of samples
 *     LINK_LOAD  varint number of the link, varint width of a bin in ticks, array of bytes, bin by
 *                bin from time 0
 *
 * A small topology is recorded with all its links, a large one with those that carried something.
 * Each process of a run writes the links it knows; merging its parts adds up their loads. All bins
 * of a complete file have the same width.
 */
#ifndef TRACE_NETWORK_H
#define TRACE_NETWORK_H

#include <stddef.h>
#include <stdint.h>

#include "base/bins.h"
#include "base/buf.h"

struct trace_topology {
    const char *kind; /* NULL: there is none */
    uint64_t nodes, vertices, links;
};

struct trace_vertex {
    uint32_t number;
    float x, y;
};

struct trace_link {
    uint32_t number, from, to;
    double bandwidth; /* bytes per second; may be infinite */
};

struct trace_vector;
struct trace_network {
    struct trace_topology topology;
    struct trace_vertex *vertices;
    size_t vertex_count;
    struct trace_link *links;
    size_t link_count;
    struct bins load; /* by number of the link */
    struct trace_vector *vectors;
    size_t vector_count;
    int skips_load; /* set before it is read: of a part, as merging adds up what parts have */
};

struct trace_load {
    uint32_t link;
    uint64_t width, count, amounts[BINS_MOST];
};

/* A value over time, such as the length of a queue: samples that stand for all values from their
 * time to the next. */
struct trace_vector {
    const char *name;              /* "queue.s0-n3" */
    int is_time;                   /* values are ticks */
    int64_t *times, *least, *most; /* of the samples */
    uint64_t count;
};

/* Payloads of the definitions. */
void trace_topology_write(struct buf *, const struct trace_topology *);
void trace_vertex_write(struct buf *, const struct trace_vertex *);
void trace_link_write(struct buf *, const struct trace_link *);
void trace_load_write(struct buf *, const struct bins *, size_t row);
void trace_vector_write(struct buf *, const struct trace_vector *);
/* Returns -1 if it is damaged. */
int trace_load_read(const uint8_t *at, const uint8_t *end, struct trace_load *);

void trace_network_init(struct trace_network *);
void trace_network_fini(struct trace_network *);
/* Reads a definition; ignores those of other kinds. Returns 0, or -1 if it is damaged. */
int trace_network_take(struct trace_network *, unsigned kind, const uint8_t *at,
                       const uint8_t *end);

#endif
