/*
 * image.c - private data: data at the same address whose content differs between ranks.
 *
 * The content of the private ranges at program start is the *base image*. A rank keeps its
 * difference from the base. Most data never changes in any rank, so ranges are divided into
 *
 *     cold segments   no rank has been seen to change them; compared with the base at each save
 *     hot runs        some rank changed them; saved and loaded at each switch
 *
 * A changed 64-byte line moves from cold to hot for good. Hot runs are only ever appended, so a
 * saved copy is "the first k runs", where k is the number of runs when it was made, less trailing
 * runs equal to the base. Runs beyond k have their base content in that rank. A rank that changed
 * nothing keeps nothing.
 *
 * Of large zero-filled data, the base holds only pages that have been touched. The rest reads as
 * zeros and uses no memory, in the base as in the program.
 *
 * Changes are found by comparing, never by write protection: a system call that writes into a
 * protected page would fail.
 */
#include <assert.h>
#include <string.h>

#include "base/array.h"
#include "base/hostile.h"
#include "base/mem.h"
#include "vp/touched.h"
#include "vp/vp_internal.h"

#define LINE 64
/* zero-filled ranges of at least this size are not copied whole */
#define SPARSE ((size_t)HOSTILE(16, 256) << 10)

struct segment {
    char *addr;
    const char *base;
    size_t len;
};

struct list {
    struct segment *at;
    size_t count, cap;
};

/* A rank's copy of the first `runs` hot runs. */
struct vp_saved {
    uint32_t runs;
    size_t cap; /* capacity of data, in bytes */
    char data[];
};

static struct list cold, hot;
static struct list sparse; /* ranges that began as zeros: only touched pages are compared */
static size_t *hot_end;    /* hot_end[i]: bytes of runs 0..i together */
static size_t hot_end_cap;

static void list_add(struct list *l, struct segment s)
{
    ARRAY_RESERVE(l->at, l->cap, l->count + 1, 16);
    l->at[l->count++] = s;
}

static void list_remove(struct list *l, size_t i)
{
    assert(i < l->count);
    l->at[i] = l->at[--l->count];
}

static void hot_add(struct segment s)
{
    size_t before = hot.count ? hot_end[hot.count - 1] : 0;

    list_add(&hot, s);
    ARRAY_RESERVE(hot_end, hot_end_cap, hot.count, 16);
    hot_end[hot.count - 1] = before + s.len;
}

void vp_image_add(void *addr, size_t len)
{
    char *base = mem_alloc(len);

    memcpy(base, addr, len);
    vp_image_exclude(addr, len); /* so that no byte is listed twice */
    list_add(&cold, (struct segment){addr, base, len});
}

static void keep(char *from, size_t len, void *arg)
{
    const struct segment *s = arg;

    memcpy((char *)s->base + (from - s->addr), from, len);
}

void vp_image_add_zeros(void *addr, size_t len)
{
    struct segment s = {addr, NULL, len};

    if (len < SPARSE || !(s.base = mem_map(len, 0))) {
        vp_image_add(addr, len);
        return;
    }
    vp_touched(addr, len, keep, &s);
    vp_image_exclude(addr, len);
    list_add(&cold, s);
    list_add(&sparse, s);
}

void vp_image_exclude(void *addr, size_t len)
{
    char *from = addr, *to = from + len;

    for (size_t i = 0; i < cold.count;) {
        struct segment s = cold.at[i];
        char *end = s.addr + s.len;

        if (to <= s.addr || from >= end) {
            i++;
            continue;
        }
        list_remove(&cold, i);
        if (from > s.addr)
            list_add(&cold, (struct segment){s.addr, s.base, (size_t)(from - s.addr)});
        if (to < end)
            list_add(&cold, (struct segment){to, s.base + (to - s.addr), (size_t)(end - to)});
        i = 0;
    }
}

static int is_sparse(const struct segment *s)
{
    for (size_t i = 0; i < sparse.count; i++)
        if (s->addr >= sparse.at[i].addr && s->addr < sparse.at[i].addr + sparse.at[i].len)
            return 1;
    return 0;
}

static void restore(char *from, size_t len, void *arg)
{
    const struct segment *s = arg;

    memcpy(from, s->base + (from - s->addr), len);
}

static void restore_all(const struct list *l, const char *from, const char *to)
{
    for (size_t i = 0; i < l->count; i++) {
        struct segment *s = &l->at[i];

        if (s->addr < from || s->addr >= to)
            continue;
        if (is_sparse(s))
            vp_touched(s->addr, s->len, restore, s);
        else
            restore(s->addr, s->len, s);
    }
}

void vp_image_reset(void)
{
    restore_all(&cold, NULL, (const char *)UINTPTR_MAX);
}

void vp_image_restore(char *addr, size_t len)
{
    restore_all(&cold, addr, addr + len);
    restore_all(&hot, addr, addr + len);
}

/* End of the line of s that contains offset at. */
static size_t line_end(const struct segment *s, size_t at)
{
    size_t end = at + LINE - ((uintptr_t)(s->addr + at) % LINE);

    return end < s->len ? end : s->len;
}

static int line_differs(const struct segment *s, size_t at, size_t end)
{
    return memcmp(s->addr + at, s->base + at, end - at) != 0;
}

/* Splits cold segment i: changed lines become hot runs, the rest stays cold. */
__attribute__((noinline, cold)) static void thaw(size_t i)
{
    struct segment s = cold.at[i];
    size_t at = 0;

    list_remove(&cold, i);
    while (at < s.len) {
        size_t start = at;
        int hot_run = line_differs(&s, at, line_end(&s, at));
        struct segment part;

        do
            at = line_end(&s, at);
        while (at < s.len && line_differs(&s, at, line_end(&s, at)) == hot_run);
        part = (struct segment){s.addr + start, s.base + start, at - start};
        if (hot_run)
            hot_add(part);
        else
            list_add(&cold, part);
    }
}

static inline uint64_t word_at(const char *p)
{
    uint64_t w;

    memcpy(&w, p, sizeof w);
    return w;
}

/* Most segments are a few words: compare them without a call. */
static inline int segment_differs(const struct segment *s)
{
    const char *a = s->addr, *b = s->base;
    size_t n = s->len;
    uint64_t diff;

    if (n == 8)
        return word_at(a) != word_at(b);
    if (n < 8 || n > 64)
        return n == 4 ? *(const uint32_t *)a != *(const uint32_t *)b : memcmp(a, b, n) != 0;
    diff = word_at(a + n - 8) ^ word_at(b + n - 8); /* may overlap the word before it */
    for (; n > 8; n -= 8, a += 8, b += 8)
        diff |= word_at(a) ^ word_at(b);
    return diff != 0;
}

static void save_hot(struct vp_rank *f, uint32_t runs)
{
    size_t bytes = hot_end[runs - 1];
    struct vp_saved *v = f->saved;
    char *p;

    if (!v || v->cap < bytes) {
        if (v)
            pool_free(&vp_pool, v, sizeof *v + v->cap);
        v = pool_alloc(&vp_pool, sizeof *v + bytes);
        v->cap = bytes;
        f->saved = v;
    }
    v->runs = runs;
    p = v->data;
    for (uint32_t i = 0; i < runs; i++) {
        memcpy(p, hot.at[i].addr, hot.at[i].len);
        p += hot.at[i].len;
    }
}

void vp_image_note(void)
{
    for (size_t i = 0; i < cold.count; i++)
        while (i < cold.count && __builtin_expect(segment_differs(&cold.at[i]), 0))
            thaw(i);
}

void vp_image_save(struct vp_rank *f)
{
    uint32_t runs;

    vp_image_note();
    runs = (uint32_t)hot.count;
    while (runs > 0 && !segment_differs(&hot.at[runs - 1]))
        runs--;
    if (runs)
        save_hot(f, runs);
    else if (f->saved)
        vp_image_drop(f);
}

void vp_image_load(struct vp_rank *f)
{
    const struct vp_saved *v = f->saved;
    const char *p = v ? v->data : NULL;
    uint32_t runs = v ? v->runs : 0;

    assert_hot(runs <= hot.count && (!runs || hot_end[runs - 1] <= v->cap));
    for (uint32_t i = 0; i < runs; i++) {
        memcpy(hot.at[i].addr, p, hot.at[i].len);
        p += hot.at[i].len;
    }
    for (size_t i = runs; i < hot.count; i++)
        memcpy(hot.at[i].addr, hot.at[i].base, hot.at[i].len);
}

void vp_image_drop(struct vp_rank *f)
{
    if (f->saved)
        pool_free(&vp_pool, f->saved, sizeof *f->saved + f->saved->cap);
    f->saved = NULL;
}

void vp_image_stats(struct vp_stats *s)
{
    s->hot_bytes = hot.count ? hot_end[hot.count - 1] : 0;
    s->image_bytes = s->hot_bytes;
    for (size_t i = 0; i < cold.count; i++)
        s->image_bytes += cold.at[i].len;
}
