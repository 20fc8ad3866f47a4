/*
 * overcommit.c - see overcommit.h.
 */
#include "net/overcommit.h"

#include "base/mem.h"
#include "net/net_internal.h"

#define TOLERATED VTIME_US /* where the latency is shorter */
#define RATIO 1.05         /* of what the link needs and what it took, to be worth a word */
#define PARTS 64           /* a message that takes less than such a part of `tolerated` is small */

/* What a rank sends while its link would be busy. */
struct net_burst {
    vtime begin;
    vtime end;       /* the last byte has left */
    vtime free;      /* it would have left the link then */
    uint32_t counts; /* the rank is in found.ranks */
};

/* The rate of a node's link: the curve may be slower for some sizes. */
static uint64_t link_rate(const struct net_curve *curve)
{
    uint64_t fastest = UINT64_MAX;

    for (uint32_t i = 0; i < curve->count; i++)
        if (curve->pieces[i].ps_per_byte < fastest)
            fastest = curve->pieces[i].ps_per_byte;
    return fastest;
}

void net_overcommit_init(struct net *net)
{
    struct net_overcommit *o = &net->overcommit;

    o->least = UINT64_MAX;
    o->ps_per_byte = link_rate(&net->inter);
    if (net->ops->medium || o->ps_per_byte == 0)
        return;
    o->latency = net_curve_least_latency(&net->inter);
    o->tolerated = o->latency > TOLERATED ? o->latency : TOLERATED;
    o->least = (uint64_t)((((unsigned __int128)o->tolerated / PARTS) << 20) / o->ps_per_byte) + 1;
    o->ranks = net->ranks < NET_OVERCOMMIT_RANKS ? net->ranks : NET_OVERCOMMIT_RANKS;
    o->bursts = mem_zalloc(o->ranks * sizeof *o->bursts);
}

void net_overcommit_fini(struct net *net)
{
    mem_free(net->overcommit.bursts);
}

static int is_counted(const struct net *net, uint32_t src, uint32_t dst, uint64_t bytes)
{
    return bytes >= net->overcommit.least && src < net->overcommit.ranks &&
           net_node(net, src) != net_node(net, dst);
}

/* Does a show more than b? */
static int is_worse(const struct net_overcommit_found *a, const struct net_overcommit_found *b)
{
    double x = (double)a->needs / (double)a->took, y;

    if (!b->ranks)
        return 1;
    y = (double)b->needs / (double)b->took;
    if (x != y)
        return x > y;
    return a->at != b->at ? a->at < b->at : a->rank < b->rank;
}

void net_overcommit_merge(struct net_overcommit_found *to, const struct net_overcommit_found *from)
{
    uint32_t ranks = to->ranks + from->ranks;

    if (from->ranks && is_worse(from, to))
        *to = *from;
    to->ranks = ranks;
}

static void judge(struct net_overcommit *o, uint32_t src, vtime begin, vtime end, vtime needs)
{
    struct net_overcommit_found now = {1, src, begin, end - begin, needs};
    struct net_burst *b = &o->bursts[src];

    if (now.took <= 0 || needs - now.took <= o->tolerated ||
        (double)needs < RATIO * (double)now.took)
        return;
    now.ranks = !b->counts;
    b->counts = 1;
    if (is_worse(&now, &o->found)) {
        now.ranks += o->found.ranks;
        o->found = now;
    } else {
        o->found.ranks += now.ranks;
    }
}

void net_overcommit_sent(struct net *net, uint32_t src, uint32_t dst, uint64_t bytes, vtime t,
                         vtime arrival)
{
    struct net_overcommit *o = &net->overcommit;
    vtime end = arrival - o->latency;
    struct net_burst *b;

    if (!is_counted(net, src, dst, bytes))
        return;
    b = &o->bursts[src];
    if (t >= b->free)
        b->begin = b->end = b->free = t;
    if (t < b->begin)
        b->begin = t; /* free messages bring ranks back */
    if (end > b->end)
        b->end = end;
    b->free = vtime_add(b->free, vtime_mul_q(bytes, o->ps_per_byte));
    judge(o, src, b->begin, b->end, b->free - b->begin);
}

void net_overcommit_add(const struct net *net, struct net_overcommit_set *set, uint32_t src,
                        uint32_t dst, uint64_t bytes, vtime begin, vtime end)
{
    if (!is_counted(net, src, dst, bytes))
        return;
    if (!set->needs || begin < set->begin)
        set->begin = begin;
    if (!set->needs || end > set->end)
        set->end = end;
    set->needs = vtime_add(set->needs, vtime_mul_q(bytes, net->overcommit.ps_per_byte));
}

void net_overcommit_judge(struct net *net, uint32_t src, const struct net_overcommit_set *set)
{
    if (set->needs)
        judge(&net->overcommit, src, set->begin, set->end, set->needs);
}
