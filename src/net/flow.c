/*
 * flow.c - the flow model: messages in flight share the links of their routes max-min fairly.
 *
 * A message of n bytes that leaves at t is a flow over the links of its route from t on; the solver
 * computes the rates of all flows at each moment (flow_solver.h). When its last byte leaves at e,
 *
 *     the sender's side is free at e                       (a notice says so, if it waits for that)
 *     it arrives at e + net.latency + latencies of the links of its route
 *
 * so a message that has the network to itself takes as long as in the models without contention. A
 * message without bytes is not a flow: it leaves at t. Within a node, messages share the memory
 * (net.intra.memory_bandwidth), unless that is infinite; then they are direct.
 *
 * Order: a rank's messages that keep an order are submitted in that order, all others in any. They
 * enter in order of (time, source, destination, submission). flow_exit.c handles how they leave.
 */
#include <math.h>

#include "base/log.h"
#include "base/mem.h"
#include "net/flow_model.h"

#define BYTES_PER_PS(bits_per_s) ((bits_per_s) / 8e12)

/* ---- links ---- */

/* Numbers from the top are the memories of nodes. */
static int is_memory(const struct flow_model *f, uint32_t link)
{
    return link > UINT32_MAX - f->net->nodes.count;
}

static double capacity(void *owner, uint32_t link)
{
    struct flow_model *f = owner;
    struct topo_link l;
    double c;

    if (is_memory(f, link))
        return f->memory;
    topo_link_at(f->net->topo, link, f->now, &l);
    c = BYTES_PER_PS(l.bandwidth * f->net->bandwidth_factor);
    return (l.from < topo_nodes(f->net->topo) || l.to < topo_nodes(f->net->topo)) && c > f->nic
               ? f->nic
               : c;
}

static double link_load(void *owner, uint32_t link)
{
    return flow_link_load(((struct flow_model *)owner)->solver, link);
}

/* ---- entering ---- */

/* All submitted messages join their pairs, in the order of submission. */
static void join_all(struct flow_model *f)
{
    const struct submissions *q = &f->queue;

    for (uint32_t n = q->len - q->fresh; f->joined < n; f->joined++) {
        const struct submission *e = &q->entries[q->fresh + f->joined];
        struct flow_parcel *p = e->item;

        if (f->joined + FLOW_AHEAD < n) {
            __builtin_prefetch(e[FLOW_AHEAD].item, 1);
            map_prefetch(&f->pairs, flow_pair_key(e[FLOW_AHEAD].src, e[FLOW_AHEAD].dst));
        }
        if (p->order)
            flow_pair_join(f, p, flow_pair_key(e->src, e->dst));
    }
}

/* Without a flow: latency by the length of a shortest route. */
static void leave_at_once(struct flow_model *f, struct flow_parcel *p, uint32_t src, uint32_t dst)
{
    vtime links = src == dst ? 0 : net_distance(f->net, src, dst);

    p->latency = vtime_add(net_curve_at(src == dst ? &f->net->intra : &f->net->inter, 0)->latency,
                           vtime_scale(links, f->net->latency_factor));
    flow_leave(f, p, p->msg->arrival);
}

static void submit(void *owner, struct engine_msg *m, const struct engine_call *call)
{
    struct flow_model *f = owner;
    struct flow_parcel *p = flow_block_new(f);

    *p = (struct flow_parcel){.msg = m,
                              .bytes = call->load,
                              .cookie = call->cookie,
                              .order = call->order,
                              .arrival = -1};
    f->notices += call->cookie != 0;
    if (p->bytes > 0) {
        submissions_push(&f->queue, (struct submission){m->arrival, m->src, m->dst, p});
        return;
    }
    if (p->order) {
        join_all(f); /* what was submitted before this one */
        flow_pair_join(f, p, flow_pair_key(m->src, m->dst));
    }
    leave_at_once(f, p, net_node(f->net, m->src), net_node(f->net, m->dst));
}

/* The route between two nodes: stores its links in f->route, returns its latency. */
static vtime find_route(struct flow_model *f, uint32_t src, uint32_t dst, vtime t)
{
    const struct topo_load load = {link_load, f};
    vtime latency = 0;
    struct err err;

    if (topo_route(f->net->topo, src, dst, f->parcels++, t, &load, &f->route, &err))
        log_fatal_input("%s", err.text);
    for (uint32_t i = 0; i < f->route.count; i++) {
        struct topo_link link;

        topo_link_at(f->net->topo, f->route.links[i], t, &link);
        latency = vtime_add(latency, link.latency);
    }
    return vtime_scale(latency, f->net->latency_factor);
}

static void start(struct flow_model *f, const struct submission *e, vtime t)
{
    struct flow_parcel *p = e->item;
    uint32_t src = net_node(f->net, e->src), dst = net_node(f->net, e->dst);
    const struct net_curve *curve = src == dst ? &f->net->intra : &f->net->inter;
    const struct net_piece *piece = net_curve_at(curve, p->bytes);
    uint32_t memory = UINT32_MAX - src;
    double limit = src == dst || f->limited ? BYTES_PER_PS(piece->bandwidth) : INFINITY;

    p->latency = piece->latency;
    f->flying++;
    if (src == dst) {
        flow_start(f->solver, t, &memory, 1, p->bytes, limit, p);
        return;
    }
    p->latency = vtime_add(p->latency, find_route(f, src, dst, t));
    flow_start(f->solver, t, f->route.links, f->route.count, p->bytes, limit, p);
}

/* ---- events ---- */

static vtime earlier(vtime a, vtime b)
{
    return a < b ? a : b;
}

static vtime next(void *owner)
{
    struct flow_model *f = owner;
    vtime t = earlier(flow_next(f->solver), submissions_next(&f->queue));
    uint32_t link;

    return f->flying ? earlier(t, topo_change(f->net->topo, f->change, &link)) : t;
}

static uint64_t notices(void *owner)
{
    return ((struct flow_model *)owner)->notices;
}

/* All events at t: what ends, what changes, what starts. Returns whether a notice goes out. */
static int step(struct flow_model *f, vtime t)
{
    struct submission e;
    int has_notice = 0;
    uint32_t link;
    void *user;

    f->now = t;
    while (flow_next(f->solver) <= t && flow_take(f->solver, &t, &user)) {
        f->flying--;
        has_notice |= f->notices && ((struct flow_parcel *)user)->cookie;
        flow_leave_later(f, user, t);
    }
    for (; topo_change(f->net->topo, f->change, &link) <= t; f->change++)
        flow_capacity(f->solver, t, link, capacity(f, link));
    while (submissions_take(&f->queue, t, &e))
        start(f, &e, t);
    return has_notice;
}

static vtime advance(void *owner, vtime first, vtime limit)
{
    struct flow_model *f = owner;
    vtime end = vtime_add(first, f->net->lookahead), t = first;

    join_all(f);
    submissions_sort(&f->queue);
    f->joined = 0;
    do {
        if (step(f, t))
            break;
        t = next(f);
    } while (t == first || (t < end && t <= limit));
    flow_leave_all(f);
    return f->now;
}

/* What is handed on here reaches nobody: the run has ended. */
static void settle(struct net *net, vtime end)
{
    struct flow_model *f = net->state;

    if (!f->engine)
        return; /* the medium is in another process */
    join_all(f);
    submissions_sort(&f->queue);
    f->joined = 0;
    for (vtime t = next(f); t <= end; t = next(f))
        step(f, t);
    flow_settle(f->solver, end);
}

/* ---- the model ---- */

static int flow_init(struct net *net, const struct platform *machine, struct err *err)
{
    const struct platform_config *c = &machine->config;
    struct flow_model *f;
    int rc = topo_create(&net->topo, machine, net->nodes.count, err);

    if (rc)
        return rc;
    f = mem_zalloc(sizeof *f);
    f->net = net;
    f->nic = BYTES_PER_PS(c->net_nic_bandwidth * c->net_bandwidth_factor);
    f->memory = BYTES_PER_PS(c->intra_memory);
    f->limited = machine->lists[PLATFORM_SEGMENTS].count > 0;
    net->state = f;
    net->direct_within = isinf(c->intra_memory);
    net->lookahead = net_least_delay(net, vtime_scale(topo_least_latency(net->topo),
                                                      net->latency_factor));
    return 0;
}

static void flow_medium(struct net *net, struct engine *engine, struct engine_medium *out)
{
    struct flow_model *f = net->state;

    f->engine = engine;
    f->solver = flow_solver_create(capacity, f);
    if (net->load)
        flow_solver_meter(f->solver, net->load, topo_link_bound(net->topo));
    flow_exit_init(f);
    *out = (struct engine_medium){f, submit, next, notices, advance, NULL, NULL};
}

static void flow_fini(struct net *net)
{
    struct flow_model *f = net->state;

    if (f->engine) {
        flow_solver_destroy(f->solver);
        flow_exit_fini(f);
        submissions_fini(&f->queue);
        topo_route_fini(&f->route);
    }
    mem_free(f);
    topo_destroy(net->topo);
}

static const char *const uses[] = {
    "net.hop_latency", "net.nic_bandwidth", "net.routing", "net.links",
    "net.topology.*",  "net.intra.*",       NULL,
};

const struct net_ops net_flow_ops = {
    .name = "flow",
    .uses = uses,
    .split = NET_SPLIT_NONE,
    .device = &device_medium_ops,
    .init = flow_init,
    .fini = flow_fini,
    .delay = net_idle_delay,
    .medium = flow_medium,
    .settle = settle,
};
