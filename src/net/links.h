/*
 * links.h - the links of a topology, for those who tell what they carried.
 */
#ifndef NET_LINKS_H
#define NET_LINKS_H

#include "base/bins.h"
#include "net/topology/topology.h"

#define NET_LINKS_VERTICES 4096 /* of topologies all of whose links are told of */

/* What a link can carry at time 0, in bytes per second; may be infinite. */
double net_link_rate(const struct topo *, const struct platform_config *, const struct topo_link *);

/* Is the topology so small that all links are told of? Else those that carried something are. */
int net_links_are_few(const struct topo *);
/* Calls `take` for each of these links. */
void net_links_each(const struct topo *, const struct bins *load,
                    void (*take)(void *context, uint32_t number, const struct topo_link *),
                    void *context);

#endif
