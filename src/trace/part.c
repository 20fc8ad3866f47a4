/*
 * part.c - writes the part of a trace that one process records (see part.h).
 */
#include <errno.h>
#include <string.h>

#include "base/log_module.h"
#include "base/mem.h"
#include "base/hostile.h"
#include "base/path.h"
#include "base/sys.h"
#include "trace/part.h"
#include "trace/payload.h"

#define FLUSH_AT HOSTILE((size_t)512, (size_t)1 << 20)

/*
 * With many ranks, each stream hands over its records after a few of them: small buffers that never
 * grow stay in the caches.
 */
#define PIECES_IN_ALL ((uint64_t)16 << 20)
#define PIECE_LEAST 192
#define PIECE_MOST HOSTILE(PIECE_LEAST, 4096)

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

static int write_frame(struct trace_part *p, enum trace_frame_kind kind,
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
    frame.check = trace_check_spans(&frame, spans, count);
    int fd = path_reopen(p->path, &p->file, 0);
    int rc = fd >= 0 && write_at(fd, &frame, sizeof frame, p->offset) == 0 &&
                     write_spans(fd, spans, count, p->offset + sizeof frame) == 0
                 ? 0
                 : -1;
    if (rc == 0)
        p->offset += sizeof frame + bytes;
    else if (p->err.code == 0)
        err_set(&p->err, ERR_SYSTEM, "cannot write '%s': %s", p->path, strerror(errno));
    if (rc != 0 && fd >= 0)
        sys_ftruncate(fd, (off_t)p->offset); /* to whole frames */
    if (fd >= 0)
        sys_close(fd);
    return rc;
}

/* Records mean little without definitions: if these do not fit, the last frame of records makes
 * room. */
static void write_definitions(struct trace_part *p, enum trace_frame_kind kind,
                              const struct trace_span *spans, size_t count)
{
    if (write_frame(p, kind, spans, count) == 0 || p->last_end != p->offset)
        return;
    p->offset = p->last_start;
    p->lost += p->last_records;
    p->last_end = 0;
    int fd = path_reopen(p->path, &p->file, 0);
    if (fd < 0)
        return;
    sys_ftruncate(fd, (off_t)p->offset);
    sys_close(fd);
    write_frame(p, kind, spans, count);
}

/* Once something could not be written, records are dropped. */
static void write_records(struct trace_part *p, const struct trace_span *spans, size_t count)
{
    uint64_t start = p->offset;
    if (p->err.code != 0 || write_frame(p, TRACE_FRAME_RECORDS, spans, count) != 0) {
        p->lost += p->waiting;
        return;
    }
    p->last_start = start;
    p->last_end = p->offset;
    p->last_records = p->waiting;
}

/* ---- pieces ---- */

static void init_pieces(struct trace_pieces *pieces)
{
    buf_init(&pieces->heads);
    buf_init(&pieces->body);
}

static void fini_pieces(struct trace_pieces *pieces)
{
    buf_fini(&pieces->heads);
    buf_fini(&pieces->body);
}

static void flush_pieces(struct trace_part *p, struct trace_pieces *next)
{
    uint8_t count[TRACE_VARINT_MAX];
    const struct trace_span spans[] = {
        {count, (size_t)(trace_varint_put(count, next->count) - count)},
        {next->heads.data, next->heads.len},
        {next->body.data, next->body.len},
    };
    if (!next->count)
        return;
    if (next == &p->locals)
        write_definitions(p, TRACE_FRAME_RECORDS, spans, sizeof spans / sizeof spans[0]);
    else
        write_records(p, spans, sizeof spans / sizeof spans[0]);
    buf_clear(&next->heads);
    buf_clear(&next->body);
    next->count = 0;
}

void trace_part_flush(struct trace_part *p)
{
    LOG_LINE(TRACE, DEBUG, LOG_NO_RANK, VTIME_NEVER, "part '%s': %llu records are written", p->path,
             (unsigned long long)p->waiting);
    flush_pieces(p, &p->locals);
    if (p->define.len)
        write_definitions(p, TRACE_FRAME_DEFINITIONS,
                          &(struct trace_span){p->define.data, p->define.len}, 1);
    buf_clear(&p->define);
    flush_pieces(p, &p->pieces);
    p->waiting = 0;
}

static void take(struct trace_sink *sink, const struct trace_piece *piece)
{
    struct trace_part *p = (struct trace_part *)sink;
    int is_local = piece->flags & TRACE_PIECE_DEFINITIONS;
    struct trace_pieces *next = is_local ? &p->locals : &p->pieces;
    if (!is_local && p->err.code != 0) {
        p->lost += piece->records;
        return;
    }
    trace_write_piece(&next->heads, piece, piece->flags);
    buf_add(&next->body, piece->data, piece->bytes);
    next->count++;
    p->waiting += is_local ? 0 : piece->records;
    if (next->body.len >= p->flush_at)
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
    struct path_file file;
    int fd = path_create(path, &file, err);
    if (fd < 0)
        return err->code;
    sys_close(fd);
    *p = (struct trace_part){.file = file,
                             .sink = {.take = take,
                                      .block = header->block,
                                      .piece = piece_for(header)},
                             .path = mem_strdup(path),
                             .flush_at = FLUSH_AT};
    LOG_LINE(TRACE, INFO, LOG_NO_RANK, VTIME_NEVER, "part '%s' begins", path);
    init_pieces(&p->pieces);
    init_pieces(&p->locals);
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
    LOG_LINE(TRACE, INFO, LOG_NO_RANK, VTIME_NEVER, "part '%s' ends: %llu records lost", p->path,
             (unsigned long long)p->lost);
    fini_pieces(&p->pieces);
    fini_pieces(&p->locals);
    buf_fini(&p->define);
    mem_free(p->path);
    p->path = NULL;
    return p->err.code == 0 ? 0 : err_set(err, p->err.code, "%s", p->err.text);
}
