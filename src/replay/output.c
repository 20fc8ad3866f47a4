/*
 * output.c - the new trace: the records of the old one, with the times of the replay and what came
 * out differently. Numbers of objects stay as they are, so definitions are copied.
 */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "replay/replay.h"
#include "trace/copy.h"
#include "trace/payload.h"

#define MEMORY_MOST ((size_t)64 << 20) /* of all streams; then they are spilled */

/* Definitions that are common to ranks, as they are in the file. */
static void copy_definitions(struct replay *r)
{
    const struct trace_file *file = &r->trace.file;
    struct trace_frame head;
    for (uint64_t offset = 0; trace_file_frame(file, offset, &head, NULL) == 0;
         offset += sizeof head + head.stored) {
        if (head.kind != TRACE_FRAME_DEFINITIONS)
            continue;
        uint8_t *room = mem_alloc((size_t)head.raw + 1);
        const uint8_t *at = trace_file_payload(file, offset, &head, room), *end = at + head.raw,
                      *data, *body;
        unsigned kind;
        size_t bytes;
        while (at && trace_definitions_next(&at, end, &kind, &data, &bytes, &body) == 1)
            trace_part_define(&r->part, kind, body, (size_t)(data + bytes - body));
        mem_free(room);
    }
}

int replay_output_open(struct replay *r, unsigned process, struct err *err)
{
    r->header = r->trace.header;
    r->header.tick = 1;
    if (!r->options.output)
        return 0;
    size_t room = strlen(r->options.output) + 32;
    char *path = mem_alloc(room);
    snprintf(path, room, "%s" TRACE_PART_SUFFIX "%u", r->options.output, process);
    int rc = trace_part_open(&r->part, path, &r->header, err);
    mem_free(path);
    if (rc == 0 && process == 0)
        copy_definitions(r);
    r->is_open = rc == 0;
    return rc;
}

static void define_byte(struct trace_stream *s, int64_t number)
{
    struct buf out;
    buf_init(&out);
    trace_write_varint(&out, (uint64_t)number);
    trace_write_varint(&out, 1);
    trace_write_number(&out, 0);
    trace_write_number(&out, 1);
    buf_adds(&out, "MPI_BYTE");
    trace_other(s, TRACE_DEFINE_TYPE, 0, out.data, out.len);
    buf_fini(&out);
}

/* What the handles of the rank mean. */
static void copy_locals(struct replay_rank *k)
{
    struct trace_cursor c;
    struct trace_stream s;
    struct trace_event e;
    struct err err;
    int more;
    trace_stream_init(&s, &k->replay->part.sink, k->rank, 0, TRACE_PIECE_DEFINITIONS);
    trace_cursor_open(&c, &k->replay->trace, k->rank, 0, TRACE_LOCAL_DEFINITIONS);
    while ((more = trace_cursor_next(&c, &e, &err)) != 0)
        if (more > 0) {
            e.leave = e.enter = 0;
            trace_copy_event(&s, &k->replay->header, &e);
        }
    trace_cursor_close(&c);
    if (k->new_byte_type)
        define_byte(&s, k->changed.byte_type);
    trace_stream_fini(&s);
}

void replay_output_begin(struct replay_rank *k)
{
    struct replay *r = k->replay;
    if (!r->is_open)
        return;
    copy_locals(k);
    replay_output_thread(k, 0);
}

void replay_output_thread(struct replay_rank *k, unsigned thread)
{
    if (k->replay->is_open)
        trace_stream_init(&k->out, &k->replay->part.sink, k->rank, thread, 0);
}

static void spill_all(struct replay *r)
{
    for (struct replay_rank *k = r->ranks; k; k = k->next) {
        trace_stream_spill(&k->out);
        replay_threads_spill(k);
    }
    trace_part_flush(&r->part);
}

void replay_output_event(struct replay_rank *k, int64_t enter, int64_t leave)
{
    struct replay *r = k->replay;
    if (!r->is_open)
        return;
    k->event->enter = enter;
    k->event->leave = leave;
    if (k->is_changed || r->whats.count)
        trace_copy_event(&k->out, &r->header, k->event);
    else
        trace_copy_unchanged(&k->out, &r->header, k->event);
    if (__builtin_expect(r->part.sink.buffered > MEMORY_MOST, 0))
        spill_all(r);
}

void replay_output_end(struct replay_rank *k)
{
    if (k->replay->is_open)
        trace_stream_fini(&k->out);
}

/* For the summary of the command. */
static void write_counts(const struct replay *r)
{
    size_t room = strlen(r->part.path) + 32;
    char *path = mem_alloc(room);
    snprintf(path, room, "%s" REPLAY_COUNTS, r->part.path);
    struct err err;
    int fd = path_create(path, NULL, &err);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (file) {
        fprintf(file, "%llu %llu %llu %llu %llu %llu %llu\n", (unsigned long long)r->counts.events,
                (unsigned long long)r->counts.remapped, (unsigned long long)r->counts.drawn,
                (unsigned long long)r->counts.forced, (unsigned long long)r->counts.removed,
                (unsigned long long)r->counts.unfinished, (unsigned long long)r->counts.timed);
        fclose(file);
    }
    mem_free(path);
}

int replay_output_close(struct replay *r)
{
    struct err err;
    if (!r->is_open)
        return 0;
    write_counts(r);
    r->is_open = 0;
    if (trace_part_close(&r->part, &err) == 0)
        return 0;
    log_error("%s: the new trace ends there", err.text);
    return err.code;
}
