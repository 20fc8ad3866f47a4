/*
 * cycles.h - the cycles of a directed graph: who waits for whom, for the report of a deadlock.
 */
#ifndef ENGINE_CYCLES_H
#define ENGINE_CYCLES_H

#include <stdint.h>

/* The edges of vertex v are on[row[v]] to on[row[v + 1] - 1]; no edge is there twice. */
struct cycles_graph {
    uint32_t vertices;
    const uint64_t *row;
    const uint32_t *on;
};

struct cycles_found {
    uint64_t count;
    int is_all; /* else there may be more: a graph can have more cycles than anyone can list */
};

/*
 * Calls `see` for every cycle in which no vertex appears twice, its smallest member first. Vertices
 * that are in cycles with each other are treated together: those with the smallest member first,
 * and of their cycles the shortest first. At least one is found of each such set. Never switches;
 * memory and time are linear in the size of the graph.
 */
struct cycles_found cycles_find(const struct cycles_graph *,
                                void (*see)(void *context, const uint32_t *members, uint32_t count),
                                void *context);

#endif
