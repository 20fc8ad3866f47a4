/*
 * topology.c - draws topologies. Links are coloured by bandwidth, on a logarithmic scale from the
 * smallest to the largest; those that are down at the start are red and dashed.
 *
 * Small topologies are drawn with the positions of topo_position. Large ones are summarised: the
 * level of a switch is its distance from the nearest node, which is 1 everywhere in a torus, and
 * gives the levels of a fat tree.
 */
#include "report/topology.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "report/svg.h"

#define WIDTH 1100.0
#define HEIGHT 860.0
#define LEFT 30.0
#define TOP 80.0
#define SIDE 750.0 /* of the square for the graph */
#define EDGE 0.02  /* fraction of it that stays free if the graph must be scaled down */
#define LEGEND 830.0
#define INK "#222222"
#define SOFT "#777777"
#define DOWN "#cc0000"
#define NODE_FILL "#f4f4f4"
#define SWITCH_FILL "#33415c"
#define LEVELS_MAX 8
#define GROUPS_SHOWN 64
#define NEAR_SHOWN 72
#define BANDS_MAX 6
#define LABEL_WAYS 16 /* directions that a label may be in */

struct picture {
    double left_out; /* the most by which the topology exceeds the square; 0: not at all */
    struct svg svg;
    const struct topo *topo;
    const struct platform *platform;
    uint32_t nodes, vertices;
    double least, most;      /* bandwidths of links that are up; most 0: none */
    double bands[BANDS_MAX]; /* the first different ones */
    size_t band_count;
    int any_down;
    int is_sized; /* else the topology is a sample of any number of nodes */
};

/* ---- links ---- */

static double factored(const struct picture *p, double bandwidth)
{
    return bandwidth * p->platform->config.net_bandwidth_factor;
}

static double bandwidth_of(const struct picture *p, uint32_t link)
{
    struct topo_link l;
    topo_link_at(p->topo, link, 0, &l);
    return factored(p, l.bandwidth);
}

static void note_bandwidth(struct picture *p, double b)
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
    if (p->band_count < BANDS_MAX)
        p->bands[p->band_count++] = b;
}

static void note_links(struct picture *p)
{
    for (uint32_t v = 0; v < p->vertices; v++) {
        uint32_t degree = topo_degree(p->topo, v);
        for (uint32_t i = 0; i < degree; i++)
            note_bandwidth(p, bandwidth_of(p, topo_port_at(p->topo, v, i).link));
    }
}

static void colour_of(const struct picture *p, double bandwidth, char out[SVG_COLOUR_MAX])
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

static void describe(const struct picture *p, char *out, size_t size)
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

static void sort_bands(struct picture *p)
{
    for (size_t i = 1; i < p->band_count; i++)
        for (size_t k = i; k > 0 && p->bands[k] > p->bands[k - 1]; k--) {
            double b = p->bands[k];
            p->bands[k] = p->bands[k - 1];
            p->bands[k - 1] = b;
        }
}

static void draw_legend(struct picture *p)
{
    struct svg *s = &p->svg;
    double y = TOP + 10;
    sort_bands(p);
    svg_circle(s, LEGEND + 12, y, 5, NODE_FILL, INK);
    svg_text(s, LEGEND + 32, y + 5, 14, SVG_START, INK, "node");
    y += 26;
    svg_box(s, LEGEND + 6, y - 6, 12, 12, 2, SWITCH_FILL, SWITCH_FILL);
    svg_text(s, LEGEND + 32, y + 5, 14, SVG_START, INK, "switch");
    y += 34;
    svg_text(s, LEGEND, y, 14, SVG_START, INK, "bandwidth of links");
    for (size_t i = 0; i < p->band_count; i++) {
        char colour[SVG_COLOUR_MAX], rate[UNITS_TEXT_MAX];
        y += 24;
        colour_of(p, p->bands[i], colour);
        svg_line(s, LEGEND, y, LEGEND + 24, y, colour, 4, 0);
        svg_text(s, LEGEND + 32, y + 5, 14, SVG_START, INK,
                 units_format_rate(rate, sizeof rate, p->bands[i]));
    }
    if (p->band_count == BANDS_MAX) {
        y += 22;
        svg_text(s, LEGEND + 32, y + 5, 12, SVG_START, SOFT, "and others between");
    }
    if (p->any_down) {
        y += 24;
        svg_line(s, LEGEND, y, LEGEND + 24, y, DOWN, 2, 1);
        svg_text(s, LEGEND + 32, y + 5, 14, SVG_START, INK, "down");
    }
}

static void draw_title(struct picture *p)
{
    char text[200], latency[UNITS_TEXT_MAX], hop[UNITS_TEXT_MAX];
    const struct platform_config *c = &p->platform->config;
    describe(p, text, sizeof text);
    svg_text(&p->svg, LEFT, 36, 24, SVG_START, INK, name_of(p->platform));
    svg_text(&p->svg, LEFT, 60, 15, SVG_START, SOFT, text);
    svg_textf(&p->svg, LEGEND, 60, 13, SVG_START, SOFT, "latency %s + %s a hop",
              units_format_time(latency, sizeof latency, c->net_latency),
              units_format_time(hop, sizeof hop, c->net_hop_latency));
}

/* ---- all of it ---- */

/* The position of a vertex in the picture: that of the topology, moved and scaled so that all
 * fit. */
static void where(const struct picture *p, uint32_t v, double *x, double *y)
{
    double scale = p->left_out > 0 ? (1 - 2 * EDGE) / (1 + 2 * p->left_out) : 1;
    topo_position(p->topo, v, x, y);
    *x = LEFT + SIDE * (p->left_out > 0 ? EDGE + (*x + p->left_out) * scale : *x);
    *y = TOP + SIDE * (p->left_out > 0 ? EDGE + (*y + p->left_out) * scale : *y);
}

/* How far the topology exceeds the square, or how close to its edge it gets. */
static void find_edge(struct picture *p)
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

/* Links to the same vertex are drawn as one wider line. Draws nothing if an earlier port has drawn
 * it. */
static void draw_port(struct picture *p, uint32_t v, uint32_t port, uint32_t degree)
{
    struct topo_port to = topo_port_at(p->topo, v, port);
    double x1, y1, x2, y2, bandwidth = bandwidth_of(p, to.link), length;
    uint32_t same = 0;
    char colour[SVG_COLOUR_MAX];
    int wraps;
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
    colour_of(p, bandwidth, colour);
    length = hypot(x2 - x1, y2 - y1) / SIDE;
    wraps = strcmp(p->platform->config.topo_kind, "torus") == 0 && v >= p->nodes &&
            length > 1.6 / sqrt((double)(p->vertices - p->nodes));
    svg_curve(&p->svg, x1, y1, x2, y2, wraps ? 0.13 : 0, colour, 1 + log2((double)same),
              bandwidth == 0);
}

/* The angle between a direction and the nearest link of a vertex. */
static double clearance(const struct picture *p, uint32_t v, double x, double y, double angle)
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
static void draw_label(struct picture *p, uint32_t v, double x, double y, double radius)
{
    double best = M_PI / 2, most = clearance(p, v, x, y, best), away;
    for (int i = 1; i < LABEL_WAYS; i++) {
        double angle = M_PI / 2 + 2 * M_PI * i / LABEL_WAYS, free = clearance(p, v, x, y, angle);
        if (free > most + 0.01) {
            best = angle;
            most = free;
        }
    }
    away = radius + 8 + 5 * fabs(cos(best)); /* texts are wider than high */
    svg_label(&p->svg, x + away * cos(best), y + away * sin(best) + 3.5, 10, SOFT, "%c%u",
              v < p->nodes ? 'n' : 's', v < p->nodes ? v : v - p->nodes);
}

static void draw_all(struct picture *p)
{
    double radius = p->vertices > 200 ? 3 : p->vertices > 60 ? 5 : 8;
    find_edge(p);
    for (uint32_t v = 0; v < p->vertices; v++) {
        uint32_t degree = topo_degree(p->topo, v);
        for (uint32_t i = 0; i < degree; i++)
            draw_port(p, v, i, degree);
    }
    for (uint32_t v = 0; v < p->vertices; v++) {
        double x, y;
        where(p, v, &x, &y);
        if (v < p->nodes)
            svg_circle(&p->svg, x, y, radius, NODE_FILL, INK);
        else
            svg_box(&p->svg, x - radius, y - radius, 2 * radius, 2 * radius, 2, SWITCH_FILL,
                    SWITCH_FILL);
        if (p->vertices <= 110 && (v < p->nodes || p->vertices > p->nodes + 1))
            draw_label(p, v, x, y, radius);
    }
}

/* ---- levels ---- */

struct between { /* links between two levels, or within one */
    uint64_t links;
    double least, most;
};

struct levels {
    unsigned count; /* 0 is the nodes */
    uint64_t size[LEVELS_MAX];
    struct between links[LEVELS_MAX][LEVELS_MAX]; /* from the lower to the higher */
};

/* The distance of every vertex from the nearest node, capped at the last level. */
static uint8_t *find_levels(const struct picture *p)
{
    uint8_t *level = mem_alloc(p->vertices);
    uint32_t *queue = mem_alloc((size_t)p->vertices * sizeof *queue), first = 0, last = 0;
    memset(level, 0xff, p->vertices);
    for (uint32_t v = 0; v < p->nodes; v++) {
        level[v] = 0;
        queue[last++] = v;
    }
    while (first < last) {
        uint32_t v = queue[first++], degree = topo_degree(p->topo, v);
        for (uint32_t i = 0; i < degree; i++) {
            uint32_t peer = topo_port_at(p->topo, v, i).peer;
            if (level[peer] != 0xff)
                continue;
            level[peer] = level[v] < LEVELS_MAX - 1 ? (uint8_t)(level[v] + 1) : LEVELS_MAX - 1;
            queue[last++] = peer;
        }
    }
    mem_free(queue);
    return level;
}

static void count_links(const struct picture *p, const uint8_t *level, struct levels *l)
{
    memset(l, 0, sizeof *l);
    for (uint32_t v = 0; v < p->vertices; v++) {
        uint32_t degree = topo_degree(p->topo, v), from = level[v] < LEVELS_MAX ? level[v] : 0;
        l->size[from]++;
        l->count = from + 1 > l->count ? from + 1 : l->count;
        for (uint32_t i = 0; i < degree; i++) {
            struct topo_port port = topo_port_at(p->topo, v, i);
            uint32_t to = level[port.peer] < LEVELS_MAX ? level[port.peer] : 0;
            struct between *b = &l->links[from < to ? from : to][from < to ? to : from];
            double bandwidth = bandwidth_of(p, port.link);
            b->least = b->links == 0 || bandwidth < b->least ? bandwidth : b->least;
            b->most = bandwidth > b->most ? bandwidth : b->most;
            b->links++;
        }
    }
}

static void rate_text(const struct between *b, char *out, size_t size)
{
    char least[UNITS_TEXT_MAX], most[UNITS_TEXT_MAX], links[UNITS_TEXT_MAX];
    units_format_count(links, sizeof links, b->links / 2); /* counted from both ends */
    if (b->least == b->most)
        snprintf(out, size, "%s links of %s", links, units_format_rate(most, sizeof most, b->most));
    else
        snprintf(out, size, "%s links of %s to %s", links,
                 units_format_rate(least, sizeof least, b->least),
                 units_format_rate(most, sizeof most, b->most));
}

static void draw_level(struct picture *p, const struct levels *l, unsigned i, double x, double y,
                       double width)
{
    char count[UNITS_TEXT_MAX], text[160], colour[SVG_COLOUR_MAX];
    const struct between *own = &l->links[i][i];
    units_format_count(count, sizeof count, l->size[i]);
    svg_box(&p->svg, x, y, width, 58, 8, i ? SWITCH_FILL : NODE_FILL, INK);
    svg_textf(&p->svg, x + width / 2, y + 26, 17, SVG_MIDDLE, i ? "#ffffff" : INK, "%s %s%s", count,
              i ? "switch" : "node",
              l->size[i] == 1 ? ""
              : i             ? "es"
                              : "s");
    if (own->links) {
        rate_text(own, text, sizeof text);
        colour_of(p, own->most, colour);
        svg_textf(&p->svg, x + width / 2, y + 46, 12, SVG_MIDDLE, "#cfd8ea", "among them %s", text);
        svg_line(&p->svg, x + 10, y + 53, x + width - 10, y + 53, colour, 4, 0);
    }
}

/* Boxes from the nodes at the bottom to the highest level, with their links between. */
static void draw_levels(struct picture *p, const struct levels *l, double x, double top,
                        double width, double height)
{
    double step = l->count > 1 ? (height - 58) / (l->count - 1) : 0;
    for (unsigned i = 0; i < l->count; i++) {
        double y = top + height - 58 - i * step;
        for (unsigned k = i + 1; k < l->count; k++) {
            const struct between *b = &l->links[i][k];
            char text[160], colour[SVG_COLOUR_MAX];
            double to = top + height - 58 - k * step + 58;
            if (!b->links)
                continue;
            colour_of(p, b->most, colour);
            for (int n = 0; n < 9; n++)
                svg_line(&p->svg, x + width * (0.1 + 0.1 * n), y,
                         x + width * (0.1 + 0.1 * ((n * 4 + (int)k) % 9)), to, colour, 2, 0);
            rate_text(b, text, sizeof text);
            svg_box(&p->svg, x + width / 2 - 130, (y + to) / 2 - 13, 260, 22, 4, "#ffffff", "none");
            svg_text(&p->svg, x + width / 2, (y + to) / 2 + 4, 14, SVG_MIDDLE, INK, text);
        }
        draw_level(p, l, i, x, y, width);
    }
}

/* ---- groups, and one switch ---- */

static void on_circle(double cx, double cy, double radius, double i, double n, double *x, double *y)
{
    *x = cx + radius * cos(2 * M_PI * i / n - M_PI / 2);
    *y = cy + radius * sin(2 * M_PI * i / n - M_PI / 2);
}

/* A dragonfly's groups, all connected, as far as they can be shown. */
static void draw_groups(struct picture *p, uint64_t groups, double cx, double cy, double radius)
{
    uint64_t routers = (p->vertices - p->nodes) / groups;
    uint32_t shown = groups < GROUPS_SHOWN ? (uint32_t)groups : GROUPS_SHOWN;
    double bandwidth = p->platform->config.topo_global_bandwidth, x1, y1, x2, y2;
    char colour[SVG_COLOUR_MAX], text[UNITS_TEXT_MAX], size[UNITS_TEXT_MAX];
    bandwidth = bandwidth ? bandwidth : p->platform->config.topo_bandwidth;
    bandwidth = bandwidth ? bandwidth : p->platform->config.net_bandwidth;
    colour_of(p, factored(p, bandwidth), colour);
    for (uint32_t i = 0; i < shown; i++)
        for (uint32_t k = i + 1; k < shown; k++) {
            on_circle(cx, cy, radius, i, shown, &x1, &y1);
            on_circle(cx, cy, radius, k, shown, &x2, &y2);
            svg_line(&p->svg, x1, y1, x2, y2, colour, shown > 24 ? 0.2 : 0.6, 0);
        }
    for (uint32_t i = 0; i < shown; i++) {
        on_circle(cx, cy, radius, i, shown, &x1, &y1);
        svg_circle(&p->svg, x1, y1, shown > 24 ? 7 : 14, SWITCH_FILL, "#ffffff");
    }
    svg_textf(&p->svg, cx, cy + radius + 34, 15, SVG_MIDDLE, INK, "%s groups of %s routers%s",
              units_format_count(text, sizeof text, groups),
              units_format_count(size, sizeof size, routers),
              shown < groups ? "; some are shown" : "");
}

static void draw_neighbour(struct picture *p, struct topo_port port, double cx, double cy, double x,
                           double y)
{
    char colour[SVG_COLOUR_MAX];
    colour_of(p, bandwidth_of(p, port.link), colour);
    svg_line(&p->svg, cx, cy, x, y, colour, 2, 0);
    if (port.peer < p->nodes)
        svg_circle(&p->svg, x, y, 5, NODE_FILL, INK);
    else
        svg_box(&p->svg, x - 5, y - 5, 10, 10, 2, SWITCH_FILL, SWITCH_FILL);
}

/* The first switch and its neighbours, nodes first. */
static void draw_near(struct picture *p, double cx, double cy, double radius)
{
    uint32_t v = p->nodes, degree = topo_degree(p->topo, v), nodes = 0, done = 0;
    uint32_t shown = degree < NEAR_SHOWN ? degree : NEAR_SHOWN;
    for (int switches = 0; switches < 2; switches++)
        for (uint32_t i = 0; i < degree; i++) {
            struct topo_port port = topo_port_at(p->topo, v, i);
            double x, y;
            if ((port.peer >= p->nodes) != switches)
                continue;
            nodes += !switches;
            if (done == shown)
                continue;
            on_circle(cx, cy, radius, done++, shown, &x, &y);
            draw_neighbour(p, port, cx, cy, x, y);
        }
    svg_box(&p->svg, cx - 9, cy - 9, 18, 18, 3, SWITCH_FILL, "#ffffff");
    svg_textf(&p->svg, cx, cy + radius + 34, 15, SVG_MIDDLE, INK,
              "s0: %u node%s, %u link%s to switches%s", nodes, nodes == 1 ? "" : "s",
              degree - nodes, degree - nodes == 1 ? "" : "s",
              shown < degree ? "; some are shown" : "");
}

static void draw_summary(struct picture *p)
{
    const struct platform_config *c = &p->platform->config;
    uint64_t groups = strcmp(c->topo_kind, "dragonfly") == 0 ? c->topo_groups : 0;
    uint8_t *level = find_levels(p);
    struct levels levels;
    count_links(p, level, &levels);
    mem_free(level);
    draw_levels(p, &levels, LEFT, TOP + 20, 350, 700);
    if (groups) {
        draw_groups(p, groups, 625, 270, 150);
        draw_near(p, 625, 640, 130);
    } else {
        draw_near(p, 625, 430, 160);
        if (c->topo_dims.count) {
            char text[100] = "";
            for (uint32_t i = 0; i < c->topo_dims.count; i++)
                snprintf(text + strlen(text), sizeof text - strlen(text), "%s%u", i ? " x " : "",
                         c->topo_dims.size[i]);
            svg_textf(&p->svg, 625, 220, 17, SVG_MIDDLE, INK, "%s %s", text, c->topo_kind);
        }
    }
}

void report_topology(const struct topo *topo, const struct platform *platform, int is_sized,
                     struct buf *out)
{
    struct picture p = {.topo = topo,
                        .platform = platform,
                        .is_sized = is_sized,
                        .nodes = topo_nodes(topo),
                        .vertices = topo_vertices(topo)};
    char about[200];
    describe(&p, about, sizeof about);
    svg_begin(&p.svg, out, WIDTH, HEIGHT, name_of(platform), about);
    note_links(&p);
    draw_title(&p);
    if (p.vertices <= REPORT_TOPOLOGY_FULL)
        draw_all(&p);
    else
        draw_summary(&p);
    draw_legend(&p);
    svg_end(&p.svg);
}
