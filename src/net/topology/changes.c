/*
 * changes.c - links that differ from what the topology says, from a given time on: slow, degraded
 * or dead ones (net.links).
 *
 * Every item of the list becomes one change for each link that it names. A change gives the link's
 * bandwidth (the item's, or the old one) times the item's factor, and its latency, error rate and
 * MTU (the item's, or the old ones) from then on. Factors do not accumulate: a later factor of 1
 * undoes an earlier one. MTUs are given for all times: transports know that of a route.
 * Changes are kept sorted by (link, time), for lookups, and also by time.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "net/topology/topology_internal.h"

struct change {
    uint32_t link, item;
    vtime at, latency;
    double bandwidth; /* with the factor */
    double error_rate;
    uint32_t mtu;
};

struct topo_changes {
    struct change *list; /* by (link, at) */
    uint32_t *by_time;   /* positions in list by (at, link) */
    uint32_t count, room;
    int any_down, at_start;
};

/* ---- names ---- */

/* Parses "n12", "s3", or "s3#1" (its second cable). */
static int parse_vertex(const struct topo *t, const char *text, uint32_t *vertex, int *cable,
                        struct err *err)
{
    char *end = NULL;
    unsigned long long number = 0;
    uint32_t limit = text[0] == 'n' ? t->nodes : t->switches;
    if ((text[0] == 'n' || text[0] == 's') && text[1] >= '0' && text[1] <= '9')
        number = strtoull(text + 1, &end, 10);
    if (end && *end == '#' && end[1] >= '0' && end[1] <= '9')
        *cable = (int)strtoul(end + 1, &end, 10);
    if (!end || *end)
        return err_set(err, ERR_INPUT,
                       "bad name '%s': expected n and the number of a node, or s and of a switch",
                       text);
    if (number >= limit)
        return err_set(err, ERR_INPUT, "there is no '%s': the machine has %u %s", text, limit,
                       text[0] == 'n' ? "nodes" : "switches");
    *vertex = (uint32_t)number + (text[0] == 'n' ? 0 : t->nodes);
    return 0;
}

/* The next link from u to v at or after the i-th link of u; 0: none. */
static int next_between(const struct topo *t, uint32_t u, uint32_t v, uint32_t *i, uint32_t *link)
{
    if (u < t->nodes || v < t->nodes) {
        uint32_t node = u < t->nodes ? u : v, other = u < t->nodes ? v : u;
        if (*i > 0 || other < t->nodes || topo_switch_of(t, node) != other - t->nodes)
            return 0;
        *i = 1;
        *link = node == u ? u : t->nodes + v;
        return 1;
    }
    uint32_t n = t->ops->degree(t, u - t->nodes);
    while (*i < n) {
        struct topo_port port = t->ops->port(t, u - t->nodes, (*i)++);
        if (port.peer == v - t->nodes) {
            *link = 2 * t->nodes + port.link;
            return 1;
        }
    }
    return 0;
}

struct pair {
    uint32_t from, to;
    int cable; /* -1: all */
};

static int parse_pair(const struct topo *t, const char *from, const char *to, struct pair *pair,
                      struct err *err)
{
    int e, cable = -1;
    uint32_t u, v;
    if ((e = parse_vertex(t, from, &u, &cable, err)) || (e = parse_vertex(t, to, &v, &cable, err)))
        return e;
    if (!t->per_switch && u < t->nodes && v != t->nodes + topo_switch_of(t, u))
        u = topo_graph_vertex(t, u);
    if (!t->per_switch && v < t->nodes && u != t->nodes + topo_switch_of(t, v))
        v = topo_graph_vertex(t, v);
    *pair = (struct pair){u, v, cable};
    return 0;
}

/* Iterates over the links of a pair: start with *i = *seen = 0. */
static int next_link(const struct topo *t, const struct pair *pair, uint32_t *i, int *seen,
                     uint32_t *link)
{
    while (next_between(t, pair->from, pair->to, i, link))
        if (pair->cable < 0 || (*seen)++ == pair->cable)
            return 1;
    return 0;
}

/* ---- the list ---- */

static void add(struct topo_changes *c, uint32_t link, uint32_t item, vtime at)
{
    ARRAY_RESERVE(c->list, c->room, c->count + 1, 16);
    c->list[c->count++] = (struct change){.link = link, .item = item, .at = at};
}

static int add_item(const struct topo *t, struct topo_changes *c, const struct platform_link *item,
                    uint32_t number, struct err *err)
{
    struct pair pair;
    int e = parse_pair(t, item->from, item->to, &pair, err);
    uint32_t before = c->count, link;
    if (e)
        return e;
    if (item->mtu != UINT64_MAX && item->at > 0)
        return err_set(err, ERR_INPUT, "mtu: a link keeps it: give it without `at`");
    for (int direction = 0; direction < (item->both ? 2 : 1); direction++) {
        uint32_t i = 0;
        int seen = 0;
        while (next_link(t, &pair, &i, &seen, &link))
            add(c, link, number, item->at);
        pair = (struct pair){pair.to, pair.from, pair.cable};
    }
    if (c->count == before)
        return err_set(err, ERR_INPUT, "there is no link from '%s' to '%s'", item->from, item->to);
    return 0;
}

static int by_link(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    if (x->link != y->link)
        return x->link < y->link ? -1 : 1;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return (x->item > y->item) - (x->item < y->item);
}

static int by_time(const void *a, const void *b, void *list)
{
    const struct change *x = (struct change *)list + *(const uint32_t *)a;
    const struct change *y = (struct change *)list + *(const uint32_t *)b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return (x->link > y->link) - (x->link < y->link);
}

/* Computes the properties of each link after each of its changes; of several at one time only the
 * last counts. */
static void work_out(const struct topo *t, struct topo_changes *c,
                     const struct platform_link *items)
{
    struct topo_link now = {0};
    double factor = 1;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        struct change *x = &c->list[i];
        const struct platform_link *item = &items[x->item];
        if (i == 0 || x->link != c->list[kept - 1].link) {
            topo_link_nominal(t, x->link, &now);
            factor = 1;
        } else if (x->at == c->list[kept - 1].at) {
            kept--;
        }
        now.bandwidth = isnan(item->bandwidth) ? now.bandwidth : item->bandwidth;
        now.latency = item->latency == VTIME_NEVER ? now.latency : item->latency;
        factor = isnan(item->bandwidth_factor) ? factor : item->bandwidth_factor;
        x->bandwidth = factor == 0 ? 0 : now.bandwidth * factor;
        now.error_rate = isnan(item->error_rate) ? now.error_rate : item->error_rate;
        now.mtu = item->mtu == UINT64_MAX ? now.mtu : topo_mtu(item->mtu);
        x->latency = now.latency;
        x->error_rate = now.error_rate;
        x->mtu = now.mtu;
        c->list[kept++] = *x;
    }
    c->count = kept;
}

static void order(struct topo_changes *c)
{
    c->by_time = mem_alloc(c->count * sizeof *c->by_time);
    for (uint32_t i = 0; i < c->count; i++) {
        c->by_time[i] = i;
        c->any_down |= !(c->list[i].bandwidth > 0);
        c->at_start |= c->list[i].at <= 0;
    }
    qsort_r(c->by_time, c->count, sizeof *c->by_time, by_time, c->list);
}

int topo_changes_init(struct topo *t, const struct platform *p, struct err *err)
{
    const struct platform_link *items = p->lists[PLATFORM_LINKS].items;
    size_t n = p->lists[PLATFORM_LINKS].count;
    if (n == 0)
        return 0;
    struct topo_changes *c = mem_zalloc(sizeof *c);
    for (size_t i = 0; i < n; i++) {
        int e = add_item(t, c, &items[i], (uint32_t)i, err);
        if (e) {
            mem_free(c->list);
            mem_free(c);
            err_prefix(err, "net.links[%zu]", i);
            return e;
        }
    }
    qsort(c->list, c->count, sizeof *c->list, by_link);
    work_out(t, c, items);
    order(c);
    t->changes = c;
    return 0;
}

void topo_changes_fini(struct topo *t)
{
    if (!t->changes)
        return;
    mem_free(t->changes->list);
    mem_free(t->changes->by_time);
    mem_free(t->changes);
}

/* ---- lookup ---- */

/* The last change of a link at or before a time, or NULL. */
static const struct change *find(const struct topo_changes *c, uint32_t link, vtime t)
{
    uint32_t low = 0, high = c->count; /* the first change beyond (link, t) is in low .. high */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct change *x = &c->list[middle];
        if (x->link < link || (x->link == link && x->at <= t))
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && c->list[low - 1].link == link ? &c->list[low - 1] : NULL;
}

void topo_link_at(const struct topo *t, uint32_t link, vtime at, struct topo_link *out)
{
    const struct change *x = t->changes ? find(t->changes, link, at) : NULL;
    topo_link_nominal(t, link, out);
    if (x) {
        out->bandwidth = x->bandwidth;
        out->latency = x->latency;
        out->error_rate = x->error_rate;
        out->mtu = x->mtu;
    }
}

int topo_is_down(const struct topo *t, uint32_t link, vtime at)
{
    const struct change *x = t->changes ? find(t->changes, link, at) : NULL;
    return x && !(x->bandwidth > 0);
}

uint32_t topo_changes_epoch(const struct topo *t, vtime at)
{
    const struct topo_changes *c = t->changes;
    uint32_t low = 0, high = c ? c->count : 0;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (c->list[c->by_time[middle]].at <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

vtime topo_change(const struct topo *t, uint32_t i, uint32_t *link)
{
    const struct topo_changes *c = t->changes;
    if (!c || i >= c->count)
        return VTIME_NEVER;
    *link = c->list[c->by_time[i]].link;
    return c->list[c->by_time[i]].at;
}

int topo_changes_any_down(const struct topo *t)
{
    return t->changes && t->changes->any_down;
}

int topo_changes_at_start(const struct topo *t)
{
    return t->changes && t->changes->at_start;
}

vtime topo_changes_least(const struct topo *t, enum topo_class class, vtime nominal)
{
    uint32_t first = class == TOPO_UP ? 0 : class == TOPO_DOWN ? t->nodes : 2 * t->nodes;
    uint32_t count = class == TOPO_UP || class == TOPO_DOWN ? t->nodes : (uint32_t)t->cables;
    for (uint32_t i = 0; t->changes && i < t->changes->count; i++) {
        const struct change *x = &t->changes->list[i];
        if (x->link >= first && x->link - first < count && x->latency < nominal)
            nominal = x->latency;
    }
    return nominal;
}
