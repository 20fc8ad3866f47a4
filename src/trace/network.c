/*
 * network.c - definitions of links, as they are written.
 */
#include "trace/network.h"

#include <string.h>

#include "trace/payload.h"

void trace_topology_write(struct buf *out, const struct trace_topology *t)
{
    trace_write_varint(out, t->nodes);
    trace_write_varint(out, t->vertices);
    trace_write_varint(out, t->links);
    buf_adds(out, t->kind);
}

void trace_vertex_write(struct buf *out, const struct trace_vertex *v)
{
    trace_write_varint(out, v->number);
    buf_add(out, &v->x, sizeof v->x);
    buf_add(out, &v->y, sizeof v->y);
}

void trace_link_write(struct buf *out, const struct trace_link *l)
{
    trace_write_varint(out, l->number);
    trace_write_varint(out, l->from);
    trace_write_varint(out, l->to);
    buf_add(out, &l->bandwidth, sizeof l->bandwidth);
}

void trace_load_write(struct buf *out, const struct bins *load, size_t row)
{
    uint64_t amounts[BINS_MOST];
    bins_get(load, load->keys[row], amounts);
    trace_write_varint(out, load->keys[row]);
    trace_write_varint(out, load->width);
    trace_write_array(out, (const int64_t *)amounts, load->used);
}

void trace_vector_write(struct buf *out, const struct trace_vector *v)
{
    size_t length = strlen(v->name);
    trace_write_varint(out, length);
    buf_add(out, v->name, length);
    trace_write_varint(out, v->is_time != 0);
    trace_write_array(out, v->times, v->count);
    trace_write_array(out, v->least, v->count);
    trace_write_array(out, v->most, v->count);
}
