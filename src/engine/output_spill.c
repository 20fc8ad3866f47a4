/*
 * output_spill.c - records that do not fit in memory: sorted runs in one unlinked file, merged on
 * release.
 *
 *     file:  run 0            run 1            run 2 ...           spill_end
 *            [header text]...  header = time, key, length; 24 bytes
 *
 * runs[] is a binary heap by the next record of each run, ties by age: records of an older run
 * arrived earlier. A run holds one window of its part of the file. Exhausted runs give their blocks
 * back, and when the last one is exhausted the file starts again at 0.
 *
 * All system calls are raw: a spill may happen in a rank, where libc's names are virtual.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* O_TMPFILE */
#endif

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/sys.h"
#include "engine/output_book.h"
#include "engine/output_internal.h"

#define WINDOW ((size_t)32 << 10) /* bytes read at once */
#define CHUNK ((size_t)256 << 10) /* bytes written at once */
#define HEADER (sizeof(struct output_entry))

struct output_run {
    uint64_t age;              /* where it starts in the file: later runs lie higher */
    uint64_t at, end;          /* not yet read */
    struct output_record head; /* the next record; its bytes are at data + pos */
    vtime cut;                 /* records later than this do not count */
    char *data;                /* window */
    size_t pos, len, cap;
};

/* ---- the file ---- */

/* O_TMPFILE where the file system supports it, else a named file that is unlinked at once. */
static int open_temp(const char *dir)
{
    static unsigned serial;
    char path[512];
    int fd = sys_open(dir, O_TMPFILE | O_RDWR, 0600);

    if (fd >= 0)
        return fd;
    if ((size_t)snprintf(path, sizeof path, "%s/orrery-output-%ld-%u", dir, (long)sys_getpid(),
                         serial++) >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    fd = sys_open(path, O_CREAT | O_EXCL | O_RDWR, 0600);
    if (fd >= 0)
        sys_unlink(path);
    return fd;
}

static int write_at(int fd, const char *data, size_t n, uint64_t at)
{
    while (n > 0) {
        ssize_t done = (ssize_t)syscall(SYS_pwrite64, fd, data, n, (off_t)at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return -1;
        data += done;
        n -= (size_t)done;
        at += (uint64_t)done;
    }
    return 0;
}

static void give_up(struct output *out)
{
    log_error("cannot keep output in a file in '%s': %s; it is kept in memory", out->temp_dir,
              strerror(errno));
    out->spill_off = 1;
}

/* ---- runs and their heap ---- */

/* Reads at least `need` bytes into the window from pos on; 0, or -1 if the file is too short. */
static int fill(struct output *out, struct output_run *r, size_t need)
{
    while (r->len - r->pos < need) {
        size_t room, want;
        if (r->pos > 0) {
            memmove(r->data, r->data + r->pos, r->len - r->pos);
            r->len -= r->pos;
            r->pos = 0;
        }
        if (need > r->cap) {
            r->cap = need;
            r->data = mem_realloc(r->data, r->cap);
        }
        room = r->cap - r->len;
        want = r->end - r->at < room ? (size_t)(r->end - r->at) : room;
        ssize_t got = (ssize_t)syscall(SYS_pread64, out->spill_fd, r->data + r->len, want,
                                       (off_t)r->at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            log_error("cannot read output back: %s; some of it is lost",
                      got < 0 ? strerror(errno) : "the file is too short");
            return -1;
        }
        r->len += (size_t)got;
        r->at += (uint64_t)got;
    }
    return 0;
}

/* Makes the next record the head, with its bytes in the window; 0 at the end of the run. */
static int run_next(struct output *out, struct output_run *r)
{
    struct output_entry h;

    if (r->at == r->end && r->pos == r->len)
        return 0;
    if (fill(out, r, HEADER) != 0)
        return 0;
    memcpy(&h, r->data + r->pos, HEADER);
    r->pos += HEADER;
    if (h.when > r->cut || fill(out, r, h.len) != 0)
        return 0;
    r->head = (struct output_record){h.when, h.key, 0, h.len};
    return 1;
}

static int is_before(const struct output_run *a, const struct output_run *b)
{
    int order = output_record_compare(&a->head, &b->head);

    return order < 0 || (order == 0 && a->age < b->age);
}

HEAP_FUNCTIONS(output_run_heap, struct output_run, 2, 8, is_before, HEAP_UNTRACKED);

/* Removes run i from the array, not from the heap's order. */
static void run_free(struct output *out, uint32_t i)
{
    struct output_run *r = &out->runs.at[i];

    output_flush(out);
    output_book_remove_run(out, r->age);
    syscall(SYS_fallocate, out->spill_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)r->age,
            (off_t)(r->end - r->age)); /* optional; not all file systems can */
    mem_free(r->data);
    *r = out->runs.at[--out->runs.len];
    if (out->runs.len == 0) {
        if (syscall(SYS_ftruncate, out->spill_fd, (off_t)0) == 0)
            out->spill_end = 0;
    }
}

static void run_add(struct output *out, uint64_t start, uint64_t end)
{
    uint32_t last = out->runs.len;

    output_run_heap_append(&out->runs, (struct output_run){.age = start,
                                                           .at = start,
                                                           .end = end,
                                                           .cut = VTIME_NEVER,
                                                           .cap = WINDOW,
                                                           .data = mem_alloc(WINDOW)});
    if (run_next(out, &out->runs.at[last]))
        output_run_heap_replace(&out->runs, last, out->runs.at[last]);
    else
        run_free(out, last);
}

/* ---- the interface ---- */

/* Writes all records, in order, from spill_end on; returns the end of what was written, or 0. */
static uint64_t write_records(struct output *out)
{
    uint64_t at = out->spill_end;
    struct buf chunk;
    int failed = 0;

    buf_init(&chunk);
    for (size_t i = 0; i < out->count && !failed; i++) {
        const struct output_record *r = &out->records[i];
        struct output_entry h = {r->when, r->key, r->len};
        buf_add(&chunk, &h, sizeof h);
        buf_add(&chunk, out->text + r->at, r->len);
        if (chunk.len >= CHUNK || i + 1 == out->count) {
            failed = write_at(out->spill_fd, chunk.data, chunk.len, at) != 0;
            at += chunk.len;
            buf_clear(&chunk);
        }
    }
    buf_fini(&chunk);
    return failed ? 0 : at;
}

void output_spill(struct output *out)
{
    uint64_t start = out->spill_end, end;

    if (out->spill_off)
        return;
    if (out->spill_fd < 0)
        out->spill_fd = open_temp(out->temp_dir);
    if (out->spill_fd < 0) {
        give_up(out);
        return;
    }
    output_sort(out);
    end = write_records(out);
    if (end == 0) {
        give_up(out);
        return;
    }
    out->spill_end = end;
    out->spilled += end - start;
    out->count = out->sorted = 0;
    out->text_live = 0;
    output_book_add_run(out, start, end);
    output_text_trim(out);
    run_add(out, start, end);
}

void output_runs_emit(struct output *out, vtime bound, const struct output_record *next)
{
    while (out->runs.len > 0) {
        struct output_run *r = &out->runs.at[0];
        if (r->head.when >= bound || (next && output_record_compare(&r->head, next) > 0))
            return;
        output_emit(out, &r->head, r->data + r->pos);
        r->pos += r->head.len;
        if (!run_next(out, r))
            run_free(out, 0);
        if (out->runs.len > 0)
            output_run_heap_replace(&out->runs, 0, out->runs.at[0]);
    }
}

void output_runs_cut(struct output *out, vtime t)
{
    for (uint32_t i = out->runs.len; i-- > 0;) {
        struct output_run *r = &out->runs.at[i];
        if (r->cut > t)
            r->cut = t;
        if (r->head.when > t)
            run_free(out, i);
    }
    output_run_heap_build(&out->runs);
    output_book_cut_runs(out, t);
}

void output_spill_fini(struct output *out)
{
    while (out->runs.len > 0)
        run_free(out, out->runs.len - 1);
    mem_free(out->runs.at);
    if (out->spill_fd >= 0)
        sys_close(out->spill_fd);
    out->spill_fd = -1;
}
