/*
 * output.c - output in the order of virtual time: lines, records, release. output_sort.c sorts the
 * records; output_spill.c handles the file for those that do not fit in memory.
 *
 * Invariants
 *  1. records[0..sorted) is in order; the rest is in order of arrival. Sorting is stable, so
 *     order of arrival needs no field.
 *  2. A record in a run arrived before every record of later runs and of memory.
 *  3. An unfinished line is in `line` or in `lines`, never both, and is never empty there.
 */
#include "engine/output.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hostile.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/sys.h"
#include "engine/output_book.h"
#include "engine/output_internal.h"

#define STAGE_SIZE ((size_t)64 << 10)
enum { AHEAD = 16 }; /* records to prefetch */

/* An unfinished line other than the one last written to. */
struct output_line {
    struct buf text;
    vtime when;
};

/* ---- writing ---- */

int output_write_system(void *owner, int fd, const char *text, size_t n)
{
    (void)owner;
    while (n > 0) {
        ssize_t done = sys_write(fd, text, n);
        if (done >= 0) {
            text += done;
            n -= (size_t)done;
        } else if (errno == EAGAIN) {
            struct pollfd p = {.fd = fd, .events = POLLOUT};
            syscall(SYS_ppoll, &p, 1, NULL, NULL, 0);
        } else if (errno != EINTR) {
            return -1;
        }
    }
    return 0;
}

static void write_out(struct output *out, int fd, const char *text, size_t n)
{
    if (n == 0 || out->failed[fd] || out->cfg.writer(out->cfg.owner, fd, text, n) == 0)
        return;
    out->failed[fd] = errno ? errno : EIO;
    if (out->failed[fd] != EPIPE)
        log_error("cannot write to standard %s: %s; the rest of it is lost",
                  fd == 1 ? "output" : "error", strerror(out->failed[fd]));
}

static void stage_flush(struct output *out)
{
    if (out->stage_len == 0)
        return;
    write_out(out, out->stage_fd, out->stage, out->stage_len);
    out->stage_len = 0;
    output_book_wrote(out);
}

void output_flush(struct output *out)
{
    if (out->stage)
        stage_flush(out);
}

static void stage_add(struct output *out, int fd, const char *text, size_t n)
{
    assert_hot(out->stage_len <= STAGE_SIZE && (fd == 1 || fd == 2));
    if (fd != out->stage_fd || n > STAGE_SIZE - out->stage_len) {
        stage_flush(out);
        out->stage_fd = fd;
    }
    if (n > STAGE_SIZE) {
        write_out(out, fd, text, n);
        return;
    }
    memcpy(out->stage + out->stage_len, text, n);
    out->stage_len += n;
}

/* Writes "[rank] " backwards from the end of a small array. */
static void stage_label(struct output *out, int fd, uint64_t rank)
{
    char label[32];
    char *at = label + sizeof label;

    *--at = ' ';
    *--at = ']';
    do {
        *--at = (char)('0' + rank % 10);
        rank /= 10;
    } while (rank > 0);
    *--at = '[';
    stage_add(out, fd, at, (size_t)(label + sizeof label - at));
}

/* The record has left, or will leave with the stage. */
static void advance(struct output *out, const struct output_record *r)
{
    struct output_position *p = &out->emitted;
    uint64_t rank = r->key >> 2;

    /* output leaves in the order of time, then of rank */
    assert_hot(r->when > p->when || (r->when == p->when && rank >= p->rank));
    if (p->when == r->when && p->rank == rank)
        p->count++;
    else
        *p = (struct output_position){r->when, rank, 1};
}

void output_emit(struct output *out, const struct output_record *r, const char *text)
{
    int fd = (int)(r->key & 3);

    fd = out->cfg.only_error ? 2 : fd;
    if (out->cfg.record) {
        out->cfg.record(out->cfg.owner, r->key >> 2, r->when, fd, text, r->len);
        advance(out, r);
        output_book_wrote(out);
        return;
    }
    if (!out->stage)
        out->stage = mem_alloc(STAGE_SIZE);
    if (out->cfg.labels)
        stage_label(out, fd, r->key >> 2);
    stage_add(out, fd, text, r->len);
    if (out->cfg.labels && text[r->len - 1] != '\n')
        stage_add(out, fd, "\n", 1);
    advance(out, r);
}

/* ---- records in memory ---- */

/* A record whose text is `head`, which is empty then, followed by `tail`. */
static void add_record(struct output *out, uint64_t key, vtime when, struct buf *head,
                       const char *tail, size_t n)
{
    struct output_record r = {when, key, 0, (head ? head->len : 0) + n};

    r.at = output_text_add(out, key, when, head, tail, n);
    if (head)
        buf_clear(head);
    ARRAY_RESERVE(out->records, out->cap, out->count + 1, 256);
    if (out->sorted == out->count &&
        (out->count == 0 || output_record_compare(&out->records[out->count - 1], &r) <= 0))
        out->sorted++;
    out->records[out->count++] = r;
    if (out->text_len + out->count * sizeof r <= out->cfg.memory_limit || out->spill_off)
        return;
    if (out->cfg.full)
        out->cfg.full(out->cfg.owner);
    else
        output_spill(out);
}

/* Drops the records [from, to) of the sorted memory. */
static void remove_records(struct output *out, size_t from, size_t to)
{
    assert(from <= to && to <= out->count && out->sorted == out->count);
    for (size_t i = from; i < to; i++)
        out->text_live -= sizeof(struct output_entry) + out->records[i].len;
    memmove(out->records + from, out->records + to, (out->count - to) * sizeof *out->records);
    out->count -= to - from;
    out->sorted = out->count;
    output_text_trim(out);
}

/* ---- unfinished lines ---- */

/* Makes the unfinished line with that key the one in `line`; 0 if there is none. */
static int line_recall(struct output *out, uint64_t key)
{
    uint64_t *slot;
    struct output_line *l;

    if (out->line.len && out->line_key == key)
        return 1;
    slot = map_count(&out->lines) ? map_find(&out->lines, key) : NULL;
    if (!slot)
        return 0;
    l = (struct output_line *)(uintptr_t)*slot;
    if (out->line.len) { /* swap the two: one allocation serves both */
        struct output_line held = {out->line, out->line_when};
        out->line = l->text;
        out->line_when = l->when;
        *l = held;
        map_remove(&out->lines, key);
        *map_insert(&out->lines, out->line_key, NULL) = (uintptr_t)l;
    } else {
        buf_fini(&out->line);
        out->line = l->text;
        out->line_when = l->when;
        map_remove(&out->lines, key);
        mem_free(l);
    }
    out->line_key = key;
    return 1;
}

/* Moves the line last written to among the others, to make room for another one. */
static void line_put_aside(struct output *out)
{
    struct output_line *l;

    if (out->line.len == 0)
        return;
    l = mem_alloc(sizeof *l);
    *l = (struct output_line){out->line, out->line_when};
    *map_insert(&out->lines, out->line_key, NULL) = (uintptr_t)l;
    buf_init(&out->line);
}

static void line_append(struct output *out, uint64_t key, vtime when, const char *text, size_t n)
{
    if (out->line.len && out->line_key != key)
        line_put_aside(out);
    out->line_key = key;
    out->line_when = when;
    buf_add(&out->line, text, n);
    if (out->line.len >= OUTPUT_LINE_MAX) {
        add_record(out, key, when, &out->line, NULL, 0);
    } else {
        output_text_piece(out, key, when, text, n);
    }
}

int output_has_lines(const struct output *out)
{
    return out->line.len > 0 || map_count(&out->lines) > 0;
}

void output_lines_each(struct output *out,
                       void (*fn)(struct output *, uint64_t, vtime, const struct buf *))
{
    uint64_t key, val;
    size_t it = 0;

    if (out->line.len)
        fn(out, out->line_key, out->line_when, &out->line);
    while (map_next(&out->lines, &it, &key, &val)) {
        const struct output_line *l = (const struct output_line *)(uintptr_t)val;

        fn(out, key, l->when, &l->text);
    }
}

static int compare_keys(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Ends every unfinished line last written to after t: makes it a record, or discards it. */
static void lines_end(struct output *out, vtime t, int keep)
{
    size_t count = 0, it = 0;
    uint64_t key, val, *keys;

    line_put_aside(out);
    keys = mem_alloc(map_count(&out->lines) * sizeof *keys);
    while (map_next(&out->lines, &it, &key, &val))
        if (((struct output_line *)(uintptr_t)val)->when > t)
            keys[count++] = key;
    /* The order in the table depends on its history. */
    qsort(keys, count, sizeof *keys, compare_keys);
    for (size_t i = 0; i < count; i++) {
        line_recall(out, keys[i]);
        if (keep)
            add_record(out, keys[i], out->line_when, &out->line, NULL, 0);
        else
            buf_clear(&out->line);
    }
    mem_free(keys);
}

/* ---- the interface ---- */

void output_init(struct output *out, const struct output_config *cfg)
{
    const char *dir = cfg->temp_dir ? cfg->temp_dir : getenv("TMPDIR");

    memset(out, 0, sizeof *out);
    out->cfg = *cfg;
    out->temp_dir = mem_strdup(dir && *dir ? dir : "/tmp");
    out->cfg.temp_dir = out->temp_dir;
    out->book = cfg->book;
    out->emitted.when = -1;
    if (!out->cfg.memory_limit)
        out->cfg.memory_limit = OUTPUT_MEMORY_DEFAULT;
    if (!out->cfg.writer)
        out->cfg.writer = output_write_system;
    out->spill_fd = -1;
    out->stage_fd = 1;
    buf_init(&out->line);
    map_init(&out->lines);
}

void output_fini(struct output *out)
{
    size_t it = 0;
    uint64_t val;

    while (map_next(&out->lines, &it, NULL, &val)) {
        struct output_line *l = (struct output_line *)(uintptr_t)val;
        buf_fini(&l->text);
        mem_free(l);
    }
    map_fini(&out->lines);
    buf_fini(&out->line);
    output_spill_fini(out);
    mem_free(out->records);
    mem_free(out->scratch);
    if (!out->book)
        mem_free(out->text);
    mem_free(out->stage);
    mem_free(out->temp_dir);
}

void output_add(struct output *out, uint64_t rank, vtime when, int fd, const char *text, size_t n)
{
    uint64_t key = rank << 2 | (uint64_t)fd;
    int saved = errno;
    const char *newline;

    assert(fd == 1 || fd == 2);
    assert(out->cfg.ranks == 0 || rank < out->cfg.ranks);
    if (n == 0)
        return;
    newline = memchr(text, '\n', n);
    if (newline && line_recall(out, key)) {
        size_t part = (size_t)(newline - text) + 1;
        add_record(out, key, when, &out->line, text, part);
        text += part;
        n -= part;
        newline = n ? memchr(text, '\n', n) : NULL;
    }
    while (newline) {
        size_t part = (size_t)(newline - text) + 1;
        add_record(out, key, when, NULL, text, part);
        text += part;
        n -= part;
        newline = n ? memchr(text, '\n', n) : NULL;
    }
    if (n) {
        line_recall(out, key);
        line_append(out, key, when, text, n);
    }
    errno = saved;
}

void output_add_line(struct output *out, uint64_t rank, vtime when, int fd, const char *text,
                     size_t n)
{
    add_record(out, rank << 2 | (uint64_t)fd, when, NULL, text, n);
}

void output_end_rank(struct output *out, uint64_t rank, vtime when)
{
    int saved = errno;

    for (uint64_t fd = 1; fd <= 2; fd++) {
        uint64_t key = rank << 2 | fd;
        if (line_recall(out, key))
            add_record(out, key, when, &out->line, NULL, 0);
    }
    errno = saved;
}

void output_release(struct output *out, vtime bound)
{
    int saved = errno;
    size_t next = 0;

    output_sort(out);
    while (next < out->count && out->records[next].when < bound) {
        struct output_record *r = &out->records[next++];
        if (next + AHEAD < out->count) /* records in order of time are scattered in memory */
            __builtin_prefetch(out->text + r[AHEAD].at);
        output_runs_emit(out, bound, r); /* records in runs that come before it */
        output_emit(out, r, out->text + r->at);
    }
    output_runs_emit(out, bound, NULL);
    output_flush(out);
    output_book_passed(out, bound);
    if (next)
        remove_records(out, 0, next);
    errno = saved;
}

void output_drop_after(struct output *out, vtime t)
{
    int saved = errno;
    size_t keep;

    output_sort(out);
    for (keep = out->count; keep > 0 && out->records[keep - 1].when > t; keep--)
        ;
    if (keep < out->count)
        remove_records(out, keep, out->count);
    output_runs_cut(out, t);
    output_book_cut(out, t);
    lines_end(out, t, 0);
    output_text_renew(out);
    errno = saved;
}

int output_finish(struct output *out)
{
    lines_end(out, -1, 1);
    output_release(out, VTIME_NEVER);
    return out->failed[1] ? out->failed[1] : out->failed[2];
}
