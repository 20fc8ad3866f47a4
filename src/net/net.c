/*
 * net.c - the table of network models, and the choice by name. A new model is one file with a
 * struct net_ops and one line here.
 */
#include "net/net.h"

#include <string.h>

#include "base/bins.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/nearest.h"
#include "net/net_internal.h"
#include "net/topology/topology.h"
#include "net/vectors.h"

static const struct net_ops *const models[] = {
    &net_constant_ops, &net_loggops_ops, &net_hops_ops, &net_flow_ops, &net_packet_ops,
};
#define MODELS (sizeof models / sizeof models[0])

const char *net_model_name(unsigned i)
{
    return i < MODELS ? models[i]->name : NULL;
}

const char *const *net_model_uses(unsigned i)
{
    return i < MODELS ? models[i]->uses : NULL;
}

const char *net_model_instead(const char *name)
{
    for (size_t i = 0; i < MODELS; i++)
        if (strcmp(models[i]->name, name) == 0)
            return models[i]->instead;
    return NULL;
}

/* Does it make a difference to the model whether ranks are on one node? */
static int tells_nodes_apart(const struct net_ops *ops)
{
    for (const char *const *setting = ops->uses; *setting; setting++)
        if (strncmp(*setting, "net.intra.", 10) == 0)
            return 1;
    return 0;
}

/* Reports an unknown name and lists the models. */
static int unknown_model(const char *name, struct err *err)
{
    struct nearest nearest = {.word = name};
    struct buf list;
    int rc;

    buf_init(&list);
    for (size_t i = 0; i < MODELS; i++) {
        nearest_offer(&nearest, models[i]->name);
        buf_addf(&list, "%s%s", i ? ", " : "", models[i]->name);
    }
    if (nearest.best)
        rc = err_set(err, ERR_INPUT, "net.model: unknown model '%s': did you mean '%s'?", name,
                     nearest.best);
    else
        rc = err_set(err, ERR_INPUT, "net.model: unknown model '%s': expected one of: %s", name,
                     buf_str(&list));
    buf_fini(&list);
    return rc;
}

static const struct net_ops *find_model(const char *name, struct err *err)
{
    for (size_t i = 0; i < MODELS; i++)
        if (strcmp(models[i]->name, name) == 0)
            return models[i];
    unknown_model(name, err);
    return NULL;
}

/* Do overheads depend on more than the number of messages? */
static int is_curved(const struct net *net, const struct platform_config *c)
{
    return net->inter.count > 1 || net->intra.count > 1 || c->mpi_send_per_kib ||
           c->mpi_recv_per_kib || net->inter.pieces[0].send != c->mpi_send_overhead ||
           net->inter.pieces[0].recv != c->mpi_recv_overhead ||
           net->intra.pieces[0].send != c->mpi_send_overhead ||
           net->intra.pieces[0].recv != c->mpi_recv_overhead;
}

int net_init(struct net *net, const struct platform *machine, uint64_t ranks, struct err *err)
{
    const struct platform_config *c = &machine->config;
    int rc;

    memset(net, 0, sizeof *net);
    net->ops = find_model(c->net_model, err);
    if (!net->ops)
        return ERR_INPUT;
    net->ranks = (uint32_t)(ranks + machine->later);
    net->direct_within = 1;
    net->rewinds = machine->rewinds;
    net->latency_factor = c->net_latency_factor;
    net->bandwidth_factor = c->net_bandwidth_factor;
    rc = platform_nodes_init(&net->nodes, machine, ranks, err);
    if (rc)
        return rc;
    rc = net_curve_init(&net->inter, machine, 0, err);
    if (rc)
        return rc;
    rc = net_curve_init(&net->intra, machine, tells_nodes_apart(net->ops), err);
    if (rc)
        goto undo_inter;
    net->curved = is_curved(net, c);
    net->device = net->ops->device;
    rc = net->ops->init(net, machine, err);
    if (rc)
        goto undo_intra;
    net_overcommit_init(net);
    return 0;
undo_intra:
    net_curve_fini(&net->intra);
undo_inter:
    net_curve_fini(&net->inter);
    return rc;
}

#define LOAD_WIDTH 1000        /* of the first bins: a nanosecond */
#define LOAD_LINKS (uint64_t)8 /* for each rank: those of a node in a torus */

void net_meter(struct net *net)
{
    if (!net->topo)
        return;
    net->load = mem_alloc(sizeof *net->load);
    bins_init(net->load, LOAD_WIDTH);
    bins_expect(net->load, topo_link_bound(net->topo), LOAD_LINKS * net->ranks);
    if (net->ops->meter)
        net->ops->meter(net);
}

void net_settle(struct net *net, vtime t)
{
    if (net->load && net->ops->settle)
        net->ops->settle(net, t);
}

int net_watch(struct net *net, const struct net_watch *what, struct err *err)
{
    int rc;

    if (!net->ops->watch)
        return err_set(err, ERR_INPUT, "net.model '%s' has no packets: use --set net.model=packet",
                       net->ops->name);
    if (what->vectors) {
        net->vectors = mem_alloc(sizeof *net->vectors);
        net_vectors_init(net->vectors, what->vectors);
    }
    rc = net->ops->watch(net, what, err);
    net->is_watched = rc == 0;
    return rc;
}

int net_watch_end(struct net *net, struct err *err)
{
    return net->is_watched ? net->ops->watch_end(net, err) : 0;
}

void net_fini(struct net *net)
{
    if (net->ops->fini)
        net->ops->fini(net);
    if (net->load)
        bins_fini(net->load);
    mem_free(net->load);
    if (net->vectors)
        net_vectors_fini(net->vectors);
    mem_free(net->vectors);
    net_overcommit_fini(net);
    net_curve_fini(&net->intra);
    net_curve_fini(&net->inter);
}

int net_has_lone_ranks(const struct net *net)
{
    return net->nodes.placement == PLATFORM_BLOCK && net->nodes.per_node == 1 &&
           net->ranks <= net->nodes.count;
}

vtime net_least_delay(const struct net *net, vtime links)
{
    vtime far = vtime_add(net_curve_least_latency(&net->inter), links);
    vtime near = net_curve_least_latency(&net->intra);
    int orders_itself = net->direct_within && !net->rewinds;

    return far < near || (net_has_lone_ranks(net) && orders_itself) ? far : near;
}

vtime net_distance(const struct net *net, uint32_t src, uint32_t dst)
{
    vtime links = topo_distance(net->topo, src, dst);

    if (links == VTIME_NEVER) {
        struct topo_route route = {0};
        struct err err;

        topo_route_minimal(net->topo, src, dst, 0, &route, &err);
        log_fatal_input("%s", err.text);
    }
    return links;
}

vtime net_idle_delay(const struct net *net, uint32_t src, uint32_t dst, uint64_t bytes, vtime t)
{
    uint32_t a = net_node(net, src), b = net_node(net, dst);
    const struct net_piece *p = net_curve_at(a == b ? &net->intra : &net->inter, bytes);
    vtime links = a == b ? 0 : net_distance(net, a, b);

    (void)t;
    return vtime_add(vtime_add(p->latency, vtime_scale(links, net->latency_factor)),
                     vtime_mul_q(bytes, p->ps_per_byte));
}

vtime net_drain(const struct net *net, uint32_t src, uint32_t dst, uint64_t bytes, vtime t)
{
    if (net->ops->drain)
        return net->ops->drain(net, src, dst, bytes, t);
    return vtime_mul_q(bytes, net_curve_at(net_curve(net, src, dst), bytes)->ps_per_byte);
}

vtime net_send_cost(const struct net *net, uint32_t src, uint32_t dst, uint64_t bytes)
{
    const struct net_piece *p = net_curve_at(net_curve(net, src, dst), bytes);

    return vtime_add(p->send, vtime_mul_q(bytes, p->send_per_byte));
}

vtime net_recv_cost(const struct net *net, uint32_t src, uint32_t dst, uint64_t bytes)
{
    const struct net_piece *p = net_curve_at(net_curve(net, src, dst), bytes);

    return vtime_add(p->recv, vtime_mul_q(bytes, p->recv_per_byte));
}
