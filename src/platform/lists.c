/*
 * lists.c - the tables of the fields of list items, and growing lists.
 *
 * The capacity of a list is its count rounded up to a power of two, so it need not be stored. A
 * machine as bytes is a header, the settings and the items of each list, each part at a multiple of
 * 8 bytes:
 *
 *     |head|config|items of list 0|items of list 1| ...
 */
#include "platform/lists.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "platform/lists_internal.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define FIELD(member) offsetof(struct platform_segment, member)
static const struct key segment_fields[] = {
    {"from", KEY_SIZE, FIELD(from), 0, "0", "the smallest message it is for, up to the next piece"},
    {"latency", KEY_TIME, FIELD(latency), 0, "",
     "time of an empty message; not given: as for other messages"},
    {"bandwidth", KEY_BANDWIDTH, FIELD(bandwidth), 1, "",
     "bandwidth; not given: as for other messages"},
    {"send_overhead", KEY_TIME, FIELD(send_overhead), 0, "",
     "processor time of the sender; not given: as mpi.send_overhead"},
    {"recv_overhead", KEY_TIME, FIELD(recv_overhead), 0, "",
     "processor time of the receiver; not given: as mpi.recv_overhead"},
    {"send_per_kib", KEY_TIME, FIELD(send_per_kib), 0, "",
     "of the sender, per 1024 bytes; not given: as mpi.send_per_kib"},
    {"recv_per_kib", KEY_TIME, FIELD(recv_per_kib), 0, "",
     "of the receiver, per 1024 bytes; not given: as mpi.recv_per_kib"},
};
#undef FIELD

#define FIELD(member) offsetof(struct platform_group, member)
static const struct key group_fields[] = {
    {"nodes", KEY_RANGE, FIELD(first), 0, NULL, "the nodes, such as 3 or 0-15"},
    {"speed", KEY_FACTOR, FIELD(speed), 1, "", "of their processors; not given: as nodes.speed"},
    {"noise_period", KEY_TIME, FIELD(noise_period), 0, "", "not given: as nodes.noise_period"},
    {"noise_duration", KEY_TIME, FIELD(noise_duration), 0, "",
     "not given: as nodes.noise_duration"},
};
#undef FIELD

#define FIELD(member) offsetof(struct platform_sharing, member)
static const struct key sharing_fields[] = {
    {"busy", KEY_COUNT, FIELD(busy), 1, NULL, "ranks of the node that compute"},
    {"in_cache", KEY_FACTOR, FIELD(in_cache), 1, "1", "factor on computing within the caches"},
    {"streaming", KEY_FACTOR, FIELD(streaming), 1, "1", "factor on streaming through memory"},
    {"random", KEY_FACTOR, FIELD(random), 1, "1", "factor on random access to memory"},
};
#undef FIELD

#define FIELD(member) offsetof(struct platform_link, member)
static const struct key link_fields[] = {
    {"from", KEY_NAME, FIELD(from), 1, NULL, "where it begins: n12 is node 12, s3 is switch 3"},
    {"to", KEY_NAME, FIELD(to), 1, NULL, "where it ends"},
    {"bandwidth", KEY_BANDWIDTH, FIELD(bandwidth), 0, "", "not given: as it was"},
    {"bandwidth_factor", KEY_FACTOR, FIELD(bandwidth_factor), 0, "1",
     "multiplies its bandwidth; 0: the link is down"},
    {"latency", KEY_TIME, FIELD(latency), 0, "", "not given: as it was"},
    {"error_rate", KEY_FACTOR, FIELD(error_rate), 0, "",
     "part of its packets that are lost (model packet); not given: as it was"},
    {"mtu", KEY_SIZE, FIELD(mtu), 1, "",
     "most bytes of a packet on it, without framing (model packet); only with `at` 0; not given: as it was"},
    {"at", KEY_TIME, FIELD(at), 0, "0s", "virtual time from which this holds"},
    {"both", KEY_FLAG, FIELD(both), 0, "true", "the other direction, too"},
};
#undef FIELD

#define FIELD(member) offsetof(struct platform_connection, member)
static const struct key connection_fields[] = {
    {"from", KEY_RANGE, FIELD(from_first), 0, NULL, "nodes at one end, such as 3 or 0-15"},
    {"to", KEY_RANGE, FIELD(to_first), 0, NULL, "nodes at the other end"},
    {"both", KEY_FLAG, FIELD(both), 0, "true",
     "what the nodes of `to` send to those of `from`, too"},
    {"send_buffer", KEY_SIZE, FIELD(send_buffer), 1, "", "not given: as net.packet.send_buffer"},
    {"receive_buffer", KEY_SIZE, FIELD(receive_buffer), 1, "",
     "not given: as net.packet.receive_buffer"},
    {"initial_window", KEY_COUNT, FIELD(initial_window), 1, "",
     "not given: as net.packet.initial_window"},
    {"min_rto", KEY_TIME, FIELD(min_rto), 1, "", "not given: as net.packet.min_rto"},
    {"first_rto", KEY_TIME, FIELD(first_rto), 1, "", "not given: as net.packet.first_rto"},
    {"delayed_ack", KEY_TIME, FIELD(delayed_ack), 0, "", "not given: as net.packet.delayed_ack"},
    {"congestion", KEY_NAME, FIELD(congestion), 0, "", "not given: as net.packet.congestion"},
    {"sack", KEY_NAME, FIELD(sack), 0, "", "true or false; not given: as net.packet.sack"},
    {"nagle", KEY_NAME, FIELD(nagle), 0, "", "true or false; not given: as net.packet.nagle"},
    {"at", KEY_TIME, FIELD(at), 0, "0s",
     "virtual time from which this holds, for open connections, too (transports tcp, message)"},
};
#undef FIELD

#define FIELD(member) offsetof(struct platform_background, member)
static const struct key background_fields[] = {
    {"from", KEY_NODE, FIELD(from), 0, NULL, "the node that sends it"},
    {"to", KEY_NODE, FIELD(to), 0, NULL, "the node that it goes to"},
    {"rate", KEY_BANDWIDTH, FIELD(rate), 1, NULL, "how much of it, such as 400Mbps"},
    {"size", KEY_SIZE, FIELD(size), 1, "1500", "of its packets, at most the MTU of the route"},
    {"at", KEY_TIME, FIELD(at), 0, "0s", "virtual time when it begins"},
    {"until", KEY_TIME, FIELD(until), 0, NULL, "virtual time when it ends"},
};
#undef FIELD

#define FIELD(member) offsetof(struct platform_rule, member)
static const struct key rule_fields[] = {
    {"op", KEY_NAME, FIELD(op), 1, NULL, "the collective, such as bcast"},
    {"algorithm", KEY_NAME, FIELD(algorithm), 1, NULL, "what it uses"},
    {"from", KEY_SIZE, FIELD(from), 0, "0", "for at least this many bytes"},
    {"to", KEY_SIZE, FIELD(to), 0, "", "for at most this many bytes; not given: any"},
    {"ranks_from", KEY_COUNT, FIELD(ranks_from), 0, "0",
     "for communicators of at least this many ranks"},
    {"ranks_to", KEY_COUNT, FIELD(ranks_to), 0, "", "for at most this many ranks; not given: any"},
};
#undef FIELD

static const struct key map_fields[] = {
    {"", KEY_NODE, 0, 0, "0", "the node of a rank"},
};

#define FIELD(member) offsetof(struct platform_noise, member)
static const struct key noise_fields[] = {
    {"start", KEY_TIME, FIELD(start), 0, NULL, "when it begins"},
    {"duration", KEY_TIME, FIELD(duration), 0, NULL, "how long it takes"},
};
#undef FIELD

#define FIELD(member) offsetof(struct platform_edge, member)
static const struct key edge_fields[] = {
    {"bandwidth", KEY_BANDWIDTH, FIELD(bandwidth), 1, "", "not given: as other links"},
    {"latency", KEY_TIME, FIELD(latency), 0, "", "not given: as other links"},
    {"error_rate", KEY_FACTOR, FIELD(error_rate), 0, "", "not given: as other links"},
    {"mtu", KEY_SIZE, FIELD(mtu), 1, "", "not given: as other links"},
};
#undef FIELD

#define ITEMS(type, fields) sizeof(type), fields, COUNT(fields)
static const struct list_type types[PLATFORM_LISTS] = {
    [PLATFORM_SEGMENTS] = {"net.segments", ITEMS(struct platform_segment, segment_fields), 0,
                           "pieces of the cost curve by message size"},
    [PLATFORM_INTRA_SEGMENTS] = {"net.intra.segments",
                                 ITEMS(struct platform_segment, segment_fields), 0,
                                 "the same between ranks of a node"},
    [PLATFORM_GROUPS] = {"nodes.groups", ITEMS(struct platform_group, group_fields), 0,
                         "nodes that differ; later groups go before earlier ones"},
    [PLATFORM_SHARING] = {"nodes.sharing", ITEMS(struct platform_sharing, sharing_fields), 0,
                          "how much longer computing takes when ranks share a node"},
    [PLATFORM_LINKS] = {"net.links", ITEMS(struct platform_link, link_fields), 0,
                        "links that differ from what the topology says (models hops, flow, packet)"},
    [PLATFORM_CONNECTIONS] = {"net.packet.connections",
                              ITEMS(struct platform_connection, connection_fields), 0,
                              "connections whose options differ; later items go before earlier "
                              "ones"},
    [PLATFORM_BACKGROUND] = {"net.packet.background",
                             ITEMS(struct platform_background, background_fields), 0,
                             "packets of others, which load links and queues (model packet)"},
    [PLATFORM_RULES] = {"mpi.algorithms", ITEMS(struct platform_rule, rule_fields), 0,
                        "which algorithm a collective uses; later rules go before earlier ones"},
    [PLATFORM_MAP] = {"nodes.map", ITEMS(uint32_t, map_fields), 0,
                      "the node of each rank, for nodes.placement list; it repeats"},
    [PLATFORM_NOISE] = {"nodes.noise_file", ITEMS(struct platform_noise, noise_fields), 1,
                        "what nodes.noise_file says"},
    [PLATFORM_EDGES] = {"net.topology.file", ITEMS(struct platform_edge, edge_fields), 1,
                        "what net.topology.file says"},
};

const struct list_type *list_type(enum platform_list_kind kind)
{
    assert(kind < PLATFORM_LISTS);
    return &types[kind];
}

/* ---- machines ---- */

void platform_init(struct platform *p)
{
    memset(p, 0, sizeof *p);
    platform_config_init(&p->config);
}

void platform_fini(struct platform *p)
{
    for (int i = 0; i < PLATFORM_LISTS; i++)
        mem_free(p->lists[i].items);
    memset(p->lists, 0, sizeof p->lists);
}

void platform_copy(struct platform *to, const struct platform *from)
{
    memset(to, 0, sizeof *to);
    to->config = from->config;
    for (int i = 0; i < PLATFORM_LISTS; i++) {
        const struct platform_list *list = &from->lists[i];
        if (list->count)
            memcpy(platform_list_extend(to, (enum platform_list_kind)i, list->count), list->items,
                   list->count * types[i].size);
    }
}

int platform_equal(const struct platform *a, const struct platform *b)
{
    int same = memcmp(&a->config, &b->config, sizeof a->config) == 0;
    for (int i = 0; i < PLATFORM_LISTS && same; i++) {
        const struct platform_list *x = &a->lists[i], *y = &b->lists[i];
        same = x->count == y->count &&
               (x->count == 0 || memcmp(x->items, y->items, x->count * types[i].size) == 0);
    }
    return same;
}

/* ---- lists ---- */

static size_t room_for(size_t count)
{
    return count ? array_doubled(0, count, 4) : 0;
}

void *platform_list_extend(struct platform *p, enum platform_list_kind kind, size_t more)
{
    struct platform_list *list = &p->lists[kind];
    const struct list_type *type = list_type(kind);
    size_t room = room_for(list->count + more);
    char *added;
    if (room != room_for(list->count))
        list->items = mem_realloc(list->items, room * type->size);
    added = (char *)list->items + list->count * type->size;
    for (size_t i = 0; i < more; i++) {
        memset(added + i * type->size, 0, type->size);
        field_defaults(type->fields, type->count, added + i * type->size);
    }
    list->count += more;
    return added;
}

void platform_list_cut(struct platform *p, enum platform_list_kind kind, size_t count)
{
    struct platform_list *list = &p->lists[kind];
    assert(count <= list->count);
    if (room_for(count) != room_for(list->count) && count)
        list->items = mem_realloc(list->items, room_for(count) * types[kind].size);
    if (count == 0) {
        mem_free(list->items);
        list->items = NULL;
    }
    list->count = count;
}

void *list_item(const struct platform *p, enum platform_list_kind kind, size_t i)
{
    return (char *)p->lists[kind].items + i * types[kind].size;
}

/* ---- is it a machine? ---- */

static int is_given(const struct key *key, const void *item)
{
    struct buf text;
    int given;
    buf_init(&text);
    field_print(key, item, &text);
    given = text.len > 0;
    buf_fini(&text);
    return given;
}

static int check_given(const struct list_type *type, const void *item, size_t i, struct err *err)
{
    for (size_t f = 0; f < type->count; f++)
        if (!type->fields[f].value && !is_given(&type->fields[f], item))
            return err_set(err, ERR_INPUT, "%s[%zu].%s: must be given: %s", type->key, i,
                           type->fields[f].name, type->fields[f].help);
    return 0;
}

static int check_segment(const struct list_type *type, const struct platform_segment *s, size_t i,
                         struct err *err)
{
    return i == 0 || s[0].from > s[-1].from
               ? 0
               : err_set(err, ERR_INPUT,
                         "%s[%zu].from: %llu bytes are not more than the %llu of the "
                         "piece before",
                         type->key, i, (unsigned long long)s[0].from,
                         (unsigned long long)s[-1].from);
}

static int check_sharing(const struct list_type *type, const struct platform_sharing *s, size_t i,
                         struct err *err)
{
    return i == 0 || s[0].busy > s[-1].busy
               ? 0
               : err_set(err, ERR_INPUT,
                         "%s[%zu].busy: %llu ranks are not more than the %llu of the "
                         "item before",
                         type->key, i, (unsigned long long)s[0].busy,
                         (unsigned long long)s[-1].busy);
}

static int check_rule(const struct list_type *type, const struct platform_rule *r, size_t i,
                      struct err *err)
{
    return r->from <= r->to && r->ranks_from <= r->ranks_to
               ? 0
               : err_set(err, ERR_INPUT, "%s[%zu].%s: is below where the rule begins", type->key, i,
                         r->from > r->to ? "to" : "ranks_to");
}

int list_check(const struct platform *p, enum platform_list_kind kind, size_t i, struct err *err)
{
    const struct list_type *type = list_type(kind);
    const void *item = list_item(p, kind, i);
    int rc = check_given(type, item, i, err);
    if (rc == 0 && (kind == PLATFORM_SEGMENTS || kind == PLATFORM_INTRA_SEGMENTS))
        rc = check_segment(type, item, i, err);
    if (rc == 0 && kind == PLATFORM_SHARING)
        rc = check_sharing(type, item, i, err);
    if (rc == 0 && kind == PLATFORM_RULES)
        rc = check_rule(type, item, i, err);
    return rc;
}

static int check_parts(const struct platform_config *c, struct err *err)
{
    return c->nodes_streaming_part + c->nodes_random_part <= 1
               ? 0
               : err_set(err, ERR_INPUT,
                         "nodes.streaming_part: %g and nodes.random_part %g are more "
                         "than 1 in all",
                         c->nodes_streaming_part, c->nodes_random_part);
}

int platform_check(const struct platform *p, struct err *err)
{
    int rc = check_parts(&p->config, err);
    for (int k = 0; k < PLATFORM_LISTS; k++)
        for (size_t i = 0; i < p->lists[k].count && rc == 0 && !types[k].from_file; i++)
            rc = list_check(p, (enum platform_list_kind)k, i, err);
    return rc;
}

const char *platform_list_key(enum platform_list_kind kind)
{
    return types[kind].from_file ? NULL : types[kind].key;
}

const char *platform_list_text(enum platform_list_kind kind)
{
    return types[kind].help;
}

void platform_list_help(enum platform_list_kind kind, struct buf *out)
{
    const struct list_type *type = list_type(kind);
    char prefix[64];
    snprintf(prefix, sizeof prefix, "%s[+]%s", type->key, *type->fields[0].name ? "." : "");
    for (size_t f = 0; f < type->count; f++)
        field_help(&type->fields[f], prefix, out);
}

void platform_lists_help(struct buf *out)
{
    for (int k = 0; k < PLATFORM_LISTS; k++)
        if (!types[k].from_file)
            platform_list_help((enum platform_list_kind)k, out);
}

/* ---- as bytes ---- */

#define PACK_MAGIC 0x4f52524du /* "ORRM" */

struct pack_head {
    uint32_t magic, config_size;
    uint64_t bytes;
    struct {
        uint64_t offset, count;
    } lists[PLATFORM_LISTS];
};

static uint64_t aligned(uint64_t at)
{
    return (at + 7) & ~(uint64_t)7;
}

static void pack_to(struct buf *out, uint64_t at)
{
    while (out->len < at)
        buf_addc(out, 0);
}

void platform_pack(const struct platform *p, struct buf *out)
{
    struct pack_head head = {PACK_MAGIC, sizeof p->config, 0, {{0, 0}}};
    uint64_t at = aligned(sizeof head + sizeof p->config);
    assert(out->len == 0);
    for (int i = 0; i < PLATFORM_LISTS; i++) {
        head.lists[i].offset = at;
        head.lists[i].count = p->lists[i].count;
        at = aligned(at + p->lists[i].count * types[i].size);
    }
    head.bytes = at;
    buf_add(out, &head, sizeof head);
    buf_add(out, &p->config, sizeof p->config);
    for (int i = 0; i < PLATFORM_LISTS; i++) {
        pack_to(out, head.lists[i].offset);
        if (p->lists[i].count)
            buf_add(out, p->lists[i].items, p->lists[i].count * types[i].size);
    }
    pack_to(out, at);
}

int platform_unpack(struct platform *view, const void *bytes, size_t size, struct err *err)
{
    const struct pack_head *head = bytes;
    if (size < sizeof *head + sizeof view->config || head->magic != PACK_MAGIC ||
        head->config_size != sizeof view->config || head->bytes > size)
        return err_set(err, ERR_INPUT, "the machine is of another version of Orrery");
    memset(view, 0, sizeof *view);
    memcpy(&view->config, head + 1, sizeof view->config);
    for (int i = 0; i < PLATFORM_LISTS; i++) {
        uint64_t offset = head->lists[i].offset, count = head->lists[i].count;
        if (offset > head->bytes || count > (head->bytes - offset) / types[i].size)
            return err_set(err, ERR_INPUT, "the machine is cut off");
        view->lists[i].count = count;
        view->lists[i].items = count ? (char *)(uintptr_t)bytes + offset : NULL;
    }
    return 0;
}
