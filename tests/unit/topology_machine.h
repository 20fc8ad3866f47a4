/*
 * Machines for tests of topologies: made from settings, links and edges given as text.
 */
#ifndef TOPOLOGY_MACHINE_H
#define TOPOLOGY_MACHINE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/topology/topology.h"
#include "tap.h"

static struct platform machine;
static struct topo *topo;
static struct topo_route route;
static struct err err;

static void machine_fini(void)
{
    topo_destroy(topo);
    topo = NULL;
    for (int i = 0; i < PLATFORM_LISTS; i++)
        free(machine.lists[i].items);
    memset(machine.lists, 0, sizeof machine.lists);
    topo_route_fini(&route);
}

static void *list_add(enum platform_list_kind kind, size_t size)
{
    struct platform_list *list = &machine.lists[kind];
    list->items = realloc(list->items, ++list->count * size);
    return (char *)list->items + (list->count - 1) * size;
}

__attribute__((unused)) static struct platform_link *link_add(const char *from, const char *to,
                                                              double factor, vtime at)
{
    struct platform_link *item = list_add(PLATFORM_LINKS, sizeof *item);
    *item = (struct platform_link){.bandwidth = NAN,
                                   .bandwidth_factor = factor,
                                   .latency = VTIME_NEVER,
                                   .error_rate = NAN,
                                   .mtu = UINT64_MAX,
                                   .at = at};
    snprintf(item->from, sizeof item->from, "%s", from);
    snprintf(item->to, sizeof item->to, "%s", to);
    return item;
}

static uint32_t vertex_of(const char *name)
{
    return (uint32_t)atoi(name + 1) | (name[0] == 's' ? PLATFORM_SWITCH : 0);
}

/* Both directions. */
__attribute__((unused)) static void edge_add(const char *a, const char *b, vtime latency)
{
    struct platform_edge *e = list_add(PLATFORM_EDGES, sizeof *e);
    *e = (struct platform_edge){vertex_of(a), vertex_of(b), NAN, latency, NAN, UINT64_MAX};
    e = list_add(PLATFORM_EDGES, sizeof *e);
    *e = (struct platform_edge){vertex_of(b), vertex_of(a), NAN, latency, NAN, UINT64_MAX};
}

/* The machine with these settings of net.topology ("kind=torus,dims=4x4") and others
 * ("!net.routing=x"). Lists that were added before count. */
static int make(const char *settings, uint32_t nodes)
{
    char text[300], *save, *item, all[600] = "net.hop_latency=1ns";
    topo_destroy(topo);
    topo = NULL;
    snprintf(text, sizeof text, "%s", settings);
    for (item = strtok_r(text, ",", &save); item; item = strtok_r(NULL, ",", &save))
        snprintf(all + strlen(all), sizeof all - strlen(all), ",%s%s",
                 item[0] == '!' ? "" : "net.topology.", item + (item[0] == '!'));
    platform_config_init(&machine.config);
    if (platform_set(&machine, all, NULL, &err)) {
        diag("%s", err.text);
        return 99;
    }
    return topo_create(&topo, &machine, nodes, &err);
}

/* The vertices of a route, such as "n0 s0 s1 n5"; "error" if there is none. */
__attribute__((unused)) static const char *route_text(uint32_t src, uint32_t dst, uint64_t salt,
                                                      vtime at)
{
    static char text[2000];
    uint32_t nodes = topo_nodes(topo), v = src;
    if (topo_route(topo, src, dst, salt, at, NULL, &route, &err))
        return "error";
    snprintf(text, sizeof text, "n%u", src);
    for (uint32_t i = 0; i < route.count; i++) {
        struct topo_link link;
        size_t used = strlen(text);
        topo_link_at(topo, route.links[i], at, &link);
        if (link.from != v)
            return "broken";
        v = link.to;
        snprintf(text + used, sizeof text - used, " %c%u", v < nodes ? 'n' : 's',
                 v < nodes ? v : v - nodes);
    }
    return text;
}

#endif
