/*
 * routed.h - the load of links for traces that do not have it: every message is routed through the
 * topology of a machine, and its bytes are spread over the time from its send to its receive. What
 * collectives send within themselves is not in a trace.
 */
#ifndef REPORT_ROUTED_H
#define REPORT_ROUTED_H

#include "analysis/analysis.h"
#include "net/topology/topology.h"
#include "trace/network.h"
#include "trace/reader.h"

struct routed {
    const struct platform *machine;
    struct topo *topo;
    int64_t *nodes; /* of ranks */
    double tick;    /* seconds */
    int64_t begin;  /* tick at which the first bin begins */
    uint64_t salt;
    struct topo_route route;
    struct bins load;
    struct err err; /* the first message without a route; code 0: none */
};

/* Reads the node of each rank from the trace. The machine is borrowed. */
int routed_init(struct routed *, const struct trace *, const struct platform *, struct err *);
void routed_fini(struct routed *);

/* A message: struct analysis_watch's `transfer`. */
void routed_take(void *routed, uint32_t from, uint32_t to, uint64_t bytes, int64_t sent,
                 int64_t received);
/* Fills in a->links, after all messages. */
void routed_finish(struct routed *, struct analysis *a);

#endif
