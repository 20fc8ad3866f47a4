/*
 * topology_internal.h - what the drawings of topologies share. Never included outside draw/.
 */
#ifndef DRAW_TOPOLOGY_INTERNAL_H
#define DRAW_TOPOLOGY_INTERNAL_H

#include "draw/svg.h"
#include "draw/topology.h"

#define TOPOLOGY_LEFT 30.0
#define TOPOLOGY_TOP 80.0
#define TOPOLOGY_INK "#222222"
#define TOPOLOGY_NODE_FILL "#f4f4f4"
#define TOPOLOGY_SWITCH_FILL "#33415c"
#define TOPOLOGY_BANDS_MAX 6

struct topology_picture {
    double left_out; /* the most by which the topology exceeds the square; 0: not at all */
    struct svg svg;
    const struct topo *topo;
    const struct platform *platform;
    uint32_t nodes, vertices;
    uint32_t groups;                  /* of a dragonfly; otherwise 0 */
    double least, most;               /* bandwidths of links that are up; most 0: none */
    double bands[TOPOLOGY_BANDS_MAX]; /* the first different ones */
    size_t band_count;
    int any_down;
    int is_sized; /* else the topology is a sample of any number of nodes */
};

/* The bandwidth of a link at the start, after net.bandwidth_factor; the colour of one. */
double draw_topology_bandwidth_of(const struct topology_picture *, uint32_t link);
void draw_topology_colour_of(const struct topology_picture *, double bandwidth,
                             char out[SVG_COLOUR_MAX]);

/* Place i of n on a circle, clockwise from the top. */
void draw_topology_on_circle(double cx, double cy, double radius, double i, double n, double *x,
                             double *y);

/* A link of a dragonfly between two switches: how far it is bent, and how wide it is drawn. */
double draw_topology_bend(const struct topology_picture *, uint32_t v, uint32_t peer);
double draw_topology_width(const struct topology_picture *, uint32_t v, uint32_t peer);
/* Numbers of groups outside of a drawing of all vertices, around its middle. */
void draw_topology_label_groups(struct topology_picture *, double cx, double cy, double radius);
/* Groups and what joins them, of a dragonfly too large to draw all of it. */
void draw_topology_groups(struct topology_picture *, double cx, double cy, double radius);

/* Draws the levels of the topology, and its groups or the neighbours of a switch. */
void draw_topology_summary(struct topology_picture *);

#endif
