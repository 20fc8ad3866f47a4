/*
 * part.c - see part.h.
 */
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/sys.h"
#include "trace/part.h"
#include "trace/payload.h"

#define FLUSH_AT ((size_t)1 << 20)

/*
 * With many ranks a stream hands over its records after a few: a buffer for each that is small, and
 * never grows, costs less time in caches than one that is large.
 */
#define PIECES_IN_ALL ((uint64_t)16 << 20)
#define PIECE_LEAST 192
#define PIECE_MOST 4096

static size_t piece_for(const struct trace_header *h)
{
    uint64_t piece = PIECES_IN_ALL / (h->ranks ? h->ranks : 1);
    uint64_t most = h->block < PIECE_MOST ? h->block : PIECE_MOST;
    return piece > most ? most : piece < PIECE_LEAST ? PIECE_LEAST : piece;
}

static int write_at(int fd, const void *data, size_t size, uint64_t at)
{
    const char *from = data;
    while (size) {
        ssize_t n = sys_pwrite(fd, from, size, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return -1;
        from += n, at += (uint64_t)n, size -= (size_t)n;
    }
    return 0;
}

static int write_spans(int fd, const struct trace_span *spans, size_t count, uint64_t at)
{
    for (size_t i = 0; i < count; at += spans[i++].bytes)
        if (write_at(fd, spans[i].data, spans[i].bytes, at) != 0)
            return -1;
    return 0;
}

static void write_frame(struct trace_part *p, enum trace_frame_kind kind,
                        const struct trace_span *spans, size_t count)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += spans[i].bytes;
    struct trace_frame frame = {.magic = TRACE_MAGIC,
                                .version = TRACE_VERSION,
                                .kind = (uint8_t)kind,
                                .method = TRACE_STORED,
                                .stored = (uint32_t)bytes,
                                .raw = (uint32_t)bytes};
    if (p->err.code != 0)
        return;
    frame.check = trace_check_spans(&frame, spans, count);
    int fd = sys_open(p->path, O_WRONLY, 0);
    if (fd >= 0 && write_at(fd, &frame, sizeof frame, p->offset) == 0 &&
        write_spans(fd, spans, count, p->offset + sizeof frame) == 0) {
        p->offset += sizeof frame + bytes;
    } else {
        err_set(&p->err, ERR_SYSTEM, "cannot write '%s': %s", p->path, strerror(errno));
        if (fd >= 0)
            sys_ftruncate(fd, (off_t)p->offset); /* to whole frames */
    }
    if (fd >= 0)
        sys_close(fd);
}

static void flush_pieces(struct trace_part *p)
{
    uint8_t pieces[TRACE_VARINT_MAX];
    if (!p->pieces)
        return;
    const struct trace_span spans[] = {
        {pieces, (size_t)(trace_varint_put(pieces, p->pieces) - pieces)},
        {p->heads.data, p->heads.len},
        {p->body.data, p->body.len},
    };
    write_frame(p, TRACE_FRAME_RECORDS, spans, sizeof spans / sizeof spans[0]);
    if (p->err.code != 0)
        p->lost += p->waiting;
    p->waiting = 0;
    buf_clear(&p->heads);
    buf_clear(&p->body);
    p->pieces = 0;
}

void trace_part_flush(struct trace_part *p)
{
    if (p->define.len)
        write_frame(p, TRACE_FRAME_DEFINITIONS, &(struct trace_span){p->define.data, p->define.len},
                    1);
    buf_clear(&p->define);
    flush_pieces(p);
}

static void take(struct trace_sink *sink, const struct trace_piece *piece)
{
    struct trace_part *p = (struct trace_part *)sink;
    if (p->err.code != 0) {
        p->lost += piece->records;
        return;
    }
    trace_write_piece(&p->heads, piece, piece->flags);
    buf_add(&p->body, piece->data, piece->bytes);
    p->pieces++;
    p->records += piece->records;
    p->waiting += piece->records;
    if (p->body.len < p->flush_at)
        return;
    trace_part_flush(p);
}

void trace_part_define(struct trace_part *p, unsigned kind, const void *payload, size_t bytes)
{
    trace_write_varint(&p->define, kind);
    trace_write_varint(&p->define, bytes);
    buf_add(&p->define, payload, bytes);
}

int trace_part_open(struct trace_part *p, const char *path, const struct trace_header *header,
                    struct err *err)
{
    struct buf text;
    struct trace_header own = *header;
    int fd = path_create(path);
    if (fd < 0)
        return err_set(err, ERR_SYSTEM, "cannot write '%s': %s", path, strerror(errno));
    sys_close(fd);
    *p = (struct trace_part){.sink = {.take = take,
                                      .block = header->block,
                                      .piece = piece_for(header)},
                             .path = mem_strdup(path),
                             .flush_at = FLUSH_AT};
    buf_init(&p->heads);
    buf_init(&p->body);
    buf_init(&p->define);
    buf_init(&text);
    own.is_part = 1;
    trace_header_write(&own, &text);
    write_frame(p, TRACE_FRAME_HEADER, &(struct trace_span){text.data, text.len}, 1);
    buf_fini(&text);
    if (p->err.code == 0)
        return 0;
    err_set(err, p->err.code, "%s", p->err.text);
    trace_part_close(p, NULL);
    return err->code;
}

int trace_part_close(struct trace_part *p, struct err *err)
{
    trace_part_flush(p);
    buf_fini(&p->heads);
    buf_fini(&p->body);
    buf_fini(&p->define);
    mem_free(p->path);
    p->path = NULL;
    return p->err.code == 0 ? 0 : err_set(err, p->err.code, "%s", p->err.text);
}
