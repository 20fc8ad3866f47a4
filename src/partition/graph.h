/*
 * graph.h - the undirected graph of who sends to whom, in the layout that METIS takes (compressed
 * rows), and the cut of a partition of it. Nothing here switches.
 */
#ifndef PARTITION_GRAPH_H
#define PARTITION_GRAPH_H

#include <stdint.h>

#include "base/err.h"
#include "results/stats_read.h"

/*
 * A vertex is a rank, a group of ranks (aggregated statistics), or a bundle of ranks that send to
 * no other. The neighbours of v, ascending and without v, are neighbour[row[v]] to
 * neighbour[row[v + 1] - 1]; each edge is there from both ends.
 *
 * The weight of an edge is the number of messages in both directions. If their sum exceeds 2^28,
 * weights are scaled down to that, but to no less than 1, so all sums fit in 31 bits.
 */
struct partition_graph {
    int32_t count;
    int32_t *row, *neighbour, *weight;
    int32_t *size;       /* ranks of a vertex */
    uint32_t *first;     /* its smallest rank; ascending for vertices with edges */
    uint32_t ranks;      /* of all vertices */
    uint32_t *vertex_of; /* by entry of the statistics (rank or group) */
};

/*
 * Builds the graph of statistics, for `procs` parts: ranks without messages to others are bundled,
 * up to 1/128 of a part. O(ranks + pairs). Release with partition_graph_fini. ERR_MEMORY.
 */
int partition_graph_init(struct partition_graph *graph, const struct results_stats *stats,
                         uint32_t procs, struct err *err);
void partition_graph_fini(struct partition_graph *graph);

/* The sum of the weights of all edges between different parts. O(edges). */
int64_t partition_graph_cut(const struct partition_graph *graph, const int32_t *part);

#endif
