/*
 * topology_summary.c - draws topologies that are too large for a symbol for each vertex: their
 * levels, and a part of them.
 *
 * The level of a switch is its distance from the nearest node, which is 1 everywhere in a torus,
 * and gives the levels of a fat tree.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "draw/topology_internal.h"

#define LEVELS_MAX 8
#define NEAR_SHOWN 72

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
static uint8_t *find_levels(const struct topology_picture *p)
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

static void count_links(const struct topology_picture *p, const uint8_t *level, struct levels *l)
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
            double bandwidth = draw_topology_bandwidth_of(p, port.link);
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

static void draw_level(struct topology_picture *p, const struct levels *l, unsigned i, double x,
                       double y, double width)
{
    char count[UNITS_TEXT_MAX], text[160], colour[SVG_COLOUR_MAX];
    const struct between *own = &l->links[i][i];
    units_format_count(count, sizeof count, l->size[i]);
    svg_box(&p->svg, x, y, width, 58, 8, i ? TOPOLOGY_SWITCH_FILL : TOPOLOGY_NODE_FILL,
            TOPOLOGY_INK);
    svg_textf(&p->svg, x + width / 2, y + 26, 17, SVG_MIDDLE, i ? "#ffffff" : TOPOLOGY_INK,
              "%s %s%s", count, i ? "switch" : "node",
              l->size[i] == 1 ? ""
              : i             ? "es"
                              : "s");
    if (own->links) {
        rate_text(own, text, sizeof text);
        draw_topology_colour_of(p, own->most, colour);
        svg_textf(&p->svg, x + width / 2, y + 46, 12, SVG_MIDDLE, "#cfd8ea", "among them %s", text);
        svg_line(&p->svg, x + 10, y + 53, x + width - 10, y + 53, colour, 4, 0);
    }
}

/* Boxes from the nodes at the bottom to the highest level, with their links between. */
static void draw_levels(struct topology_picture *p, const struct levels *l, double x, double top,
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
            draw_topology_colour_of(p, b->most, colour);
            for (int n = 0; n < 9; n++) { /* a node has one link, a switch leads to many */
                int there = i ? (n * 4 + (int)k) % 9 : n;
                svg_line(&p->svg, x + width * (0.1 + 0.1 * n), y, x + width * (0.1 + 0.1 * there),
                         to, colour, 2, 0);
            }
            rate_text(b, text, sizeof text);
            svg_box(&p->svg, x + width / 2 - 130, (y + to) / 2 - 13, 260, 22, 4, "#ffffff", "none");
            svg_text(&p->svg, x + width / 2, (y + to) / 2 + 4, 14, SVG_MIDDLE, TOPOLOGY_INK, text);
        }
        draw_level(p, l, i, x, y, width);
    }
}

/* ---- one switch ---- */

static void draw_neighbour(struct topology_picture *p, struct topo_port port, double cx, double cy,
                           double x, double y)
{
    char colour[SVG_COLOUR_MAX];
    draw_topology_colour_of(p, draw_topology_bandwidth_of(p, port.link), colour);
    svg_line(&p->svg, cx, cy, x, y, colour, 2, 0);
    if (port.peer < p->nodes)
        svg_circle(&p->svg, x, y, 5, TOPOLOGY_NODE_FILL, TOPOLOGY_INK);
    else
        svg_box(&p->svg, x - 5, y - 5, 10, 10, 2, TOPOLOGY_SWITCH_FILL, TOPOLOGY_SWITCH_FILL);
}

/* The first switch and its neighbours, nodes first. */
static void draw_near(struct topology_picture *p, double cx, double cy, double radius)
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
            draw_topology_on_circle(cx, cy, radius, done++, shown, &x, &y);
            draw_neighbour(p, port, cx, cy, x, y);
        }
    svg_box(&p->svg, cx - 9, cy - 9, 18, 18, 3, TOPOLOGY_SWITCH_FILL, "#ffffff");
    svg_textf(&p->svg, cx, cy + radius + 34, 15, SVG_MIDDLE, TOPOLOGY_INK,
              "s0: %u node%s, %u link%s to switches%s", nodes, nodes == 1 ? "" : "s",
              degree - nodes, degree - nodes == 1 ? "" : "s",
              shown < degree ? "; some are shown" : "");
}

void draw_topology_summary(struct topology_picture *p)
{
    const struct platform_config *c = &p->platform->config;
    uint8_t *level = find_levels(p);
    struct levels levels;
    count_links(p, level, &levels);
    mem_free(level);
    draw_levels(p, &levels, TOPOLOGY_LEFT, TOPOLOGY_TOP + 20, 350, 700);
    if (p->groups > 1) {
        draw_topology_groups(p, 605, 270, 160);
        draw_near(p, 605, 650, 125);
    } else {
        draw_near(p, 625, 430, 160);
        if (c->topo_dims.count) {
            char text[100] = "";
            for (uint32_t i = 0; i < c->topo_dims.count; i++)
                snprintf(text + strlen(text), sizeof text - strlen(text), "%s%u", i ? " x " : "",
                         c->topo_dims.size[i]);
            svg_textf(&p->svg, 625, 220, 17, SVG_MIDDLE, TOPOLOGY_INK, "%s %s", text, c->topo_kind);
        }
    }
}
