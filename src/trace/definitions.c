/*
 * definitions.c - reads what all ranks share.
 */
#include <string.h>

#include "base/mem.h"
#include "trace/decode.h"
#include "trace/definitions.h"
#include "trace/format.h"

/* Memory that definitions point to, freed with them. */
struct kept {
    struct kept *next;
    void *memory;
};

static void keep(struct trace_definitions *d, void *memory)
{
    struct kept *kept = mem_alloc(sizeof *kept);
    *kept = (struct kept){d->memory, memory};
    d->memory = kept;
}

void trace_definitions_init(struct trace_definitions *d)
{
    *d = (struct trace_definitions){0};
    map_init(&d->comm_by_identity);
    map_init(&d->site_by_identity);
    trace_network_init(&d->network);
}

void trace_definitions_fini(struct trace_definitions *d)
{
    for (struct kept *kept = d->memory, *next; kept; kept = next) {
        next = kept->next;
        mem_free(kept->memory);
        mem_free(kept);
    }
    mem_free(d->nodes);
    mem_free(d->comms);
    mem_free(d->sites);
    mem_free(d->node_names);
    map_fini(&d->comm_by_identity);
    map_fini(&d->site_by_identity);
    trace_network_fini(&d->network);
    *d = (struct trace_definitions){0};
}

int trace_definitions_next(const uint8_t **at, const uint8_t *end, unsigned *kind,
                           const uint8_t **data, size_t *bytes, const uint8_t **body)
{
    uint64_t number, size;
    if (*at == end)
        return 0;
    *data = *at;
    const uint8_t *from = trace_varint_get(*at, end, &number);
    if (!from || !(from = trace_varint_get(from, end, &size)) || size > (uint64_t)(end - from))
        return -1;
    *kind = number > UINT32_MAX ? 0 : (unsigned)number;
    *body = from;
    *at = from + size;
    *bytes = (size_t)(*at - *data);
    return 1;
}

static const char *keep_text(struct trace_definitions *d, const uint8_t *text, const uint8_t *end)
{
    size_t length = (size_t)(end - text);
    char *copy = mem_alloc(length + 1);
    memcpy(copy, text, length);
    copy[length] = '\0';
    keep(d, copy);
    return copy;
}

/* ---- readers by kind; 0, or -1 if damaged ---- */

static int read_nodes(struct trace_definitions *d, const uint8_t *at, const uint8_t *end,
                      uint64_t ranks)
{
    int64_t *nodes;
    uint64_t count;
    if (d->nodes)
        return 0;
    if (!trace_read_array(at, end, &nodes, &count))
        return -1;
    uint64_t most = 0;
    int wrong = count > ranks;
    for (uint64_t i = 0; i < count && !wrong; i++) {
        wrong = nodes[i] < 0 || (uint64_t)nodes[i] >= ranks;
        most = (uint64_t)nodes[i] > most ? (uint64_t)nodes[i] : most;
    }
    if (wrong) {
        mem_free(nodes);
        return -1;
    }
    d->nodes = nodes;
    d->nodes_known = count;
    d->node_count = most + 1;
    return 0;
}

void trace_definitions_fill(struct trace_definitions *d, uint64_t ranks)
{
    if (!d->nodes || d->nodes_known >= ranks)
        return;
    d->nodes = mem_realloc(d->nodes, ranks * sizeof *d->nodes);
    memset(d->nodes + d->nodes_known, 0, (ranks - d->nodes_known) * sizeof *d->nodes);
}

static int read_node(struct trace_definitions *d, const uint8_t *at, const uint8_t *end)
{
    uint64_t node;
    if (!(at = trace_varint_get(at, end, &node)))
        return -1;
    d->node_names = mem_realloc(d->node_names, (d->node_name_count + 1) * sizeof *d->node_names);
    d->node_names[d->node_name_count++] = (struct trace_node_name){node, keep_text(d, at, end)};
    return 0;
}

static int are_ranks(const int64_t *items, uint64_t count, uint64_t ranks)
{
    for (uint64_t i = 0; i < count; i++)
        if (items[i] < 0 || (uint64_t)items[i] >= ranks)
            return 0;
    return 1;
}

static int read_comm(struct trace_definitions *d, const uint8_t *at, const uint8_t *end,
                     uint64_t ranks)
{
    struct trace_comm comm = {0};
    int64_t *members, *others;
    uint64_t kind;
    int is_new;
    if (end - at < (ptrdiff_t)sizeof comm.identity)
        return -1;
    memcpy(&comm.identity, at, sizeof comm.identity);
    if (!(at = trace_varint_get(at + sizeof comm.identity, end, &kind)) ||
        !(at = trace_read_array(at, end, &members, &comm.size)))
        return -1;
    keep(d, members);
    if (!(at = trace_read_array(at, end, &others, &comm.other_size)))
        return -1;
    keep(d, others);
    if (!are_ranks(members, comm.size, ranks) || !are_ranks(others, comm.other_size, ranks))
        return -1;
    comm.kind = kind == TRACE_COMM_INTER ? TRACE_COMM_INTER : TRACE_COMM_INTRA;
    comm.ranks = members;
    comm.others = others;
    uint64_t *number = map_insert(&d->comm_by_identity, comm.identity, &is_new);
    if (!is_new)
        return 0;
    d->comms = mem_realloc(d->comms, (d->comm_count + 1) * sizeof *d->comms);
    d->comms[d->comm_count++] = comm;
    *number = d->comm_count;
    return 0;
}

static int read_comm_name(struct trace_definitions *d, const uint8_t *at, const uint8_t *end)
{
    uint64_t identity;
    if (end - at < (ptrdiff_t)sizeof identity)
        return -1;
    memcpy(&identity, at, sizeof identity);
    uint64_t *number = map_find(&d->comm_by_identity, identity);
    if (number && !d->comms[*number - 1].name)
        d->comms[*number - 1].name = keep_text(d, at + sizeof identity, end);
    return 0;
}

static int read_site(struct trace_definitions *d, const uint8_t *at, const uint8_t *end)
{
    uint64_t identity;
    int is_new;
    if (end - at < (ptrdiff_t)sizeof identity)
        return -1;
    memcpy(&identity, at, sizeof identity);
    uint64_t *number = map_insert(&d->site_by_identity, identity, &is_new);
    if (!is_new)
        return 0;
    d->sites = mem_realloc(d->sites, (d->site_count + 1) * sizeof *d->sites);
    d->sites[d->site_count++] = (struct trace_site){identity,
                                                    keep_text(d, at + sizeof identity, end)};
    *number = d->site_count;
    return 0;
}

int trace_definitions_read(struct trace_definitions *d, const uint8_t *payload, size_t bytes,
                           uint64_t ranks, struct err *err)
{
    const uint8_t *at = payload, *end = payload + bytes, *data, *body;
    unsigned kind;
    size_t size;
    int more, wrong = 0;
    while (!wrong && (more = trace_definitions_next(&at, end, &kind, &data, &size, &body)) != 0) {
        if (more < 0) {
            wrong = 1;
            break;
        }
        switch (kind) {
        case TRACE_NODES:
            wrong = read_nodes(d, body, at, ranks);
            break;
        case TRACE_NODE:
            wrong = read_node(d, body, at);
            break;
        case TRACE_COMM:
            wrong = read_comm(d, body, at, ranks);
            break;
        case TRACE_COMM_NAME:
            wrong = read_comm_name(d, body, at);
            break;
        case TRACE_SITE:
            wrong = read_site(d, body, at);
            break;
        default:
            wrong = trace_network_take(&d->network, kind, body, at);
        }
    }
    return wrong ? err_set(err, ERR_INPUT, "the definitions are damaged") : 0;
}

const struct trace_comm *trace_definitions_comm(const struct trace_definitions *d,
                                                uint64_t identity)
{
    uint64_t *number = map_find(&d->comm_by_identity, identity);
    return number ? &d->comms[*number - 1] : NULL;
}

const char *trace_definitions_site(const struct trace_definitions *d, uint64_t identity)
{
    uint64_t *number = map_find(&d->site_by_identity, identity);
    return number ? d->sites[*number - 1].text : NULL;
}
