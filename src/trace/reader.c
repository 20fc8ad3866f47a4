/*
 * reader.c - opens traces, and iterates over the records of a rank.
 */
#include <string.h>

#include "base/array.h"
#include "trace/reader.h"

/* ---- frames ---- */

static void miss(struct trace *t, const struct err *err)
{
    if (t->missing.code == 0)
        t->missing = *err;
}

const uint8_t *trace_acquire(struct trace *t, size_t number)
{
    struct trace_loaded *frame = &t->frames[number];
    struct trace_frame head = {0};
    struct err err;
    if (!frame->payload && !frame->is_bad) {
        int rc = trace_file_frame(&t->file, frame->offset, &head, &err);
        if (rc == 0 && head.method != TRACE_STORED &&
            !(frame->memory = mem_try_alloc(head.raw ? head.raw : 1, 1)))
            rc = err_set(&err, ERR_MEMORY, "not enough memory for a frame of %u bytes", head.raw);
        if (rc == 0)
            frame->payload = trace_file_payload(&t->file, frame->offset, &head, frame->memory);
        frame->bytes = head.raw;
        if (rc == 0 && !frame->payload)
            err_set(&err, ERR_INPUT, "'%s' is damaged in the frame at byte %llu", t->file.path,
                    (unsigned long long)frame->offset);
        if (!frame->payload) {
            miss(t, &err);
            frame->is_bad = 1;
            mem_free(frame->memory);
            frame->memory = NULL;
        }
    }
    frame->users += frame->payload != NULL;
    return frame->payload;
}

/* A frame that is used in the mapped file stays: it takes no memory, and is checked only once. */
static void unload(struct trace *t, size_t number)
{
    struct trace_loaded *frame = &t->frames[number];
    if (frame->users || !frame->memory)
        return;
    mem_free(frame->memory);
    frame->memory = NULL;
    frame->payload = NULL;
}

/* The last frame stays loaded: the next rank's records are mostly in it. */
void trace_release(struct trace *t, size_t number)
{
    if (--t->frames[number].users > 0)
        return;
    if (t->last && t->last - 1 != number)
        unload(t, t->last - 1);
    t->last = number + 1;
}

/* ---- the index ---- */

static const uint8_t *get_piece(const uint8_t *at, const uint8_t *end, struct trace_piece_ref *ref,
                                uint64_t *bytes)
{
    uint64_t flags, rank, thread, base, records;
    if (!(at = trace_varint_get(at, end, &flags)) || !(at = trace_varint_get(at, end, &rank)) ||
        !(at = trace_varint_get(at, end, &thread)) || !(at = trace_varint_get(at, end, &base)) ||
        !(at = trace_varint_get(at, end, &records)) || !(at = trace_varint_get(at, end, bytes)))
        return NULL;
    if (rank > UINT32_MAX || thread > UINT16_MAX || records > UINT32_MAX ||
        *bytes > TRACE_FRAME_MAX)
        return NULL;
    *ref = (struct trace_piece_ref){.rank = (uint32_t)rank,
                                    .thread = (uint16_t)thread,
                                    .flags = (uint16_t)flags,
                                    .records = (uint32_t)records,
                                    .base = (int64_t)base,
                                    .bytes = (uint32_t)*bytes};
    return at;
}

/* A part may have ranks that were added after its header was written. */
static int is_rank(struct trace *t, uint64_t rank)
{
    if (t->header.is_part && rank >= t->header.ranks)
        t->header.ranks = rank + 1;
    return rank < t->header.ranks;
}

/* Reads the list of a frame's pieces, which starts at `at`. Returns the end of the list, or
 * NULL. */
static const uint8_t *add_pieces(struct trace *t, const uint8_t *at, const uint8_t *end)
{
    uint64_t count, bytes, sum = 0;
    at = trace_varint_get(at, end, &count);
    if (!at || count > (uint64_t)(end - at))
        return NULL;
    t->pieces = mem_realloc(t->pieces, (t->piece_count + count) * sizeof *t->pieces);
    for (uint64_t i = 0; i < count; i++) {
        struct trace_piece_ref *ref = &t->pieces[t->piece_count + i];
        if (!(at = get_piece(at, end, ref, &bytes)) || !is_rank(t, ref->rank) ||
            (sum += bytes) > TRACE_FRAME_MAX)
            return NULL;
        ref->frame = (uint32_t)t->frame_count;
        ref->at = (uint32_t)(sum - bytes);
    }
    for (uint64_t i = 0; i < count; i++)
        t->records += t->pieces[t->piece_count + i].flags & TRACE_PIECE_DEFINITIONS
                          ? 0
                          : t->pieces[t->piece_count + i].records;
    t->piece_count += count;
    return at;
}

static void add_frame(struct trace *t, uint64_t offset)
{
    ARRAY_EXTEND(t->frames, t->frame_count);
    t->frames[t->frame_count++] = (struct trace_loaded){.offset = offset};
}

/* The payload of a frame: in the mapped file, or in *memory, which the caller frees; NULL with an
 * error. */
static const uint8_t *load(const struct trace *t, uint64_t offset, struct trace_frame *head,
                           uint8_t **memory, struct err *err)
{
    *memory = NULL;
    if (trace_file_frame(&t->file, offset, head, err) != 0)
        return NULL;
    if (head->method != TRACE_STORED && !(*memory = mem_try_alloc((size_t)head->raw + 1, 1))) {
        err_set(err, ERR_MEMORY, "not enough memory for a frame of %u bytes", head->raw);
        return NULL;
    }
    const uint8_t *payload = trace_file_payload(&t->file, offset, head, *memory);
    if (!payload)
        err_set(err, ERR_INPUT, "'%s' is damaged in the frame at byte %llu", t->file.path,
                (unsigned long long)offset);
    return payload;
}

/* The list has positions relative to its end: in the frame itself, bodies start after the list of
 * pieces. */
static void shift_pieces(struct trace *t, size_t first, size_t by)
{
    for (size_t i = first; i < t->piece_count; i++)
        t->pieces[i].at += (uint32_t)by;
}

/* Adds a frame of records; one that is used in the mapped file has been checked by now. */
static int read_records(struct trace *t, uint64_t offset, const struct trace_frame *head,
                        const uint8_t *payload, struct err *err)
{
    size_t first = t->piece_count;
    const uint8_t *list = add_pieces(t, payload, payload + head->raw);
    const struct trace_piece_ref *last = t->piece_count > first ? &t->pieces[t->piece_count - 1]
                                                                : NULL;
    if (!list || (last && (size_t)(list - payload) + last->at + last->bytes > head->raw)) {
        t->piece_count = first;
        return err_set(err, ERR_INPUT, "'%s' is damaged in the frame at byte %llu", t->file.path,
                       (unsigned long long)offset);
    }
    shift_pieces(t, first, (size_t)(list - payload));
    add_frame(t, offset);
    if (head->method == TRACE_STORED) {
        t->frames[t->frame_count - 1].payload = payload;
        t->frames[t->frame_count - 1].bytes = head->raw;
    }
    return 0;
}

static int read_frame(struct trace *t, uint64_t offset, struct trace_frame *head, struct err *err)
{
    uint8_t *memory;
    const uint8_t *payload = load(t, offset, head, &memory, err);
    int rc = payload ? 0 : err->code;
    if (payload && head->kind == TRACE_FRAME_DEFINITIONS) {
        rc = trace_definitions_read(&t->definitions, payload, head->raw,
                                    t->header.is_part ? UINT32_MAX : t->header.ranks, err);
    } else if (payload && head->kind == TRACE_FRAME_RECORDS) {
        rc = read_records(t, offset, head, payload, err);
    }
    mem_free(memory);
    return rc;
}

/* Reads all frames, up to the first that is not complete. */
static void scan(struct trace *t, uint64_t offset)
{
    struct err err;
    while (offset < t->file.size) {
        struct trace_frame head;
        if (read_frame(t, offset, &head, &err) != 0) {
            miss(t, &err);
            return;
        }
        offset += sizeof head + head.stored;
        if (head.kind == TRACE_FRAME_END) {
            t->is_complete = offset == t->file.size;
            return;
        }
    }
}

/* The index contains, for each frame, its offset, the size of its list of pieces, and a copy of
 * that list. */
static int read_index(struct trace *t, const uint8_t *at, const uint8_t *end, struct err *err)
{
    uint64_t count, offset, list;
    if (!(at = trace_varint_get(at, end, &count)))
        return err_set(err, ERR_INPUT, "the index is damaged");
    for (uint64_t i = 0; i < count; i++) {
        size_t first = t->piece_count;
        if (!(at = trace_varint_get(at, end, &offset)) ||
            !(at = trace_varint_get(at, end, &list)) || list > TRACE_FRAME_MAX ||
            !(at = add_pieces(t, at, end)))
            return err_set(err, ERR_INPUT, "the index is damaged");
        shift_pieces(t, first, list);
        add_frame(t, offset);
    }
    return 0;
}

/* Reads the index that the end of the file points to; changes nothing if that fails. */
static int open_complete(struct trace *t, uint64_t definitions)
{
    struct trace_frame head;
    struct trace_end end;
    struct err err;
    if (t->file.size < TRACE_END_BYTES ||
        trace_file_frame(&t->file, t->file.size - TRACE_END_BYTES, &head, &err) != 0 ||
        head.kind != TRACE_FRAME_END || head.stored != sizeof end)
        return -1;
    memcpy(&end, t->file.data + t->file.size - sizeof end, sizeof end);
    uint8_t *memory;
    const uint8_t *payload = load(t, end.index, &head, &memory, &err);
    int rc = !payload || head.kind != TRACE_FRAME_INDEX
                 ? -1
                 : read_index(t, payload, payload + head.raw, &err);
    mem_free(memory);
    if (rc == 0 && (rc = trace_file_frame(&t->file, definitions, &head, &err)) == 0 &&
        head.kind == TRACE_FRAME_DEFINITIONS)
        rc = read_frame(t, definitions, &head, &err);
    if (rc != 0)
        t->piece_count = t->frame_count = 0, t->records = 0;
    t->is_complete = rc == 0;
    return rc;
}

/* Orders pieces by rank, thread and kind, definitions first. */
static uint64_t stream_key(const struct trace_piece_ref *p)
{
    return (uint64_t)p->rank << 32 | (uint64_t)p->thread << 1 |
           !(p->flags & TRACE_PIECE_DEFINITIONS);
}

#define DIGIT_BITS 11
#define DIGITS (1u << DIGIT_BITS)

/* One pass of a radix sort: by one digit of the key, otherwise as before. */
static void sort_pass(const struct trace_piece_ref *from, struct trace_piece_ref *to, size_t count,
                      unsigned shift)
{
    size_t *start = mem_zalloc(DIGITS * sizeof *start), sum = 0;
    for (size_t i = 0; i < count; i++)
        start[stream_key(&from[i]) >> shift & (DIGITS - 1)]++;
    for (size_t i = 0; i < DIGITS; i++) {
        size_t here = start[i];
        start[i] = sum;
        sum += here;
    }
    for (size_t i = 0; i < count; i++)
        to[start[stream_key(&from[i]) >> shift & (DIGITS - 1)]++] = from[i];
    mem_free(start);
}

/* Pieces were added in the order of the file; those of a stream keep it. The pieces of a complete
 * file are sorted, those of a part are in the order of time. */
static void sort_pieces(struct trace *t)
{
    uint64_t differ = 0;
    int is_sorted = 1;
    for (size_t i = 1; i < t->piece_count; i++) {
        uint64_t key = stream_key(&t->pieces[i]), before = stream_key(&t->pieces[i - 1]);
        differ |= key ^ before;
        is_sorted &= before <= key;
    }
    if (is_sorted)
        return;
    struct trace_piece_ref *other = mem_alloc(t->piece_count * sizeof *other);
    for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) {
        if (!(differ >> shift & (DIGITS - 1)))
            continue;
        sort_pass(t->pieces, other, t->piece_count, shift);
        struct trace_piece_ref *sorted = other;
        other = t->pieces;
        t->pieces = sorted;
    }
    mem_free(other);
}

/* A piece cannot be read if the beginning of its block is lost. */
static void drop_orphans(struct trace *t)
{
    size_t kept = 0;
    for (size_t i = 0; i < t->piece_count; i++) {
        const struct trace_piece_ref *ref = &t->pieces[i],
                                     *before = kept ? &t->pieces[kept - 1] : NULL;
        int follows = before && before->rank == ref->rank && before->thread == ref->thread &&
                      !((before->flags ^ ref->flags) & TRACE_PIECE_DEFINITIONS);
        if (ref->flags & TRACE_PIECE_BEGINS || follows)
            t->pieces[kept++] = *ref;
        else
            t->records -= ref->flags & TRACE_PIECE_DEFINITIONS ? 0 : ref->records;
    }
    t->piece_count = kept;
}

int trace_open(struct trace *t, const char *path, struct err *err)
{
    struct trace_frame head;
    *t = (struct trace){0};
    if (trace_file_open(&t->file, path, err) != 0)
        return err->code;
    uint8_t *memory;
    const uint8_t *payload = load(t, 0, &head, &memory, err);
    char *text = NULL;
    if (payload) {
        text = mem_alloc((size_t)head.raw + 1);
        memcpy(text, payload, head.raw);
        text[head.raw] = '\0';
    }
    mem_free(memory);
    int rc = !text                             ? err->code
             : head.kind != TRACE_FRAME_HEADER ? err_set(err, ERR_INPUT, "the header is missing")
                                               : 0;
    if (rc == 0)
        rc = trace_header_read(&t->header, text, err);
    mem_free(text);
    if (rc != 0) {
        if (!strstr(err->text, path))
            err_prefix(err, "'%s'", path);
        trace_file_close(&t->file);
        return rc;
    }
    trace_definitions_init(&t->definitions);
    t->definitions.network.skips_load = t->header.is_part;
    if (open_complete(t, sizeof head + head.stored) != 0)
        scan(t, sizeof head + head.stored);
    sort_pieces(t);
    drop_orphans(t);
    trace_definitions_fill(&t->definitions, t->header.ranks);
    return 0;
}

void trace_close(struct trace *t)
{
    for (size_t i = 0; i < t->frame_count; i++)
        mem_free(t->frames[i].memory);
    mem_free(t->frames);
    mem_free(t->pieces);
    trace_definitions_fini(&t->definitions);
    trace_header_fini(&t->header);
    trace_file_close(&t->file);
    *t = (struct trace){0};
}

void trace_check_frames(struct trace *t)
{
    struct trace_frame head;
    struct err err;
    for (size_t i = 0; i < t->frame_count; i++)
        if (trace_file_frame(&t->file, t->frames[i].offset, &head, &err) != 0)
            miss(t, &err);
}

/* ---- cursors ---- */

/* The first piece that is not before these. */
static size_t find(const struct trace *t, uint64_t rank, unsigned thread, unsigned flags)
{
    uint64_t key = stream_key(&(struct trace_piece_ref){.rank = (uint32_t)rank,
                                                        .thread = (uint16_t)thread,
                                                        .flags = (uint16_t)flags});
    size_t low = 0, high = t->piece_count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (stream_key(&t->pieces[mid]) < key)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

unsigned trace_threads(const struct trace *t, uint64_t rank)
{
    size_t end = rank + 1 < t->header.ranks ? find(t, rank + 1, 0, TRACE_PIECE_DEFINITIONS)
                                            : t->piece_count;
    return end && t->pieces[end - 1].rank == rank ? t->pieces[end - 1].thread + 1u : 0;
}

void trace_cursor_open(struct trace_cursor *c, struct trace *t, uint64_t rank, unsigned thread,
                       enum trace_what what)
{
    unsigned flags = what == TRACE_LOCAL_DEFINITIONS ? TRACE_PIECE_DEFINITIONS : 0;
    *c = (struct trace_cursor){.trace = t, .next = find(t, rank, thread, flags)};
    for (c->end = c->next; c->end < t->piece_count; c->end++) {
        const struct trace_piece_ref *ref = &t->pieces[c->end];
        if (ref->rank != rank || ref->thread != thread ||
            (ref->flags & TRACE_PIECE_DEFINITIONS) != flags)
            break;
    }
    trace_decoder_init(&c->decoder, &t->header);
}

static void leave_frame(struct trace_cursor *c)
{
    if (c->frame)
        trace_release(c->trace, c->frame - 1);
    c->frame = 0;
}

void trace_cursor_close(struct trace_cursor *c)
{
    leave_frame(c);
    trace_decoder_fini(&c->decoder);
}

/* Finds the next block that can be read; 0: there is none. Skips blocks whose beginning is
 * damaged. */
static int next_block(struct trace_cursor *c)
{
    int skip = 0;
    while (c->next < c->end) {
        const struct trace_piece_ref *ref = &c->trace->pieces[c->next++];
        if (skip && !(ref->flags & TRACE_PIECE_BEGINS))
            continue;
        if (c->frame != (size_t)ref->frame + 1) {
            const uint8_t *payload = trace_acquire(c->trace, ref->frame);
            leave_frame(c);
            skip = !payload;
            if (skip)
                continue;
            c->frame = (size_t)ref->frame + 1;
        }
        if ((uint64_t)ref->at + ref->bytes > c->trace->frames[ref->frame].bytes) {
            skip = 1; /* the index belongs to another file */
            continue;
        }
        trace_decoder_block(&c->decoder, c->trace->frames[ref->frame].payload + ref->at, ref->bytes,
                            ref->base, ref->flags & TRACE_PIECE_BEGINS);
        return 1;
    }
    return 0;
}

int trace_cursor_next(struct trace_cursor *c, struct trace_event *e, struct err *err)
{
    int rc;
    while ((rc = trace_decoder_next(&c->decoder, e, err)) == 0)
        if (!next_block(c)) {
            leave_frame(c);
            return 0;
        }
    return rc;
}
