/*
 * trace_build.h - traces built by hand, for tests: calls are written as text.
 *
 *     struct build b;
 *     build_begin(&b, 2);
 *     build_call(&b, 0, "MPI_Send", 10, 20, "count=8 datatype=0 dest=1 tag=5 comm=0");
 *     build_call(&b, 1, "MPI_Recv", 0, 30, "count=8 source=0 tag=5 status=0:5:8");
 *     build_end(&b, path);
 *
 * Times are picoseconds. Calls of a rank come in order. Arguments that are not named are 0, handles
 * and requests null. A status is source:tag:bytes, or "cancelled"; arrays are separated by commas.
 * Datatype 0 has one byte, datatype 1 has eight.
 */
#ifndef TRACE_BUILD_H
#define TRACE_BUILD_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "trace/definitions.h"
#include "trace/merge.h"
#include "trace/part.h"

#define BUILD_ITEMS 64

struct build {
    struct trace_header header;
    struct trace_part part;
    struct trace_stream *streams, *locals;
    char part_path[512];
    unsigned ranks;
};

__attribute__((unused)) static void build_die(const char *what, const char *about)
{
    fprintf(stderr, "trace_build.h: %s '%s'\n", what, about);
    abort();
}

__attribute__((unused)) static void build_begin(struct build *b, unsigned ranks)
{
    struct err err;
    static const uint8_t byte[] = {0, 1, 0, 2}, eight[] = {1, 8, 0, 16};
    static unsigned number;
    *b = (struct build){.ranks = ranks};
    snprintf(b->part_path, sizeof b->part_path, "/tmp/orrery-build-%ld-%u", (long)getpid(),
             number++);
    trace_header_init(&b->header, ranks);
    trace_header_add(&b->header, "program", "./app");
    if (trace_part_open(&b->part, b->part_path, &b->header, &err) != 0)
        build_die("cannot write", err.text);
    b->streams = mem_zalloc(ranks * sizeof *b->streams);
    b->locals = mem_zalloc(ranks * sizeof *b->locals);
    for (unsigned i = 0; i < ranks; i++) {
        trace_stream_init(&b->streams[i], &b->part.sink, i, 0, 0);
        trace_stream_init(&b->locals[i], &b->part.sink, i, 0, TRACE_PIECE_DEFINITIONS);
        trace_other(&b->locals[i], TRACE_DEFINE_TYPE, 0, byte, sizeof byte);
        trace_other(&b->locals[i], TRACE_DEFINE_TYPE, 0, eight, sizeof eight);
    }
}

/* Nodes of ranks: `count` ranks to a node. */
__attribute__((unused)) static void build_nodes(struct build *b, unsigned count)
{
    struct trace_stream s;
    struct trace_sink nowhere = {.block = SIZE_MAX};
    int64_t *nodes = mem_alloc(b->ranks * sizeof *nodes);
    for (unsigned i = 0; i < b->ranks; i++)
        nodes[i] = i / count;
    trace_stream_init(&s, &nowhere, 0, 0, 0);
    trace_put_array(&s, nodes, b->ranks);
    trace_part_define(&b->part, TRACE_NODES, s.data, s.used);
    mem_free(s.data);
    mem_free(nodes);
}

/* Numbers of the `count` ranks of a communicator that are neighbours of `of`. */
static void build_neighbours(struct buf *out, const uint8_t *edges, size_t count, size_t of,
                             int is_out)
{
    struct trace_stream s;
    struct trace_sink nowhere = {.block = SIZE_MAX};
    int64_t ranks[BUILD_ITEMS];
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        if (edges[is_out ? of * count + i : i * count + of])
            ranks[found++] = (int64_t)i;
    trace_stream_init(&s, &nowhere, 0, 0, 0);
    trace_put_array(&s, ranks, found);
    buf_add(out, s.data, s.used);
    mem_free(s.data);
}

/* A communicator with local number `number` at all its members. If it has a topology, member i
 * sends to member k if edges[i * count + k] is set. */
__attribute__((unused)) static void build_topology(struct build *b, unsigned number,
                                                   uint64_t identity, const int64_t *ranks,
                                                   size_t count, const uint8_t *edges)
{
    struct trace_stream s;
    struct trace_sink nowhere = {.block = SIZE_MAX};
    struct buf out;
    uint8_t text[64], *at;
    buf_init(&out);
    buf_add(&out, &identity, sizeof identity);
    buf_addc(&out, TRACE_COMM_INTRA);
    trace_stream_init(&s, &nowhere, 0, 0, 0);
    trace_put_array(&s, ranks, count);
    trace_put_array(&s, NULL, 0);
    buf_add(&out, s.data, s.used);
    trace_part_define(&b->part, TRACE_COMM, out.data, out.len);
    for (size_t i = 0; i < count; i++) {
        at = trace_varint_put(text, number);
        memcpy(at, &identity, sizeof identity);
        at = trace_varint_put(at + sizeof identity, edges ? TRACE_COMM_TOPOLOGY : TRACE_COMM_INTRA);
        at = trace_varint_put(at, trace_zigzag((int64_t)i));
        at = trace_varint_put(at, count);
        at = trace_varint_put(at, 0);
        buf_clear(&out);
        buf_add(&out, text, (size_t)(at - text));
        for (int is_out = 0; edges && is_out < 2; is_out++)
            build_neighbours(&out, edges, count, i, is_out);
        trace_other(&b->locals[ranks[i]], TRACE_DEFINE_COMM, 0, out.data, out.len);
    }
    mem_free(s.data);
    buf_fini(&out);
}

__attribute__((unused)) static void build_comm(struct build *b, unsigned number, uint64_t identity,
                                               const int64_t *ranks, size_t count)
{
    build_topology(b, number, identity, ranks, count, NULL);
}

/* A window of MPI_COMM_WORLD with local number `number` at all ranks. */
__attribute__((unused)) static void build_win(struct build *b, unsigned number)
{
    const uint8_t win[] = {(uint8_t)number, 0, 0, 2};
    for (unsigned i = 0; i < b->ranks; i++)
        trace_other(&b->locals[i], TRACE_DEFINE_WIN, 0, win, sizeof win);
}

/* A group of ranks of the world, with a local number at one rank. */
__attribute__((unused)) static void build_group(struct build *b, unsigned rank, unsigned number,
                                                const int64_t *ranks, size_t count)
{
    struct trace_sink nowhere = {.block = SIZE_MAX};
    struct trace_stream s;
    struct buf out;
    uint8_t head[TRACE_VARINT_MAX];
    buf_init(&out);
    buf_add(&out, head, (size_t)(trace_varint_put(head, number) - head));
    trace_stream_init(&s, &nowhere, 0, 0, 0);
    trace_put_array(&s, ranks, count);
    buf_add(&out, s.data, s.used);
    trace_other(&b->locals[rank], TRACE_DEFINE_GROUP, 0, out.data, out.len);
    mem_free(s.data);
    buf_fini(&out);
}

/* Names a region; then build_region enters it, and with number -1 leaves the innermost. */
__attribute__((unused)) static void build_name(struct build *b, unsigned rank, unsigned number,
                                               const char *name)
{
    uint8_t text[128], *at = trace_varint_put(text, number);
    memcpy(at, name, strlen(name));
    trace_other(&b->locals[rank], TRACE_DEFINE_NAME, 0, text, (size_t)(at - text) + strlen(name));
}

__attribute__((unused)) static void build_region(struct build *b, unsigned rank, int number,
                                                 int64_t time)
{
    uint8_t text[TRACE_VARINT_MAX];
    if (number < 0)
        trace_other(&b->streams[rank], TRACE_REGION_LEAVE, time, NULL, 0);
    else
        trace_other(&b->streams[rank], TRACE_REGION_ENTER, time, text,
                    (size_t)(trace_varint_put(text, (uint64_t)number) - text));
}

static const char *build_value(const char *args, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = args; *at; at += strcspn(at, " "), at += strspn(at, " "))
        if (strncmp(at, name, length) == 0 && at[length] == '=')
            return at + length + 1;
    return NULL;
}

static struct trace_status build_status(const char *text)
{
    struct trace_status status = {0};
    int source, tag;
    unsigned long long bytes;
    if (text && strncmp(text, "cancelled", 9) == 0)
        return (struct trace_status){-1, -1, 0, 1, 1};
    if (text && sscanf(text, "%d:%d:%llu", &source, &tag, &bytes) == 3)
        status = (struct trace_status){source, tag, bytes, 1, 0};
    return status;
}

static void build_array(struct trace_stream *s, const struct trace_arg *arg, const char *text)
{
    int64_t items[BUILD_ITEMS];
    struct trace_status statuses[BUILD_ITEMS];
    size_t count = 0;
    while (text && *text && *text != ' ' && count < BUILD_ITEMS) {
        if (arg->class == TRACE_STATUS)
            statuses[count++] = build_status(text);
        else
            items[count++] = strtoll(text, NULL, 10);
        text += strcspn(text, ", ");
        text += *text == ',';
    }
    if (arg->class == TRACE_STATUS)
        trace_put_statuses(s, statuses, count);
    else
        trace_put_array(s, items, count);
}

__attribute__((unused)) static void build_call(struct build *b, unsigned rank, const char *name,
                                               int64_t enter, int64_t leave, const char *args)
{
    struct trace_stream *s = &b->streams[rank];
    int number = trace_schema_find(b->header.schema, name);
    if (number < 0)
        build_die("no function", name);
    const struct trace_fn *fn = &b->header.schema->fns[number];
    trace_call_begin(s, (unsigned)number, enter, leave);
    for (unsigned i = 0; i < fn->count; i++) {
        const struct trace_arg *arg = &fn->args[i];
        const char *text = build_value(args, arg->name);
        struct trace_status status = build_status(text);
        if (arg->is_array)
            build_array(s, arg, text);
        else if (arg->class == TRACE_STATUS)
            trace_put_status(s, &status);
        else if (arg->class == TRACE_REQUEST)
            trace_put_request(s, text ? strtoll(text, NULL, 10) : -1);
        else if (arg->class == TRACE_HANDLE)
            trace_put_varint(s, text ? 1 + strtoull(text, NULL, 10) : 0);
        else if (arg->class == TRACE_TEXT)
            trace_put_text(s, "", 0);
        else if (arg->class == TRACE_BUFFER)
            trace_put_varint(s, text ? strtoull(text, NULL, 10) : 0);
        else
            trace_put_number(s, text ? strtoll(text, NULL, 10) : 0);
    }
    trace_record_end(s);
}

/* Writes the trace. */
__attribute__((unused)) static void build_end(struct build *b, const char *path)
{
    struct err err, missing;
    const char *parts[] = {b->part_path};
    for (unsigned i = 0; i < b->ranks; i++) {
        trace_stream_fini(&b->locals[i]);
        trace_stream_fini(&b->streams[i]);
    }
    if (trace_part_close(&b->part, &err) != 0 || trace_merge(parts, 1, path, &missing, &err) != 0)
        build_die("cannot write", err.text);
    unlink(b->part_path);
    trace_header_fini(&b->header);
    mem_free(b->streams);
    mem_free(b->locals);
}

#endif
