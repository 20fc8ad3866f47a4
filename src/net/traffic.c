/*
 * traffic.c - what a model counted during a run, and the busiest links.
 */
#include <string.h>

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
