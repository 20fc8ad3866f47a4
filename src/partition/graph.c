/*
 * graph.c - builds the graph: entries of the statistics become vertices, pairs become edges.
 *
 * Two counting passes sort the rows: the half-edges are first sorted by their head, then
 * distributed in that order to their tails. Equal neighbours are then adjacent and are merged. So
 * the graph does not depend on the order of the pairs in the file.
 */
#include "partition/graph.h"

#include <string.h>

#include "base/mem.h"

#define WEIGHT_SUM ((uint64_t)1 << 28)
#define BUNDLES_PER_PART 128

struct half_edge {
    int32_t tail, weight;
};

static int is_edge(const struct results_stats_pair *p)
{
    return p->source != p->destination && p->messages > 0;
}

static unsigned __int128 total_messages(const struct results_stats *s)
{
    unsigned __int128 total = 0;

    for (size_t i = 0; i < s->count; i++)
        total += is_edge(&s->pairs[i]) ? s->pairs[i].messages : 0;
    return total;
}

static int32_t scaled(uint64_t messages, unsigned __int128 total)
{
    unsigned __int128 w = messages;

    if (total > WEIGHT_SUM)
        w = w * WEIGHT_SUM / total;
    return w ? (int32_t)w : 1;
}

/* ---- vertices ---- */

static uint32_t size_of_entry(const struct results_stats *s, uint32_t entry)
{
    uint32_t rest = s->ranks - entry * s->group;

    return rest < s->group ? rest : s->group;
}

/* Numbers the vertices with edges first, in order; vertex_of holds UINT32_MAX for entries without
 * edges. */
static uint32_t number_connected(struct partition_graph *g, const struct results_stats *s)
{
    uint32_t count = 0;

    memset(g->vertex_of, 0xff, s->entries * sizeof *g->vertex_of);
    for (size_t i = 0; i < s->count; i++)
        if (is_edge(&s->pairs[i]))
            g->vertex_of[s->pairs[i].source] = g->vertex_of[s->pairs[i].destination] = 0;
    for (uint32_t i = 0; i < s->entries; i++)
        if (g->vertex_of[i] == 0)
            g->vertex_of[i] = count++;
    return count;
}

/* Then the others, several entries per vertex as long as it stays small. */
static void number_isolated(struct partition_graph *g, const struct results_stats *s,
                            uint32_t count, uint32_t procs)
{
    uint64_t most = s->ranks / ((uint64_t)procs * BUNDLES_PER_PART), size = UINT64_MAX;

    for (uint32_t i = 0; i < s->entries; i++) {
        if (g->vertex_of[i] != UINT32_MAX)
            continue;
        if (size == UINT64_MAX || size + size_of_entry(s, i) > most) {
            size = 0;
            count++;
        }
        size += size_of_entry(s, i);
        g->vertex_of[i] = count - 1;
    }
    g->count = (int32_t)count;
}

static int make_vertices(struct partition_graph *g, const struct results_stats *s, uint32_t procs)
{
    g->vertex_of = mem_try_alloc(s->entries, sizeof *g->vertex_of);
    if (!g->vertex_of)
        return ERR_MEMORY;
    number_isolated(g, s, number_connected(g, s), procs);
    g->size = mem_try_alloc((size_t)g->count, sizeof *g->size);
    g->first = mem_try_alloc((size_t)g->count, sizeof *g->first);
    if (!g->size || !g->first)
        return ERR_MEMORY;
    memset(g->size, 0, (size_t)g->count * sizeof *g->size);
    for (uint32_t i = 0; i < s->entries; i++) {
        uint32_t v = g->vertex_of[i];

        if (!g->size[v])
            g->first[v] = i * s->group;
        g->size[v] += (int32_t)size_of_entry(s, i);
    }
    return 0;
}

/* ---- edges ---- */

/* row[v + 1] becomes the start of the half-edges of v; each one stored there advances it, so that
 * in the end row[v] is their start. */
static void count_rows(struct partition_graph *g, const struct results_stats *s)
{
    int32_t sum = 0;

    memset(g->row, 0, ((size_t)g->count + 1) * sizeof *g->row);
    for (size_t i = 0; i < s->count; i++) {
        if (!is_edge(&s->pairs[i]))
            continue;
        g->row[g->vertex_of[s->pairs[i].source] + 1]++;
        g->row[g->vertex_of[s->pairs[i].destination] + 1]++;
    }
    for (int32_t v = 0; v < g->count; v++) {
        int32_t n = g->row[v + 1];

        g->row[v + 1] = sum;
        sum += n;
    }
}

static void place_by_head(struct partition_graph *g, const struct results_stats *s,
                          struct half_edge *half)
{
    unsigned __int128 total = total_messages(s);

    for (size_t i = 0; i < s->count; i++) {
        uint32_t a, b;
        int32_t w;

        if (!is_edge(&s->pairs[i]))
            continue;
        a = g->vertex_of[s->pairs[i].source];
        b = g->vertex_of[s->pairs[i].destination];
        w = scaled(s->pairs[i].messages, total);
        half[g->row[a + 1]++] = (struct half_edge){(int32_t)b, w};
        half[g->row[b + 1]++] = (struct half_edge){(int32_t)a, w};
    }
}

/* Takes the half-edges in order of their head; `head_row` gives the start of each head's. */
static void place_by_tail(struct partition_graph *g, const struct half_edge *half,
                          const int32_t *head_row)
{
    for (int32_t head = 0; head < g->count; head++)
        for (int32_t i = head_row[head]; i < head_row[head + 1]; i++) {
            int32_t at = g->row[half[i].tail + 1]++;

            g->neighbour[at] = head;
            g->weight[at] = half[i].weight;
        }
}

static void merge_equal(struct partition_graph *g)
{
    int32_t out = 0, from = 0;

    for (int32_t v = 0; v < g->count; v++) {
        int32_t start = out, end = g->row[v + 1];

        for (int32_t i = from; i < end; i++) {
            if (out > start && g->neighbour[out - 1] == g->neighbour[i]) {
                g->weight[out - 1] += g->weight[i];
                continue;
            }
            g->neighbour[out] = g->neighbour[i];
            g->weight[out++] = g->weight[i];
        }
        from = end;
        g->row[v + 1] = out;
    }
}

static int make_edges(struct partition_graph *g, const struct results_stats *s)
{
    size_t rows = (size_t)g->count + 1, halves = 2 * s->count + 1;
    struct half_edge *half = mem_try_alloc(halves, sizeof *half);
    int32_t *head_row = mem_try_alloc(rows, sizeof *head_row);
    int rc = ERR_MEMORY;

    g->row = mem_try_alloc(rows, sizeof *g->row);
    g->neighbour = mem_try_alloc(halves, sizeof *g->neighbour);
    g->weight = mem_try_alloc(halves, sizeof *g->weight);
    if (half && head_row && g->row && g->neighbour && g->weight) {
        count_rows(g, s);
        place_by_head(g, s, half);
        memcpy(head_row, g->row, rows * sizeof *head_row);
        count_rows(g, s);
        place_by_tail(g, half, head_row);
        merge_equal(g);
        rc = 0;
    }
    mem_free(head_row);
    mem_free(half);
    return rc;
}

int partition_graph_init(struct partition_graph *graph, const struct results_stats *stats,
                         uint32_t procs, struct err *err)
{
    struct partition_graph g = {.ranks = stats->ranks};

    if (make_vertices(&g, stats, procs) || make_edges(&g, stats)) {
        partition_graph_fini(&g);
        return err_set(err, ERR_MEMORY, "no memory for a graph of %u ranks and %zu pairs",
                       stats->ranks, stats->count);
    }
    *graph = g;
    return 0;
}

void partition_graph_fini(struct partition_graph *graph)
{
    mem_free(graph->row);
    mem_free(graph->neighbour);
    mem_free(graph->weight);
    mem_free(graph->size);
    mem_free(graph->first);
    mem_free(graph->vertex_of);
    *graph = (struct partition_graph){0};
}

int64_t partition_graph_cut(const struct partition_graph *graph, const int32_t *part)
{
    int64_t twice = 0;

    for (int32_t v = 0; v < graph->count; v++)
        for (int32_t i = graph->row[v]; i < graph->row[v + 1]; i++)
            twice += part[v] != part[graph->neighbour[i]] ? graph->weight[i] : 0;
    return twice / 2;
}
