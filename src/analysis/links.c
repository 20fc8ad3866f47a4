/*
 * links.c - reads what links carried (see links.h).
 */
#include "analysis/links.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/memory.h"
#include "base/map.h"

/* ---- values ---- */

static double share(double bytes, double rate, double seconds)
{
    return rate > 0 && seconds > 0 ? bytes / rate / seconds : 0;
}

double analysis_link_load(const struct analysis_links *links, const struct analysis_link *link,
                          size_t bin)
{
    return link->bins && bin < links->bins ? share(link->bins[bin], link->rate, links->interval)
                                           : 0;
}

double analysis_link_busy(const struct analysis *a, const struct analysis_link *link)
{
    return share(link->bytes, link->rate, a->runtime);
}

size_t analysis_link_peak(const struct analysis_links *links, const struct analysis_link *link)
{
    size_t best = 0;
    for (size_t i = 1; link->bins && i < links->bins; i++)
        best = link->bins[i] > link->bins[best] ? i : best;
    return best;
}

/* ---- adding links ---- */

static void vertex_name(const struct trace_topology *t, uint32_t vertex, char out[24])
{
    snprintf(out, 24, "%c%llu", vertex < t->nodes ? 'n' : 's',
             (unsigned long long)(vertex < t->nodes ? vertex : vertex - t->nodes));
}

/* The number of links before this one between the same two vertices. */
static const char *link_name(struct analysis *a, const struct trace_topology *t, struct map *cables,
                             const struct trace_link *link)
{
    char from[24], to[24], name[80];
    uint64_t *before = map_insert(cables, (uint64_t)link->from << 32 | link->to, NULL);
    vertex_name(t, link->from, from);
    vertex_name(t, link->to, to);
    if (*before == 0)
        snprintf(name, sizeof name, "%s-%s", from, to);
    else
        snprintf(name, sizeof name, "%s-%s#%llu", from, to, (unsigned long long)*before);
    ++*before;
    return analysis_keep_text(a, name);
}

static void take_bins(struct analysis *a, const struct bins *load, uint32_t number,
                      struct analysis_link *out)
{
    uint64_t amounts[BINS_MOST];
    if (!bins_get(load, number, amounts))
        return;
    double *bins = analysis_keep(a, (load->used + 1) * sizeof *bins);
    for (uint32_t i = 0; i < load->used; i++) {
        bins[i] = (double)amounts[i];
        out->bytes += bins[i];
    }
    out->bins = bins;
    a->links.used++;
}

static void take_vertices(struct analysis *a, const struct trace_network *n, struct map *numbers)
{
    struct analysis_links *links = &a->links;
    links->vertex = analysis_keep(a, (n->vertex_count + 1) * sizeof *links->vertex);
    for (size_t i = 0; i < n->vertex_count; i++) {
        const struct trace_vertex *v = &n->vertices[i];
        int is_new;
        uint64_t *number = map_insert(numbers, v->number, &is_new);
        if (!is_new)
            continue;
        *number = links->vertex_count;
        links->vertex[links->vertex_count++] = (struct analysis_vertex){v->number, (double)v->x,
                                                                        (double)v->y};
    }
}

static int by_number(const void *a, const void *b)
{
    const struct trace_link *p = a, *q = b;
    return (p->number > q->number) - (p->number < q->number);
}

static int most_first(const void *a, const void *b)
{
    const struct analysis_link *p = a, *q = b;
    if (p->bytes != q->bytes)
        return p->bytes > q->bytes ? -1 : 1;
    return strcmp(p->name, q->name);
}

/* Only a damaged file has a link whose ends are not defined, or the same link twice. */
static void take_links(struct analysis *a, const struct trace_network *n, const struct map *numbers)
{
    struct analysis_links *links = &a->links;
    struct map cables;
    map_init(&cables);
    links->link = analysis_keep(a, (n->link_count + 1) * sizeof *links->link);
    if (n->link_count)
        qsort(n->links, n->link_count, sizeof *n->links, by_number);
    for (size_t i = 0; i < n->link_count; i++) {
        const struct trace_link *l = &n->links[i];
        const uint64_t *from = map_find(numbers, l->from), *to = map_find(numbers, l->to);
        if (!from || !to || (i && l[-1].number == l->number))
            continue;
        struct analysis_link *out = &links->link[links->count++];
        *out = (struct analysis_link){.name = link_name(a, &n->topology, &cables, l),
                                      .from = *from,
                                      .to = *to,
                                      .rate = l->bandwidth};
        take_bins(a, &n->load, l->number, out);
    }
    if (links->count)
        qsort(links->link, links->count, sizeof *links->link, most_first);
    map_fini(&cables);
}

/* By kind, which is the name up to a dot; of each the greatest first. */
static int by_kind(const void *a, const void *b)
{
    const struct analysis_vector *p = a, *q = b;
    size_t length = strcspn(p->name, ".");
    int order = strncmp(p->name, q->name, length + 1);
    if (order)
        return order;
    if (p->most != q->most)
        return p->most > q->most ? -1 : 1;
    return strcmp(p->name, q->name);
}

static void take_vectors(struct analysis *a, const struct trace_network *n, double tick,
                         int64_t begin)
{
    struct analysis_links *links = &a->links;
    links->vector = analysis_keep(a, (n->vector_count + 1) * sizeof *links->vector);
    for (size_t i = 0; i < n->vector_count; i++) {
        const struct trace_vector *v = &n->vectors[i];
        struct analysis_vector *out = &links->vector[links->vector_count++];
        double *rows = analysis_keep(a, (3 * v->count + 1) * sizeof *rows);
        double unit = v->is_time ? tick : 1;
        *out = (struct analysis_vector){.name = analysis_keep_text(a, v->name),
                                        .is_time = v->is_time,
                                        .count = v->count,
                                        .rows = rows};
        for (uint64_t k = 0; k < v->count; k++, rows += 3) {
            rows[0] = (double)(begin + v->times[k]) * tick;
            rows[1] = (double)v->least[k] * unit;
            rows[2] = (double)v->most[k] * unit;
            out->most = rows[2] > out->most ? rows[2] : out->most;
        }
    }
    if (links->vector_count)
        qsort(links->vector, links->vector_count, sizeof *links->vector, by_kind);
}

void analysis_links_take(struct analysis *a, const struct trace_network *n, double tick,
                         int64_t begin)
{
    struct map numbers;
    a->links = (struct analysis_links){0};
    if (!n->topology.kind)
        return;
    a->links = (struct analysis_links){.kind = analysis_keep_text(a, n->topology.kind),
                                       .nodes = n->topology.nodes,
                                       .vertices = n->topology.vertices,
                                       .all = n->topology.links,
                                       .interval = (double)n->load.width * tick,
                                       .begin = (double)begin * tick,
                                       .bins = n->load.used};
    map_init(&numbers);
    take_vertices(a, n, &numbers);
    take_links(a, n, &numbers);
    take_vectors(a, n, tick, begin);
    map_fini(&numbers);
}
