/*
 * refine.c - repairs a partition of a graph and improves it by local search.
 *
 * 1. Parts that are too large give away the vertices that cost least.
 * 2. Empty parts take the vertex that costs least from the part with the most ranks.
 * 3. Rounds of moves (a vertex moves to a neighbouring part with room, if the cut shrinks, or stays
 *    the same and the sizes become more equal) and, in small graphs, of swaps (two vertices are
 *    exchanged if the cut shrinks: where parts are full, no vertex can move alone).
 *
 * From 2 on no part is empty; from 1 on no step makes a part larger than `most`, or larger than it
 * was if it is above.
 */
#include "partition/refine.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define ROUNDS 10
#define SWAP_VERTICES_MAX 2048 /* since a swap examines all vertices */

struct refiner {
    const struct partition_graph *g;
    uint32_t procs, most;
    int32_t *part;
    int64_t *load;    /* ranks of a part */
    int32_t *members; /* vertices of a part */
    int64_t *link;    /* by part: weight of the edges from the current vertex; 0 if not touched */
    int32_t *touched; /* the parts with a link */
    int32_t touched_count;
    int32_t *edge_to; /* by vertex: weight of the edge from the current vertex; for swaps */
};

/* A vertex and how much the cut would grow by moving it. */
struct offer {
    int64_t gain;
    int32_t vertex;
};

static void link_up(struct refiner *r, int32_t v)
{
    const struct partition_graph *g = r->g;

    for (int32_t i = g->row[v]; i < g->row[v + 1]; i++) {
        int32_t p = r->part[g->neighbour[i]];

        if (!r->link[p])
            r->touched[r->touched_count++] = p;
        r->link[p] += g->weight[i];
    }
}

static void unlink_all(struct refiner *r)
{
    while (r->touched_count)
        r->link[r->touched[--r->touched_count]] = 0;
}

static void move(struct refiner *r, int32_t v, int32_t to)
{
    int32_t from = r->part[v];

    r->load[from] -= r->g->size[v];
    r->members[from]--;
    r->load[to] += r->g->size[v];
    r->members[to]++;
    r->part[v] = to;
}

static int has_room(const struct refiner *r, int32_t p, int32_t v)
{
    return r->load[p] + r->g->size[v] <= r->most;
}

static int32_t lightest(const struct refiner *r)
{
    int32_t best = 0;

    for (int32_t p = 1; p < (int32_t)r->procs; p++)
        if (r->load[p] < r->load[best])
            best = p;
    return best;
}

/* The part with room that v, whose links are computed, is linked to most; -1 if none has room. */
static int32_t best_target(const struct refiner *r, int32_t v)
{
    int32_t best = -1;

    for (int32_t i = 0; i < r->touched_count; i++) {
        int32_t p = r->touched[i];

        if (p == r->part[v] || !has_room(r, p, v))
            continue;
        if (best < 0 || r->link[p] > r->link[best] || (r->link[p] == r->link[best] && p < best))
            best = p;
    }
    return best;
}

/* ---- repair ---- */

static int by_gain(const void *a, const void *b)
{
    const struct offer *x = a, *y = b;

    if (x->gain != y->gain)
        return x->gain > y->gain ? -1 : 1;
    return x->vertex < y->vertex ? -1 : x->vertex > y->vertex;
}

static int64_t gain_of_leaving(struct refiner *r, int32_t v)
{
    int64_t most = 0, own;

    link_up(r, v);
    own = r->link[r->part[v]];
    for (int32_t i = 0; i < r->touched_count; i++)
        if (r->touched[i] != r->part[v] && r->link[r->touched[i]] > most)
            most = r->link[r->touched[i]];
    unlink_all(r);
    return most - own;
}

static void give_away(struct refiner *r, int32_t v)
{
    int32_t to;

    link_up(r, v);
    to = best_target(r, v);
    unlink_all(r);
    if (to < 0) {
        to = lightest(r);
        if (!has_room(r, to, v))
            return;
    }
    move(r, v, to);
}

static void shrink_large(struct refiner *r)
{
    struct offer *offers = mem_alloc((size_t)r->g->count * sizeof *offers);
    size_t count = 0;

    for (int32_t v = 0; v < r->g->count; v++)
        if (r->load[r->part[v]] > r->most)
            offers[count++] = (struct offer){gain_of_leaving(r, v), v};
    qsort(offers, count, sizeof *offers, by_gain);
    for (size_t i = 0; i < count; i++) {
        int32_t from = r->part[offers[i].vertex];

        if (r->load[from] > r->most && r->members[from] > 1)
            give_away(r, offers[i].vertex);
    }
    mem_free(offers);
}

/* The part with the most ranks among those with more than one vertex; -1 if there is none. */
static int32_t richest(const struct refiner *r)
{
    int32_t best = -1;

    for (int32_t p = 0; p < (int32_t)r->procs; p++)
        if (r->members[p] > 1 && (best < 0 || r->load[p] > r->load[best]))
            best = p;
    return best;
}

static void fill_empty(struct refiner *r)
{
    for (int32_t p = 0; p < (int32_t)r->procs; p++) {
        int32_t from = r->members[p] ? -1 : richest(r), best = -1;
        int64_t best_gain = 0;

        if (from < 0)
            continue;
        for (int32_t v = 0; v < r->g->count; v++) {
            int64_t gain;

            if (r->part[v] != from)
                continue;
            link_up(r, v);
            gain = -r->link[from];
            unlink_all(r);
            if (best < 0 || gain > best_gain) {
                best = v;
                best_gain = gain;
            }
        }
        move(r, best, p);
    }
}

/* ---- local search ---- */

static int move_round(struct refiner *r)
{
    int moves = 0;

    for (int32_t v = 0; v < r->g->count; v++) {
        int32_t from = r->part[v], to;
        int64_t gain;

        if (r->members[from] == 1)
            continue;
        link_up(r, v);
        to = best_target(r, v);
        gain = to < 0 ? -1 : r->link[to] - r->link[from];
        unlink_all(r);
        if (gain > 0 || (gain == 0 && r->load[to] + r->g->size[v] < r->load[from])) {
            move(r, v, to);
            moves++;
        }
    }
    return moves;
}

/* Weights from every vertex to every part, kept up to date: vertices x procs. */
static void table_add(const struct refiner *r, int64_t *table, int32_t v, int32_t sign)
{
    const struct partition_graph *g = r->g;

    for (int32_t i = g->row[v]; i < g->row[v + 1]; i++)
        table[(size_t)g->neighbour[i] * r->procs + (size_t)r->part[v]] += sign * g->weight[i];
}

static void table_move(struct refiner *r, int64_t *table, int32_t v, int32_t to)
{
    table_add(r, table, v, -1);
    move(r, v, to);
    table_add(r, table, v, 1);
}

static int swap_fits(const struct refiner *r, int32_t v, int32_t u)
{
    int64_t more = r->g->size[u] - r->g->size[v];
    int32_t a = r->part[v], b = r->part[u];

    return (more <= 0 || r->load[a] + more <= r->most) &&
           (more >= 0 || r->load[b] - more <= r->most);
}

/* The vertex of part b whose exchange with v gains most; -1 if none gains. */
static int32_t best_partner(const struct refiner *r, const int64_t *table, int32_t v, int32_t b)
{
    const int64_t *row = table + (size_t)v * r->procs;
    int32_t a = r->part[v], best = -1;
    int64_t gain = row[b] - row[a], most = 0;

    for (int32_t u = 0; u < r->g->count; u++) {
        const int64_t *other = table + (size_t)u * r->procs;
        int64_t both;

        if (r->part[u] != b || !swap_fits(r, v, u))
            continue;
        both = gain + other[a] - other[b] - 2 * (int64_t)r->edge_to[u];
        if (both > most) {
            most = both;
            best = u;
        }
    }
    return best;
}

static void mark_edges(struct refiner *r, int32_t v, int mark)
{
    const struct partition_graph *g = r->g;

    for (int32_t i = g->row[v]; i < g->row[v + 1]; i++)
        r->edge_to[g->neighbour[i]] = mark ? g->weight[i] : 0;
}

/* If a swap gains, one of the two vertices gains alone, so it suffices to start from that one. */
static int swap_vertex(struct refiner *r, int64_t *table, int32_t v)
{
    const int64_t *row = table + (size_t)v * r->procs;
    int swapped = 0;

    mark_edges(r, v, 1);
    for (int32_t b = 0; b < (int32_t)r->procs && !swapped; b++) {
        int32_t a = r->part[v], u;

        if (row[b] <= row[a] || b == a)
            continue;
        u = best_partner(r, table, v, b);
        if (u < 0)
            continue;
        table_move(r, table, v, b);
        table_move(r, table, u, a);
        swapped = 1;
    }
    mark_edges(r, v, 0);
    return swapped;
}

static int swap_round(struct refiner *r)
{
    size_t cells = (size_t)r->g->count * r->procs;
    int64_t *table;
    int swaps = 0;

    if (r->g->count > SWAP_VERTICES_MAX)
        return 0;
    table = mem_zalloc(cells * sizeof *table);
    for (int32_t v = 0; v < r->g->count; v++)
        table_add(r, table, v, 1);
    for (int32_t v = 0; v < r->g->count; v++)
        swaps += swap_vertex(r, table, v);
    mem_free(table);
    return swaps;
}

void partition_refine(const struct partition_graph *graph, uint32_t procs, uint32_t most,
                      int32_t *part)
{
    struct refiner r = {.g = graph, .procs = procs, .most = most, .part = part};

    r.load = mem_zalloc(procs * sizeof *r.load);
    r.members = mem_zalloc(procs * sizeof *r.members);
    r.link = mem_zalloc(procs * sizeof *r.link);
    r.touched = mem_zalloc(procs * sizeof *r.touched);
    r.edge_to = mem_zalloc((size_t)graph->count * sizeof *r.edge_to);
    for (int32_t v = 0; v < graph->count; v++) {
        r.load[part[v]] += graph->size[v];
        r.members[part[v]]++;
    }
    shrink_large(&r);
    fill_empty(&r);
    for (int i = 0; i < ROUNDS && move_round(&r) + swap_round(&r) > 0; i++)
        ;
    mem_free(r.load);
    mem_free(r.members);
    mem_free(r.link);
    mem_free(r.touched);
    mem_free(r.edge_to);
}
