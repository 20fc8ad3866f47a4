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

void trace_network_fini(struct trace_network *n)
{
    mem_free((void *)n->topology.kind);
    mem_free(n->vertices);
    mem_free(n->links);
    bins_fini(&n->load);
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
    default:
        return 0;
    }
}
