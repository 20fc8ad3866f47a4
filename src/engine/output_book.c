/*
 * output_book.c - writes the book of pending output, and reads that of a dead process (see
 * output_book.h).
 */
#include "engine/output_book.h"

#include <assert.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "engine/output_internal.h"

static_assert(sizeof(struct output_book) <= OUTPUT_BOOK_HEAD, "the head has room for all of it");

#define PIECES_MAX ((size_t)1 << 20) /* obsolete pieces that may accumulate */

/* ---- texts ---- */

static char *half_at(struct output_book *book, uint64_t half)
{
    return (char *)book + OUTPUT_BOOK_HEAD + half * OUTPUT_BOOK_HALF;
}

static uint64_t half_in_use(const struct output *out)
{
    return atomic_load_explicit(&out->book->current, memory_order_relaxed) & 1;
}

/* Copies what is in private memory to the book. */
static void publish(struct output *out, uint64_t half)
{
    if (out->book)
        atomic_store_explicit(&out->book->current, out->text_len << 1 | half, memory_order_release);
}

/* The book is full, and its content could not be moved to a file: continues without a book. */
static void leave_book(struct output *out)
{
    char *text = mem_alloc(out->text_cap);

    memcpy(text, out->text, out->text_len);
    out->text = text;
    out->book = NULL;
}

static void reserve(struct output *out, size_t n)
{
    if (!out->text && out->book) {
        out->text = half_at(out->book, half_in_use(out));
        out->text_cap = OUTPUT_BOOK_HALF;
    }
    if (n <= out->text_cap - out->text_len)
        return;
    if (out->book)
        leave_book(out);
    out->text_cap = 2 * (out->text_len + n) + 4096;
    out->text = mem_realloc(out->text, out->text_cap);
}

static char *append(struct output *out, uint64_t key, vtime when, size_t len, int is_piece)
{
    struct output_entry e = {when, key, len << 1 | (unsigned)is_piece};
    char *to;

    reserve(out, sizeof e + len);
    to = out->text + out->text_len;
    memcpy(to, &e, sizeof e);
    out->text_len += sizeof e + len;
    return to + sizeof e;
}

size_t output_text_add(struct output *out, uint64_t key, vtime when, const struct buf *head,
                       const char *tail, size_t n)
{
    size_t head_len = head ? head->len : 0;
    char *to = append(out, key, when, head_len + n, 0);

    if (head_len)
        memcpy(to, head->data, head_len);
    if (n)
        memcpy(to + head_len, tail, n);
    out->text_live += sizeof(struct output_entry) + head_len + n;
    if (out->book)
        publish(out, half_in_use(out));
    return (size_t)(to - out->text);
}

void output_text_piece(struct output *out, uint64_t key, vtime when, const char *text, size_t n)
{
    if (!out->book)
        return;
    if (out->text_len > PIECES_MAX && out->text_live < out->text_len / 4)
        output_text_renew(out); /* the line includes this piece already */
    else
        memcpy(append(out, key, when, n, 1), text, n);
    if (out->book)
        publish(out, half_in_use(out));
}

static void add_line(struct output *out, uint64_t key, vtime when, const struct buf *line)
{
    memcpy(append(out, key, when, line->len, 1), line->data, line->len);
}

void output_text_renew(struct output *out)
{
    struct output_book *book = out->book;
    uint64_t half = book ? !half_in_use(out) : 0;
    char *old = out->text;

    if (!old)
        return;
    out->text = book ? half_at(book, half) : mem_alloc(out->text_cap);
    out->text_len = out->text_live = 0;
    for (size_t i = 0; i < out->count; i++) {
        struct output_record *r = &out->records[i];
        char *to = append(out, r->key, r->when, r->len, 0);

        memcpy(to, old + r->at, r->len);
        r->at = (size_t)(to - out->text);
        out->text_live += sizeof(struct output_entry) + r->len;
    }
    if (book)
        output_lines_each(out, add_line);
    if (!book)
        mem_free(old);
    else if (out->book)
        publish(out, half);
}

void output_text_trim(struct output *out)
{
    if (out->count == 0 && !(out->book && output_has_lines(out))) {
        out->text_len = out->text_live = 0;
        if (out->book)
            publish(out, half_in_use(out));
    } else if (out->text_live < out->text_len / 2) {
        output_text_renew(out);
    }
}

/* ---- how much has been written ---- */

void output_book_passed(struct output *out, vtime bound)
{
    if (out->book)
        atomic_store_explicit(&out->book->bound, bound, memory_order_release);
}

void output_book_wrote(struct output *out)
{
    uint32_t other;

    if (!out->book)
        return;
    other = !atomic_load_explicit(&out->book->which, memory_order_relaxed);
    out->book->written[other] = out->emitted;
    atomic_store_explicit(&out->book->which, other, memory_order_release);
}

void output_book_cut(struct output *out, vtime t)
{
    if (out->book)
        atomic_store_explicit(&out->book->cut, t + 1, memory_order_release);
}

void output_book_add_run(struct output *out, uint64_t start, uint64_t end)
{
    struct output_book *book = out->book;
    uint32_t n = book ? atomic_load(&book->run_count) : OUTPUT_BOOK_RUNS;

    if (n >= OUTPUT_BOOK_RUNS)
        return;
    book->runs[n].start = start;
    book->runs[n].end = end;
    book->runs[n].cut = VTIME_NEVER;
    atomic_store(&book->spill_fd, out->spill_fd + 1);
    atomic_store(&book->run_count, n + 1);
}

void output_book_remove_run(struct output *out, uint64_t start)
{
    struct output_book *book = out->book;
    uint32_t n = book ? atomic_load(&book->run_count) : 0, i = 0;

    while (i < n && book->runs[i].start != start)
        i++;
    if (i == n)
        return;
    memmove(&book->runs[i], &book->runs[i + 1], (n - i - 1) * sizeof book->runs[0]);
    atomic_store(&book->run_count, n - 1);
}

void output_book_cut_runs(struct output *out, vtime t)
{
    uint32_t n = out->book ? atomic_load(&out->book->run_count) : 0;

    for (uint32_t i = 0; i < n; i++)
        if (out->book->runs[i].cut > t)
            out->book->runs[i].cut = t;
}

/* ---- reading the book of a dead process ---- */

struct reader {
    vtime bound, cut;
    struct output_position written;
    uint64_t same; /* records seen at that very position */
    struct output *into;
    struct map lines; /* unfinished: key -> struct buf */
    uint64_t found;
};

static int is_written(struct reader *r, const struct output_entry *e)
{
    uint64_t rank = e->key >> 2;

    if (e->when < r->bound || e->when < r->written.when)
        return 1;
    if (e->when > r->written.when || rank > r->written.rank)
        return 0;
    return rank < r->written.rank || r->same++ < r->written.count;
}

static struct buf *line_of(struct reader *r, uint64_t key)
{
    int is_new;
    uint64_t *slot = map_insert(&r->lines, key, &is_new);

    if (is_new) {
        struct buf *line = mem_alloc(sizeof *line);

        buf_init(line);
        *slot = (uintptr_t)line;
    }
    return (struct buf *)(uintptr_t)*slot;
}

/* A complete line contains all its pieces; pieces are added to `into` only if the line was never
 * completed. */
static void take(struct reader *r, const struct output_entry *e, const char *text, size_t len)
{
    struct buf *line = line_of(r, e->key);

    if (e->len & 1) {
        buf_add(line, text, len);
        return;
    }
    buf_clear(line);
    if (e->when > r->cut || is_written(r, e))
        return;
    output_add_line(r->into, e->key >> 2, e->when, (int)(e->key & 3), text, len);
    r->found++;
}

/* Reads entries one after the other, until one is invalid. */
static void read_entries(struct reader *r, const char *at, uint64_t bytes, unsigned shift)
{
    struct output_entry e;

    while (bytes >= sizeof e) {
        uint64_t len;

        memcpy(&e, at, sizeof e);
        e.len = shift ? e.len : e.len << 1;
        len = e.len >> 1;
        at += sizeof e;
        bytes -= sizeof e;
        if (len == 0 || len > bytes || e.when < 0 || (e.key & 3) == 0 || (e.key & 3) == 3)
            return;
        take(r, &e, at, (size_t)len);
        at += len;
        bytes -= len;
    }
}

static void read_run(struct reader *r, int fd, uint64_t start, uint64_t end)
{
    uint64_t page = start & ~(uint64_t)4095;
    char *at;

    if (end <= start || end - start > (uint64_t)1 << 40)
        return;
    at = mmap(NULL, (size_t)(end - page), PROT_READ, MAP_PRIVATE, fd, (off_t)page);
    if (at == MAP_FAILED)
        return;
    read_entries(r, at + (start - page), end - start, 0);
    munmap(at, (size_t)(end - page));
}

/* What remains are unfinished lines. */
static void end_lines(struct reader *r)
{
    uint64_t key, val;
    size_t it = 0;

    while (map_next(&r->lines, &it, &key, &val)) {
        struct buf *line = (struct buf *)(uintptr_t)val;

        if (line->len)
            output_add(r->into, key >> 2, VTIME_LIMIT, (int)(key & 3), line->data, line->len);
        r->found += line->len > 0;
        buf_fini(line);
        mem_free(line);
    }
    map_fini(&r->lines);
}

uint64_t output_recover(const void *shared, size_t bytes, int spill, struct output *into)
{
    const struct output_book *book = shared;
    struct reader r = {.into = into};
    uint64_t current, len;

    if (bytes < OUTPUT_BOOK_BYTES)
        return 0;
    current = atomic_load(&book->current);
    len = current >> 1;
    r.bound = atomic_load(&book->bound);
    r.written = book->written[atomic_load(&book->which) & 1];
    map_init(&r.lines);
    for (uint32_t i = 0; spill >= 0 && i < atomic_load(&book->run_count) && i < OUTPUT_BOOK_RUNS;
         i++) {
        r.cut = book->runs[i].cut;
        read_run(&r, spill, book->runs[i].start, book->runs[i].end);
    }
    r.cut = VTIME_NEVER;
    if (len <= OUTPUT_BOOK_HALF)
        read_entries(&r, half_at((struct output_book *)(uintptr_t)book, current & 1), len, 1);
    end_lines(&r);
    return r.found;
}
