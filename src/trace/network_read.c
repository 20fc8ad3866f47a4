/*
 * network_read.c - definitions of links, as they are read.
 */
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "trace/decode.h"
#include "trace/definitions.h"
#include "trace/network.h"
#include "trace/payload.h"

void trace_network_init(struct trace_network *n)
{
    *n = (struct trace_network){0};
    bins_init(&n->load, 0);
}

static void free_vector(struct trace_vector *v)
{
    mem_free((void *)v->name);
    mem_free(v->times);
    mem_free(v->least);
    mem_free(v->most);
}

void trace_network_fini(struct trace_network *n)
{
    mem_free((void *)n->topology.kind);
    mem_free(n->vertices);
    mem_free(n->links);
    bins_fini(&n->load);
    for (size_t i = 0; i < n->vector_count; i++)
        free_vector(&n->vectors[i]);
    mem_free(n->vectors);
    *n = (struct trace_network){0};
}

static const uint8_t *get_u32(const uint8_t *at, const uint8_t *end, uint32_t *value)
{
    uint64_t number;
    if (!(at = trace_varint_get(at, end, &number)) || number > UINT32_MAX)
        return NULL;
    *value = (uint32_t)number;
    return at;
}

static int take_topology(struct trace_network *n, const uint8_t *at, const uint8_t *end)
{
    struct trace_topology t = {0};
    if (n->topology.kind)
        return 0;
    if (!(at = trace_varint_get(at, end, &t.nodes)) ||
        !(at = trace_varint_get(at, end, &t.vertices)) ||
        !(at = trace_varint_get(at, end, &t.links)))
        return -1;
    size_t length = (size_t)(end - at);
    char *kind = mem_alloc(length + 1);
    memcpy(kind, at, length);
    kind[length] = '\0';
    t.kind = kind;
    n->topology = t;
    return 0;
}

static int take_vertex(struct trace_network *n, const uint8_t *at, const uint8_t *end)
{
    struct trace_vertex v;
    if (!(at = get_u32(at, end, &v.number)) || end - at < (ptrdiff_t)(sizeof v.x + sizeof v.y))
        return -1;
    memcpy(&v.x, at, sizeof v.x);
    memcpy(&v.y, at + sizeof v.x, sizeof v.y);
    if (!isfinite(v.x) || !isfinite(v.y))
        return -1;
    ARRAY_EXTEND(n->vertices, n->vertex_count);
    n->vertices[n->vertex_count++] = v;
    return 0;
}

static int take_link(struct trace_network *n, const uint8_t *at, const uint8_t *end)
{
    struct trace_link l;
    if (!(at = get_u32(at, end, &l.number)) || !(at = get_u32(at, end, &l.from)) ||
        !(at = get_u32(at, end, &l.to)) || end - at < (ptrdiff_t)sizeof l.bandwidth)
        return -1;
    memcpy(&l.bandwidth, at, sizeof l.bandwidth);
    if (!(l.bandwidth >= 0))
        return -1;
    ARRAY_EXTEND(n->links, n->link_count);
    n->links[n->link_count++] = l;
    return 0;
}

int trace_load_read(const uint8_t *at, const uint8_t *end, struct trace_load *load)
{
    int64_t *items;
    int rc = 0;
    if (!(at = get_u32(at, end, &load->link)) || !(at = trace_varint_get(at, end, &load->width)) ||
        !trace_read_array(at, end, &items, &load->count))
        return -1;
    for (uint64_t i = 0; i < load->count && rc == 0; i++) {
        rc = i >= BINS_MOST || items[i] < 0 || items[i] > INT64_MAX / BINS_MOST ? -1 : 0;
        if (rc == 0)
            load->amounts[i] = (uint64_t)items[i];
    }
    mem_free(items);
    return rc;
}

static int take_load(struct trace_network *n, const uint8_t *at, const uint8_t *end)
{
    struct trace_load load;
    if (n->skips_load)
        return 0;
    int rc = trace_load_read(at, end, &load);
    if (rc != 0 || bins_has(&n->load, load.link))
        return rc;
    return bins_put(&n->load, load.link, load.width, load.amounts, load.count);
}

static char *read_name(const uint8_t **at, const uint8_t *end)
{
    uint64_t length;
    if (!(*at = trace_varint_get(*at, end, &length)) || length > (uint64_t)(end - *at))
        return NULL;
    char *name = mem_alloc(length + 1);
    memcpy(name, *at, length);
    name[length] = '\0';
    *at += length;
    return name;
}

static int take_vector(struct trace_network *n, const uint8_t *at, const uint8_t *end)
{
    struct trace_vector v = {0};
    uint64_t is_time = 0, counts[3] = {0};
    int64_t **const arrays[] = {&v.times, &v.least, &v.most};
    v.name = read_name(&at, end);
    if (v.name)
        at = trace_varint_get(at, end, &is_time);
    for (int i = 0; i < 3 && v.name && at; i++) {
        at = trace_read_array(at, end, arrays[i], &counts[i]);
        if (!at)
            *arrays[i] = NULL;
    }
    if (!v.name || !at || counts[0] != counts[1] || counts[0] != counts[2]) {
        free_vector(&v);
        return -1;
    }
    v.is_time = is_time != 0;
    v.count = counts[0];
    ARRAY_EXTEND(n->vectors, n->vector_count);
    n->vectors[n->vector_count++] = v;
    return 0;
}

int trace_network_take(struct trace_network *n, unsigned kind, const uint8_t *at,
                       const uint8_t *end)
{
    switch (kind) {
    case TRACE_TOPOLOGY:
        return take_topology(n, at, end);
    case TRACE_VERTEX:
        return take_vertex(n, at, end);
    case TRACE_LINK:
        return take_link(n, at, end);
    case TRACE_LINK_LOAD:
        return take_load(n, at, end);
    case TRACE_VECTOR:
        return take_vector(n, at, end);
    default:
        return 0;
    }
}
