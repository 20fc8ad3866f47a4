/*
 * refine.h - brings a partition of a graph within size limits, and improves its cut by moving and
 * swapping single vertices. Deterministic: integers only, ties go to the smaller number. Nothing
 * here fails or switches.
 */
#ifndef PARTITION_REFINE_H
#define PARTITION_REFINE_H

#include "partition/graph.h"

/*
 * Changes `part` (values 0 to procs - 1) so that no part has more than `most` ranks, as far as
 * whole vertices allow (always, if all have size 1 and procs * most >= ranks), that no part is
 * empty (if there are procs vertices), and that the cut is small. O(rounds * (edges + vertices *
 * log)), and O(vertices^2) more where there are at most 2048 of them.
 */
void partition_refine(const struct partition_graph *graph, uint32_t procs, uint32_t most,
                      int32_t *part);

#endif
