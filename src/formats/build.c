/*
 * build.c - builds an .orr file: a part (trace/part.h) that is merged at the end, so that
 * definitions and records may be added in any order.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/path.h"
#include "base/rng.h"
#include "formats/build.h"
#include "trace/definitions.h"
#include "trace/local.h"
#include "trace/merge.h"
#include "trace/payload.h"

#define PART_SUFFIX ".part.XXXXXX"
#define MEMORY_MOST ((size_t)64 << 20) /* of streams; then they are spilled */

/* ---- beginning and end ---- */

void format_build_init(struct format_build *b, const char *path, uint64_t ranks,
                       struct format_notes *notes)
{
    *b = (struct format_build){.path = mem_strdup(path), .notes = notes};
    trace_header_init(&b->header, ranks);
    map_init(&b->names);
    map_init(&b->comms);
    map_init(&b->types);
    map_init(&b->ops);
}

int format_build_start(struct format_build *b, struct err *err)
{
    char path[PATH_MAX];
    if (path_absolute(b->path, path, sizeof path - sizeof PART_SUFFIX, err) != 0)
        return err->code;
    strcat(path, PART_SUFFIX);
    int fd = mkstemp(path);
    if (fd < 0)
        return err_set(err, ERR_SYSTEM, "cannot write '%s': %s", b->path, strerror(errno));
    close(fd);
    b->part_path = mem_strdup(path);
    return trace_part_open(&b->part, path, &b->header, err);
}

static void end_rank(struct format_build *b)
{
    if (!b->has_rank)
        return;
    trace_stream_fini(&b->locals);
    for (size_t i = 0; i < b->thread_count; i++)
        trace_stream_fini(&b->threads[i]);
    mem_free(b->threads);
    b->threads = NULL;
    b->thread_count = 0;
    b->has_rank = 0;
    map_fini(&b->names);
    map_fini(&b->comms);
    map_fini(&b->types);
    map_fini(&b->ops);
}

void format_build_rank(struct format_build *b, uint64_t rank)
{
    end_rank(b);
    b->rank = rank;
    b->has_rank = 1;
    trace_stream_init(&b->locals, &b->part.sink, rank, 0, TRACE_PIECE_DEFINITIONS);
    memset(b->next, 0, sizeof b->next);
    b->next[TRACE_DEFINE_COMM] = 2;
    *map_insert(&b->comms, TRACE_COMM_WORLD, NULL) = TRACE_LOCAL_WORLD + 1;
    *map_insert(&b->comms, TRACE_COMM_SELF(rank), NULL) = TRACE_LOCAL_SELF + 1;
}

int format_build_close(struct format_build *b, int keep, struct err *err)
{
    struct err missing;
    int rc = 0;
    end_rank(b);
    if (b->part_path) {
        if (b->part.path)
            rc = trace_part_close(&b->part, keep ? err : &missing);
        if (keep && rc == 0)
            rc = trace_merge(&(const char *){b->part_path}, 1, b->path, &missing, err);
        unlink(b->part_path);
        mem_free(b->part_path);
    }
    trace_header_fini(&b->header);
    mem_free(b->path);
    return keep ? rc : 0;
}

/* ---- payloads ---- */

static uint64_t hash(uint64_t state, const void *data, size_t bytes)
{
    const uint8_t *at = data;
    for (size_t i = 0; i < bytes; i++) {
        state = state * RNG_SPLITMIX_STEP ^ at[i];
        state = rng_splitmix(&state);
    }
    return state;
}

/* ---- what ranks share ---- */

static void define(struct format_build *b, unsigned kind, struct buf *payload)
{
    trace_part_define(&b->part, kind, buf_str(payload), payload->len);
    buf_fini(payload);
}

void format_build_nodes(struct format_build *b, const int64_t *nodes)
{
    struct buf out;
    buf_init(&out);
    trace_write_array(&out, nodes, b->header.ranks);
    define(b, TRACE_NODES, &out);
}

void format_build_node_name(struct format_build *b, uint64_t node, const char *name)
{
    struct buf out;
    buf_init(&out);
    trace_write_varint(&out, node);
    buf_adds(&out, name);
    define(b, TRACE_NODE, &out);
}

void format_build_comm(struct format_build *b, uint64_t identity, int kind, const int64_t *ranks,
                       size_t count, const int64_t *others, size_t other_count)
{
    struct buf out;
    buf_init(&out);
    buf_add(&out, &identity, sizeof identity);
    trace_write_varint(&out, (uint64_t)kind);
    trace_write_array(&out, ranks, count);
    trace_write_array(&out, others, other_count);
    define(b, TRACE_COMM, &out);
}

void format_build_comm_name(struct format_build *b, uint64_t identity, const char *name)
{
    struct buf out;
    buf_init(&out);
    buf_add(&out, &identity, sizeof identity);
    buf_adds(&out, name);
    define(b, TRACE_COMM_NAME, &out);
}

uint64_t format_build_site(struct format_build *b, const char *text)
{
    uint64_t identity = hash(1, text, strlen(text));
    struct buf out;
    buf_init(&out);
    identity = identity ? identity : 1;
    buf_add(&out, &identity, sizeof identity);
    buf_adds(&out, text);
    define(b, TRACE_SITE, &out);
    return identity;
}

/* ---- local numbers ---- */

void format_local_raw(struct format_build *b, enum trace_head kind, const void *payload,
                      size_t bytes)
{
    trace_other(&b->locals, kind, b->locals.last, payload, bytes);
}

/* Defines the next number of a kind; the payload follows the number. */
static int64_t define_local(struct format_build *b, enum trace_head kind, struct buf *payload)
{
    struct buf out;
    int64_t number = (int64_t)b->next[kind]++;
    buf_init(&out);
    trace_write_varint(&out, (uint64_t)number);
    buf_add(&out, buf_str(payload), payload->len);
    format_local_raw(b, kind, out.data, out.len);
    buf_fini(&out);
    buf_fini(payload);
    return number;
}

/* define_local for definitions that are identified by their contents: each is written once. */
static int64_t define_once(struct format_build *b, enum trace_head kind, struct map *known,
                           struct buf *payload)
{
    int is_new;
    uint64_t *number = map_insert(known, hash(kind, buf_str(payload), payload->len), &is_new);
    if (is_new)
        *number = (uint64_t)define_local(b, kind, payload) + 1;
    else
        buf_fini(payload);
    return (int64_t)*number - 1;
}

int64_t format_local_comm(struct format_build *b, uint64_t identity, int kind, int64_t rank,
                          uint64_t size, uint64_t other_size)
{
    int is_new;
    uint64_t *number = map_insert(&b->comms, identity, &is_new);
    if (is_new) {
        struct buf out;
        buf_init(&out);
        buf_add(&out, &identity, sizeof identity);
        trace_write_varint(&out, (uint64_t)kind);
        trace_write_number(&out, rank);
        trace_write_varint(&out, size);
        trace_write_varint(&out, other_size);
        *number = (uint64_t)define_local(b, TRACE_DEFINE_COMM, &out) + 1;
    }
    return (int64_t)*number - 1;
}

int64_t format_local_type(struct format_build *b, const char *name, uint64_t size, int64_t lower,
                          int64_t extent)
{
    struct buf out;
    buf_init(&out);
    trace_write_varint(&out, size);
    trace_write_number(&out, lower);
    trace_write_number(&out, extent);
    buf_adds(&out, name);
    return define_once(b, TRACE_DEFINE_TYPE, &b->types, &out);
}

int64_t format_local_op(struct format_build *b, const char *name, int commutes)
{
    struct buf out;
    buf_init(&out);
    trace_write_varint(&out, commutes != 0);
    buf_adds(&out, name);
    return define_once(b, TRACE_DEFINE_OP, &b->ops, &out);
}

int64_t format_local_own_type(struct format_build *b, uint64_t size)
{
    struct buf out;
    buf_init(&out);
    trace_write_varint(&out, size);
    trace_write_number(&out, 0);
    trace_write_number(&out, (int64_t)size);
    return define_local(b, TRACE_DEFINE_TYPE, &out);
}

int64_t format_local_own_op(struct format_build *b, int commutes)
{
    struct buf out;
    buf_init(&out);
    trace_write_varint(&out, commutes != 0);
    return define_local(b, TRACE_DEFINE_OP, &out);
}

int64_t format_local_win(struct format_build *b, int64_t comm, int64_t bytes, int64_t unit)
{
    struct buf out;
    buf_init(&out);
    trace_write_varint(&out, comm < 0 ? 0 : (uint64_t)comm);
    trace_write_number(&out, bytes);
    trace_write_number(&out, unit);
    return define_local(b, TRACE_DEFINE_WIN, &out);
}

int64_t format_local_file(struct format_build *b, const char *name)
{
    struct buf out;
    buf_init(&out);
    buf_adds(&out, name);
    return define_local(b, TRACE_DEFINE_FILE, &out);
}

int64_t format_local_group(struct format_build *b, const int64_t *ranks, size_t count)
{
    struct buf out;
    buf_init(&out);
    trace_write_array(&out, ranks, count);
    return define_local(b, TRACE_DEFINE_GROUP, &out);
}

/* ---- calls ---- */

static const struct trace_status no_status;

int format_call_begin(struct format_call *call, const struct format_build *b, const char *function)
{
    int fn = trace_schema_find(b->header.schema, function);
    call->fn = NULL;
    if (fn < 0)
        return 0;
    call->fn = &b->header.schema->fns[fn];
    call->event.head = TRACE_CALL;
    call->event.fn = (unsigned)fn;
    call->event.site = 0;
    call->event.failed = 0;
    call->event.argc = call->fn->count;
    for (unsigned i = 0; i < call->fn->count; i++) {
        const struct trace_arg *arg = &call->fn->args[i];
        call->event.args[i] = (struct trace_value){.number = -1};
        if (arg->class == TRACE_STATUS)
            call->event.args[i].statuses = &no_status;
        else if (arg->class == TRACE_TEXT)
            call->event.args[i].text = "";
        else if (arg->class != TRACE_HANDLE && arg->class != TRACE_REQUEST)
            call->event.args[i].number = 0;
    }
    return 1;
}

static struct trace_value *find(struct format_call *call, const char *name)
{
    for (unsigned i = 0; call->fn && i < call->fn->count; i++)
        if (strcmp(call->fn->args[i].name, name) == 0)
            return &call->event.args[i];
    return NULL;
}

void format_call_number(struct format_call *call, const char *name, int64_t value)
{
    struct trace_value *v = find(call, name);
    if (v)
        v->number = value;
}

void format_call_items(struct format_call *call, const char *name, const int64_t *items,
                       size_t count)
{
    struct trace_value *v = find(call, name);
    if (v)
        v->items = items, v->count = count;
}

void format_call_statuses(struct format_call *call, const char *name,
                          const struct trace_status *statuses, size_t count)
{
    struct trace_value *v = find(call, name);
    if (v)
        v->statuses = statuses, v->count = count;
}

/* ---- records ---- */

static struct trace_stream *stream_of(struct format_build *b, unsigned thread)
{
    while (b->thread_count <= thread) {
        ARRAY_EXTEND(b->threads, b->thread_count);
        trace_stream_init(&b->threads[b->thread_count], &b->part.sink, b->rank,
                          (unsigned)b->thread_count, 0);
        b->thread_count++;
    }
    if (b->part.sink.buffered > MEMORY_MOST)
        for (size_t i = 0; i < b->thread_count; i++)
            trace_stream_spill(&b->threads[i]);
    return &b->threads[thread];
}

static int64_t in_order(struct format_build *b, const struct trace_stream *s, int64_t time)
{
    if (time >= s->last)
        return time;
    format_note(b->notes, "times that went backwards were set to that of the record before");
    return s->last;
}

void format_build_call(struct format_build *b, unsigned thread, struct format_call *call,
                       int64_t enter, int64_t leave)
{
    struct trace_stream *s = stream_of(b, thread);
    call->event.leave = in_order(b, s, leave);
    call->event.enter = enter <= call->event.leave ? enter : call->event.leave;
    trace_copy_event(s, &b->header, &call->event);
}

void format_build_enter(struct format_build *b, unsigned thread, int64_t time, const char *region)
{
    struct trace_stream *s = stream_of(b, thread);
    struct buf out;
    buf_init(&out);
    buf_adds(&out, region);
    uint8_t text[TRACE_VARINT_MAX];
    uint64_t number = (uint64_t)define_once(b, TRACE_DEFINE_NAME, &b->names, &out);
    trace_other(s, TRACE_REGION_ENTER, in_order(b, s, time), text,
                (size_t)(trace_varint_put(text, number) - text));
}

void format_build_leave(struct format_build *b, unsigned thread, int64_t time)
{
    struct trace_stream *s = stream_of(b, thread);
    trace_other(s, TRACE_REGION_LEAVE, in_order(b, s, time), NULL, 0);
}

void format_build_open_call(struct format_build *b, unsigned thread, int64_t enter, int64_t time,
                            const char *function)
{
    struct trace_stream *s = stream_of(b, thread);
    uint8_t text[2 * TRACE_VARINT_MAX], *at;
    int fn = trace_schema_find(b->header.schema, function);
    if (fn < 0)
        return;
    time = in_order(b, s, time);
    at = trace_varint_put(text, (uint64_t)fn);
    at = trace_varint_put(at, enter <= time ? (uint64_t)(time - enter) : 0);
    trace_other(s, TRACE_OPEN, time, text, (size_t)(at - text));
}

void format_build_lost(struct format_build *b, unsigned thread, int64_t time, uint64_t records)
{
    struct trace_stream *s = stream_of(b, thread);
    uint8_t text[TRACE_VARINT_MAX];
    trace_other(s, TRACE_LOST, in_order(b, s, time), text,
                (size_t)(trace_varint_put(text, records) - text));
}
