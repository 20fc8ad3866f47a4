/*
 * record_links.c - the links of the machine and what they carried, as definitions of the trace
 * (trace/network.h).
 */
#include "base/map.h"
#include "base/mem.h"
#include "mpi/rank.h"
#include "mpi/record/record.h"
#include "net/links.h"
#include "net/vectors.h"
#include "trace/definitions.h"
#include "trace/network.h"

/* Vertices that have been defined. */
struct told {
    const struct net *net;
    struct map vertices;
};

static void define(unsigned kind, struct buf *payload)
{
    mpi_record_define(kind, payload->data, payload->len);
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

static void define_link(void *context, uint32_t number, const struct topo_link *link)
{
    struct told *told = context;
    struct buf out;
    define_vertex(told, link->from);
    define_vertex(told, link->to);
    buf_init(&out);
    trace_link_write(&out, &(struct trace_link){number, link->from, link->to,
                                                net_link_rate(told->net->topo,
                                                              &mpi_world.machine.config, link)});
    define(TRACE_LINK, &out);
}

static void define_vector(const struct net_vector *v)
{
    struct trace_vector to = {.name = v->name,
                              .is_time = net_vector_is_time(v->kind),
                              .count = v->count};
    int64_t *values = mem_alloc((3 * (size_t)v->count + 1) * sizeof *values);
    struct buf out;
    to.times = values;
    to.least = values + v->count;
    to.most = values + 2 * (size_t)v->count;
    for (uint32_t i = 0; i < v->count; i++) {
        to.times[i] = v->at[i].t;
        to.least[i] = (int64_t)v->at[i].least;
        to.most[i] = (int64_t)v->at[i].most;
    }
    buf_init(&out);
    trace_vector_write(&out, &to);
    define(TRACE_VECTOR, &out);
    mem_free(values);
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
    if (is_first || !net_links_are_few(net->topo))
        net_links_each(net->topo, net->load, define_link, &told);
    map_fini(&told.vertices);
    for (size_t i = 0; i < net->load->rows; i++) {
        buf_init(&out);
        trace_load_write(&out, net->load, i);
        define(TRACE_LINK_LOAD, &out);
    }
    for (uint32_t i = 0; net->vectors && i < net->vectors->count; i++)
        define_vector(net->vectors->list[i]);
}
