/*
 * copy.c - copies a trace, or a selection of its ranks and times (see copy.h).
 */
#include <string.h>

#include "base/mem.h"
#include "trace/copy.h"
#include "trace/writer.h"

static void put_value(struct trace_stream *s, const struct trace_arg *arg,
                      const struct trace_value *value)
{
    if (arg->class == TRACE_STATUS && arg->is_array)
        trace_put_statuses(s, value->statuses, value->count);
    else if (arg->is_array)
        trace_put_array(s, value->items, value->count);
    else if (arg->class == TRACE_STATUS)
        trace_put_status(s, value->statuses);
    else if (arg->class == TRACE_TEXT)
        trace_put_text(s, value->text, value->count);
    else if (arg->class == TRACE_REQUEST)
        trace_put_request(s, value->number);
    else if (arg->class == TRACE_NUMBER)
        trace_put_number(s, value->number);
    else
        trace_put_varint(s, (uint64_t)(value->number + (arg->class == TRACE_HANDLE)));
}

static void put_failed(struct trace_stream *s, const struct trace_event *e)
{
    uint8_t text[TRACE_VARINT_MAX];
    size_t bytes = (size_t)(trace_varint_put(text, trace_zigzag(e->failed)) - text);
    trace_other(s, TRACE_FAILED, e->leave, text, bytes);
}

void trace_copy_event(struct trace_stream *s, const struct trace_header *header,
                      const struct trace_event *e)
{
    if (e->head != TRACE_CALL) {
        trace_other(s, e->head, e->leave, e->payload, e->bytes);
        return;
    }
    const struct trace_fn *fn = &header->schema->fns[e->fn];
    if (e->failed)
        put_failed(s, e);
    trace_call_begin(s, e->fn, e->enter, e->leave);
    if (header->has_sites)
        trace_put_varint(s, e->site);
    for (unsigned i = 0; i < e->argc; i++)
        put_value(s, &fn->args[i], &e->args[i]);
    trace_record_end(s);
}

void trace_copy_unchanged(struct trace_stream *s, const struct trace_header *header,
                          const struct trace_event *e)
{
    if (e->head != TRACE_CALL || e->failed || e->request_before != s->last_request)
        trace_copy_event(s, header, e); /* requests are relative to the one before */
    else
        trace_call_encoded(s, e->fn, e->enter, e->leave, e->payload, e->bytes, e->request_after);
}

int trace_cut_keeps(const struct trace *t, const struct trace_cut *cut, const struct trace_event *e)
{
    int64_t tick = (int64_t)t->header.tick;
    return (cut->from == INT64_MIN || e->leave >= cut->from / tick) &&
           (cut->to == INT64_MAX || e->enter <= cut->to / tick);
}

/* Regions that began before the cut are entered at its first record, so that every leave has an
 * enter. */
static void copy_records(struct trace *t, const struct trace_cut *cut, struct trace_cursor *c,
                         struct trace_stream *s)
{
    struct trace_event e;
    struct err err;
    struct buf open; /* names of regions, as payloads after their length */
    int more;
    buf_init(&open);
    while ((more = trace_cursor_next(c, &e, &err)) != 0) {
        if (more < 0 || e.leave < s->last)
            continue;
        if (trace_cut_keeps(t, cut, &e)) {
            for (size_t at = 0; at < open.len; at += 1 + (size_t)(uint8_t)open.data[at])
                trace_other(s, TRACE_REGION_ENTER, e.enter > s->last ? e.enter : s->last,
                            open.data + at + 1, (uint8_t)open.data[at]);
            buf_clear(&open);
            trace_copy_event(s, &t->header, &e);
        } else if (e.leave < cut->from && e.head == TRACE_REGION_ENTER && e.bytes < 128) {
            buf_addc(&open, (char)e.bytes);
            buf_add(&open, e.payload, e.bytes);
        } else if (e.leave < cut->from && e.head == TRACE_REGION_LEAVE) {
            size_t last = 0; /* the innermost is left */
            for (size_t at = 0; at < open.len; at += 1 + (size_t)(uint8_t)open.data[at])
                last = at;
            open.len = last;
        }
    }
    buf_fini(&open);
}

static void copy_stream(struct trace *t, const struct trace_cut *cut, uint64_t rank,
                        unsigned thread, enum trace_what what, struct trace_writer_sink *sink)
{
    static const struct trace_cut all = {0, UINT64_MAX, INT64_MIN, INT64_MAX};
    struct trace_cursor c;
    struct trace_stream s;
    trace_stream_init(&s, &sink->sink, rank, thread,
                      what == TRACE_LOCAL_DEFINITIONS ? TRACE_PIECE_DEFINITIONS : 0);
    trace_cursor_open(&c, t, rank, thread, what);
    copy_records(t, what == TRACE_LOCAL_DEFINITIONS ? &all : cut, &c, &s);
    trace_cursor_close(&c);
    trace_stream_fini(&s);
}

/* Copies definitions as they are in the file, but not the load of links: it belongs to the whole
 * run. */
static void copy_some(const uint8_t *at, const uint8_t *end, int is_whole, struct buf *out)
{
    const uint8_t *data, *body;
    unsigned kind;
    size_t size;
    while (trace_definitions_next(&at, end, &kind, &data, &size, &body) > 0)
        if (is_whole || kind < TRACE_TOPOLOGY || kind > TRACE_VECTOR)
            buf_add(out, data, size);
}

static int is_whole(const struct trace *t, const struct trace_cut *cut)
{
    return cut->first == 0 && (!t->header.ranks || cut->last >= t->header.ranks - 1) &&
           cut->from == INT64_MIN && cut->to == INT64_MAX;
}

static int copy_definitions(struct trace *t, const struct trace_cut *cut, struct trace_writer *w,
                            struct err *err)
{
    struct buf out;
    struct trace_frame head;
    uint64_t offset = 0;
    buf_init(&out);
    while (trace_file_head(&t->file, offset, &head, NULL) == 0) {
        if (head.kind == TRACE_FRAME_DEFINITIONS &&
            trace_file_frame(&t->file, offset, &head, NULL) == 0) {
            uint8_t *room = mem_alloc((size_t)head.raw + 1);
            const uint8_t *payload = trace_file_payload(&t->file, offset, &head, room);
            if (payload)
                copy_some(payload, payload + head.raw, is_whole(t, cut), &out);
            mem_free(room);
        }
        offset += sizeof head + head.stored;
    }
    int rc = trace_writer_definitions(w, &out, err);
    buf_fini(&out);
    return rc;
}

int trace_copy(struct trace *t, const struct trace_cut *cut, const char *path, struct err *err)
{
    struct trace_writer writer;
    struct trace_writer_sink sink;
    if (trace_writer_open(&writer, path, &t->header, err) != 0)
        return err->code;
    int rc = copy_definitions(t, cut, &writer, err);
    trace_writer_sink_init(&sink, &writer);
    for (uint64_t rank = cut->first; rc == 0 && rank <= cut->last && rank < t->header.ranks; rank++)
        for (unsigned thread = 0, threads = trace_threads(t, rank); rc == 0 && thread < threads;
             thread++) {
            copy_stream(t, cut, rank, thread, TRACE_LOCAL_DEFINITIONS, &sink);
            copy_stream(t, cut, rank, thread, TRACE_RECORDS, &sink);
            if (sink.err.code != 0)
                rc = err_set(err, sink.err.code, "%s", sink.err.text);
        }
    int closed = trace_writer_close(&writer, rc == 0, rc == 0 ? err : NULL);
    return rc != 0 ? rc : closed;
}
