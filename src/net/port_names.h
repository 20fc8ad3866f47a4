/*
 * port_names.h - names of hosts, switches and their ports, as users read and give them: n3 is node
 * 3, s0 switch 0, s0-n3 the port of switch 0 that leads to node 3, s0-s1#1 that of its second cable
 * to switch 1.
 */
#ifndef NET_PORT_NAMES_H
#define NET_PORT_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct topo;

#define NET_NAME_MAX 64

/* The port of vertex `from` that leads to `to`, or the vertex if both are the same. */
void net_port_name(const struct topo *, uint32_t from, uint32_t to, uint32_t cable, char *out,
                   size_t size);
/* Which of the cables between its ends a link is. O(degree). */
uint32_t net_link_cable(const struct topo *, uint32_t link);
/* The name of the port at which a link begins. O(degree). */
void net_link_name(const struct topo *, uint32_t link, char *out, size_t size);

/* Does one of the shell patterns of a list, separated by commas, match the name? */
int net_name_matches(const char *patterns, const char *name);

#endif
