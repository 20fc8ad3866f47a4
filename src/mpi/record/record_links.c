/*
 * record_links.c - the links of the machine and what they carried, as definitions of the trace
 * (trace/network.h).
 */
#include "base/map.h"
#include "mpi/rank.h"
#include "mpi/record/record.h"
#include "net/topology/topology.h"
#include "recorder/objects.h"
#include "trace/definitions.h"
#include "trace/network.h"

#define VERTICES_MOST 4096 /* of topologies of which all links are told of */

/* Vertices that have been told of. */
struct told {
    const struct net *net;
    struct map vertices;
};

static void define(unsigned kind, struct buf *payload)
{
    recorder_define(kind, payload->data, payload->len);
    buf_fini(payload);
}

static void define_topology(const struct net *net)
{
    struct trace_topology t = {mpi_world.machine.config.topo_kind, topo_nodes(net->topo),
                               topo_vertices(net->topo), topo_links(net->topo)};
    struct buf out;
    buf_init(&out);
    trace_topology_write(&out, &t);
    define(TRACE_TOPOLOGY, &out);
}

static void define_vertex(struct told *told, uint32_t vertex)
{
    double x, y;
    int is_new;
    struct buf out;
    map_insert(&told->vertices, vertex, &is_new);
    if (!is_new)
        return;
    topo_position(told->net->topo, vertex, &x, &y);
    buf_init(&out);
    trace_vertex_write(&out, &(struct trace_vertex){vertex, (float)x, (float)y});
    define(TRACE_VERTEX, &out);
}

/* Bytes per second, as long as nothing fails. */
static double bandwidth_of(const struct net *net, const struct topo_link *link)
{
    double nic = mpi_world.machine.config.net_nic_bandwidth, wire = link->bandwidth;
    int is_nic = link->from < topo_nodes(net->topo) || link->to < topo_nodes(net->topo);
    return (is_nic && nic < wire ? nic : wire) * net->bandwidth_factor / 8;
}

static void define_link(struct told *told, uint32_t number)
{
    struct topo_link link;
    struct buf out;
    topo_link_at(told->net->topo, number, 0, &link);
    define_vertex(told, link.from);
    define_vertex(told, link.to);
    buf_init(&out);
    trace_link_write(&out, &(struct trace_link){number, link.from, link.to,
                                                bandwidth_of(told->net, &link)});
    define(TRACE_LINK, &out);
}

static void define_all_links(struct told *told)
{
    const struct topo *topo = told->net->topo;
    for (uint32_t v = 0; v < topo_vertices(topo); v++)
        for (uint32_t i = 0, degree = topo_degree(topo, v); i < degree; i++)
            define_link(told, topo_port_at(topo, v, i).link);
}

static void define_used_links(struct told *told)
{
    for (size_t i = 0; i < told->net->load->rows; i++)
        define_link(told, told->net->load->keys[i]);
}

void mpi_record_links(int is_first)
{
    const struct net *net = &mpi_world.net;
    struct told told = {.net = net};
    struct buf out;
    if (!net->load)
        return;
    map_init(&told.vertices);
    if (is_first)
        define_topology(net);
    if (topo_vertices(net->topo) > VERTICES_MOST)
        define_used_links(&told);
    else if (is_first)
        define_all_links(&told);
    map_fini(&told.vertices);
    for (size_t i = 0; i < net->load->rows; i++) {
        buf_init(&out);
        trace_load_write(&out, net->load, i);
        define(TRACE_LINK_LOAD, &out);
    }
}
