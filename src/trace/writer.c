/*
 * writer.c - writes a complete trace, block by block (see writer.h).
 */
#include <string.h>

#include "trace/payload.h"
#include "trace/writer.h"

int trace_writer_open(struct trace_writer *w, const char *path, const struct trace_header *header,
                      struct err *err)
{
    struct buf text;
    *w = (struct trace_writer){.block = header->block};
    if (trace_out_open(&w->out, path, err) != 0)
        return err->code;
    buf_init(&w->heads);
    buf_init(&w->body);
    buf_init(&w->index);
    buf_init(&w->frame);
    buf_init(&text);
    trace_header_write(header, &text);
    int rc = trace_out_frame(&w->out, TRACE_FRAME_HEADER, text.data, text.len, err);
    buf_fini(&text);
    if (rc != 0)
        trace_writer_close(w, 0, NULL);
    return rc;
}

int trace_writer_definitions(struct trace_writer *w, const struct buf *definitions, struct err *err)
{
    return trace_out_frame(&w->out, TRACE_FRAME_DEFINITIONS, buf_str(definitions), definitions->len,
                           err);
}

static int flush(struct trace_writer *w, struct err *err)
{
    struct buf *frame = &w->frame;
    if (!w->pieces)
        return 0;
    buf_clear(frame);
    trace_write_varint(frame, w->pieces);
    buf_add(frame, w->heads.data, w->heads.len);
    trace_write_varint(&w->index, w->out.offset);
    trace_write_varint(&w->index, frame->len);
    buf_add(&w->index, frame->data, frame->len);
    buf_add(frame, w->body.data, w->body.len);
    int rc = trace_out_frame(&w->out, TRACE_FRAME_RECORDS, frame->data, frame->len, err);
    buf_clear(&w->heads);
    buf_clear(&w->body);
    w->pieces = 0;
    w->frames++;
    return rc;
}

int trace_writer_block(struct trace_writer *w, const struct trace_piece *piece, struct err *err)
{
    trace_write_piece(&w->heads, piece, piece->flags | TRACE_PIECE_BEGINS);
    buf_add(&w->body, piece->data, piece->bytes);
    w->pieces++;
    w->records += piece->flags & TRACE_PIECE_DEFINITIONS ? 0 : piece->records;
    return w->body.len >= w->block ? flush(w, err) : 0;
}

static int finish(struct trace_writer *w, struct err *err)
{
    struct buf index;
    struct trace_end end;
    if (flush(w, err) != 0)
        return err->code;
    end = (struct trace_end){w->out.offset, w->records};
    buf_init(&index);
    trace_write_varint(&index, w->frames);
    buf_add(&index, w->index.data, w->index.len);
    int rc = trace_out_frame(&w->out, TRACE_FRAME_INDEX, index.data, index.len, err);
    buf_fini(&index);
    return rc != 0 ? rc : trace_out_frame(&w->out, TRACE_FRAME_END, &end, sizeof end, err);
}

int trace_writer_close(struct trace_writer *w, int keep, struct err *err)
{
    int rc = keep ? finish(w, err) : 0;
    int closed = trace_out_close(&w->out, keep && rc == 0, rc == 0 ? err : NULL);
    buf_fini(&w->heads);
    buf_fini(&w->body);
    buf_fini(&w->index);
    buf_fini(&w->frame);
    return rc != 0 ? rc : closed;
}

static void take(struct trace_sink *sink, const struct trace_piece *piece)
{
    struct trace_writer_sink *to = (struct trace_writer_sink *)sink;
    if (to->err.code == 0)
        trace_writer_block(to->writer, piece, &to->err);
}

void trace_writer_sink_init(struct trace_writer_sink *sink, struct trace_writer *writer)
{
    *sink = (struct trace_writer_sink){.sink = {.take = take,
                                                .block = writer->block,
                                                .piece = writer->block},
                                       .writer = writer};
}
