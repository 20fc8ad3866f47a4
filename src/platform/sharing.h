/*
 * sharing.h - ranks of a node share its caches, its memory and its power: how much longer their computing
 * takes when several compute at once (nodes.sharing).
 *
 * The list has factors for three kinds of work. What a program does is a mixture of them: by default the one
 * of nodes.streaming_part and nodes.random_part.
 */
#ifndef PLATFORM_SHARING_H
#define PLATFORM_SHARING_H

#include "platform/nodes.h"

/* The factor on computing when `busy` ranks of a node compute: linear between the items of the list, 1 for
 * a rank alone unless the list says otherwise, and beyond the last item as there. 1 without a list. */
double platform_sharing_factor(const struct platform *, uint64_t busy);

/* How many of the first `ranks` ranks are on a node. O(1), but with a map O(its length). */
uint64_t platform_ranks_on_node(const struct platform_nodes *, uint32_t node, uint64_t ranks);

/* Have all nodes that are in use equally many of these ranks? O(1), but with a map O(ranks + nodes). */
int platform_nodes_are_even(const struct platform_nodes *, uint64_t ranks);

#endif
