/*
 * cycles.c - the cycles of a directed graph.
 *
 * Every cycle is within one strongly connected component (Tarjan, "Depth-first search and linear
 * graph algorithms", 1972). A component with as many edges as members is one cycle. In others,
 * which are called knots, cycles are listed by length: for each length, a search from each member
 * that visits only larger ones. It ends when nothing longer can be found, or when it has taken too
 * long. If it has found none by then, all are long, and searches by breadth find those that differ
 * most.
 *
 * No recursion: a cycle may have as many members as there are ranks.
 */
#include "engine/cycles.h"

#include <string.h>

#include "base/mem.h"

#define NONE UINT32_MAX
#define STEPS_MORE 1000000 /* edges that the search in a knot follows, beyond a few times each */
#define STEPS_PER_EDGE 8
#define BRANCHES 64 /* edges through which long cycles are searched */

struct search {
    const struct cycles_graph *graph;
    void (*see)(void *context, const uint32_t *members, uint32_t count);
    void *context;
    struct cycles_found found;
    uint32_t *component; /* of each vertex: its number */
    uint32_t *path;      /* vertices of the path or stack */
    uint64_t *edge;      /* of each vertex on the path: the edge to follow next */
    uint32_t *mark;      /* of each vertex: as a search needs it */
};

/* ---- components ---- */

/* Tarjan's search from one vertex; marks are the numbers in which vertices are visited, from 1. */
struct visit {
    uint32_t *low, *open; /* the least number that is reached; vertices without a component yet */
    uint32_t visited, open_count, components;
};

static void close_component(struct search *s, struct visit *t, uint32_t v)
{
    uint32_t member;

    do {
        member = t->open[--t->open_count];
        s->component[member] = t->components;
    } while (member != v);
    t->components++;
}

static void enter(struct search *s, struct visit *t, uint32_t v)
{
    s->mark[v] = t->low[v] = ++t->visited;
    s->edge[v] = s->graph->row[v];
    t->open[t->open_count++] = v;
}

static void visit_from(struct search *s, struct visit *t, uint32_t start)
{
    const struct cycles_graph *g = s->graph;
    uint32_t depth = 1;

    s->path[0] = start;
    enter(s, t, start);
    while (depth) {
        uint32_t v = s->path[depth - 1];

        if (s->edge[v] < g->row[v + 1]) {
            uint32_t to = g->on[s->edge[v]++];

            if (!s->mark[to]) {
                s->path[depth++] = to;
                enter(s, t, to);
            } else if (s->component[to] == NONE && s->mark[to] < t->low[v]) {
                t->low[v] = s->mark[to];
            }
            continue;
        }
        if (t->low[v] == s->mark[v])
            close_component(s, t, v);
        if (--depth && t->low[v] < t->low[s->path[depth - 1]])
            t->low[s->path[depth - 1]] = t->low[v];
    }
}

static void find_components(struct search *s)
{
    uint32_t n = s->graph->vertices;
    struct visit t = {.low = mem_alloc(n * sizeof *t.low), .open = mem_alloc(n * sizeof *t.open)};

    memset(s->component, 0xff, n * sizeof *s->component);
    for (uint32_t v = 0; v < n; v++)
        if (!s->mark[v])
            visit_from(s, &t, v);
    mem_free(t.low);
    mem_free(t.open);
    memset(s->mark, 0, n * sizeof *s->mark);
}

/* ---- cycles of a component ---- */

static void see(struct search *s, uint32_t count)
{
    s->found.count++;
    s->see(s->context, s->path, count);
}

/* The next edge of v within its component, from s->edge[v] on; NONE: there is none. */
static uint32_t next_inside(struct search *s, uint32_t v)
{
    const struct cycles_graph *g = s->graph;

    while (s->edge[v] < g->row[v + 1]) {
        uint32_t to = g->on[s->edge[v]++];

        if (s->component[to] == s->component[v])
            return to;
    }
    return NONE;
}

/* The component is one cycle. */
static void walk(struct search *s, uint32_t start)
{
    uint32_t count = 0, at = start;

    do {
        s->path[count++] = at;
        s->edge[at] = s->graph->row[at];
        at = next_inside(s, at);
    } while (at != start);
    see(s, count);
}

/* Cycles of exactly this length whose smallest member is `start`. Returns whether a path was too
 * long to be followed; ends early when no steps are left. */
static int search_from(struct search *s, uint32_t start, uint32_t length, uint64_t *steps)
{
    uint32_t depth = 1;
    int is_cut = 0;

    s->path[0] = start;
    s->edge[start] = s->graph->row[start];
    s->mark[start] = 1;
    while (depth) {
        uint32_t v = s->path[depth - 1], to = *steps ? next_inside(s, v) : NONE;

        *steps -= *steps > 0;
        if (to == NONE) {
            s->mark[v] = 0;
            depth--;
        } else if (to == start) {
            if (depth == length)
                see(s, depth);
        } else if (to > start && !s->mark[to]) {
            is_cut |= depth == length;
            if (depth == length)
                continue;
            s->path[depth++] = to;
            s->edge[to] = s->graph->row[to];
            s->mark[to] = 1;
        }
    }
    return is_cut;
}

/* A shortest cycle through the edge from `start` to `second`, by breadth; returns its length. Marks
 * are the vertices before, plus 1. */
static uint32_t search_shortest(struct search *s, uint32_t start, uint32_t second)
{
    uint32_t head = 0, tail = 1, count = 0, to;

    s->path[0] = second;
    s->mark[second] = start + 1;
    while (!s->mark[start]) {
        uint32_t v = s->path[head++];

        s->edge[v] = s->graph->row[v];
        while ((to = next_inside(s, v)) != NONE)
            if (!s->mark[to]) {
                s->mark[to] = v + 1;
                s->path[tail++] = to;
            }
    }
    to = start;
    do
        s->edge[count++] = to = s->mark[to] - 1; /* backwards */
    while (to != start);
    for (uint32_t i = 0; i < tail; i++)
        s->mark[s->path[i]] = 0;
    for (uint32_t i = 0; i < count; i++)
        s->path[i] = (uint32_t)s->edge[count - 1 - i];
    return count;
}

/* Turns the cycle on the path until its smallest member is the first; returns a hash of it. */
static uint64_t turn(struct search *s, uint32_t count)
{
    uint64_t hash = 0;
    uint32_t least = 0;

    for (uint32_t i = 1; i < count; i++)
        if (s->path[i] < s->path[least])
            least = i;
    for (uint32_t i = 0; i < count; i++) {
        s->edge[i] = s->path[(least + i) % count];
        hash = (hash ^ s->edge[i]) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    for (uint32_t i = 0; i < count; i++)
        s->path[i] = (uint32_t)s->edge[i];
    return hash;
}

/* All cycles are long: a shortest one through each edge of members that have several. */
static void search_branches(struct search *s, uint32_t first, const uint32_t *next)
{
    uint64_t hashes[BRANCHES];
    uint32_t branches = 0, distinct = 0;

    for (uint32_t v = first; v != NONE; v = next[v]) {
        uint64_t row = s->graph->row[v];
        uint32_t to, of_v = 0;

        for (s->edge[v] = row; next_inside(s, v) != NONE;)
            of_v++;
        for (uint64_t e = row; of_v > 1 && branches < BRANCHES && e < s->graph->row[v + 1]; e++) {
            to = s->graph->on[e];
            if (s->component[to] != s->component[v])
                continue;
            uint32_t count = search_shortest(s, v, to), i = 0;
            uint64_t hash = turn(s, count);

            branches++;
            while (i < distinct && hashes[i] != hash)
                i++;
            if (i < distinct)
                continue;
            hashes[distinct++] = hash;
            see(s, count);
        }
    }
}

/* `next` links the members of the component, from the smallest on. */
static void search_knot(struct search *s, uint32_t first, const uint32_t *next, uint64_t edges)
{
    uint64_t steps = STEPS_MORE + STEPS_PER_EDGE * edges, before = s->found.count;
    int is_cut = 1;

    for (uint32_t length = 1; is_cut && steps; length++) {
        is_cut = 0;
        for (uint32_t v = first; v != NONE && steps; v = next[v])
            is_cut |= search_from(s, v, length, &steps);
    }
    if (steps)
        return;
    s->found.is_all = 0;
    if (s->found.count == before)
        search_branches(s, first, next);
}

/* ---- all of it ---- */

struct size {
    uint32_t members, first;
    uint64_t edges; /* within the component */
};

static void search_components(struct search *s)
{
    uint32_t n = s->graph->vertices, *next = mem_alloc(n * sizeof *next);
    struct size *sizes = mem_zalloc(n * sizeof *sizes);

    for (uint32_t v = n; v-- > 0;) {
        struct size *z = &sizes[s->component[v]];

        next[v] = z->members++ ? z->first : NONE;
        z->first = v;
        for (uint64_t i = s->graph->row[v]; i < s->graph->row[v + 1]; i++)
            z->edges += s->component[s->graph->on[i]] == s->component[v];
    }
    for (uint32_t v = 0; v < n; v++) {
        const struct size *z = &sizes[s->component[v]];

        if (v != z->first || z->edges == 0)
            continue;
        if (z->edges == z->members)
            walk(s, v);
        else
            search_knot(s, v, next, z->edges);
    }
    mem_free(sizes);
    mem_free(next);
}

struct cycles_found cycles_find(const struct cycles_graph *g,
                                void (*see)(void *context, const uint32_t *members, uint32_t count),
                                void *context)
{
    uint32_t n = g->vertices;
    struct search s = {.graph = g, .see = see, .context = context, .found = {0, 1}};

    s.component = mem_alloc(n * sizeof *s.component);
    s.path = mem_alloc(n * sizeof *s.path);
    s.edge = mem_alloc(n * sizeof *s.edge);
    s.mark = mem_zalloc(n * sizeof *s.mark);
    find_components(&s);
    search_components(&s);
    mem_free(s.component);
    mem_free(s.path);
    mem_free(s.edge);
    mem_free(s.mark);
    return s.found;
}
