/*
 * topology.c - draws topologies. Links are coloured by bandwidth, on a logarithmic scale from the
 * smallest to the largest; those that are down at the start are red and dashed.
 *
 * Small topologies are drawn with the positions of topo_position. Large ones are summarised
 * (topology_summary.c).
 */
#include "draw/topology.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "draw/topology_internal.h"

#define WIDTH 1100.0
#define HEIGHT 860.0
#define SIDE 750.0 /* of the square for the graph */
#define EDGE 0.02  /* fraction of it that stays free if the graph must be scaled down */
#define LEGEND 830.0
#define SOFT "#777777"
#define DOWN "#cc0000"
#define LABEL_ANGLES 16 /* directions that a label may be in */

/* ---- links ---- */

double draw_topology_bandwidth_of(const struct topology_picture *p, uint32_t link)
{
    struct topo_link l;
    topo_link_at(p->topo, link, 0, &l);
    return l.bandwidth * p->platform->config.net_bandwidth_factor;
}

static void note_bandwidth(struct topology_picture *p, double b)
{
    if (b == 0) {
        p->any_down = 1;
        return;
    }
    if (p->most == 0 || b < p->least)
        p->least = b;
    if (b > p->most)
        p->most = b;
    for (size_t i = 0; i < p->band_count; i++)
        if (p->bands[i] == b)
            return;
    if (p->band_count < TOPOLOGY_BANDS_MAX)
        p->bands[p->band_count++] = b;
}

static void note_links(struct topology_picture *p)
{
    for (uint32_t v = 0; v < p->vertices; v++) {
        uint32_t degree = topo_degree(p->topo, v);
        for (uint32_t i = 0; i < degree; i++)
            note_bandwidth(p, draw_topology_bandwidth_of(p, topo_port_at(p->topo, v, i).link));
    }
}

void draw_topology_colour_of(const struct topology_picture *p, double bandwidth,
                             char out[SVG_COLOUR_MAX])
{
    double range = log(p->most / p->least);
    if (bandwidth == 0)
        snprintf(out, SVG_COLOUR_MAX, DOWN);
    else
        svg_scale(isfinite(range) && range > 0 ? 0.28 + 0.67 * log(bandwidth / p->least) / range
                                               : 0.45,
                  out);
}

/* ---- title and legend ---- */

static const char *name_of(const struct platform *platform)
{
    return *platform->config.name ? platform->config.name : "machine";
}

static void describe(const struct topology_picture *p, char *out, size_t size)
{
    char n[UNITS_TEXT_MAX], s[UNITS_TEXT_MAX], l[UNITS_TEXT_MAX];
    uint32_t switches = p->vertices - p->nodes;
    if (!p->is_sized) {
        snprintf(out, size, "%s: any number of nodes, one link each; %u are drawn",
                 p->platform->config.topo_kind, p->nodes);
        return;
    }
    snprintf(out, size, "%s: %s nodes, %s switch%s, %s links", p->platform->config.topo_kind,
             units_format_count(n, sizeof n, p->nodes), units_format_count(s, sizeof s, switches),
             switches == 1 ? "" : "es", units_format_count(l, sizeof l, topo_links(p->topo) / 2));
}

static void sort_bands(struct topology_picture *p)
{
    for (size_t i = 1; i < p->band_count; i++)
        for (size_t k = i; k > 0 && p->bands[k] > p->bands[k - 1]; k--) {
            double b = p->bands[k];
            p->bands[k] = p->bands[k - 1];
            p->bands[k - 1] = b;
        }
}

static void draw_legend(struct topology_picture *p)
{
    struct svg *s = &p->svg;
    double y = TOPOLOGY_TOP + 10;
    sort_bands(p);
    svg_circle(s, LEGEND + 12, y, 5, TOPOLOGY_NODE_FILL, TOPOLOGY_INK);
    svg_text(s, LEGEND + 32, y + 5, 14, SVG_START, TOPOLOGY_INK, "node");
    y += 26;
    svg_box(s, LEGEND + 6, y - 6, 12, 12, 2, TOPOLOGY_SWITCH_FILL, TOPOLOGY_SWITCH_FILL);
    svg_text(s, LEGEND + 32, y + 5, 14, SVG_START, TOPOLOGY_INK, "switch");
    y += 34;
    svg_text(s, LEGEND, y, 14, SVG_START, TOPOLOGY_INK, "bandwidth of links");
    for (size_t i = 0; i < p->band_count; i++) {
        char colour[SVG_COLOUR_MAX], rate[UNITS_TEXT_MAX];
        y += 24;
        draw_topology_colour_of(p, p->bands[i], colour);
        svg_line(s, LEGEND, y, LEGEND + 24, y, colour, 4, 0);
        svg_text(s, LEGEND + 32, y + 5, 14, SVG_START, TOPOLOGY_INK,
                 units_format_rate(rate, sizeof rate, p->bands[i]));
    }
    if (p->band_count == TOPOLOGY_BANDS_MAX) {
        y += 22;
        svg_text(s, LEGEND + 32, y + 5, 12, SVG_START, SOFT, "and others between");
    }
    if (p->any_down) {
        y += 24;
        svg_line(s, LEGEND, y, LEGEND + 24, y, DOWN, 2, 1);
        svg_text(s, LEGEND + 32, y + 5, 14, SVG_START, TOPOLOGY_INK, "down");
    }
    if (p->groups > 1) {
        svg_text(s, LEGEND, y + 34, 14, SVG_START, TOPOLOGY_INK, "g0, g1, ...: groups");
        svg_text(s, LEGEND, y + 54, 14, SVG_START, TOPOLOGY_INK,
                 "wide: links of g0 to other groups");
    }
}

static void draw_title(struct topology_picture *p)
{
    char text[200], latency[UNITS_TEXT_MAX], hop[UNITS_TEXT_MAX];
    const struct platform_config *c = &p->platform->config;
    describe(p, text, sizeof text);
    svg_text(&p->svg, TOPOLOGY_LEFT, 36, 24, SVG_START, TOPOLOGY_INK, name_of(p->platform));
    svg_text(&p->svg, TOPOLOGY_LEFT, 60, 15, SVG_START, SOFT, text);
    svg_textf(&p->svg, LEGEND, 60, 13, SVG_START, SOFT, "latency %s + %s a hop",
              units_format_time(latency, sizeof latency, c->net_latency),
              units_format_time(hop, sizeof hop, c->net_hop_latency));
}

/* ---- all of it ---- */

/* The position of a vertex in the picture: that of the topology, moved and scaled so that all
 * fit. */
static void where(const struct topology_picture *p, uint32_t v, double *x, double *y)
{
    double scale = p->left_out > 0 ? (1 - 2 * EDGE) / (1 + 2 * p->left_out) : 1;
    topo_position(p->topo, v, x, y);
    *x = TOPOLOGY_LEFT + SIDE * (p->left_out > 0 ? EDGE + (*x + p->left_out) * scale : *x);
    *y = TOPOLOGY_TOP + SIDE * (p->left_out > 0 ? EDGE + (*y + p->left_out) * scale : *y);
}

/* How far the topology exceeds the square, or how close to its edge it gets. */
static void find_edge(struct topology_picture *p)
{
    p->left_out = 0;
    for (uint32_t v = 0; v < p->vertices; v++) {
        double x, y, out;
        topo_position(p->topo, v, &x, &y);
        out = fmax(fmax(-x, x - 1), fmax(-y, y - 1));
        p->left_out = fmax(p->left_out, out + 0.001);
    }
    if (p->left_out < 0.001)
        p->left_out = 0;
}

/* The links that go around a torus are bent, and those of a dragonfly as its groups want it. */
static double bend_of(const struct topology_picture *p, uint32_t v, uint32_t peer, double length)
{
    if (v < p->nodes)
        return 0;
    if (p->groups)
        return draw_topology_bend(p, v, peer);
    return strcmp(p->platform->config.topo_kind, "torus") == 0 &&
                   length > 1.6 / sqrt((double)(p->vertices - p->nodes))
               ? 0.13
               : 0;
}

static double width_of(const struct topology_picture *p, uint32_t v, uint32_t peer)
{
    return v >= p->nodes && p->groups ? draw_topology_width(p, v, peer) : 1;
}

/* Links to the same vertex are drawn as one wider line. Draws nothing if an earlier port has drawn
 * it. */
static void draw_port(struct topology_picture *p, uint32_t v, uint32_t port, uint32_t degree)
{
    struct topo_port to = topo_port_at(p->topo, v, port);
    double x1, y1, x2, y2, bandwidth = draw_topology_bandwidth_of(p, to.link), length;
    uint32_t same = 0;
    char colour[SVG_COLOUR_MAX];
    if (to.peer < v)
        return;
    for (uint32_t i = 0; i < degree; i++) {
        if (topo_port_at(p->topo, v, i).peer != to.peer)
            continue;
        if (i < port)
            return;
        same++;
    }
    where(p, v, &x1, &y1);
    where(p, to.peer, &x2, &y2);
    draw_topology_colour_of(p, bandwidth, colour);
    length = hypot(x2 - x1, y2 - y1) / SIDE;
    svg_curve(&p->svg, x1, y1, x2, y2, bend_of(p, v, to.peer, length), colour,
              width_of(p, v, to.peer) * (1 + log2((double)same)), bandwidth == 0);
}

/* The angle between a direction and the nearest link of a vertex. */
static double clearance(const struct topology_picture *p, uint32_t v, double x, double y,
                        double angle)
{
    uint32_t degree = topo_degree(p->topo, v);
    double least = M_PI;
    for (uint32_t i = 0; i < degree; i++) {
        double px, py;
        where(p, topo_port_at(p->topo, v, i).peer, &px, &py);
        least = fmin(least, fabs(remainder(atan2(py - y, px - x) - angle, 2 * M_PI)));
    }
    return least;
}

/* Places the label next to the vertex, away from its links; below it, if it has none. */
static void draw_label(struct topology_picture *p, uint32_t v, double x, double y, double radius)
{
    double best = M_PI / 2, most = clearance(p, v, x, y, best), away;
    for (int i = 1; i < LABEL_ANGLES; i++) {
        double angle = M_PI / 2 + 2 * M_PI * i / LABEL_ANGLES, free = clearance(p, v, x, y, angle);
        if (free > most + 0.01) {
            best = angle;
            most = free;
        }
    }
    away = radius + 8 + 5 * fabs(cos(best)); /* texts are wider than high */
    svg_label(&p->svg, x + away * cos(best), y + away * sin(best) + 3.5, 10, SOFT, "%c%u",
              v < p->nodes ? 'n' : 's', v < p->nodes ? v : v - p->nodes);
}

static void draw_all(struct topology_picture *p)
{
    double radius = p->vertices > 200 ? 3 : p->vertices > 60 ? 5 : 8;
    find_edge(p);
    for (uint32_t v = 0; v < p->vertices; v++) {
        uint32_t degree = topo_degree(p->topo, v);
        for (uint32_t i = 0; i < degree; i++)
            draw_port(p, v, i, degree);
    }
    if (p->groups > 1)
        draw_topology_label_groups(p, TOPOLOGY_LEFT + SIDE / 2, TOPOLOGY_TOP + SIDE / 2, SIDE / 2);
    for (uint32_t v = 0; v < p->vertices; v++) {
        double x, y;
        where(p, v, &x, &y);
        if (v < p->nodes)
            svg_circle(&p->svg, x, y, radius, TOPOLOGY_NODE_FILL, TOPOLOGY_INK);
        else
            svg_box(&p->svg, x - radius, y - radius, 2 * radius, 2 * radius, 2,
                    TOPOLOGY_SWITCH_FILL, TOPOLOGY_SWITCH_FILL);
        if (p->vertices <= 110 && (v < p->nodes || p->vertices > p->nodes + 1))
            draw_label(p, v, x, y, radius);
    }
}

void draw_topology(const struct topo *topo, const struct platform *platform, int is_sized,
                   struct buf *out)
{
    struct topology_picture p = {.topo = topo,
                                 .platform = platform,
                                 .is_sized = is_sized,
                                 .nodes = topo_nodes(topo),
                                 .vertices = topo_vertices(topo),
                                 .groups = topo_groups(topo)};
    char about[200];
    describe(&p, about, sizeof about);
    svg_begin(&p.svg, out, WIDTH, HEIGHT, name_of(platform), about);
    note_links(&p);
    draw_title(&p);
    if (p.vertices <= DRAW_TOPOLOGY_FULL)
        draw_all(&p);
    else
        draw_topology_summary(&p);
    draw_legend(&p);
    svg_end(&p.svg);
}
