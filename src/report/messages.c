/*
 * messages.c - a sample of messages.
 */
#include "report/messages.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "trace/format.h"

enum column { SENT, TIME, SOURCE, DESTINATION, COLUMNS };

void messages_init(struct messages *m, size_t most)
{
    memset(m, 0, sizeof *m);
    m->most = most;
}

void messages_fini(struct messages *m)
{
    mem_free(m->kept);
}

/* Drops every other message, and from now on keeps half as many. */
static void thin_out(struct messages *m)
{
    size_t kept = 0;
    for (size_t i = 0; i < m->count; i += 2)
        m->kept[kept++] = m->kept[i];
    m->count = kept;
    m->halvings++;
}

void messages_add(struct messages *m, const struct message *message)
{
    uint64_t number = m->all++;
    if (m->most == 0 || number & ((UINT64_C(1) << m->halvings) - 1))
        return;
    if (m->count == m->most) {
        thin_out(m);
        if (number & ((UINT64_C(1) << m->halvings) - 1))
            return;
    }
    ARRAY_RESERVE(m->kept, m->room, m->count + 1, 1024);
    m->kept[m->count++] = *message;
}

static int by_time(const void *a, const void *b)
{
    const struct message *x = a, *y = b;
    if (x->sent != y->sent)
        return x->sent < y->sent ? -1 : 1;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    return x->destination < y->destination ? -1 : x->destination > y->destination;
}

static void put(struct buf *out, uint64_t value)
{
    uint8_t text[TRACE_VARINT_MAX];
    buf_add(out, text, (size_t)(trace_varint_put(text, value) - text));
}

static unsigned write_block(const struct message *messages, size_t count, int64_t unit,
                            struct chunks *chunks)
{
    struct buf columns[COLUMNS], block;
    int64_t time = 0, rank = 0;
    buf_init(&block);
    for (unsigned i = 0; i < COLUMNS; i++)
        buf_init(&columns[i]);
    for (size_t i = 0; i < count; i++) {
        const struct message *m = &messages[i];
        int64_t sent = m->sent / unit, source = (int64_t)m->source;
        put(&columns[SENT], (uint64_t)(sent - time));
        put(&columns[TIME], trace_zigzag(m->received / unit - sent));
        put(&columns[SOURCE], trace_zigzag(source - rank));
        put(&columns[DESTINATION], trace_zigzag((int64_t)m->destination - source));
        time = sent;
        rank = source;
    }
    put(&block, count);
    for (unsigned i = 0; i < COLUMNS; i++) {
        put(&block, columns[i].len);
        buf_add(&block, buf_str(&columns[i]), columns[i].len);
        buf_fini(&columns[i]);
    }
    unsigned chunk = chunks_add(chunks, block.data, block.len);
    buf_fini(&block);
    return chunk;
}

/* The position of a block, and when its messages were in flight. */
static void describe_block(const struct message *messages, size_t count, int64_t unit,
                           unsigned chunk, struct json *json)
{
    int64_t last = messages[0].received;
    for (size_t i = 1; i < count; i++)
        last = messages[i].received > last ? messages[i].received : last;
    json_array_begin(json);
    json_uint(json, chunk);
    json_uint(json, count);
    json_int(json, messages[0].sent / unit);
    json_int(json, last / unit);
    json_array_end(json);
}

void messages_write(struct messages *m, int64_t unit, struct chunks *chunks, struct json *json)
{
    if (m->count)
        qsort(m->kept, m->count, sizeof *m->kept, by_time);
    json_key(json, "messages");
    json_object_begin(json);
    json_key(json, "all");
    json_uint(json, m->all);
    json_key(json, "kept");
    json_uint(json, m->count);
    json_key(json, "blocks");
    json_array_begin(json);
    for (size_t at = 0; at < m->count; at += MESSAGES_BLOCK) {
        size_t count = m->count - at < MESSAGES_BLOCK ? m->count - at : MESSAGES_BLOCK;
        unsigned chunk = write_block(m->kept + at, count, unit, chunks);
        describe_block(m->kept + at, count, unit, chunk, json);
    }
    json_array_end(json);
    json_object_end(json);
}
