/*
 * sharing.h - how much longer computing takes when several ranks of a node compute at once
 * (nodes.sharing), since they share its caches, memory and power.
 *
 * The list has factors for three kinds of work. A program is a mixture of them, given by
 * nodes.streaming_part and nodes.random_part by default.
 */
#ifndef PLATFORM_SHARING_H
#define PLATFORM_SHARING_H

#include "platform/nodes.h"

/* The factor on compute time when `busy` ranks of a node compute: interpolated linearly between the
 * items of the list, constant beyond the last one, and 1 for a single rank unless the list says
 * otherwise. 1 without a list. */
double platform_sharing_factor(const struct platform *, uint64_t busy);

/* How many of the first `ranks` ranks are on a node. O(1); with a map O(its length). */
uint64_t platform_ranks_on_node(const struct platform_nodes *, uint32_t node, uint64_t ranks);

/* Do all nodes in use have the same number of these ranks? O(1); with a map O(ranks + nodes). */
int platform_nodes_are_even(const struct platform_nodes *, uint64_t ranks);

#endif
