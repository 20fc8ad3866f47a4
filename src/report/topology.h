/*
 * topology.h - a topology as a picture.
 */
#ifndef REPORT_TOPOLOGY_H
#define REPORT_TOPOLOGY_H

#include "base/buf.h"
#include "net/topology/topology.h"

/* Appends an SVG picture. Up to REPORT_TOPOLOGY_FULL vertices all are drawn, with every link; of larger
 * ones the structure: levels of switches with their numbers and links, groups, one switch with its
 * neighbours. O(vertices + links). */
#define REPORT_TOPOLOGY_FULL 600
void report_topology(const struct topo *, const struct platform *, struct buf *out);

#endif
