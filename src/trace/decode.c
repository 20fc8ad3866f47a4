/*
 * decode.c - reading records.
 */
#include <string.h>

#include "base/array.h"
#include "trace/decode.h"
#include "trace/payload.h"

#define ITEMS_MOST ((uint64_t)1 << 27) /* of one array: a damaged file must not exhaust memory */

void trace_decoder_init(struct trace_decoder *d, const struct trace_header *header)
{
    *d = (struct trace_decoder){.header = header};
}

void trace_decoder_fini(struct trace_decoder *d)
{
    mem_free(d->items);
    mem_free(d->statuses);
    *d = (struct trace_decoder){0};
}

void trace_decoder_block(struct trace_decoder *d, const uint8_t *data, size_t bytes, int64_t base,
                         int begins)
{
    d->at = data;
    d->end = data + bytes;
    d->time = base;
    if (begins)
        d->last_request = 0;
}

/* ---- values; each returns the end, or NULL ---- */

/* Groups of differences; `items` has space for all. */
static const uint8_t *get_items(const uint8_t *at, const uint8_t *end, int64_t *items,
                                uint64_t count)
{
    uint64_t last = 0;
    for (uint64_t i = 0; i < count;) {
        uint64_t group;
        int64_t step = 0;
        at = trace_varint_get(at, end, &group);
        if (!at || group >> 1 == 0 || group >> 1 > count - i)
            return NULL;
        uint64_t stop = i + (group >> 1);
        if (group & 1 && !(at = trace_number_get(at, end, &step)))
            return NULL;
        for (; i < stop; i++) {
            if (!(group & 1) && !(at = trace_number_get(at, end, &step)))
                return NULL;
            last += (uint64_t)step;
            items[i] = (int64_t)last;
        }
    }
    return at;
}

const uint8_t *trace_read_array(const uint8_t *at, const uint8_t *end, int64_t **items,
                                uint64_t *count)
{
    at = trace_varint_get(at, end, count);
    if (!at || *count > ITEMS_MOST)
        return NULL;
    *items = mem_try_alloc(*count ? *count : 1, sizeof **items);
    if (!*items)
        return NULL;
    at = get_items(at, end, *items, *count);
    if (!at) {
        mem_free(*items);
        *items = NULL;
    }
    return at;
}

/* The arrays may move while a record is read, since its size is not known beforehand: pointers are
 * set at the end. */
static int reserve_items(struct trace_decoder *d, uint64_t count)
{
    if (count > ITEMS_MOST)
        return -1;
    ARRAY_RESERVE(d->items, d->item_room, d->item_count + count, 8);
    return 0;
}

static int reserve_statuses(struct trace_decoder *d, uint64_t count)
{
    if (count > ITEMS_MOST)
        return -1;
    ARRAY_RESERVE(d->statuses, d->status_room, d->status_count + count, 8);
    return 0;
}

static const uint8_t *get_status(const uint8_t *at, const uint8_t *end, struct trace_status *status)
{
    uint64_t flags, bytes;
    int64_t source, tag;
    *status = (struct trace_status){0};
    at = trace_varint_get(at, end, &flags);
    if (!at || !flags)
        return at;
    if (!(at = trace_number_get(at, end, &source)) || !(at = trace_number_get(at, end, &tag)) ||
        !(at = trace_varint_get(at, end, &bytes)))
        return NULL;
    *status = (struct trace_status){(int32_t)source, (int32_t)tag, bytes, 1, flags >> 1 & 1};
    return at;
}

static const uint8_t *get_array(struct trace_decoder *d, const struct trace_arg *arg,
                                const uint8_t *at, struct trace_value *value)
{
    uint64_t count;
    at = trace_varint_get(at, d->end, &count);
    if (!at)
        return NULL;
    value->count = count;
    if (arg->class != TRACE_STATUS) {
        if (reserve_items(d, count) != 0)
            return NULL;
        value->number = (int64_t)d->item_count;
        at = get_items(at, d->end, d->items + d->item_count, count);
        d->item_count += count;
        return at;
    }
    if (count > (uint64_t)(d->end - at) || reserve_statuses(d, count) != 0)
        return NULL;
    value->number = (int64_t)d->status_count;
    for (uint64_t i = 0; at && i < count; i++)
        at = get_status(at, d->end, &d->statuses[d->status_count++]);
    return at;
}

static const uint8_t *get_request(struct trace_decoder *d, const uint8_t *at, int64_t *number)
{
    uint64_t raw;
    at = trace_varint_get(at, d->end, &raw);
    if (at && raw == 0)
        *number = -1;
    else if (at)
        *number = d->last_request = (int64_t)((uint64_t)d->last_request +
                                              (uint64_t)trace_unzigzag(raw - 1));
    return at;
}

static const uint8_t *get_scalar(struct trace_decoder *d, const struct trace_arg *arg,
                                 const uint8_t *at, struct trace_value *value)
{
    uint64_t raw;
    value->count = 0;
    switch (arg->class) {
    case TRACE_NUMBER:
        return trace_number_get(at, d->end, &value->number);
    case TRACE_REQUEST:
        return get_request(d, at, &value->number);
    case TRACE_STATUS:
        if (reserve_statuses(d, 1) != 0)
            return NULL;
        value->number = (int64_t)d->status_count;
        return get_status(at, d->end, &d->statuses[d->status_count++]);
    case TRACE_TEXT:
        at = trace_varint_get(at, d->end, &raw);
        if (!at || raw > (uint64_t)(d->end - at))
            return NULL;
        value->text = (const char *)at;
        value->count = raw;
        return at + raw;
    default: /* handles, buffers */
        at = trace_varint_get(at, d->end, &raw);
        if (at)
            value->number = arg->class == TRACE_HANDLE ? (int64_t)(raw - 1) : (int64_t)raw;
        return at;
    }
}

/* Arrays may have moved while the record was read. */
static void point(const struct trace_decoder *d, const struct trace_fn *fn, struct trace_event *e)
{
    for (unsigned i = 0; i < fn->count; i++) {
        const struct trace_arg *arg = &fn->args[i];
        if (arg->class == TRACE_STATUS)
            e->args[i].statuses = d->statuses + e->args[i].number;
        else if (arg->is_array)
            e->args[i].items = d->items + e->args[i].number;
    }
}

static const uint8_t *get_call(struct trace_decoder *d, const uint8_t *at, uint64_t fn,
                               struct trace_event *e)
{
    uint64_t duration;
    if (fn >= d->header->schema->count)
        return NULL;
    const struct trace_fn *f = &d->header->schema->fns[fn];
    if (!(at = trace_varint_get(at, d->end, &duration)))
        return NULL;
    e->head = TRACE_CALL;
    e->fn = (unsigned)fn;
    e->leave = d->time;
    e->enter = (int64_t)((uint64_t)d->time - duration);
    e->site = 0;
    e->payload = at;
    e->request_before = d->last_request;
    if (d->header->has_sites && !(at = trace_varint_get(at, d->end, &e->site)))
        return NULL;
    e->failed = d->failed;
    d->failed = 0;
    e->argc = f->count;
    int has_arrays = 0;
    d->item_count = d->status_count = 0;
    for (unsigned i = 0; at && i < f->count; i++) {
        has_arrays |= f->args[i].is_array | (f->args[i].class == TRACE_STATUS);
        at = f->args[i].is_array ? get_array(d, &f->args[i], at, &e->args[i])
                                 : get_scalar(d, &f->args[i], at, &e->args[i]);
    }
    if (at && has_arrays)
        point(d, f, e);
    e->bytes = at ? (size_t)(at - e->payload) : 0;
    e->request_after = d->last_request;
    return at;
}

static const uint8_t *get_other(struct trace_decoder *d, const uint8_t *at, uint64_t head,
                                struct trace_event *e)
{
    uint64_t bytes;
    at = trace_varint_get(at, d->end, &bytes);
    if (!at || bytes > (uint64_t)(d->end - at))
        return NULL;
    e->head = (unsigned)head;
    e->enter = e->leave = d->time;
    e->payload = at;
    e->bytes = bytes;
    e->argc = 0;
    return at + bytes;
}

int trace_decoder_next(struct trace_decoder *d, struct trace_event *e, struct err *err)
{
    while (d->at < d->end) {
        uint64_t head, passed;
        const uint8_t *at = trace_varint_get(d->at, d->end, &head);
        if (at && (at = trace_varint_get(at, d->end, &passed))) {
            d->time = (int64_t)((uint64_t)d->time + passed);
            at = head >= TRACE_CALL ? get_call(d, at, head - TRACE_CALL, e)
                                    : get_other(d, at, head, e);
        }
        if (!at) {
            d->at = d->end;
            return err_set(err, ERR_INPUT, "a record is damaged");
        }
        d->at = at;
        if (head != TRACE_FAILED)
            return 1;
        int64_t class = 0;
        trace_number_get(e->payload, e->payload + e->bytes, &class);
        d->failed = (int)class;
    }
    return 0;
}
