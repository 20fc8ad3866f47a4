/*
 * links.c - lists the links of a topology for reports (see links.h).
 */
#include "net/links.h"

double net_link_rate(const struct topo *topo, const struct platform_config *c,
                     const struct topo_link *link)
{
    int is_nic = link->from < topo_nodes(topo) || link->to < topo_nodes(topo);
    double bits = is_nic && c->net_nic_bandwidth < link->bandwidth ? c->net_nic_bandwidth
                                                                   : link->bandwidth;

    return bits * c->net_bandwidth_factor / 8;
}

int net_links_are_few(const struct topo *topo)
{
    return topo_vertices(topo) <= NET_LINKS_VERTICES;
}

void net_links_each(const struct topo *topo, const struct bins *load,
                    void (*take)(void *context, uint32_t number, const struct topo_link *),
                    void *context)
{
    struct topo_link link;

    if (!net_links_are_few(topo)) {
        for (size_t i = 0; i < load->rows; i++) {
            topo_link_at(topo, load->keys[i], 0, &link);
            take(context, load->keys[i], &link);
        }
        return;
    }
    for (uint32_t v = 0; v < topo_vertices(topo); v++)
        for (uint32_t i = 0, degree = topo_degree(topo, v); i < degree; i++) {
            uint32_t number = topo_port_at(topo, v, i).link;

            topo_link_at(topo, number, 0, &link);
            take(context, number, &link);
        }
}
