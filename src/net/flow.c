/*
 * The flow model: messages under way share the links of their ways, fairly (max-min).
 *
 * A message of n bytes that leaves at t is a flow over the links of its way from t on; the rates of all
 * flows at each moment are the solver's (flow_solver.h). When its last byte has left at e,
 *
 *     the sender's side is free at e                       (told by a notice, if it waits for that)
 *     it arrives at e + net.latency + latencies of the links on the way
 *
 * so a message that has the network for itself takes what it does in the models without contention. A
 * message without bytes is no flow: it leaves at t. Within a node messages share the memory
 * (net.intra.memory_bandwidth), unless that is infinite; then they are direct.
 *
 * Order. Messages of a rank are submitted in its program's order, those of different ranks in any.
 * They enter in order of (time, source, order of submission), which does not depend on the schedule.
 * Messages between two ranks that must not overtake each other (ENGINE_MSG_ORDERED) wait for each
 * other at the exit, as on a connection:
 *
 *     pair   head -> [left, waits] -> [in flight] -> tail        only the head may go out
 *
 * A pair is remembered while something of it is in flight, and until the last message that went
 * out has arrived.
 *
 * Speed. Messages are many and each is in a place of its own, so what counts are the waits for memory.
 * They are dealt with in batches - those submitted find their pairs, those due start, those that have left
 * go out - in each of which the memory of the next ones is fetched ahead.
 */
#include <math.h>
#include <string.h>

#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/pool.h"
#include "net/flow_queue.h"
#include "net/flow_solver.h"
#include "net/net_internal.h"
#include "net/topology/topology.h"

struct pair;

/* A message in the network. */
struct parcel {
    struct engine_msg *msg, *notice;
    struct pair *pair;   /* NULL: it has no order to keep */
    struct parcel *next; /* in the pair */
    uint64_t bytes;
    vtime latency, arrival; /* of its way; once it has left */
    uint32_t is_ordered, has_left;
};

/* Messages between two ranks that keep their order. */
struct pair {
    uint64_t key;
    struct parcel *head, *tail;
    vtime last;        /* arrival of the last that went out */
    uint32_t in_ring;  /* how often it stands among the idle ones */
};

/* One whose last byte has left, and when. */
struct gone {
    struct parcel *parcel;
    vtime t;
};

/* Pairs without messages, in the order in which they became so. */
struct idle {
    struct pair *pair;
    vtime last;
};

struct flow_model {
    struct net *net;
    struct engine *engine;
    net_emerge *emerge;
    struct flow_solver *solver;
    double nic, memory; /* bytes per picosecond */
    vtime now;          /* of the last event */
    struct flow_queue queue; /* submitted, not started: parcels */
    uint32_t joined;     /* of the fresh entries of the queue, those that have looked for their pairs */
    uint32_t change;     /* of links (topo_change): the next one */
    uint64_t parcels;    /* drawn for the choice of ways */
    uint64_t flying;     /* flows */
    uint64_t notices;
    struct map notice_of; /* source -> notice that waits for its message */
    struct map pairs;     /* (source, destination) -> struct pair */
    struct idle *idle;    /* ring */
    uint64_t idle_head, idle_tail, idle_room;
    struct gone *gone;    /* what has left during an advance */
    uint32_t gone_count, gone_room;
    void **spare; /* free blocks: not in a list through them, which would wait for each */
    uint32_t spare_count, spare_room;
    struct pool pool;     /* blocks of one cache line */
    struct topo_route route;
};

#define AHEAD 8   /* messages of a batch whose memory is fetched ahead */
#define BLOCK 64  /* in the pool */

_Static_assert(sizeof(struct parcel) <= BLOCK && sizeof(struct pair) <= BLOCK, "one cache line");

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
               ? f->nic : c;
}

static double link_load(void *owner, uint32_t link)
{
    return flow_link_load(((struct flow_model *)owner)->solver, link);
}

/* ---- blocks ---- */

static void *block_new(struct flow_model *f)
{
    if (f->spare_count == 0)
        return pool_alloc(&f->pool, BLOCK);
    if (f->spare_count > AHEAD)
        __builtin_prefetch(f->spare[f->spare_count - 1 - AHEAD], 1);
    return f->spare[--f->spare_count];
}

static void block_free(struct flow_model *f, void *block)
{
    if (f->spare_count == f->spare_room) {
        f->spare_room = f->spare_room ? 2 * f->spare_room : 64;
        f->spare = mem_realloc(f->spare, f->spare_room * sizeof(void *));
    }
    f->spare[f->spare_count++] = block;
}

/* ---- the way out ---- */

static void fetch_idle(const struct flow_model *f, uint64_t at)
{
    uint64_t mask = f->idle_room - 1;

    if (at + 2 * AHEAD < f->idle_tail)
        __builtin_prefetch(f->idle[(at + 2 * AHEAD) & mask].pair, 1);
    if (at + AHEAD < f->idle_tail)
        map_prefetch(&f->pairs, f->idle[(at + AHEAD) & mask].pair->key);
}

static void forget_pairs(struct flow_model *f)
{
    while (f->idle_head < f->idle_tail) {
        struct idle *i = &f->idle[f->idle_head & (f->idle_room - 1)];

        if (i->last > f->now)
            return;
        fetch_idle(f, f->idle_head);
        f->idle_head++;
        if (--i->pair->in_ring || i->pair->head)
            continue; /* it was used again */
        map_remove(&f->pairs, i->pair->key);
        block_free(f, i->pair);
    }
}

static void pair_is_idle(struct flow_model *f, struct pair *pair)
{
    if (f->idle_tail - f->idle_head == f->idle_room) {
        uint64_t room = f->idle_room ? 2 * f->idle_room : 64;
        struct idle *ring = mem_alloc(room * sizeof *ring);

        for (uint64_t i = f->idle_head; i < f->idle_tail; i++)
            ring[i & (room - 1)] = f->idle[i & (f->idle_room - 1)];
        mem_free(f->idle);
        f->idle = ring;
        f->idle_room = room;
    }
    pair->in_ring++;
    f->idle[f->idle_tail++ & (f->idle_room - 1)] = (struct idle){pair, pair->last};
}

static void go_out(struct flow_model *f, struct parcel *p, vtime arrival)
{
    p->msg->arrival = arrival;
    p->msg->flags &= ~(uint64_t)ENGINE_MSG_ORDERED;
    f->emerge(f->engine, p->msg);
    block_free(f, p);
}

/* Lets out what may go in its turn. */
static void pair_release(struct flow_model *f, struct pair *pair)
{
    struct parcel *p;

    while ((p = pair->head) && p->has_left) {
        if (p->arrival > pair->last)
            pair->last = p->arrival;
        pair->head = p->next;
        go_out(f, p, pair->last);
    }
    if (!pair->head)
        pair_is_idle(f, pair);
}

/* The last byte has left at t. */
static void leave(struct flow_model *f, struct parcel *p, vtime t)
{
    p->arrival = vtime_add(t, p->latency);
    p->has_left = 1;
    if (p->notice) {
        p->notice->arrival = t;
        p->notice->flags &= ~(uint64_t)ENGINE_MSG_NOTICE;
        f->emerge(f->engine, p->notice);
        f->notices--;
    }
    if (!p->pair)
        go_out(f, p, p->arrival);
    else if (p->pair->head == p)
        pair_release(f, p->pair);
}

/* Its bytes have left: it goes out when all events of the advance have been handled. */
static void note_gone(struct flow_model *f, struct parcel *p, vtime t)
{
    if (f->gone_count == f->gone_room) {
        f->gone_room = f->gone_room ? 2 * f->gone_room : 64;
        f->gone = mem_realloc(f->gone, f->gone_room * sizeof *f->gone);
    }
    f->gone[f->gone_count++] = (struct gone){p, t};
}

/* What number i of those that have left will need: each pointer leads to the next, in time. */
static void fetch_gone(const struct flow_model *f, uint32_t i)
{
    const struct gone *gone = f->gone + i;
    uint32_t n = f->gone_count - i;
    const struct engine_entity *x;

    if (n > 4 * AHEAD)
        __builtin_prefetch(gone[4 * AHEAD].parcel, 1);
    if (n > 3 * AHEAD) {
        __builtin_prefetch(gone[3 * AHEAD].parcel->pair, 1);
        __builtin_prefetch(gone[3 * AHEAD].parcel->msg, 1);
    }
    if (n > 2 * AHEAD)
        __builtin_prefetch(engine_receiver(f->engine, gone[2 * AHEAD].parcel->msg), 1);
    if (n > AHEAD && (x = engine_receiver(f->engine, gone[AHEAD].parcel->msg)))
        __builtin_prefetch(x->inbox, 1);
}

static void leave_all(struct flow_model *f)
{
    for (uint32_t i = 0; i < f->gone_count; i++) {
        fetch_gone(f, i);
        leave(f, f->gone[i].parcel, f->gone[i].t);
    }
    f->gone_count = 0;
}

/* ---- the way in ---- */

static uint64_t pair_key(uint32_t src, uint32_t dst)
{
    return (uint64_t)src << 32 | dst;
}

static void pair_join(struct flow_model *f, struct parcel *p, uint64_t key)
{
    int is_new;
    uint64_t *at = map_insert(&f->pairs, key, &is_new);
    struct pair *pair = (struct pair *)(uintptr_t)*at;

    if (is_new) {
        pair = block_new(f);
        *pair = (struct pair){.key = key};
        *at = (uintptr_t)pair;
    }
    if (pair->head)
        pair->tail->next = p;
    else
        pair->head = p;
    pair->tail = p;
    p->pair = pair;
}

/* All that were submitted join their pairs, in that order. */
static void join_all(struct flow_model *f)
{
    const struct flow_queue *q = &f->queue;

    for (uint32_t n = q->len - q->fresh; f->joined < n; f->joined++) {
        const struct flow_entry *e = &q->entries[q->fresh + f->joined];
        struct parcel *p = e->item;

        if (f->joined + AHEAD < n) {
            __builtin_prefetch(e[AHEAD].item, 1);
            map_prefetch(&f->pairs, pair_key(e[AHEAD].src, e[AHEAD].dst));
        }
        if (p->is_ordered)
            pair_join(f, p, pair_key(e->src, e->dst));
    }
}

/* A message that belongs to the notice before it, or none. */
static struct engine_msg *take_notice(struct flow_model *f, uint32_t src)
{
    uint64_t *at = f->notices ? map_find(&f->notice_of, src) : NULL;
    struct engine_msg *notice;

    if (!at)
        return NULL;
    notice = (struct engine_msg *)(uintptr_t)*at;
    map_remove(&f->notice_of, src);
    return notice;
}

/* Without a flow: latency by the length of a shortest way. */
static void leave_at_once(struct flow_model *f, struct parcel *p, uint32_t src, uint32_t dst)
{
    vtime links = src == dst ? 0 : net_distance(f->net, src, dst);

    p->latency = vtime_add(net_curve_at(src == dst ? &f->net->intra : &f->net->inter, 0)->latency,
                           vtime_scale(links, f->net->latency_factor));
    leave(f, p, p->msg->arrival);
}

static void submit(void *owner, struct engine_msg *m)
{
    struct flow_model *f = owner;
    struct parcel *p;

    if (m->flags & ENGINE_MSG_NOTICE) {
        f->notices++;
        *map_insert(&f->notice_of, m->src, NULL) = (uintptr_t)m;
        return;
    }
    p = block_new(f);
    *p = (struct parcel){.msg = m, .bytes = m->load, .notice = take_notice(f, m->src),
                         .is_ordered = (m->flags & ENGINE_MSG_ORDERED) != 0};
    if (p->bytes > 0) {
        flow_queue_push(&f->queue, (struct flow_entry){m->arrival, m->src, m->dst, p});
        return;
    }
    if (p->is_ordered) {
        join_all(f); /* what was submitted before it */
        pair_join(f, p, pair_key(m->src, m->dst));
    }
    leave_at_once(f, p, net_node(f->net, m->src), net_node(f->net, m->dst));
}

/* The way between two nodes: its links in f->route, its latency. */
static vtime find_way(struct flow_model *f, uint32_t src, uint32_t dst, vtime t)
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

static void start(struct flow_model *f, const struct flow_entry *e, vtime t)
{
    struct parcel *p = e->item;
    uint32_t src = net_node(f->net, e->src), dst = net_node(f->net, e->dst);
    const struct net_curve *curve = src == dst ? &f->net->intra : &f->net->inter;
    const struct net_piece *piece = net_curve_at(curve, p->bytes);
    uint32_t memory = UINT32_MAX - src;
    double limit = src == dst || curve->count > 1 ? BYTES_PER_PS(piece->bandwidth) : INFINITY;

    p->latency = piece->latency;
    f->flying++;
    if (src == dst) {
        flow_start(f->solver, t, &memory, 1, p->bytes, limit, p);
        return;
    }
    p->latency = vtime_add(p->latency, find_way(f, src, dst, t));
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
    vtime t = earlier(flow_next(f->solver), flow_queue_next(&f->queue));
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
    struct flow_entry e;
    int has_notice = 0;
    uint32_t link;
    void *user;

    f->now = t;
    while (flow_next(f->solver) <= t && flow_take(f->solver, &t, &user)) {
        f->flying--;
        has_notice |= f->notices && ((struct parcel *)user)->notice;
        note_gone(f, user, t);
    }
    for (; topo_change(f->net->topo, f->change, &link) <= t; f->change++)
        flow_capacity(f->solver, t, link, capacity(f, link));
    while (flow_queue_take(&f->queue, t, &e))
        start(f, &e, t);
    return has_notice;
}

static void advance(void *owner, vtime first, vtime limit)
{
    struct flow_model *f = owner;
    vtime end = vtime_add(first, f->net->lookahead), t = first;

    join_all(f);
    flow_queue_sort(&f->queue);
    f->joined = 0;
    do {
        if (step(f, t))
            break;
        t = next(f);
    } while (t == first || (t < end && t <= limit));
    leave_all(f);
    forget_pairs(f);
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
    net->state = f;
    net->direct_within = isinf(c->intra_memory);
    net->lookahead =
        net_least_delay(net, vtime_scale(topo_least_latency(net->topo), net->latency_factor));
    return 0;
}

static void flow_medium(struct net *net, net_emerge *emerge, struct engine *engine,
                        struct engine_medium *out)
{
    struct flow_model *f = net->state;

    f->engine = engine;
    f->emerge = emerge;
    f->solver = flow_solver_create(capacity, f);
    map_init(&f->notice_of);
    map_init(&f->pairs);
    pool_init(&f->pool, "messages in the network");
    *out = (struct engine_medium){f, submit, next, notices, advance};
}

static void flow_fini(struct net *net)
{
    struct flow_model *f = net->state;

    if (f->engine) {
        flow_solver_destroy(f->solver);
        map_fini(&f->notice_of);
        map_fini(&f->pairs);
        pool_fini(&f->pool);
        flow_queue_fini(&f->queue);
        mem_free(f->gone);
        mem_free(f->spare);
        mem_free(f->idle);
        topo_route_fini(&f->route);
    }
    mem_free(f);
    topo_destroy(net->topo);
}

/* Of messages that meet nobody: within a node, and those without bytes. */
static vtime flow_delay(const struct net *net, uint32_t src, uint32_t dst, uint64_t bytes, vtime t)
{
    uint32_t a = net_node(net, src), b = net_node(net, dst);
    const struct net_piece *p = net_curve_at(a == b ? &net->intra : &net->inter, bytes);
    vtime links = a == b ? 0 : net_distance(net, a, b);

    (void)t;
    return vtime_add(vtime_add(p->latency, vtime_scale(links, net->latency_factor)),
                     vtime_mul_q(bytes, p->ps_per_byte));
}

static const char *const uses[] = {
    "net.hop_latency", "net.nic_bandwidth", "net.routing", "net.links", "net.topology.*",
    "net.intra.*", NULL,
};

const struct net_ops net_flow_ops = {
    .name = "flow",
    .uses = uses,
    .split = NET_SPLIT_NONE,
    .init = flow_init,
    .fini = flow_fini,
    .delay = flow_delay,
    .medium = flow_medium,
};
