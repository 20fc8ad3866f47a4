/*
 * merge.c - parts become a trace.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/log_module.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/units.h"
#include "trace/clocks.h"
#include "trace/copy.h"
#include "trace/merge.h"
#include "trace/network.h"
#include "trace/payload.h"
#include "trace/writer.h"

#define WATCH_EVENTS 4096 /* events that are rewritten between two questions to a watch */

/* ---- definitions ---- */

struct item {
    const uint8_t *data; /* set when all were added */
    size_t at, bytes;    /* in the memory of all items */
};

struct items {
    struct item *items;
    size_t count;
    struct buf memory;
};

struct merge {
    struct trace *parts;
    size_t count;
    struct trace_header header; /* that of the first part, which owns what it points to */
    struct trace_writer writer;
    struct items definitions; /* of all parts, with repetitions */
    struct bins load;         /* of links, if there are several parts: each has what it has sent */
    struct trace_clocks clocks;
    struct trace_namer *namer;       /* or NULL */
    struct trace_merge_watch *watch; /* or NULL */
    uint64_t done, all;              /* pieces */
    struct buf block;                /* assembled from pieces */
    struct trace_piece piece;
    int has_block;
};

/* By kind, then by bytes. Comparing bytes does both, as kinds are below 128 and come first. */
static int by_bytes(const void *a, const void *b)
{
    const struct item *p = a, *q = b;
    size_t least = p->bytes < q->bytes ? p->bytes : q->bytes;
    int order = memcmp(p->data, q->data, least);
    return order ? order : (p->bytes > q->bytes) - (p->bytes < q->bytes);
}

/* Only damaged parts have widths that do not fit. */
static void add_load(struct bins *sum, const uint8_t *body, const uint8_t *end)
{
    struct trace_load load;
    if (trace_load_read(body, end, &load) == 0)
        bins_put(sum, load.link, load.width, load.amounts, load.count);
}

static void gather_frame(struct merge *m, const uint8_t *payload, size_t bytes)
{
    struct items *all = &m->definitions;
    const uint8_t *at = payload, *end = payload + bytes, *data, *body;
    unsigned kind;
    size_t size;
    while (trace_definitions_next(&at, end, &kind, &data, &size, &body) > 0) {
        trace_clocks_take(&m->clocks, kind, body, (size_t)(at - body));
        if (kind == TRACE_LINK_LOAD && m->count > 1) {
            add_load(&m->load, body, at);
            continue;
        }
        ARRAY_EXTEND(all->items, all->count);
        all->items[all->count++] = (struct item){NULL, all->memory.len, size};
        buf_add(&all->memory, data, size);
    }
}

static void gather(struct merge *m, const struct trace *part)
{
    uint64_t offset = 0;
    struct trace_frame head;
    while (trace_file_head(&part->file, offset, &head, NULL) == 0) {
        if (head.kind == TRACE_FRAME_DEFINITIONS &&
            trace_file_frame(&part->file, offset, &head, NULL) == 0) {
            uint8_t *room = mem_alloc((size_t)head.raw + 1);
            const uint8_t *payload = trace_file_payload(&part->file, offset, &head, room);
            if (payload)
                gather_frame(m, payload, head.raw);
            mem_free(room);
        }
        offset += sizeof head + head.stored;
    }
}

/* ---- names ---- */

/* Starts a name that is an address. */
#define ADDRESS "@/"

static void add_name(struct merge *m, const uint8_t *text, size_t bytes, int is_site,
                     struct buf *out)
{
    char *copy = mem_alloc(bytes + 1);
    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    m->namer->name(m->namer, copy, is_site, out);
    mem_free(copy);
}

static int is_address(const struct merge *m, const uint8_t *text, size_t bytes)
{
    return m->namer && bytes > strlen(ADDRESS) && memcmp(text, ADDRESS, strlen(ADDRESS)) == 0;
}

/* A definition as it is written. */
static void add_item(struct merge *m, const struct item *item, struct buf *out)
{
    const uint8_t *at = item->data, *data, *body;
    unsigned kind;
    size_t size;
    struct buf named;
    if (trace_definitions_next(&at, at + item->bytes, &kind, &data, &size, &body) <= 0 ||
        kind != TRACE_SITE || (size = (size_t)(at - body)) <= sizeof(uint64_t) ||
        !is_address(m, body + sizeof(uint64_t), size - sizeof(uint64_t))) {
        buf_add(out, item->data, item->bytes);
        return;
    }
    buf_init(&named);
    buf_add(&named, body, sizeof(uint64_t));
    add_name(m, body + sizeof(uint64_t), size - sizeof(uint64_t), 1, &named);
    trace_write_varint(out, kind);
    trace_write_varint(out, named.len);
    buf_add(out, named.data, named.len);
    buf_fini(&named);
}

/* A local definition with the name of a region instead of its address, in memory that the caller
 * frees. */
static void name_event(struct merge *m, struct trace_event *e, struct buf *memory)
{
    uint64_t number;
    const uint8_t *end = e->payload + e->bytes, *text;
    buf_init(memory);
    if (e->head != TRACE_DEFINE_NAME || !(text = trace_varint_get(e->payload, end, &number)) ||
        !is_address(m, text, (size_t)(end - text)))
        return;
    trace_write_varint(memory, number);
    add_name(m, text, (size_t)(end - text), 0, memory);
    e->payload = (const uint8_t *)memory->data;
    e->bytes = memory->len;
}

static void add_definition(struct items *all, unsigned kind, const struct buf *payload)
{
    size_t at = all->memory.len;
    trace_write_varint(&all->memory, kind);
    trace_write_varint(&all->memory, payload->len);
    buf_add(&all->memory, payload->data, payload->len);
    ARRAY_EXTEND(all->items, all->count);
    all->items[all->count++] = (struct item){NULL, at, all->memory.len - at};
}

static void define_loads(struct merge *m)
{
    struct buf payload;
    buf_init(&payload);
    for (size_t i = 0; i < m->load.rows; i++) {
        buf_clear(&payload);
        trace_load_write(&payload, &m->load, i);
        add_definition(&m->definitions, TRACE_LINK_LOAD, &payload);
    }
    buf_fini(&payload);
}

static void gather_all(struct merge *m)
{
    struct items *all = &m->definitions;
    buf_init(&all->memory);
    bins_init(&m->load, 0);
    for (size_t i = 0; i < m->count; i++)
        gather(m, &m->parts[i]);
    define_loads(m);
    for (size_t i = 0; i < all->count; i++)
        all->items[i].data = (const uint8_t *)all->memory.data + all->items[i].at;
    if (all->count)
        qsort(all->items, all->count, sizeof *all->items, by_bytes);
    trace_clocks_find_origin(&m->clocks);
}

static int write_definitions(struct merge *m, struct err *err)
{
    const struct items *all = &m->definitions;
    struct buf out;
    buf_init(&out);
    for (size_t i = 0; i < all->count; i++)
        if (i == 0 || by_bytes(&all->items[i - 1], &all->items[i]) != 0)
            add_item(m, &all->items[i], &out);
    int rc = trace_writer_definitions(&m->writer, &out, err);
    buf_fini(&out);
    return rc;
}

/* ---- records ---- */

/* The sink of blocks that are encoded again. */
struct collector {
    struct trace_sink sink;
    struct merge *merge;
};

static void collect(struct trace_sink *sink, const struct trace_piece *piece)
{
    struct merge *m = ((struct collector *)sink)->merge;
    buf_clear(&m->block);
    buf_add(&m->block, piece->data, piece->bytes);
}

/* Writes a block of local definitions with names instead of addresses. */
static void name_block(struct merge *m)
{
    struct collector to = {.sink = {.take = collect, .block = SIZE_MAX, .piece = SIZE_MAX},
                           .merge = m};
    struct trace_decoder d;
    struct trace_stream s;
    struct trace_event e;
    struct buf memory;
    struct err err;
    trace_stream_init(&s, &to.sink, m->piece.rank, (unsigned)m->piece.thread, m->piece.flags);
    s.base = s.last = m->piece.base;
    trace_decoder_init(&d, &m->header);
    trace_decoder_block(&d, (const uint8_t *)m->block.data, m->block.len, m->piece.base, 1);
    while (trace_decoder_next(&d, &e, &err) > 0) {
        name_event(m, &e, &memory);
        trace_copy_event(&s, &m->header, &e);
        buf_fini(&memory);
    }
    trace_decoder_fini(&d);
    trace_stream_fini(&s);
}

static int end_block(struct merge *m, struct err *err)
{
    if (!m->has_block)
        return 0;
    m->has_block = 0;
    if (m->namer && m->piece.flags & TRACE_PIECE_DEFINITIONS &&
        memmem(m->block.data, m->block.len, ADDRESS, strlen(ADDRESS)))
        name_block(m);
    m->piece.data = (const uint8_t *)m->block.data;
    m->piece.bytes = m->block.len;
    return trace_writer_block(&m->writer, &m->piece, err);
}

static int add_piece(struct merge *m, struct trace *part, const struct trace_piece_ref *ref,
                     struct err *err)
{
    if (ref->flags & TRACE_PIECE_BEGINS && end_block(m, err) != 0)
        return err->code;
    const uint8_t *payload = trace_acquire(part, ref->frame);
    if (!payload)
        return 0;
    if (ref->flags & TRACE_PIECE_BEGINS) {
        buf_clear(&m->block);
        m->piece = (struct trace_piece){.flags = ref->flags,
                                        .rank = ref->rank,
                                        .thread = ref->thread,
                                        .base = ref->base};
        m->has_block = 1;
    }
    if (m->has_block && (uint64_t)ref->at + ref->bytes <= part->frames[ref->frame].bytes) {
        buf_add(&m->block, payload + ref->at, ref->bytes);
        m->piece.records += ref->records;
    }
    trace_release(part, ref->frame);
    return 0;
}

static int check_watch(struct merge *m, struct err *err)
{
    if (!m->watch || !m->watch->is_over(m->watch, m->done, m->all))
        return 0;
    return err_set(err, ERR_SYSTEM, "cannot merge '%s': it was interrupted", m->parts[0].file.path);
}

/* Rewrites a stream with the times of its own clock, record by record, with those of the common
 * clock. */
static int adjust_stream(struct merge *m, struct trace *part, uint64_t rank, unsigned thread,
                         enum trace_what what, struct trace_writer_sink *sink, struct err *err)
{
    struct trace_cursor c;
    struct trace_stream s;
    struct trace_event e;
    struct err ignored;
    int more, rc = 0;
    trace_stream_init(&s, &sink->sink, rank, thread,
                      what == TRACE_LOCAL_DEFINITIONS ? TRACE_PIECE_DEFINITIONS : 0);
    trace_cursor_open(&c, part, rank, thread, what);
    for (uint64_t n = 1; rc == 0 && (more = trace_cursor_next(&c, &e, &ignored)) != 0; n++) {
        if (n % WATCH_EVENTS == 0)
            rc = check_watch(m, err);
        if (more < 0)
            continue;
        struct buf memory;
        if (what == TRACE_LOCAL_DEFINITIONS)
            name_event(m, &e, &memory);
        else
            buf_init(&memory);
        e.enter = trace_clocks_time(&m->clocks, rank, e.enter);
        e.leave = trace_clocks_time(&m->clocks, rank, e.leave);
        if (e.leave >= s.last)
            trace_copy_event(&s, &m->header, &e);
        buf_fini(&memory);
    }
    trace_cursor_close(&c);
    trace_stream_fini(&s);
    return rc;
}

static int adjust_rank(struct merge *m, struct trace *part, uint64_t rank, struct err *err)
{
    struct trace_writer_sink sink;
    int rc = 0;
    trace_writer_sink_init(&sink, &m->writer);
    for (unsigned thread = 0, threads = trace_threads(part, rank); rc == 0 && thread < threads;
         thread++) {
        rc = adjust_stream(m, part, rank, thread, TRACE_LOCAL_DEFINITIONS, &sink, err);
        if (rc == 0)
            rc = adjust_stream(m, part, rank, thread, TRACE_RECORDS, &sink, err);
    }
    return rc ? rc : sink.err.code ? err_set(err, sink.err.code, "%s", sink.err.text) : 0;
}

/* The part with the smallest rank that is not copied yet; each rank is in one part, whose pieces
 * are sorted. */
static int write_records(struct merge *m, struct err *err)
{
    size_t *next = mem_zalloc((m->count + 1) * sizeof *next);
    int rc = 0;
    while (rc == 0) {
        size_t first = m->count;
        for (size_t i = 0; i < m->count; i++)
            if (next[i] < m->parts[i].piece_count &&
                (first == m->count ||
                 m->parts[i].pieces[next[i]].rank < m->parts[first].pieces[next[first]].rank))
                first = i;
        if (first == m->count)
            break;
        struct trace *part = &m->parts[first];
        uint32_t rank = part->pieces[next[first]].rank;
        if (part->header.has_local_clocks) {
            rc = adjust_rank(m, part, rank, err);
            if (rc == 0)
                rc = check_watch(m, err);
            while (next[first] < part->piece_count && part->pieces[next[first]].rank == rank)
                next[first]++, m->done++;
            continue;
        }
        while (rc == 0 && next[first] < part->piece_count &&
               part->pieces[next[first]].rank == rank) {
            rc = add_piece(m, part, &part->pieces[next[first]++], err);
            m->done++;
            if (rc == 0)
                rc = check_watch(m, err);
        }
        if (rc == 0)
            rc = end_block(m, err);
    }
    mem_free(next);
    return rc;
}

/* ---- all ---- */

static void count_rank(struct trace_header *h, uint64_t rank)
{
    h->ranks = rank >= h->ranks ? rank + 1 : h->ranks;
}

/* Describes how well several clocks agree. */
static void describe_clocks(struct merge *m)
{
    char text[UNITS_TEXT_MAX + 64], error[UNITS_TEXT_MAX];
    int64_t worst = trace_clocks_error(&m->clocks);
    if (worst < 0 || trace_header_get(&m->parts[0].header, TRACE_CLOCKS_PROPERTY))
        return;
    units_format_time(error, sizeof error, worst * (int64_t)m->parts[0].header.tick);
    snprintf(text, sizeof text, "%zu, compared to within %s", m->clocks.count, error);
    trace_header_add(&m->parts[0].header, TRACE_CLOCKS_PROPERTY, text);
}

/* The header of the first part, with the ranks of all parts, including spawned ones. */
static void make_header(struct merge *m)
{
    describe_clocks(m);
    m->header = m->parts[0].header;
    m->header.is_part = m->header.has_local_clocks = 0;
    for (size_t i = 0; i < m->count; i++) {
        const struct trace_definitions *d = &m->parts[i].definitions;
        count_rank(&m->header, m->parts[i].header.ranks - 1);
        for (size_t c = 0; c < d->comm_count; c++) {
            for (uint64_t k = 0; k < d->comms[c].size; k++)
                count_rank(&m->header, (uint64_t)d->comms[c].ranks[k]);
            for (uint64_t k = 0; k < d->comms[c].other_size; k++)
                count_rank(&m->header, (uint64_t)d->comms[c].others[k]);
        }
    }
}

static void open_parts(struct merge *m, const char *const *paths, size_t count, struct err *missing)
{
    struct err err;
    missing->code = 0;
    m->parts = mem_zalloc((count + 1) * sizeof *m->parts);
    for (size_t i = 0; i < count; i++) {
        struct trace *part = &m->parts[m->count];
        if (trace_open(part, paths[i], &err) != 0) {
            if (missing->code == 0)
                *missing = err;
            continue;
        }
        if (missing->code == 0 && part->missing.code != 0)
            *missing = part->missing;
        m->all += part->piece_count;
        m->count++;
    }
}

/* Parts of one run have different ranks. */
static int check_ranks(const struct merge *m, struct err *err)
{
    struct map parts; /* of ranks: number + 1 */
    int rc = 0;
    map_init(&parts);
    for (size_t i = 0; i < m->count; i++)
        for (size_t k = 0; rc == 0 && k < m->parts[i].piece_count; k++) {
            uint32_t rank = m->parts[i].pieces[k].rank;
            if (k && m->parts[i].pieces[k - 1].rank == rank)
                continue;
            uint64_t *part = map_insert(&parts, rank, NULL);
            if (*part)
                rc = err_set(err, ERR_INPUT,
                             "cannot merge '%s' and '%s': both have records of rank %u, so they are "
                             "not parts of one trace",
                             m->parts[*part - 1].file.path, m->parts[i].file.path, rank);
            *part = i + 1;
        }
    map_fini(&parts);
    return rc;
}

int trace_merge(const char *const *parts, size_t count, const char *path, struct err *missing,
                struct err *err)
{
    return trace_merge_named(parts, count, path, NULL, NULL, missing, err);
}

int trace_merge_named(const char *const *parts, size_t count, const char *path,
                      struct trace_namer *namer, struct trace_merge_watch *watch,
                      struct err *missing, struct err *err)
{
    struct merge m = {.namer = namer, .watch = watch};
    open_parts(&m, parts, count, missing);
    trace_clocks_init(&m.clocks);
    gather_all(&m);
    LOG_LINE(TRACE, INFO, LOG_NO_RANK, VTIME_NEVER, "'%s' is merged from %zu parts, %llu pieces",
             path, m.count, (unsigned long long)m.all);
    if (m.count)
        make_header(&m);
    int rc = m.count ? check_ranks(&m, err)
                     : err_set(err, missing->code ? missing->code : ERR_INPUT, "%s",
                               missing->code ? missing->text : "there is nothing to merge");
    if (rc == 0)
        rc = trace_writer_open(&m.writer, path, &m.header, err);
    if (rc == 0) {
        buf_init(&m.block);
        rc = write_definitions(&m, err);
        if (rc == 0)
            rc = write_records(&m, err);
        int closed = trace_writer_close(&m.writer, rc == 0, rc == 0 ? err : NULL);
        rc = rc == 0 ? closed : rc;
        buf_fini(&m.block);
    }
    for (size_t i = 0; i < m.count; i++)
        trace_close(&m.parts[i]);
    mem_free(m.parts);
    mem_free(m.definitions.items);
    buf_fini(&m.definitions.memory);
    bins_fini(&m.load);
    trace_clocks_fini(&m.clocks);
    return rc;
}
