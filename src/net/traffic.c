/*
 * traffic.c - what a model counted during a run, and the busiest links.
 */
#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "net/port_names.h"
#include "net/net.h"

static const char *const keys[NET_COUNTS] = {
#define KEY(name, key, text) [NET_##name] = (key),
    NET_COUNT_LIST(KEY)
#undef KEY
};

const char *net_count_key(enum net_count i)
{
    return keys[i];
}

/* Equally busy links are in the order of their ends. */
static int is_busier(const struct net_traffic_link *a, const struct net_traffic_link *b)
{
    if (a->busy != b->busy)
        return a->busy > b->busy;
    return a->from != b->from ? a->from < b->from : a->to < b->to;
}

void net_traffic_link(struct net_traffic *t, const struct net_traffic_link *link)
{
    uint32_t at = t->links;

    while (at > 0 && is_busier(link, &t->link[at - 1]))
        at--;
    if (at == NET_TRAFFIC_LINKS)
        return;
    if (t->links < NET_TRAFFIC_LINKS)
        t->links++;
    memmove(&t->link[at + 1], &t->link[at], (t->links - 1 - at) * sizeof *link);
    t->link[at] = *link;
}

int net_traffic(struct net *net, struct net_traffic *out)
{
    memset(out, 0, sizeof *out);
    if (!net->ops->traffic)
        return 0;
    net->ops->traffic(net, out);
    return 1;
}

/* ---- statistics ---- */

/* What the functions for single links share. */
struct table {
    const struct net *net;
    vtime end;
    struct json *json;
    struct buf *out;
};

static void json_row(void *owner, const struct net_traffic_link *l)
{
    struct table *t = owner;
    char name[NET_NAME_MAX];

    net_link_name(t->net->topo, l->link, name, sizeof name);
    json_array_begin(t->json);
    json_string(t->json, name);
    json_uint(t->json, l->packets);
    json_uint(t->json, l->bytes);
    json_uint(t->json, l->dropped);
    json_uint(t->json, l->queue_max);
    json_double(t->json, t->end > 0 ? (double)l->busy / (double)t->end : 0);
    json_array_end(t->json);
}

void net_traffic_json(struct net *net, vtime end, struct json *json)
{
    static const char *const columns[] = {"link",    "packets",         "bytes",
                                          "dropped", "queue_max_bytes", "utilisation"};
    struct table table = {.net = net, .end = end, .json = json};
    struct net_traffic t;

    if (!net_traffic(net, &t))
        return;
    json_key(json, "network");
    json_object_begin(json);
    for (enum net_count i = 0; i < NET_COUNTS; i++) {
        json_key(json, keys[i]);
        json_uint(json, t.counts[i]);
    }
    json_key(json, "links");
    json_object_begin(json);
    json_key(json, "columns");
    json_array_begin(json);
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        json_string(json, columns[i]);
    json_array_end(json);
    json_key(json, "rows");
    json_array_begin(json);
    net->ops->links(net, json_row, &table);
    json_array_end(json);
    json_object_end(json);
    json_object_end(json);
}

static void csv_rows(void *owner, const struct net_traffic_link *l)
{
    struct table *t = owner;
    char name[NET_NAME_MAX];

    net_link_name(t->net->topo, l->link, name, sizeof name);
    buf_addf(t->out, "link,%s,,,%" PRIu64 ",%" PRIu64 ",%.12f\n", name, l->packets, l->bytes,
             vtime_to_seconds(l->busy));
    buf_addf(t->out, "link_dropped,%s,,,%" PRIu64 ",,\n", name, l->dropped);
    buf_addf(t->out, "link_queue_max,%s,,,,%" PRIu64 ",\n", name, l->queue_max);
}

void net_traffic_csv(struct net *net, struct buf *out)
{
    struct table table = {.net = net, .out = out};
    struct net_traffic t;

    if (!net_traffic(net, &t))
        return;
    for (enum net_count i = 0; i < NET_COUNTS; i++)
        buf_addf(out, "network,%s,,,%" PRIu64 ",,\n", keys[i], t.counts[i]);
    net->ops->links(net, csv_rows, &table);
}
