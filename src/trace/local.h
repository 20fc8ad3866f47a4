/*
 * local.h - what the handles of one rank mean: its local definitions, by kind and local number.
 * Numbers are never reused, so they mean the same throughout the trace. Communicators 0 and 1 are
 * MPI_COMM_WORLD and MPI_COMM_SELF; ranks that were spawned have a world of their own.
 */
#ifndef TRACE_LOCAL_H
#define TRACE_LOCAL_H

#include "trace/reader.h"

#define TRACE_LOCAL_WORLD 0
#define TRACE_LOCAL_SELF 1

struct trace_local_item {
    unsigned kind;       /* enum trace_head: TRACE_DEFINE_...; 0: not defined */
    const char *text;    /* name of a region, datatype, operation or file; "" if it has none */
    uint64_t identity;   /* of a communicator */
    int64_t rank;        /* of this rank in it */
    uint64_t size;       /* of the communicator, datatype or window; members of a group */
    uint64_t other_size; /* of an intercommunicator */
    /* Of a datatype; of a window: local number of its communicator, displacement unit. */
    int64_t lower, extent;
    int commutes;           /* an operation */
    const int64_t *members; /* of a group: world ranks */
    /* Of a communicator with a topology: this rank's neighbours, as ranks of it; -1: none there. */
    const int64_t *sources, *destinations;
    uint64_t source_count, destination_count;
    int has_topology;
};

struct trace_local {
    struct trace_table {
        struct trace_local_item *items;
        size_t count;
    } tables[TRACE_CALL]; /* by kind */
    void *memory;
};

/* Reads all local definitions of a rank; skips damaged ones. */
void trace_local_read(struct trace_local *, struct trace *, uint64_t rank);
void trace_local_fini(struct trace_local *);
/* trace_local_read in steps: init adds the definitions that every rank has, add one that was
 * read. */
void trace_local_init(struct trace_local *, uint64_t ranks, uint64_t rank);
void trace_local_add(struct trace_local *, const struct trace_event *);

/* The definition with this local number, or NULL. */
const struct trace_local_item *trace_local_find(const struct trace_local *, enum trace_head kind,
                                                int64_t number);
/* The kind of definition for handles of a role, or 0. */
enum trace_head trace_local_kind(const char *role);

#endif
