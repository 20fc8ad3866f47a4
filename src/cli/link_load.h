/*
 * The load of links over time: every message of a trace is routed through the topology of a
 * machine, and its bytes are spread over the time from its send to its receive. What collectives
 * send within themselves is not in a trace.
 */
#ifndef CLI_LINK_LOAD_H
#define CLI_LINK_LOAD_H

#include "analysis/analysis.h"
#include "analysis/table.h"
#include "base/map.h"
#include "net/topology/topology.h"

#define LINK_LOAD_BINS 64 /* of time; they become wider as time goes on */

struct link_load {
    struct topo *topo;
    const struct platform *machine;
    int64_t *nodes; /* of ranks */
    uint64_t ranks;
    double tick;          /* seconds */
    int64_t begin, width; /* ticks: when the first bin begins, and how wide they are */
    struct map numbers;   /* of links, + 1 */
    struct link_bins {
        uint32_t link;
        double bytes[LINK_LOAD_BINS];
    } * links;
    size_t count;
    uint64_t salt;
    struct topo_route route;
    struct err err; /* the first message without a route; code 0: none */
    struct analysis_watch watch;
};

/* Reads which rank is on which node. The machine is borrowed. Give &l->watch to analysis_run. */
int link_load_init(struct link_load *, const char *trace, const struct platform *, struct err *);
void link_load_fini(struct link_load *);

/* Adds the table "links" of the group "links": bytes, share of the run time and of the busiest bin
 * in which a link was busy, and that of every bin. */
void link_load_table(const struct link_load *, const struct analysis *, struct tables *);
/* The busiest links, for people. */
void link_load_text(const struct link_load *, const struct analysis *, struct buf *out);

#endif
