/*
 * topology.h - draws a topology.
 */
#ifndef DRAW_TOPOLOGY_H
#define DRAW_TOPOLOGY_H

#include "base/buf.h"
#include "net/topology/topology.h"

/* Appends an SVG picture. Up to DRAW_TOPOLOGY_FULL vertices, all are drawn with every link; of
 * larger topologies only the structure: levels of switches with their numbers and links, groups,
 * one switch with its neighbours. `is_sized`: the machine has that many nodes; otherwise it has any
 * number, and this is a sample. A link is counted once, whatever its directions. O(vertices +
 * links). */
#define DRAW_TOPOLOGY_FULL 600
void draw_topology(const struct topo *, const struct platform *, int is_sized, struct buf *out);

#endif
