/*
 * port_names.c - names of nodes, switches and ports, and patterns of them (see port_names.h).
 */
#include "net/port_names.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "net/topology/topology.h"

static char kind_of(const struct topo *topo, uint32_t vertex, uint32_t *number)
{
    uint32_t nodes = topo_nodes(topo);

    *number = vertex < nodes ? vertex : vertex - nodes;
    return vertex < nodes ? 'n' : 's';
}

void net_port_name(const struct topo *topo, uint32_t from, uint32_t to, uint32_t cable, char *out,
                   size_t size)
{
    uint32_t a, b;
    char kind_a = kind_of(topo, from, &a), kind_b = kind_of(topo, to, &b);

    if (from == to)
        snprintf(out, size, "%c%u", kind_a, a);
    else if (cable == 0)
        snprintf(out, size, "%c%u-%c%u", kind_a, a, kind_b, b);
    else
        snprintf(out, size, "%c%u-%c%u#%u", kind_a, a, kind_b, b, cable);
}

uint32_t net_link_cable(const struct topo *topo, uint32_t link)
{
    struct topo_link l;
    uint32_t cable = 0;

    topo_link_at(topo, link, 0, &l);
    if (l.from < topo_nodes(topo) || l.to < topo_nodes(topo))
        return 0;
    for (uint32_t i = 0; i < topo_degree(topo, l.from); i++) {
        struct topo_port port = topo_port_at(topo, l.from, i);

        if (port.link == link)
            return cable;
        cable += port.peer == l.to;
    }
    return 0;
}

void net_link_name(const struct topo *topo, uint32_t link, char *out, size_t size)
{
    struct topo_link l;

    topo_link_at(topo, link, 0, &l);
    net_port_name(topo, l.from, l.to, net_link_cable(topo, link), out, size);
}

int net_name_matches(const char *patterns, const char *name)
{
    char one[256];

    for (const char *at = patterns; *at;) {
        size_t size = strcspn(at, ",");

        if (size < sizeof one) {
            memcpy(one, at, size);
            one[size] = 0;
            if (fnmatch(one, name, 0) == 0)
                return 1;
        }
        at += size + (at[size] == ',');
    }
    return 0;
}
