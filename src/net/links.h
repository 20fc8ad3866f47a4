/*
 * links.h - the links of a topology, for reports of what they carried.
 */
#ifndef NET_LINKS_H
#define NET_LINKS_H

#include "base/bins.h"
#include "net/topology/topology.h"

#define NET_LINKS_VERTICES 4096 /* of topologies whose links are all reported */

/* What a link can carry at time 0, in bytes per second; may be infinite. */
double net_link_rate(const struct topo *, const struct platform_config *, const struct topo_link *);

/* Is the topology so small that all links are reported? Else only those that carried something. */
int net_links_are_few(const struct topo *);
/* Calls `take` for each of these links. */
void net_links_each(const struct topo *, const struct bins *load,
                    void (*take)(void *context, uint32_t number, const struct topo_link *),
                    void *context);

#endif
