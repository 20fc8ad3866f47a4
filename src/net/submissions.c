/*
 * submissions.c - a queue of sorted runs (see submissions.h).
 *
 * Invariants: runs and fresh entries follow each other in `entries`; no run is empty; every run was
 * at most half as long as the one before it when it was made.
 */
#include "net/submissions.h"

#include <string.h>

#include "base/array.h"
#include "base/mem.h"

#define BLOCK 8 /* entries sorted by insertion */
#define AHEAD 12

void submissions_fini(struct submissions *q)
{
    mem_free(q->entries);
    mem_free(q->scratch);
}

static int is_before(const struct submission *a, const struct submission *b)
{
    return a->t < b->t ||
           (a->t == b->t && (a->src < b->src || (a->src == b->src && a->dst < b->dst)));
}

/* ---- memory ---- */

/* Closes the gaps left by taken entries. */
static void compact(struct submissions *q)
{
    uint32_t to = 0;

    for (uint32_t i = 0; i < q->run_count; i++) {
        struct submission_run *run = &q->runs[i];
        uint32_t n = run->end - run->at;

        memmove(q->entries + to, q->entries + run->at, n * sizeof *q->entries);
        *run = (struct submission_run){to, to + n};
        to += n;
    }
    memmove(q->entries + to, q->entries + q->fresh, (q->len - q->fresh) * sizeof *q->entries);
    q->len = to + (q->len - q->fresh);
    q->fresh = to;
}

static void make_room(struct submissions *q)
{
    if (q->room > 0)
        compact(q);
    if (q->len < q->room / 2)
        return;
    ARRAY_RESERVE(q->entries, q->room, q->room + 1, 64);
}

void submissions_push(struct submissions *q, struct submission e)
{
    if (__builtin_expect(q->len == q->room, 0))
        make_room(q);
    if (q->len == q->fresh || e.t < q->fresh_min)
        q->fresh_min = e.t;
    q->entries[q->len++] = e;
}

static struct submission *scratch(struct submissions *q, uint32_t n)
{
    if (n > q->scratch_room) {
        mem_free(q->scratch);
        q->scratch_room = q->room > n ? q->room : n;
        q->scratch = mem_alloc(q->scratch_room * sizeof *q->scratch);
    }
    return q->scratch;
}

/* ---- sorting ---- */

static void sort_block(struct submission *e, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        struct submission x = e[i];
        uint32_t k = i;

        for (; k > 0 && is_before(&x, &e[k - 1]); k--)
            e[k] = e[k - 1];
        e[k] = x;
    }
}

/* Merges neighbours e[0 .. left - 1] and e[left .. n - 1]; of equal ones those of the left go
 * first. */
static void merge(struct submission *e, uint32_t left, uint32_t n, struct submission *aside)
{
    uint32_t a = 0, b = left, to = 0;

    if (!is_before(&e[left], &e[left - 1]))
        return;
    memcpy(aside, e, left * sizeof *e);
    while (a < left && b < n) {
        int right = is_before(&e[b], &aside[a]);

        e[to++] = right ? e[b] : aside[a];
        b += (uint32_t)right;
        a += (uint32_t)!right;
    }
    memcpy(e + to, aside + a, (left - a) * sizeof *e);
}

static void sort(struct submissions *q, struct submission *e, uint32_t n)
{
    struct submission *aside = scratch(q, n);

    for (uint32_t i = 0; i < n; i += BLOCK)
        sort_block(e + i, n - i < BLOCK ? n - i : BLOCK);
    for (uint64_t width = BLOCK; width < n; width *= 2) {
        for (uint64_t i = 0; i + width < n; i += 2 * width)
            merge(e + i, (uint32_t)width, (uint32_t)(n - i < 2 * width ? n - i : 2 * width), aside);
    }
}

/* Merges the last two runs, at the end of their memory. */
static void merge_last(struct submissions *q)
{
    struct submission_run *x = &q->runs[q->run_count - 2], *y = x + 1;
    uint32_t left = x->end - x->at, at = y->at - left;

    if (x->end < y->at) /* some entries of the later run were taken */
        memmove(q->entries + at, q->entries + x->at, left * sizeof *q->entries);
    merge(q->entries + at, left, y->end - at, scratch(q, left));
    *x = (struct submission_run){at, y->end};
    q->run_count--;
}

static void drop_empty(struct submissions *q)
{
    uint32_t left = 0;

    for (uint32_t i = 0; i < q->run_count; i++)
        if (q->runs[i].at < q->runs[i].end)
            q->runs[left++] = q->runs[i];
    q->run_count = left;
}

void submissions_sort(struct submissions *q)
{
    uint32_t n = q->len - q->fresh;

    if (n == 0)
        return;
    sort(q, q->entries + q->fresh, n);
    q->runs[q->run_count++] = (struct submission_run){q->fresh, q->len};
    q->fresh = q->len;
    while (q->run_count > 1) {
        struct submission_run *x = &q->runs[q->run_count - 2], *y = x + 1;

        if (x->end - x->at >= 2 * (uint64_t)(y->end - y->at))
            break;
        merge_last(q);
    }
}

/* ---- taking ---- */

static struct submission_run *first_run(struct submissions *q)
{
    struct submission_run *first = &q->runs[0];

    for (uint32_t i = 1; i < q->run_count; i++)
        if (is_before(&q->entries[q->runs[i].at], &q->entries[first->at]))
            first = &q->runs[i];
    return first;
}

vtime submissions_next(const struct submissions *q)
{
    vtime t = q->fresh < q->len ? q->fresh_min : VTIME_NEVER;

    for (uint32_t i = 0; i < q->run_count; i++) {
        vtime first = q->entries[q->runs[i].at].t;

        t = first < t ? first : t;
    }
    return t;
}

int submissions_take(struct submissions *q, vtime t, struct submission *out)
{
    struct submission_run *run = first_run(q);

    if (q->run_count == 0 || q->entries[run->at].t > t)
        return 0;
    *out = q->entries[run->at++];
    if (run->at + AHEAD < run->end)
        __builtin_prefetch(q->entries[run->at + AHEAD].item, 1);
    if (run->at < run->end)
        return 1;
    drop_empty(q);
    if (q->run_count == 0 && q->fresh == q->len)
        q->fresh = q->len = 0;
    return 1;
}
