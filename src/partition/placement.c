/*
 * placement.c - placement by minimal cut: statistics become a graph (graph.c), METIS partitions it,
 * refine.c brings the partition within the limits, and the best of several is used. METIS (Karypis
 * and Kumar, "A fast and high quality multilevel scheme for partitioning irregular graphs", 1998)
 * is called with both of its methods, and with several seeds if the graph is so small that this
 * costs nothing: METIS is weakest at small graphs with full parts.
 *
 * Vertices of several ranks (groups and bundles) may not fit: at the end, their ranks are moved one
 * by one out of parts that are too large.
 */
#include "partition/placement.h"

#include <assert.h>
#include <metis.h>
#include <string.h>

#include "base/mem.h"
#include "library/library.h"
#include "partition/graph.h"
#include "partition/refine.h"
#include "results/stats_read.h"

_Static_assert(sizeof(idx_t) == sizeof(int32_t), "METIS has been built with 64-bit indices");

#define OVER_MEAN_PERCENT 3
#define SEEDS_MAX 8
#define SMALL_EDGES 20000    /* with up to this many edges, all seeds are tried */
#define VERTICES_PER_PART 4u /* with fewer, METIS is useless and complains on standard output */

/* Consecutive ranks; the first processes have one more. */
static uint32_t block_of(uint64_t rank, uint64_t ranks, uint32_t procs)
{
    uint64_t size = ranks / procs, larger = ranks % procs;

    if (rank < larger * (size + 1))
        return (uint32_t)(rank / (size + 1));
    return (uint32_t)(larger + (rank - larger * (size + 1)) / size);
}

static void place_blocks(uint64_t ranks, uint32_t procs, uint32_t *owner)
{
    for (uint64_t i = 0; i < ranks; i++)
        owner[i] = block_of(i, ranks, procs);
}

/* The most ranks that a process may have. */
static uint32_t most_ranks(uint64_t ranks, uint32_t procs)
{
    uint64_t mean_up = (ranks + procs - 1) / procs;
    uint64_t most = ranks * (100 + OVER_MEAN_PERCENT) / ((uint64_t)procs * 100);

    return (uint32_t)(most > mean_up ? most : mean_up);
}

/* ---- partitioning the vertices ---- */

static int divide(struct partition_graph *g, uint32_t procs, int seed, int recursive, int32_t *part,
                  struct err *err)
{
    idx_t options[METIS_NOPTIONS], constraints = 1, parts = (idx_t)procs, cut;
    int rc;

    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = seed;
    options[METIS_OPTION_NUMBERING] = 0;
    options[METIS_OPTION_UFACTOR] = 10 * OVER_MEAN_PERCENT;
    rc = (recursive ? METIS_PartGraphRecursive : METIS_PartGraphKway)(&g->count, &constraints,
                                                                      g->row, g->neighbour, g->size,
                                                                      NULL, g->weight, &parts, NULL,
                                                                      NULL, options, &cut, part);
    if (rc == METIS_OK)
        return 0;
    if (rc == METIS_ERROR_MEMORY)
        return err_set(err, ERR_MEMORY, "no memory to divide a graph of %d vertices", g->count);
    return err_set(err, ERR_INTERNAL, "METIS cannot divide a graph of %d vertices: code %d",
                   g->count, rc);
}

/* Blocks of ranks, as far as vertices allow: a vertex goes to the block of its first rank. */
static void divide_blocks(const struct partition_graph *g, uint32_t procs, int32_t *part)
{
    for (int32_t v = 0; v < g->count; v++)
        part[v] = (int32_t)block_of(g->first[v], g->ranks, procs);
}

struct best {
    int64_t cut;
    int32_t *part; /* of the best so far */
    int32_t *next; /* of the one being built */
    int found;     /* better than blocks */
};

static void keep_better(const struct partition_graph *g, uint32_t procs, struct best *b)
{
    int64_t cut;

    partition_refine(g, procs, most_ranks(g->ranks, procs), b->next);
    cut = partition_graph_cut(g, b->next);
    if (cut < b->cut) {
        int32_t *other = b->part;

        b->part = b->next;
        b->next = other;
        b->cut = cut;
        b->found = 1;
    }
}

static int search(struct partition_graph *g, uint32_t procs, struct best *b, struct err *err)
{
    int seeds = g->row[g->count] <= 2 * SMALL_EDGES ? SEEDS_MAX : 1;

    divide_blocks(g, procs, b->next);
    b->cut = partition_graph_cut(g, b->next);
    if (b->cut == 0)
        return 0;
    keep_better(g, procs, b);
    if ((uint32_t)g->count / VERTICES_PER_PART < procs)
        return 0;
    if (library_load(LIBRARY_metis, err))
        return ERR_SYSTEM;
    for (int i = 0; i < 2 * seeds && b->cut > 0; i++) {
        int rc = divide(g, procs, 1 + i / 2, i % 2, b->next, err);

        if (rc)
            return rc;
        keep_better(g, procs, b);
    }
    return 0;
}

/* ---- from vertices to ranks ---- */

/* Moves ranks of vertices with several ranks from parts that are too large to those with room;
 * `load` is in ranks. Vertices without edges go first, since moving them is free. */
static void even_out(const struct partition_graph *g, const struct results_stats *s, uint32_t procs,
                     uint64_t *load, uint32_t *owner)
{
    uint32_t most = most_ranks(s->ranks, procs), to = 0;

    for (int edges = 0; edges < 2; edges++)
        for (uint32_t i = s->ranks; i-- > 0;) {
            uint32_t v = g->vertex_of[i / s->group];

            if (load[owner[i]] <= most || g->size[v] == 1 || (g->row[v] < g->row[v + 1]) != edges)
                continue;
            while (load[to] >= most)
                to++;
            load[owner[i]]--;
            load[to]++;
            owner[i] = to;
        }
}

static void renumber(uint64_t ranks, uint32_t procs, uint32_t *owner)
{
    uint32_t *number = mem_alloc(procs * sizeof *number), next = 0;

    memset(number, 0xff, procs * sizeof *number);
    for (uint64_t i = 0; i < ranks; i++) {
        if (number[owner[i]] == UINT32_MAX)
            number[owner[i]] = next++;
        owner[i] = number[owner[i]];
    }
    mem_free(number);
    assert(next == procs);
}

static void place_vertices(const struct partition_graph *g, const struct results_stats *s,
                           uint32_t procs, const int32_t *part, uint32_t *owner)
{
    uint64_t *load = mem_zalloc(procs * sizeof *load);

    for (uint32_t i = 0; i < s->ranks; i++) {
        owner[i] = (uint32_t)part[g->vertex_of[i / s->group]];
        load[owner[i]]++;
    }
    even_out(g, s, procs, load, owner);
    mem_free(load);
    renumber(s->ranks, procs, owner);
}

static int place(struct partition_graph *g, const struct results_stats *s, uint32_t procs,
                 uint32_t *owner, struct err *err)
{
    struct best b = {0};
    int rc = 0;

    b.part = mem_alloc((size_t)g->count * sizeof *b.part);
    b.next = mem_alloc((size_t)g->count * sizeof *b.next);
    if ((uint32_t)g->count >= procs)
        rc = search(g, procs, &b, err);
    if (rc == 0 && b.found)
        place_vertices(g, s, procs, b.part, owner);
    else if (rc == 0)
        place_blocks(s->ranks, procs, owner);
    mem_free(b.part);
    mem_free(b.next);
    return rc;
}

static int check_ranks(const char *path, const struct results_stats *s, uint64_t ranks,
                       struct err *err)
{
    if (s->ranks != ranks)
        return err_set(err, ERR_INPUT,
                       "cannot use statistics '%s': made with %u ranks, this run has %llu; make "
                       "them with 'orrery run -n %llu --stats'",
                       path, s->ranks, (unsigned long long)ranks, (unsigned long long)ranks);
    if (ranks > INT32_MAX)
        return err_set(err, ERR_INPUT, "cannot place more than %d ranks by minimal cut", INT32_MAX);
    return 0;
}

int partition_mincut(const char *path, uint64_t ranks, uint32_t procs, uint32_t *owner,
                     struct err *err)
{
    struct results_stats stats;
    struct partition_graph graph;
    int rc = results_stats_read(&stats, path, err);

    assert(procs > 0);
    if (rc)
        return rc;
    rc = check_ranks(path, &stats, ranks, err);
    if (rc)
        goto fini_stats;
    if (procs == 1 || ranks <= procs) {
        place_blocks(ranks, procs, owner);
        goto fini_stats;
    }
    rc = partition_graph_init(&graph, &stats, procs, err);
    if (rc)
        goto fini_stats;
    rc = place(&graph, &stats, procs, owner, err);
    partition_graph_fini(&graph);
fini_stats:
    results_stats_fini(&stats);
    return rc;
}
