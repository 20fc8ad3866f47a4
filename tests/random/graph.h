/*
 * graph.h - neighbourhood collectives on distributed graphs: member i has edges to i + k for some
 * shifts k, so everybody knows what comes from whom.
 */
#ifndef TESTS_RANDOM_GRAPH_H
#define TESTS_RANDOM_GRAPH_H

#include "comms.h"

enum { GRAPH_EDGES = 3, GRAPH_MOST = 60 };

struct graph {
    int n, to[GRAPH_EDGES], from[GRAPH_EDGES];
    int counts[GRAPH_EDGES], displs[GRAPH_EDGES]; /* of both directions */
    MPI_Aint bytes[GRAPH_EDGES];
    MPI_Datatype types[GRAPH_EDGES];
};

/* Shifts rise, so no edge is there twice. */
static MPI_Comm graph_make(const struct comm *c, struct draw *d, struct graph *g)
{
    int shift = (int)draw(d, 2), adjacent = (int)draw(d, 2), count = 1 + (int)draw(d, GRAPH_MOST);
    MPI_Comm made;
    for (g->n = 0; g->n < GRAPH_EDGES && shift < c->size; g->n++, shift += 1 + (int)draw(d, 3)) {
        int i = g->n;
        g->to[i] = (c->rank + shift) % c->size;
        g->from[i] = (c->rank - shift + c->size) % c->size;
        g->counts[i] = count;
        g->displs[i] = i * count;
        g->bytes[i] = (MPI_Aint)((size_t)(i * count) * sizeof(long));
        g->types[i] = MPI_LONG;
    }
    if (adjacent)
        MPI_Dist_graph_create_adjacent(c->comm, g->n, g->from, MPI_UNWEIGHTED, g->n, g->to,
                                       MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made);
    else
        MPI_Dist_graph_create(c->comm, 1, &c->rank, &g->n, g->to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                              &made);
    return made;
}

static void graph_exchange(MPI_Comm comm, struct graph *g, int how, const long *out, long *in)
{
    MPI_Request r = MPI_REQUEST_NULL;
    switch (how) {
    case 0:
        MPI_Neighbor_alltoallv(out, g->counts, g->displs, MPI_LONG, in, g->counts, g->displs,
                               MPI_LONG, comm);
        break;
    case 1:
        MPI_Ineighbor_alltoallv(out, g->counts, g->displs, MPI_LONG, in, g->counts, g->displs,
                                MPI_LONG, comm, &r);
        break;
    case 2:
        MPI_Neighbor_alltoallw(out, g->counts, g->bytes, g->types, in, g->counts, g->bytes,
                               g->types, comm);
        break;
    case 3:
        MPI_Ineighbor_alltoallw(out, g->counts, g->bytes, g->types, in, g->counts, g->bytes,
                                g->types, comm, &r);
        break;
    default:
        MPI_Neighbor_alltoallv_init(out, g->counts, g->displs, MPI_LONG, in, g->counts, g->displs,
                                    MPI_LONG, comm, MPI_INFO_NULL, &r);
        MPI_Start(&r);
    }
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    if (r != MPI_REQUEST_NULL)
        MPI_Request_free(&r);
}

static int graph_has(const struct graph *g, int source)
{
    int has = 0;
    for (int k = 0; k < g->n; k++)
        has |= g->from[k] == source;
    return has;
}

/* The order of neighbours is the library's, unless they were given. */
static void graph_look(MPI_Comm comm, struct graph *g)
{
    struct graph seen = *g;
    int in_degree, out_degree, is_weighted, weights[GRAPH_EDGES];
    MPI_Dist_graph_neighbors_count(comm, &in_degree, &out_degree, &is_weighted);
    CHECK(in_degree == g->n && out_degree == g->n && !is_weighted);
    MPI_Dist_graph_neighbors(comm, g->n, seen.from, weights, g->n, seen.to, weights);
    for (int k = 0; k < g->n; k++)
        CHECK(graph_has(g, seen.from[k]));
    *g = seen;
}

static void act_graph(const struct comm *c)
{
    struct draw d = draw_shared(), own = draw_own();
    struct graph g;
    long out[GRAPH_EDGES * GRAPH_MOST], in[GRAPH_EDGES * GRAPH_MOST];
    spend(&own);
    MPI_Comm comm = graph_make(c, &d, &g);
    graph_look(comm, &g);
    for (int k = 0; k < g.n; k++)
        for (int i = 0; i < g.counts[k]; i++)
            out[g.displs[k] + i] = value_of(c->rank, i, (uint64_t)g.to[k]);
    memset(in, -1, sizeof in);
    if (g.n > 0)
        graph_exchange(comm, &g, (int)draw(&d, 5), out, in);
    for (int k = 0; k < g.n; k++)
        for (int i = 0; i < g.counts[k]; i++) {
            CHECK(in[g.displs[k] + i] == value_of(g.from[k], i, (uint64_t)c->rank));
            run.sum += (uint64_t)in[g.displs[k] + i];
        }
    MPI_Comm_free(&comm);
}

#endif
