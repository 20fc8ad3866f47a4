/*
 * definitions.h - what all ranks of a trace share. On disk a definition is a varint kind, a varint
 * number of bytes, and the bytes:
 *
 *     NODES       array: the node of each rank, in order
 *     NODE        varint node, then its name
 *     COMM        u64 identity, varint kind, array of world ranks, array of the other group's world
 *                 ranks (if there is one)
 *     COMM_NAME   u64 identity, then the name
 *     SITE        u64 identity, then the text ("solve (cg.c:120) < main (cg.c:30)"); in parts
 *                 addresses, see merge.h
 *     CLOCK       u64 identity, zigzag time, offset and error of a clock compared with that of
 *                 rank 0 (clocks.h)
 *     CLOCK_RANK  u64 identity of a clock, varint rank that uses it, zigzag time at which the rank
 *                 began
 *     TOPOLOGY, VERTEX, LINK, LINK_LOAD, VECTOR: the links of a simulated machine, what they
 *                 carried, and values over time (network.h)
 *
 * Every process writes the definitions it knows, so parts repeat them; a complete file has each
 * once, sorted by kind and bytes. The identity of a communicator is the same on all its ranks
 * (recorder).
 */
#ifndef TRACE_DEFINITIONS_H
#define TRACE_DEFINITIONS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/map.h"
#include "trace/network.h"

enum trace_definition {
    TRACE_NODES = 1,
    TRACE_NODE,
    TRACE_COMM,
    TRACE_COMM_NAME,
    TRACE_SITE,
    TRACE_CLOCK,
    TRACE_CLOCK_RANK,
    TRACE_TOPOLOGY,
    TRACE_VERTEX,
    TRACE_LINK,
    TRACE_LINK_LOAD,
    TRACE_VECTOR,
};

enum trace_comm_kind {
    TRACE_COMM_INTRA,
    TRACE_COMM_INTER,
    /* Added to the kind in local definitions: the rank's neighbours follow (local.h). */
    TRACE_COMM_TOPOLOGY = 2,
};

#define TRACE_COMM_WORLD UINT64_C(0) /* identity; not written */
/* Identity of a rank's MPI_COMM_SELF. */
#define TRACE_COMM_SELF(rank) (UINT64_C(1) << 63 | (uint64_t)(rank))

struct trace_comm {
    uint64_t identity;
    int kind;                      /* enum trace_comm_kind */
    const char *name;              /* NULL: it has none */
    const int64_t *ranks, *others; /* world ranks; NULL: 0, 1, 2, ... */
    uint64_t size, other_size;
};

struct trace_definitions {
    int64_t *nodes; /* of each rank; NULL: not known */
    /* Ranks whose node is recorded; the others are assumed to be on the first node. */
    uint64_t nodes_known;
    uint64_t node_count;
    struct trace_comm *comms;
    size_t comm_count;
    struct map comm_by_identity; /* to number + 1 */
    struct trace_site {
        uint64_t identity;
        const char *text;
    } * sites;
    size_t site_count;
    struct map site_by_identity;
    struct trace_node_name {
        uint64_t node;
        const char *text;
    } * node_names;
    size_t node_name_count;
    struct trace_network network; /* that it was simulated on */
    void *memory;                 /* a list of what the above points to */
};

void trace_definitions_init(struct trace_definitions *);
void trace_definitions_fini(struct trace_definitions *);
/* Adds the definitions of a frame; skips those that are known already or of an unknown kind. */
int trace_definitions_read(struct trace_definitions *, const uint8_t *payload, size_t bytes,
                           uint64_t ranks, struct err *);
/* After all definitions were read, for this number of ranks. */
void trace_definitions_fill(struct trace_definitions *, uint64_t ranks);
/* NULL: not known. */
const struct trace_comm *trace_definitions_comm(const struct trace_definitions *,
                                                uint64_t identity);
const char *trace_definitions_site(const struct trace_definitions *, uint64_t identity);

/* Iterates over the definitions of a frame, starting with *at = payload. Returns 1 with the next
 * one, 0 at the end, or -1 if it is damaged. `data` and `bytes` are the whole definition with its
 * kind; `body` follows kind and size. */
int trace_definitions_next(const uint8_t **at, const uint8_t *end, unsigned *kind,
                           const uint8_t **data, size_t *bytes, const uint8_t **body);

#endif
