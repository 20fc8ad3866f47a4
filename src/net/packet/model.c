/*
 * model.c - the packet model: messages become packets of a transport, which pass the links and
 * queues of a fabric one by one.
 *
 * A message of n bytes that leaves at t enters the stream between its two ranks at t, behind the
 * messages before it. Its sender may continue when all of it is in the stream's send buffer. When
 * its last byte has arrived at e, the message arrives at e + net.latency: the time of the software
 * at both ends, beside that of the links.
 *
 * Messages enter in order of (time, source, destination, order, submission), those without an
 * order by tie; then events follow each other in the order of packet_internal.h. Within a node,
 * messages do not use the network.
 */
#include <string.h>

#include "base/array.h"
#include "base/hostile.h"
#include "base/log.h"
#include "base/mem.h"
#include "net/packet/capture.h"
#include "net/packet/packet_internal.h"

/* A message that will enter its stream. */
struct packet_entry {
    struct engine_msg *msg;
    struct engine_call call;
};

/* ---- entering ---- */

static void submit(void *owner, struct engine_msg *m, const struct engine_call *call)
{
    struct packet_net *n = owner;
    struct packet_entry *e = pool_alloc(&n->pool, sizeof *e);

    *e = (struct packet_entry){m, *call};
    n->notices += call->cookie != 0;
    submissions_push(&n->entering, (struct submission){m->arrival, m->src, m->dst, e});
}

static struct packet_stream *stream_of(struct packet_net *n, const struct engine_msg *m, vtime now)
{
    struct packet_stream *s = packet_stream_find(n, m->src, m->dst);

    if (s)
        return s;
    s = pool_alloc(&n->pool, n->transport->stream_size);
    memset(s, 0, n->transport->stream_size);
    packet_stream_init(n, s, m->src, m->dst);
    n->transport->connect(n, s, now);
    return s;
}

static void enter(struct packet_net *n, struct packet_entry *e, vtime now)
{
    struct packet_stream *s = stream_of(n, e->msg, now);

    packet_stream_append(n, s, e->msg, &e->call, now);
    pool_free(&n->pool, e, sizeof *e);
    n->transport->write(n, s, now);
}

/* Of the same two ranks: only messages with the same order are submitted in an order that does not
 * depend on the schedule. */
static int enters_before(const struct packet_entry *a, const struct packet_entry *b)
{
    if (a->msg->src != b->msg->src || a->msg->dst != b->msg->dst)
        return 0;
    if (a->call.order != b->call.order)
        return a->call.order < b->call.order;
    return a->call.order == 0 && a->call.tie < b->call.tie;
}

/* All messages that leave now. They are sorted by source and destination. */
static void enter_all(struct packet_net *n, vtime now)
{
    struct submission taken;

    n->same_count = 0;
    while (submissions_take(&n->entering, now, &taken)) {
        uint32_t at = n->same_count;

        ARRAY_RESERVE(n->same, n->same_room, at + 1, 64);
        n->same_count++;
        for (; at > 0 && enters_before(taken.item, n->same[at - 1]); at--)
            n->same[at] = n->same[at - 1];
        n->same[at] = taken.item;
    }
    for (uint32_t i = 0; i < n->same_count; i++)
        enter(n, n->same[i], now);
}

/* ---- events ---- */

/* The first packet on the link of a port has arrived. */
static void arrive(struct packet_net *n, struct packet_port *port, vtime now)
{
    struct packet *p = port->head;

    assert_hot(p && p->arrival == now && p->hop < p->route->count);
    if (port->waiting == p) {
        assert_hot(port->queued >= p->wire);
        port->waiting = p->next;
        port->queued -= p->wire;
        packet_port_queue(port, p->start);
    }
    port->head = p->next;
    if (port->head)
        packet_events_replace(&n->events, 0,
                              (struct packet_event){port->head->arrival, n->events.at[0].key});
    else
        packet_events_pop(&n->events);
    n->counts[NET_HOPS]++;
    if (p->flags & PACKET_BROKEN) {
        if (n->fabric->lose)
            n->fabric->lose(n, p, now);
        packet_drop(n, port, p, NET_DROPPED_ERROR);
        return;
    }
    if (port->arrives)
        packet_capture_take(n, port->arrives, p, now);
    if (++p->hop < p->route->count) {
        n->fabric->enqueue(n, p, now);
    } else {
        n->counts[NET_DELIVERED]++;
        if (__builtin_expect(p->flags & PACKET_BACKGROUND, 0))
            packet_free(n, p);
        else
            n->transport->input(n, p, now);
    }
}

/* An event that was replaced by an earlier one has no effect. */
static void wake(struct packet_net *n, struct packet_port *port, vtime now)
{
    packet_events_pop(&n->events);
    if (port->wake_at != now)
        return;
    port->wake_at = VTIME_NEVER;
    n->fabric->advance(n, port, now);
}

static void expire(struct packet_net *n, struct packet_stream *s, vtime now)
{
    packet_events_pop(&n->events);
    if (s->timer_at != now)
        return;
    s->timer_at = VTIME_NEVER;
    n->transport->timer(n, s, now);
}

static void handle(struct packet_net *n, struct packet_event e)
{
    uint32_t index = (uint32_t)e.key;

    switch ((enum packet_event_kind)(e.key >> 32)) {
    case PACKET_ARRIVAL:
        arrive(n, n->ports[index], e.t);
        break;
    case PACKET_WAKE:
        wake(n, n->ports[index], e.t);
        break;
    case PACKET_TIMER:
        expire(n, n->streams[index], e.t);
        break;
    }
}

/* Links have changed: new routes, and ports that wait for their link look again. */
static void change(struct packet_net *n, vtime now)
{
    uint32_t link;

    for (; topo_change(n->net->topo, n->epoch, &link) <= now; n->epoch++)
        ;
    for (uint32_t i = 0; i < n->port_count; i++)
        if (n->ports[i]->is_blocked)
            packet_port_wake(n, n->ports[i], now);
}

static vtime change_time(const struct packet_net *n)
{
    uint32_t link;

    return n->has_changes && n->in_flight ? topo_change(n->net->topo, n->epoch, &link)
                                          : VTIME_NEVER;
}

static vtime earlier(vtime a, vtime b)
{
    return a < b ? a : b;
}

static vtime next(void *owner)
{
    struct packet_net *n = owner;
    vtime t = n->events.len ? n->events.at[0].t : VTIME_NEVER;

    t = earlier(earlier(t, submissions_next(&n->entering)), change_time(n));
    if (__builtin_expect(n->is_scheduled, 0))
        t = earlier(t, packet_schedule_next(n));
    if (t == VTIME_NEVER && n->in_flight)
        log_fatal_input("the packet network is stuck: %llu packets wait for each other's buffers, "
                        "or for a link that is down: raise net.packet.channels",
                        (unsigned long long)n->in_flight);
    return t;
}

static uint64_t notices(void *owner)
{
    return ((struct packet_net *)owner)->notices;
}

/* All events at t, and messages that leave then. */
static void step(struct packet_net *n, vtime t)
{
    assert_hot(t >= 0 && t != VTIME_NEVER);
    n->now = t;
    if (n->has_changes)
        change(n, t);
    while (n->events.len && n->events.at[0].t <= t)
        handle(n, n->events.at[0]);
    if (__builtin_expect(n->is_scheduled, 0))
        packet_schedule_step(n, t);
    if (submissions_next(&n->entering) <= t)
        enter_all(n, t);
}

static vtime advance(void *owner, vtime first, vtime limit)
{
    struct packet_net *n = owner;
    vtime end = vtime_add(first, n->net->lookahead), t = first;

    submissions_sort(&n->entering);
    n->has_noticed = 0;
    do {
        step(n, t);
        t = next(n);
    } while (t == n->now || (!n->has_noticed && t < end && t <= limit));
    return n->now;
}

/* ---- the device ---- */

static struct device_sent packet_send(struct device *d, struct engine_msg *m,
                                      const struct device_send *how)
{
    const struct net *net = d->owner;
    struct engine_call call = {how->bytes, how->cookie, how->order, how->tie};

    if (net->substreams && how->order)
        call.tie = net->substream(m, net->substreams);
    if (net_node(net, m->src) == net_node(net, m->dst))
        return device_formula_send(d, m, how);
    m->arrival = how->t;
    engine_submit(d->engine, m, &call);
    return (struct device_sent){0, how->cookie ? DEVICE_BY_NOTICE : how->t};
}

static const struct device_ops device_packet_ops = {.name = "packet",
                                                    .may_hold = 1,
                                                    .send = packet_send};

/* ---- results ---- */

static uint64_t length(const struct packet *p)
{
    uint64_t count = 0;

    for (; p; p = p->next)
        count++;
    return count;
}

/* Packets at ports and on links, which all must be accounted for. */
static uint64_t count_packets(const struct packet_net *n)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < n->port_count; i++) {
        const struct packet_port *port = n->ports[i];

        count += length(port->head);
        for (uint32_t k = 0; k < port->channel_count; k++)
            count += length(port->channels[k].head);
    }
    return count;
}

static void links(struct net *net, void (*take)(void *, const struct net_traffic_link *),
                  void *owner)
{
    struct packet_net *n = net->state;

    for (uint32_t i = 0; i < n->port_count; i++) {
        const struct packet_port *port = n->ports[i];
        const struct net_traffic_link link = {.link = port->link,
                                              .from = port->from,
                                              .to = port->to,
                                              .packets = port->packets,
                                              .bytes = port->bytes,
                                              .dropped = port->dropped,
                                              .queue_max = port->queue_max,
                                              .busy = port->busy};

        take(owner, &link);
    }
}

static void take_link(void *owner, const struct net_traffic_link *link)
{
    net_traffic_link(owner, link);
}

static void traffic(struct net *net, struct net_traffic *out)
{
    struct packet_net *n = net->state;
    uint64_t *c = n->counts, there = count_packets(n);

    if (n->transport->count)
        n->transport->count(n);
    c[NET_IN_FLIGHT] = there;
    if (!n->has_failed && c[NET_PACKETS] != c[NET_DELIVERED] + c[NET_DROPPED_FULL] +
                                                c[NET_DROPPED_ERROR] + c[NET_DROPPED_DOWN] + there)
        log_fatal("packets are lost: %llu were sent, %llu are known", (unsigned long long)c[0],
                  (unsigned long long)there);
    for (uint32_t i = 0; i < n->port_count; i++)
        if (n->ports[i]->queue_max > c[NET_QUEUE_MAX])
            c[NET_QUEUE_MAX] = n->ports[i]->queue_max;
    memcpy(out->counts, c, sizeof n->counts);
    links(net, take_link, out);
}

/* ---- what is recorded ---- */

static int watch(struct net *net, const struct net_watch *what, struct err *err)
{
    struct packet_net *n = net->state;

    n->vectors = net->vectors;
    return what->pcap ? packet_capture_begin(n, what->pcap, what->pcap_at, err) : 0;
}

static int watch_end(struct net *net, struct err *err)
{
    struct packet_net *n = net->state;

    return n->capture ? packet_capture_end(n, err) : 0;
}

/* ---- the tables ---- */

static const struct packet_fabric_ops *const fabrics[] = {
    &packet_drop_tail_ops, &packet_red_ops, &packet_ecn_ops, &packet_credit_ops, &packet_pfc_ops,
};
#define FABRICS (sizeof fabrics / sizeof fabrics[0])

static const struct packet_transport_ops *const transports[] = {
    &packet_tcp_ops,
    &packet_sctp_ops,
    &packet_message_ops,
};
#define TRANSPORTS (sizeof transports / sizeof transports[0])

const char *packet_fabric_name(unsigned i)
{
    return i < FABRICS ? fabrics[i]->name : NULL;
}

const char *const *packet_fabric_uses(unsigned i)
{
    return i < FABRICS ? fabrics[i]->uses : NULL;
}

const char *packet_streams_name(unsigned i)
{
    static const char *const names[] = {[NET_SUBSTREAMS_ONE] = "one",
                                        [NET_SUBSTREAMS_COMM] = "communicator",
                                        [NET_SUBSTREAMS_TAG] = "tag"};

    return i < sizeof names / sizeof names[0] ? names[i] : NULL;
}

const char *packet_transport_name(unsigned i)
{
    return i < TRANSPORTS ? transports[i]->name : NULL;
}

const char *const *packet_transport_uses(unsigned i)
{
    return i < TRANSPORTS ? transports[i]->uses : NULL;
}

static int set_names(struct packet_net *n, const struct platform_config *c, struct err *err)
{
    for (size_t i = 0; i < FABRICS; i++)
        if (strcmp(fabrics[i]->name, c->packet_fabric) == 0)
            n->fabric = fabrics[i];
    for (size_t i = 0; i < TRANSPORTS; i++)
        if (strcmp(transports[i]->name, c->packet_transport) == 0)
            n->transport = transports[i];
    if (!n->fabric)
        return topo_unknown("net.packet.fabric", c->packet_fabric, packet_fabric_name, err);
    if (!n->transport)
        return topo_unknown("net.packet.transport", c->packet_transport, packet_transport_name,
                            err);
    if (n->transport->needs_lossless && !n->fabric->flow)
        return err_set(err, ERR_INPUT,
                       "net.packet.transport: '%s' needs a network that loses nothing: set net."
                       "packet.fabric=credit or pfc; or use tcp",
                       n->transport->name);
    return 0;
}

/* ---- the model ---- */

static int set_up(struct packet_net *n, const struct platform *machine, struct err *err)
{
    const struct platform_config *c = &machine->config;
    int rc = set_names(n, c, err);

    rc = rc ? rc : n->transport->init(n, c, err);
    rc = rc ? rc : packet_sizes_init(n, machine, err);
    rc = rc ? rc : n->fabric->init(n, c, err);
    rc = rc ? rc : packet_options_init(n, machine, err);
    if (rc == 0 && (rc = packet_schedule_init(n, err)) != 0)
        packet_options_fini(n);
    return rc;
}

static int packet_init(struct net *net, const struct platform *machine, struct err *err)
{
    struct packet_net *n;
    uint32_t link;
    int rc = topo_create(&net->topo, machine, net->nodes.count, err);

    if (rc)
        return rc;
    n = mem_zalloc(sizeof *n);
    n->net = net;
    n->machine = machine;
    rc = set_up(n, machine, err);
    if (rc) {
        mem_free(n);
        topo_destroy(net->topo);
        return rc;
    }
    rng_seed(&n->rng, machine->config.packet_seed);
    while (topo_change(net->topo, n->epoch, &link) <= 0)
        n->epoch++;
    n->has_changes = topo_change(net->topo, n->epoch, &link) != VTIME_NEVER;
    n->varies = topo_routes_vary(net->topo);
    n->is_scheduled = packet_schedule_next(n) != VTIME_NEVER;
    net->state = n;
    net->lookahead = net_least_delay(net, 0);
    return 0;
}

static void packet_medium(struct net *net, struct engine *engine, struct engine_medium *out)
{
    struct packet_net *n = net->state;

    n->engine = engine;
    pool_init(&n->pool, "packets");
    map_init(&n->port_of_link);
    map_init(&n->stream_of_ranks);
    *out = (struct engine_medium){n, submit, next, notices, advance, NULL, NULL};
}

static void free_ports(struct packet_net *n)
{
    for (uint32_t i = 0; i < n->port_count; i++) {
        struct packet_port *port = n->ports[i];

        for (uint32_t k = 0; k < port->channel_count; k++) {
            mem_free(port->channels[k].returns.at);
            mem_free(port->channels[k].signals);
        }
        mem_free(port->channels);
        mem_free(port);
    }
    mem_free(n->ports);
}

static void packet_fini(struct net *net)
{
    struct packet_net *n = net->state;

    if (n->engine) {
        for (uint32_t i = 0; i < n->stream_count && n->transport->destroy; i++)
            n->transport->destroy(n, n->streams[i]);
        if (n->transport->fini)
            n->transport->fini(n);
        packet_capture_fini(n);
        free_ports(n);
        map_fini(&n->port_of_link);
        map_fini(&n->stream_of_ranks);
        pool_fini(&n->pool);
        submissions_fini(&n->entering);
        topo_route_fini(&n->route);
        mem_free(n->streams);
        mem_free(n->same);
        mem_free(n->events.at);
    }
    packet_schedule_fini(n);
    packet_options_fini(n);
    mem_free(n);
    topo_destroy(net->topo);
}

static const char *const uses[] = {
    "net.hop_latency",    "net.nic_bandwidth",
    "net.routing",        "net.links",
    "net.topology.*",     "net.packet.*",
    "net.intra.latency",  "net.intra.bandwidth",
    "net.intra.segments", NULL,
};

const struct net_ops net_packet_ops = {
    .name = "packet",
    .uses = uses,
    .split = NET_SPLIT_NONE,
    .device = &device_packet_ops,
    .init = packet_init,
    .fini = packet_fini,
    .delay = net_idle_delay,
    .medium = packet_medium,
    .watch = watch,
    .watch_end = watch_end,
    .traffic = traffic,
    .links = links,
};
