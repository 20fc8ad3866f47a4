/*
 * local.c - the definitions of a rank.
 */
#include <string.h>

#include "base/array.h"
#include "trace/local.h"

#define NUMBER_MOST ((uint64_t)1 << 26) /* a damaged number must not exhaust memory */

struct kept {
    struct kept *next;
    void *memory;
};

static void keep(struct trace_local *l, void *memory)
{
    struct kept *kept = mem_alloc(sizeof *kept);
    *kept = (struct kept){l->memory, memory};
    l->memory = kept;
}

static const char *keep_text(struct trace_local *l, const uint8_t *at, const uint8_t *end)
{
    size_t length = (size_t)(end - at);
    char *text = mem_alloc(length + 1);
    memcpy(text, at, length);
    text[length] = '\0';
    keep(l, text);
    return text;
}

void trace_local_fini(struct trace_local *l)
{
    for (struct kept *kept = l->memory, *next; kept; kept = next) {
        next = kept->next;
        mem_free(kept->memory);
        mem_free(kept);
    }
    for (unsigned i = 0; i < TRACE_CALL; i++)
        mem_free(l->tables[i].items);
    *l = (struct trace_local){0};
}

static struct trace_local_item *place(struct trace_local *l, unsigned kind, uint64_t number)
{
    struct trace_table *table = &l->tables[kind];
    ARRAY_RESERVE_ZERO(table->items, table->count, (size_t)number + 1, 2);
    return &table->items[number];
}

static const uint8_t *get_number(const uint8_t *at, const uint8_t *end, int64_t *value)
{
    uint64_t raw;
    at = trace_varint_get(at, end, &raw);
    if (at)
        *value = trace_unzigzag(raw);
    return at;
}

/* An array that lives as long as the definitions. */
static const uint8_t *get_array(struct trace_local *l, const uint8_t *at, const uint8_t *end,
                                const int64_t **items, uint64_t *count)
{
    int64_t *read;
    at = trace_read_array(at, end, &read, count);
    if (at) {
        keep(l, read);
        *items = read;
    }
    return at;
}

static const uint8_t *get_comm(struct trace_local *l, const uint8_t *at, const uint8_t *end,
                               struct trace_local_item *item)
{
    uint64_t kind;
    if (end - at < (ptrdiff_t)sizeof item->identity)
        return NULL;
    memcpy(&item->identity, at, sizeof item->identity);
    at += sizeof item->identity;
    if (!(at = trace_varint_get(at, end, &kind)) || !(at = get_number(at, end, &item->rank)) ||
        !(at = trace_varint_get(at, end, &item->size)) ||
        !(at = trace_varint_get(at, end, &item->other_size)) || !(kind & TRACE_COMM_TOPOLOGY))
        return at;
    item->has_topology = 1;
    if (!(at = get_array(l, at, end, &item->sources, &item->source_count)))
        return NULL;
    return get_array(l, at, end, &item->destinations, &item->destination_count);
}

/* Reads what follows the local number, by kind; a text follows that. NULL: damaged. */
static const uint8_t *get_body(struct trace_local *l, unsigned kind, const uint8_t *at,
                               const uint8_t *end, struct trace_local_item *item)
{
    uint64_t number;
    switch (kind) {
    case TRACE_DEFINE_COMM:
        return get_comm(l, at, end, item);
    case TRACE_DEFINE_TYPE:
        if (!(at = trace_varint_get(at, end, &item->size)) ||
            !(at = get_number(at, end, &item->lower)))
            return NULL;
        return get_number(at, end, &item->extent);
    case TRACE_DEFINE_GROUP:
        return get_array(l, at, end, &item->members, &item->size);
    case TRACE_DEFINE_WIN:
        if (!(at = trace_varint_get(at, end, &number)) || !(at = get_number(at, end, &item->rank)))
            return NULL;
        item->lower = (int64_t)number;
        item->size = (uint64_t)item->rank;
        return get_number(at, end, &item->extent);
    case TRACE_DEFINE_OP:
        at = trace_varint_get(at, end, &number);
        item->commutes = at && number;
        return at;
    default:
        return at;
    }
}

void trace_local_add(struct trace_local *l, const struct trace_event *e)
{
    const uint8_t *at = e->payload, *end = at + e->bytes;
    struct trace_local_item item = {.kind = e->head};
    uint64_t number;
    if (e->head < TRACE_DEFINE_NAME || e->head > TRACE_DEFINE_OP ||
        !(at = trace_varint_get(at, end, &number)) || number > NUMBER_MOST ||
        !(at = get_body(l, e->head, at, end, &item)))
        return;
    item.text = keep_text(l, at, end);
    *place(l, e->head, number) = item;
}

void trace_local_init(struct trace_local *l, uint64_t ranks, uint64_t rank)
{
    *l = (struct trace_local){0};
    *place(l, TRACE_DEFINE_COMM,
           TRACE_LOCAL_WORLD) = (struct trace_local_item){.kind = TRACE_DEFINE_COMM,
                                                          .text = "MPI_COMM_WORLD",
                                                          .identity = TRACE_COMM_WORLD,
                                                          .rank = (int64_t)rank,
                                                          .size = ranks};
    *place(l, TRACE_DEFINE_COMM,
           TRACE_LOCAL_SELF) = (struct trace_local_item){.kind = TRACE_DEFINE_COMM,
                                                         .text = "MPI_COMM_SELF",
                                                         .identity = TRACE_COMM_SELF(rank),
                                                         .size = 1};
}

void trace_local_read(struct trace_local *l, struct trace *t, uint64_t rank)
{
    struct trace_cursor c;
    struct trace_event e;
    struct err err;
    int more;
    trace_local_init(l, t->header.ranks, rank);
    trace_cursor_open(&c, t, rank, 0, TRACE_LOCAL_DEFINITIONS);
    while ((more = trace_cursor_next(&c, &e, &err)) != 0)
        if (more > 0 && e.head < TRACE_CALL)
            trace_local_add(l, &e);
    trace_cursor_close(&c);
}

const struct trace_local_item *trace_local_find(const struct trace_local *l, enum trace_head kind,
                                                int64_t number)
{
    const struct trace_table *table = &l->tables[kind];
    return number >= 0 && (uint64_t)number < table->count && table->items[number].kind
               ? &table->items[number]
               : NULL;
}

enum trace_head trace_local_kind(const char *role)
{
    static const struct {
        const char *role;
        enum trace_head kind;
    } kinds[] = {
        {"comm", TRACE_DEFINE_COMM}, {"datatype", TRACE_DEFINE_TYPE}, {"group", TRACE_DEFINE_GROUP},
        {"win", TRACE_DEFINE_WIN},   {"file", TRACE_DEFINE_FILE},     {"op", TRACE_DEFINE_OP},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i].role, role) == 0)
            return kinds[i].kind;
    return 0;
}
