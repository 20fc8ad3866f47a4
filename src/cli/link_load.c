/*
 * link_load.c - messages on links.
 */
#include "cli/link_load.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/units.h"
#include "trace/reader.h"

#define LINKS_SHOWN 10

/* ---- while messages come ---- */

/* Times beyond the last bin: two bins become one. */
static void widen(struct link_load *l)
{
    for (size_t i = 0; i < l->count; i++) {
        double *bytes = l->links[i].bytes;
        for (unsigned k = 0; k < LINK_LOAD_BINS; k++)
            bytes[k] = 2 * k + 1 < LINK_LOAD_BINS ? bytes[2 * k] + bytes[2 * k + 1] : 0;
    }
    l->width *= 2;
}

static double *bins_of(struct link_load *l, uint32_t link)
{
    int is_new;
    uint64_t *number = map_insert(&l->numbers, link, &is_new);
    if (is_new) {
        ARRAY_EXTEND(l->links, l->count);
        l->links[l->count] = (struct link_bins){.link = link};
        *number = ++l->count;
    }
    return l->links[*number - 1].bytes;
}

/* Each bin gets what lies in it of the time from `from` to `to`. */
static void spread(const struct link_load *l, double *bins, double bytes, int64_t from, int64_t to)
{
    double all = (double)(to - from);
    for (int64_t bin = from / l->width; bin <= to / l->width && bin < LINK_LOAD_BINS; bin++) {
        int64_t start = bin * l->width > from ? bin * l->width : from;
        int64_t stop = (bin + 1) * l->width < to ? (bin + 1) * l->width : to;
        bins[bin] += all > 0 ? bytes * (double)(stop - start) / all : bytes;
    }
}

static void take(void *context, uint32_t from, uint32_t to, uint64_t bytes, int64_t sent,
                 int64_t received)
{
    struct link_load *l = context;
    int64_t source = l->nodes[from], target = l->nodes[to];
    if (source == target || !bytes || l->err.code)
        return;
    if (topo_route(l->topo, (uint32_t)source, (uint32_t)target, l->salt++, 0, NULL, &l->route,
                   &l->err) != 0)
        return;
    sent = sent > l->begin ? sent - l->begin : 0;
    received = received > l->begin + sent ? received - l->begin : sent;
    while (received >= LINK_LOAD_BINS * l->width)
        widen(l);
    for (uint32_t i = 0; i < l->route.count; i++)
        spread(l, bins_of(l, l->route.links[i]), (double)bytes, sent, received);
}

/* ---- beginning and end ---- */

static int read_nodes(struct link_load *l, const char *path, int64_t *most, struct err *err)
{
    struct trace t;
    if (trace_open(&t, path, err) != 0)
        return err->code;
    l->ranks = t.header.ranks;
    l->tick = (double)t.header.tick / 1e12;
    l->width = t.header.tick < 1000000 ? (int64_t)(1000000 / t.header.tick) : 1; /* a microsecond */
    l->nodes = mem_alloc((l->ranks + 1) * sizeof *l->nodes);
    l->begin = INT64_MAX;
    for (uint64_t i = 0; i < l->ranks; i++) {
        l->nodes[i] = t.definitions.nodes ? t.definitions.nodes[i] : (int64_t)i;
        *most = l->nodes[i] > *most ? l->nodes[i] : *most;
    }
    for (size_t i = 0; i < t.place_count; i++)
        l->begin = t.places[i].base < l->begin ? t.places[i].base : l->begin;
    l->begin = t.place_count ? l->begin : 0;
    trace_close(&t);
    return 0;
}

int link_load_init(struct link_load *l, const char *trace, const struct platform *machine,
                   struct err *err)
{
    int64_t most = 0;
    *l = (struct link_load){.machine = machine};
    map_init(&l->numbers);
    int rc = read_nodes(l, trace, &most, err);
    if (rc == 0)
        rc = topo_create(&l->topo, machine, (uint32_t)most + 1, err);
    if (rc == 0 && topo_nodes(l->topo) <= (uint64_t)most)
        rc = err_set(err, ERR_INPUT, "the platform has %u nodes, but the trace is of %lld",
                     topo_nodes(l->topo), (long long)most + 1);
    l->watch = (struct analysis_watch){.context = l, .transfer = take};
    if (rc != 0)
        link_load_fini(l);
    return rc;
}

void link_load_fini(struct link_load *l)
{
    if (l->topo)
        topo_destroy(l->topo);
    topo_route_fini(&l->route);
    map_fini(&l->numbers);
    mem_free(l->nodes);
    mem_free(l->links);
    *l = (struct link_load){0};
}

/* ---- the result ---- */

/* A link as it is told of. */
struct told {
    size_t number;
    char name[64];
    double bytes, rate; /* rate: bytes per second; INFINITY allowed */
    double busy, peak;  /* shares of the run time and of the busiest bin */
    unsigned peak_bin;
};

static void vertex_name(const struct link_load *l, uint32_t vertex, char *out, size_t size)
{
    uint32_t nodes = topo_nodes(l->topo);
    snprintf(out, size, "%c%u", vertex < nodes ? 'n' : 's',
             vertex < nodes ? vertex : vertex - nodes);
}

static double load_of(const struct link_load *l, const struct told *t, unsigned bin)
{
    double seconds = (double)l->width * l->tick;
    return t->rate > 0 ? l->links[t->number].bytes[bin] / t->rate / seconds : 0;
}

static struct told tell(const struct link_load *l, const struct analysis *a, size_t number)
{
    struct told t = {.number = number};
    struct topo_link link;
    char from[24], to[24];
    topo_link_at(l->topo, l->links[number].link, 0, &link);
    vertex_name(l, link.from, from, sizeof from);
    vertex_name(l, link.to, to, sizeof to);
    snprintf(t.name, sizeof t.name, "%s-%s", from, to);
    t.rate = link.bandwidth * l->machine->config.net_bandwidth_factor / 8;
    for (unsigned i = 0; i < LINK_LOAD_BINS; i++) {
        double load = load_of(l, &t, i);
        t.bytes += l->links[number].bytes[i];
        if (load > t.peak)
            t.peak = load, t.peak_bin = i;
    }
    t.bytes = nearbyint(t.bytes); /* parts of messages add up to whole ones */
    t.busy = t.rate > 0 && a->runtime > 0 ? t.bytes / t.rate / a->runtime : 0;
    return t;
}

static int most_first(const void *a, const void *b)
{
    const struct told *p = a, *q = b;
    if (p->bytes != q->bytes)
        return p->bytes > q->bytes ? -1 : 1;
    return strcmp(p->name, q->name);
}

static struct told *tell_all(const struct link_load *l, const struct analysis *a)
{
    struct told *all = mem_alloc((l->count + 1) * sizeof *all);
    for (size_t i = 0; i < l->count; i++)
        all[i] = tell(l, a, i);
    if (l->count)
        qsort(all, l->count, sizeof *all, most_first);
    return all;
}

/* Bins up to the end of the run. */
static unsigned bins_used(const struct link_load *l, const struct analysis *a)
{
    double bins = ceil(a->runtime / ((double)l->width * l->tick));
    return bins < 1 ? 1 : bins > LINK_LOAD_BINS ? LINK_LOAD_BINS : (unsigned)bins;
}

void link_load_table(const struct link_load *l, const struct analysis *a, struct tables *tables)
{
    char width[UNITS_TEXT_MAX];
    struct told *all = tell_all(l, a);
    unsigned bins = bins_used(l, a);
    struct table *t = tables_add(tables, "links", "links");
    tables_add_meta(tables, "link-interval",
                    units_format_double(width, sizeof width, (double)l->width * l->tick));
    table_add_column(tables, t, "link", "", TABLE_KEY);
    table_add_column(tables, t, "bytes", "B", TABLE_COUNT);
    table_add_column(tables, t, "busy", "", TABLE_RATIO);
    table_add_column(tables, t, "peak", "", TABLE_RATIO);
    table_add_column(tables, t, "load", "", TABLE_TIMES);
    for (size_t i = 0; i < l->count; i++) {
        struct table_list *list = tables_keep_list(tables, bins);
        union table_cell *row = table_add_row(t);
        for (unsigned k = 0; k < bins; k++)
            list->items[k] = load_of(l, &all[i], k);
        row[0].text = tables_keep_text(tables, all[i].name);
        row[1].number = all[i].bytes;
        row[2].number = all[i].busy;
        row[3].number = all[i].peak;
        row[4].list = list;
    }
    mem_free(all);
}

void link_load_text(const struct link_load *l, const struct analysis *a, struct buf *out)
{
    char bytes[UNITS_TEXT_MAX], at[UNITS_TEXT_MAX];
    struct told *all = tell_all(l, a);
    buf_addf(out, "\n%-22s %14s %8s %8s at\n", "Links", "bytes", "busy", "most");
    for (size_t i = 0; i < l->count && i < LINKS_SHOWN; i++) {
        double time = (double)all[i].peak_bin * (double)l->width * l->tick;
        buf_addf(out, "  %-20s %14s %7.1f%% %7.1f%% %s\n", all[i].name,
                 units_format_bytes(bytes, sizeof bytes, (uint64_t)all[i].bytes), 100 * all[i].busy,
                 100 * all[i].peak, units_format_time(at, sizeof at, vtime_from_seconds(time)));
    }
    if (l->count > LINKS_SHOWN)
        buf_addf(out, "  ... %zu links in all\n", l->count);
    mem_free(all);
}
