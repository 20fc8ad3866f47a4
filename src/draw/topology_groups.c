/*
 * topology_groups.c - draws what is particular to a dragonfly.
 *
 * All groups are joined, and so are all routers of a group: too many lines to follow each. The
 * inside of the circle of groups has the links between groups, straight; those of a group are arcs
 * outside of it. Of the links between groups, those of the first are wide: it shows how each group
 * is joined to the others, since all are alike.
 */
#include <math.h>

#include "base/units.h"
#include "draw/topology_internal.h"

#define GROUPS_SHOWN 16
#define ARC_LEAST 0.03 /* height of an arc over the circle of routers, by its radius: neighbours, */
#define ARC_MOST 0.17  /* and the first and the last router */
#define MANY_LINKS 100 /* between groups: draw them thin */

void draw_topology_on_circle(double cx, double cy, double radius, double i, double n, double *x,
                             double *y)
{
    *x = cx + radius * cos(2 * M_PI * i / n - M_PI / 2);
    *y = cy + radius * sin(2 * M_PI * i / n - M_PI / 2);
}

static uint32_t routers_of(const struct topology_picture *p)
{
    return (p->vertices - p->nodes) / p->groups;
}

static uint32_t group_of(const struct topology_picture *p, uint32_t v)
{
    return (v - p->nodes) / routers_of(p);
}

/* ---- in a drawing of all vertices ---- */

/* The arc of a link within a group must pass outside of the routers between its ends: its middle
 * is that much beyond their circle, more the more of them there are. */
double draw_topology_bend(const struct topology_picture *p, uint32_t v, uint32_t peer)
{
    double x1, y1, x2, y2, length, radius, middle, height, across;
    uint32_t routers = routers_of(p), group = group_of(p, v);
    if (p->groups == 1 || group != group_of(p, peer))
        return 0;
    topo_position(p->topo, v, &x1, &y1);
    topo_position(p->topo, peer, &x2, &y2);
    radius = hypot(x1 - 0.5, y1 - 0.5);
    length = hypot(x2 - x1, y2 - y1);
    middle = hypot((x1 + x2) / 2 - 0.5, (y1 + y2) / 2 - 0.5);
    /* the angle between the ends by that between first and last */
    across = asin(fmin(length / (2 * radius), 1)) * p->groups / M_PI;
    height = routers > 2 ? ARC_LEAST + (ARC_MOST - ARC_LEAST) * fmin(across, 1) : ARC_LEAST;
    /* a curve's middle is half as far away as its bend; to the left is outside when clockwise */
    return copysign(2 * (radius * (1 + height) - middle) / length,
                    (x1 - 0.5) * (y2 - 0.5) - (y1 - 0.5) * (x2 - 0.5));
}

double draw_topology_width(const struct topology_picture *p, uint32_t v, uint32_t peer)
{
    uint64_t pairs = (uint64_t)p->groups * (p->groups - 1) / 2;
    if (group_of(p, v) == group_of(p, peer))
        return 0.8;
    if (group_of(p, v) == 0 || group_of(p, peer) == 0)
        return 2;
    return pairs > MANY_LINKS ? 0.3 : 0.6;
}

void draw_topology_label_groups(struct topology_picture *p, double cx, double cy, double radius)
{
    for (uint32_t g = 0; g < p->groups; g++) {
        double x, y;
        draw_topology_on_circle(cx, cy, radius - 4, g, p->groups, &x, &y);
        svg_label(&p->svg, x, y + 4, 12, TOPOLOGY_INK, "g%u", g);
    }
}

/* ---- in a summary ---- */

/* The links that join the first group to the second, as to any other; one of them that is up. */
static uint32_t count_joining(const struct topology_picture *p, uint32_t *link)
{
    uint32_t count = 0, routers = routers_of(p);
    for (uint32_t v = p->nodes; v < p->nodes + routers; v++) {
        uint32_t degree = topo_degree(p->topo, v);
        for (uint32_t i = 0; i < degree; i++) {
            struct topo_port port = topo_port_at(p->topo, v, i);
            if (port.peer < p->nodes || group_of(p, port.peer) != 1)
                continue;
            if (count++ == 0 || draw_topology_bandwidth_of(p, *link) == 0)
                *link = port.link;
        }
    }
    return count;
}

static void draw_lines(struct topology_picture *p, uint32_t shown, uint32_t link, double cx,
                       double cy, double radius)
{
    char colour[SVG_COLOUR_MAX];
    draw_topology_colour_of(p, draw_topology_bandwidth_of(p, link), colour);
    for (uint32_t k = shown - 1; k > 0; k--)
        for (uint32_t i = k; i-- > 0;) {
            double x1, y1, x2, y2;
            draw_topology_on_circle(cx, cy, radius, i, shown, &x1, &y1);
            draw_topology_on_circle(cx, cy, radius, k, shown, &x2, &y2);
            svg_line(&p->svg, x1, y1, x2, y2, colour, i ? 0.3 : 2, 0);
        }
}

void draw_topology_groups(struct topology_picture *p, double cx, double cy, double radius)
{
    uint32_t shown = p->groups < GROUPS_SHOWN ? p->groups : GROUPS_SHOWN, link = 0;
    uint32_t joining = count_joining(p, &link);
    char text[UNITS_TEXT_MAX], size[UNITS_TEXT_MAX], links[UNITS_TEXT_MAX];
    draw_lines(p, shown, link, cx, cy, radius);
    for (uint32_t i = 0; i < shown; i++) {
        double x, y;
        draw_topology_on_circle(cx, cy, radius, i, shown, &x, &y);
        svg_circle(&p->svg, x, y, 15, TOPOLOGY_SWITCH_FILL, "#ffffff");
        svg_textf(&p->svg, x, y + 4, 11, SVG_MIDDLE, "#ffffff", "g%u", i);
    }
    units_format_count(text, sizeof text, p->groups);
    units_format_count(size, sizeof size, routers_of(p));
    if (shown < p->groups)
        svg_textf(&p->svg, cx, cy + radius + 40, 15, SVG_MIDDLE, TOPOLOGY_INK,
                  "%s groups of %s routers; the first %u are shown", text, size, shown);
    else
        svg_textf(&p->svg, cx, cy + radius + 40, 15, SVG_MIDDLE, TOPOLOGY_INK,
                  "%s groups of %s routers", text, size);
    svg_textf(&p->svg, cx, cy + radius + 60, 13, SVG_MIDDLE, TOPOLOGY_INK,
              "any two groups have %s link%s", units_format_count(links, sizeof links, joining),
              joining == 1 ? "" : "s");
}
