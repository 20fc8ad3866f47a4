/*
 * schedule.c - what the platform file lets change during a run: options of connections, and
 * background load.
 *
 * A *load* is a sequence of packets from one node to another, at a constant rate from a time to
 * another. They belong to no connection, pass queues and links like any other, may be dropped, and
 * are forgotten where they arrive.
 */
#include <math.h>

#include "base/array.h"
#include "base/log.h"
#include "base/mem.h"
#include "net/packet/packet_internal.h"

struct packet_load {
    const struct platform_background *item;
    struct packet_route *route; /* NULL until it begins */
    uint32_t epoch;             /* of the route */
    uint32_t bytes;             /* of a packet, without framing */
    vtime interval;
    vtime next; /* VTIME_NEVER: it has ended */
};

/* ---- options ---- */

/* When an item of the list next begins to hold. */
static vtime next_options(const struct packet_net *n, vtime after)
{
    const struct platform_list *list = &n->machine->lists[PLATFORM_CONNECTIONS];
    const struct platform_connection *item = list->items;
    vtime first = VTIME_NEVER;

    for (size_t i = 0; i < list->count; i++)
        if (item[i].at > after && item[i].at < first)
            first = item[i].at;
    return first;
}

/* Larger buffers may let senders continue, and other options may let packets go. */
static void change_options(struct packet_net *n, vtime now)
{
    for (uint32_t i = 0; i < n->stream_count; i++) {
        struct packet_stream *s = n->streams[i];
        const struct packet_options *o = packet_options_of(n, net_node(n->net, s->src),
                                                           net_node(n->net, s->dst));

        if (o == s->options)
            continue;
        s->options = o;
        packet_stream_ack(n, s, s->acked, now);
        if (s->head)
            n->transport->write(n, s, now);
    }
    n->options_at = next_options(n, now);
}

/* ---- background load ---- */

static int check(const struct packet_net *n, const struct platform_background *item,
                 struct err *err)
{
    uint32_t node = item->from > item->to ? item->from : item->to;

    if (node >= n->net->nodes.count)
        return err_set(err, ERR_INPUT,
                       "net.packet.background: there is no node %u: the machine has %u", node,
                       n->net->nodes.count);
    if (item->from == item->to)
        return err_set(err, ERR_INPUT, "net.packet.background: node %u has no link to itself",
                       item->from);
    if (item->until <= item->at)
        return err_set(err, ERR_INPUT, "net.packet.background: `until` must be later than `at`");
    return 0;
}

int packet_schedule_init(struct packet_net *n, struct err *err)
{
    const struct platform_list *list = &n->machine->lists[PLATFORM_BACKGROUND];
    const struct platform_background *item = list->items;

    n->loads = mem_alloc((list->count + 1) * sizeof *n->loads);
    n->options_at = next_options(n, 0);
    for (; n->load_count < list->count; n->load_count++) {
        int rc = check(n, &item[n->load_count], err);

        if (rc) {
            packet_schedule_fini(n);
            return rc;
        }
        n->loads[n->load_count] = (struct packet_load){.item = &item[n->load_count],
                                                       .next = item[n->load_count].at};
    }
    return 0;
}

/* Routes are in the pool, which is freed as a whole. */
void packet_schedule_fini(struct packet_net *n)
{
    mem_free(n->loads);
}

/* Its route, and with it the size of its packets. */
static void set_route(struct packet_net *n, struct packet_load *load, vtime now)
{
    const struct platform_background *item = load->item;
    double ps;

    if (load->route)
        packet_route_unref(n, load->route);
    load->route = packet_route_new(n, item->from, item->to, now);
    load->epoch = n->epoch;
    load->bytes = item->size < load->route->mtu ? (uint32_t)item->size : load->route->mtu;
    ps = ((double)load->bytes + n->framing) * 8e12 / item->rate;
    load->interval = vtime_from_ps_double(ps < 1 ? 1 : ps);
}

static void send(struct packet_net *n, struct packet_load *load, vtime now)
{
    struct packet *p;

    if (!load->route || load->epoch != n->epoch)
        set_route(n, load, now);
    p = packet_new(n, NULL, load->route, sizeof *p, load->bytes);
    p->flags |= PACKET_BACKGROUND;
    n->counts[NET_BACKGROUND]++;
    n->fabric->enqueue(n, p, now);
    load->next = vtime_add(load->next, load->interval);
    if (load->next >= load->item->until)
        load->next = VTIME_NEVER;
}

vtime packet_schedule_next(const struct packet_net *n)
{
    vtime first = n->options_at;

    for (uint32_t i = 0; i < n->load_count; i++)
        if (n->loads[i].next < first)
            first = n->loads[i].next;
    return first;
}

void packet_schedule_step(struct packet_net *n, vtime now)
{
    if (n->options_at <= now)
        change_options(n, now);
    for (uint32_t i = 0; i < n->load_count; i++)
        while (n->loads[i].next <= now)
            send(n, &n->loads[i], now);
}
