/*
 * ports.c - packets, the ports that send them, and their routes.
 *
 * A port sends one packet at a time. Its link delivers them in the same order, after its delay. So
 * each link has one event, the arrival of its first packet, however many packets it carries.
 *
 *     head -> [on the link] -> [on the link] -> waiting -> [waits] -> [waits] -> tail
 */
#include <assert.h>

#include "base/array.h"
#include "base/bins.h"
#include "base/hostile.h"
#include "base/log.h"
#include "base/log_module.h"
#include "base/mem.h"
#include "net/packet/capture.h"
#include "net/packet/packet_internal.h"

/* ---- packets ---- */

struct packet *packet_new(struct packet_net *n, struct packet_stream *to,
                          struct packet_route *route, size_t size, uint32_t bytes)
{
    struct packet *p = pool_alloc(&n->pool, size);

    *p = (struct packet){.route = packet_route_ref(route),
                         .stream = to,
                         .wire = bytes + n->framing,
                         .size = (uint16_t)size};
    n->in_flight++;
    n->counts[NET_PACKETS]++;
    return p;
}

void packet_free(struct packet_net *n, struct packet *p)
{
    assert_hot(n->in_flight > 0);
    packet_route_unref(n, p->route);
    n->in_flight--;
    pool_free(&n->pool, p, p->size);
}

void packet_drop(struct packet_net *n, struct packet_port *port, struct packet *p,
                 enum net_count why)
{
    LOG_LINE(NET, INFO, LOG_NO_RANK, VTIME_NEVER, "link %u drops a packet of %u bytes: %s",
             port->link, p->wire, net_count_key(why));
    n->counts[why]++;
    port->dropped++;
    packet_free(n, p);
}

/* ---- ports ---- */

static void set_rate(struct packet_net *n, struct packet_port *port, const struct topo_link *l)
{
    const struct platform_config *c = &n->machine->config;
    double bits = l->bandwidth * n->net->bandwidth_factor,
           nic = c->net_nic_bandwidth * n->net->bandwidth_factor;
    struct err err;

    if ((port->is_nic || port->is_last) && bits > nic)
        bits = nic;
    port->delay = vtime_scale(l->latency, n->net->latency_factor);
    port->error_rate = l->error_rate;
    if (bits > 0 && net_inverse(bits, "net.links", &port->ps_per_byte, &err))
        log_fatal_input("%s", err.text);
}

/* The port of a link, created at its first use. */
static struct packet_port *port_of(struct packet_net *n, uint32_t link)
{
    uint64_t *at = map_insert(&n->port_of_link, link, NULL);
    struct packet_port *port;
    struct topo_link l;
    char name[NET_NAME_MAX];

    if (*at)
        return n->ports[*at - 1];
    port = mem_zalloc(sizeof *port);
    ARRAY_RESERVE(n->ports, n->port_room, n->port_count + 1, 64);
    *port = (struct packet_port){.index = n->port_count, .link = link, .wake_at = VTIME_NEVER};
    n->ports[n->port_count++] = port;
    *at = n->port_count;
    topo_link_at(n->net->topo, link, 0, &l);
    port->from = l.from;
    port->to = l.to;
    port->is_nic = l.from < topo_nodes(n->net->topo);
    port->is_last = l.to < topo_nodes(n->net->topo);
    port->mtu = l.mtu < n->mtu_most ? l.mtu : n->mtu_most;
    set_rate(n, port, &l);
    if (n->fabric->port)
        n->fabric->port(n, port);
    if (n->capture)
        packet_capture_port(n, port);
    if (n->vectors) {
        net_link_name(n->net->topo, link, name, sizeof name);
        port->queue = net_vectors_add(n->vectors, NET_VECTOR_QUEUE, name);
    }
    return port;
}

vtime packet_port_time(struct packet_net *n, struct packet_port *port, uint32_t bytes, vtime t)
{
    struct topo_link l;

    if (__builtin_expect(n->has_changes, 0)) {
        topo_link_at(n->net->topo, port->link, t, &l);
        if (l.bandwidth <= 0)
            return VTIME_NEVER;
        set_rate(n, port, &l);
    }
    return vtime_mul_q(bytes, port->ps_per_byte);
}

void packet_port_send(struct packet_net *n, struct packet_port *port, struct packet *p, vtime time)
{
    vtime end = vtime_add(p->start, time);

    p->next = NULL;
    p->arrival = vtime_add(end, port->delay);
    /* Without it senders keep in step, and a full queue always drops the packets of the same. */
    if (port->is_nic && n->jitter > 0)
        p->arrival = vtime_add(p->arrival, (vtime)rng_below(&n->rng, (uint64_t)n->jitter));
    if (p->arrival < port->last_arrival) /* the delay was longer before */
        p->arrival = port->last_arrival;
    port->last_arrival = p->arrival;
    port->free_at = end;
    port->busy += time;
    port->bytes += p->wire;
    port->packets++;
    if (port->error_rate > 0 && rng_double(&n->rng) < port->error_rate)
        p->flags |= PACKET_BROKEN;
    if (port->leaves)
        packet_capture_take(n, port->leaves, p, p->start);
    if (n->net->load)
        bins_add(n->net->load, port->link, (uint64_t)p->start, (uint64_t)end, p->wire);
    if (port->head) {
        port->tail->next = p;
    } else {
        port->head = p;
        packet_event_add(&n->events, PACKET_ARRIVAL, port->index, p->arrival);
    }
    port->tail = p;
}

void packet_port_wake(struct packet_net *n, struct packet_port *port, vtime t)
{
    if (t >= port->wake_at)
        return;
    port->wake_at = t;
    packet_event_add(&n->events, PACKET_WAKE, port->index, t);
}

/* ---- routes ---- */

static double queue_length(void *owner, uint32_t link)
{
    return (double)port_of(owner, link)->queued;
}

struct packet_route *packet_route_new(struct packet_net *n, uint32_t src, uint32_t dst, vtime now)
{
    const struct topo_load load = {queue_length, n};
    struct packet_route *r;
    struct err err;

    if (topo_route(n->net->topo, src, dst, n->salt++, now, &load, &n->route, &err))
        log_fatal_input("%s", err.text);
    if (n->route.count > UINT8_MAX)
        log_fatal_input("the route from n%u to n%u has %u links: the packet network takes at most "
                        "%d",
                        src, dst, n->route.count, UINT8_MAX);
    r = pool_alloc(&n->pool, sizeof *r + n->route.count * sizeof *r->ports);
    r->refs = 1;
    r->count = (uint16_t)n->route.count;
    r->mtu = UINT16_MAX;
    for (uint32_t i = 0; i < r->count; i++) {
        r->ports[i] = port_of(n, n->route.links[i]);
        if (r->ports[i]->mtu < r->mtu)
            r->mtu = (uint16_t)r->ports[i]->mtu;
    }
    return r;
}

void packet_route_unref(struct packet_net *n, struct packet_route *r)
{
    if (--r->refs == 0)
        pool_free(&n->pool, r, sizeof *r + r->count * sizeof *r->ports);
}

struct packet_route *packet_stream_route(struct packet_net *n, struct packet_stream *s, vtime now,
                                         int vary)
{
    if (s->route && s->epoch == n->epoch && !(vary && n->varies))
        return s->route;
    if (s->route)
        packet_route_unref(n, s->route);
    s->epoch = n->epoch;
    s->route = packet_route_new(n, net_node(n->net, s->src), net_node(n->net, s->dst), now);
    return s->route;
}
