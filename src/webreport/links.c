/*
 * links.c - the load of links.
 */
#include "webreport/links.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "net/topology/topology.h"

static int most_first(const void *a, const void *b)
{
    const struct link_load *x = a, *y = b;
    return x->bytes > y->bytes   ? -1
           : x->bytes < y->bytes ? 1
           : x->link < y->link   ? -1
                                 : x->link > y->link;
}

static void add_bytes(struct links *l, struct map *numbers, uint32_t link, double bytes)
{
    int is_new;
    uint64_t *number = map_insert(numbers, link, &is_new);
    if (is_new) {
        *number = l->count;
        ARRAY_EXTEND(l->loads, l->count);
        l->loads[l->count++] = (struct link_load){link, 0};
    }
    l->loads[*number].bytes += bytes;
}

static int route_all(struct links *l, const struct analysis *a, struct err *err)
{
    struct topo_route route = {0};
    struct map numbers;
    int rc = 0;
    map_init(&numbers);
    for (size_t i = 0; i < a->node_pair_count && rc == 0; i++) {
        const struct analysis_node_pair *p = &a->node_pair[i];
        if (p->from < 0 || p->to < 0 || p->from == p->to || !(p->bytes > 0))
            continue;
        rc = topo_route(l->topo, (uint32_t)p->from, (uint32_t)p->to, i, 0, NULL, &route, err);
        for (uint32_t k = 0; k < route.count && rc == 0; k++)
            add_bytes(l, &numbers, route.links[k], p->bytes);
    }
    topo_route_fini(&route);
    map_fini(&numbers);
    return rc;
}

int links_init(struct links *l, const struct platform *machine, const struct analysis *a,
               struct err *err)
{
    int64_t nodes = 1;
    memset(l, 0, sizeof *l);
    l->machine = machine;
    l->runtime = a->runtime;
    for (uint64_t i = 0; i < a->ranks; i++)
        nodes = a->rank[i].node >= nodes ? a->rank[i].node + 1 : nodes;
    int rc = topo_create(&l->topo, machine, (uint32_t)nodes, err);
    if (rc)
        return rc;
    if (topo_nodes(l->topo) < (uint64_t)nodes)
        rc = err_set(err, ERR_INPUT, "the platform has %u nodes, but the trace is of %lld",
                     topo_nodes(l->topo), (long long)nodes);
    if (rc == 0)
        rc = route_all(l, a, err);
    if (rc)
        links_fini(l);
    else if (l->count)
        qsort(l->loads, l->count, sizeof *l->loads, most_first);
    return rc;
}

void links_fini(struct links *l)
{
    topo_destroy(l->topo);
    mem_free(l->loads);
}

/* ---- as data ---- */

static void write_name(const struct links *l, const char *key, uint32_t vertex, struct json *json)
{
    char name[24];
    uint32_t nodes = topo_nodes(l->topo);
    if (vertex < nodes)
        snprintf(name, sizeof name, "n%u", vertex);
    else
        snprintf(name, sizeof name, "s%u", vertex - nodes);
    json_key(json, key);
    json_string(json, name);
}

/* The share of the run time in which the link was busy, if it carried all at its full bandwidth. */
static double busy_of(const struct links *l, const struct topo_link *link, double bytes)
{
    double rate = link->bandwidth * l->machine->config.net_bandwidth_factor;
    return isfinite(rate) && rate > 0 && l->runtime > 0 ? bytes * 8 / rate / l->runtime : 0;
}

static void write_most(const struct links *l, struct json *json)
{
    json_key(json, "most");
    json_array_begin(json);
    for (size_t i = 0; i < l->count && i < LINKS_LISTED; i++) {
        struct topo_link link;
        topo_link_at(l->topo, l->loads[i].link, 0, &link);
        json_object_begin(json);
        write_name(l, "from", link.from, json);
        write_name(l, "to", link.to, json);
        json_key(json, "bytes");
        json_double(json, l->loads[i].bytes);
        json_key(json, "busy");
        json_double(json, busy_of(l, &link, l->loads[i].bytes));
        json_object_end(json);
    }
    json_array_end(json);
}

/* What is drawn: vertices in the order in which they are met, and links by the places of their ends
 * in that. */
struct drawing {
    const struct topo *topo;
    struct map index; /* by vertex */
    double *places;   /* vertex, x and y of each */
    double *ends;     /* from, to and bytes of each link */
    size_t vertices, place_room, end_count, end_room;
};

static double vertex_index(struct drawing *d, uint32_t vertex)
{
    int is_new;
    uint64_t *index = map_insert(&d->index, vertex, &is_new);
    if (is_new) {
        *index = d->vertices++;
        ARRAY_RESERVE(d->places, d->place_room, 3 * d->vertices, 64);
        double *at = d->places + 3 * *index;
        at[0] = vertex;
        topo_position(d->topo, vertex, &at[1], &at[2]);
    }
    return (double)*index;
}

static void draw_link(struct drawing *d, uint32_t from, uint32_t to, double bytes)
{
    ARRAY_RESERVE(d->ends, d->end_room, d->end_count + 3, 64);
    d->ends[d->end_count++] = vertex_index(d, from);
    d->ends[d->end_count++] = vertex_index(d, to);
    d->ends[d->end_count++] = bytes;
}

/* All of a small topology: links that carried nothing, too. */
static void draw_all(const struct links *l, struct drawing *d)
{
    struct map loads;
    map_init(&loads);
    for (size_t i = 0; i < l->count; i++)
        *map_insert(&loads, l->loads[i].link, NULL) = i;
    for (uint32_t v = 0; v < topo_vertices(l->topo); v++)
        for (uint32_t i = 0, degree = topo_degree(l->topo, v); i < degree; i++) {
            struct topo_port port = topo_port_at(l->topo, v, i);
            const uint64_t *load = map_find(&loads, port.link);
            draw_link(d, v, port.peer, load ? l->loads[*load].bytes : 0);
        }
    map_fini(&loads);
}

static void draw_used(const struct links *l, struct drawing *d)
{
    for (size_t i = 0; i < l->count && i < LINKS_DRAWN; i++) {
        struct topo_link link;
        topo_link_at(l->topo, l->loads[i].link, 0, &link);
        draw_link(d, link.from, link.to, l->loads[i].bytes);
    }
}

static void write_drawing(const struct links *l, struct chunks *chunks, struct json *json)
{
    struct drawing d = {.topo = l->topo};
    map_init(&d.index);
    if (topo_vertices(l->topo) <= LINKS_DRAWN)
        draw_all(l, &d);
    else
        draw_used(l, &d);
    json_key(json, "places");
    json_uint(json, chunks_add_floats(chunks, d.places, 3 * d.vertices));
    json_key(json, "ends");
    json_uint(json, chunks_add_floats(chunks, d.ends, d.end_count));
    map_fini(&d.index);
    mem_free(d.places);
    mem_free(d.ends);
}

void links_write(const struct links *l, struct chunks *chunks, struct json *json)
{
    json_key(json, "links");
    json_object_begin(json);
    json_key(json, "kind");
    json_string(json, l->machine->config.topo_kind);
    json_key(json, "nodes");
    json_uint(json, topo_nodes(l->topo));
    json_key(json, "vertices");
    json_uint(json, topo_vertices(l->topo));
    json_key(json, "all");
    json_uint(json, topo_links(l->topo));
    json_key(json, "used");
    json_uint(json, l->count);
    write_most(l, json);
    write_drawing(l, chunks, json);
    json_object_end(json);
}
