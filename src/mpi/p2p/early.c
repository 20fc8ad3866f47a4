/*
 * early.c - unexpected messages, which arrived before a matching receive.
 *
 * Few of them (the usual case): one circular list through em.next in order of arrival at the
 * inbox, self->early being its tail. Many: an index, so that a rank with a million early messages
 * finds the right one at once:
 *
 *     by_peer   (context, source) -> tail of a circular list of that source's messages, send order
 *     heaps     per context a binary heap by (arrival, source), built when first needed
 *
 * The index is dropped when it is empty. There is no order between sources; messages of one source
 * are in the order of sending.
 */
#include <assert.h>
#include <string.h>

#include "base/heap.h"
#include "base/hostile.h"
#include "base/mem.h"
#include "mpi/p2p/p2p_internal.h"

#define INDEX_ABOVE HOSTILE(1, 48) /* messages from which on they are indexed */

HEAP_STRUCT(msg_heap, struct mpi_msg *);

struct heap {
    struct msg_heap msgs;
    uint32_t ctx;
};

struct mpi_early_index {
    struct map by_peer;
    struct heap *heaps;
    uint32_t heap_count;
};

static uint64_t peer_key(uint32_t ctx, uint32_t src)
{
    return (uint64_t)ctx << 32 | src;
}

static struct mpi_msg *next_of(const struct mpi_msg *m)
{
    return (struct mpi_msg *)m->em.next;
}

static struct mpi_early_index *index_of(const struct mpi_rank *self)
{
    return self->ext ? self->ext->index : NULL;
}

/* ---- circular lists ---- */

static void ring_add(struct mpi_msg **tail, struct mpi_msg *m)
{
    assert_hot(!*tail || !hostile_is_stale(next_of(*tail)));
    if (*tail) {
        m->em.next = (*tail)->em.next;
        (*tail)->em.next = &m->em;
    } else {
        m->em.next = &m->em;
    }
    *tail = m;
}

static void ring_take(struct mpi_msg **tail, struct mpi_msg *m)
{
    struct mpi_msg *before = *tail;

    assert_hot(before != NULL);
    while (next_of(before) != m) {
        before = next_of(before);
        assert_hot(before != *tail); /* m is on the list */
    }
    if (before == m) {
        *tail = NULL;
        return;
    }
    before->em.next = m->em.next;
    if (*tail == m)
        *tail = before;
}

static struct mpi_msg *ring_find(struct mpi_msg *tail, uint32_t ctx, uint32_t src, int32_t tag)
{
    struct mpi_msg *m = tail;

    if (!tail)
        return NULL;
    do {
        m = next_of(m);
        if (m->em.src == src && m->ctx == ctx && mpi_tag_fits(tag, m->tag))
            return m;
    } while (m != tail);
    return NULL;
}

/* ---- heaps ---- */

static inline int msg_before(const struct mpi_msg *a, const struct mpi_msg *b)
{
    return a->em.arrival < b->em.arrival ||
           (a->em.arrival == b->em.arrival && a->em.src < b->em.src);
}

#define ENTRY_BEFORE(a, b) msg_before(*(a), *(b))
#define ENTRY_MOVED(h, i) ((h)->at[i]->heap_pos = (i))
HEAP_FUNCTIONS(msg_heap, struct mpi_msg *, 2, 64, ENTRY_BEFORE, ENTRY_MOVED);

static struct heap *heap_for(const struct mpi_early_index *x, uint32_t ctx)
{
    for (uint32_t i = 0; i < x->heap_count; i++)
        if (x->heaps[i].ctx == ctx)
            return &x->heaps[i];
    return NULL;
}

static struct heap *heap_make(struct mpi_early_index *x, uint32_t ctx)
{
    struct heap *h;
    uint64_t key, tail;
    size_t it = 0;

    assert(!heap_for(x, ctx));
    x->heaps = mem_realloc(x->heaps, (x->heap_count + 1) * sizeof *x->heaps);
    h = &x->heaps[x->heap_count++];
    memset(h, 0, sizeof *h);
    h->ctx = ctx;
    while (map_next(&x->by_peer, &it, &key, &tail)) {
        struct mpi_msg *end = (struct mpi_msg *)(uintptr_t)tail, *m = end;

        if (key >> 32 != ctx)
            continue;
        do {
            m = next_of(m);
            msg_heap_push(&h->msgs, m);
        } while (m != end);
    }
    return h;
}

/* ---- the index ---- */

static void index_add(struct mpi_early_index *x, struct mpi_msg *m)
{
    int is_new;
    uint64_t *slot = map_insert(&x->by_peer, peer_key(m->ctx, m->em.src), &is_new);
    struct mpi_msg *tail = is_new ? NULL : (struct mpi_msg *)(uintptr_t)*slot;
    struct heap *h = heap_for(x, m->ctx);

    assert_hot(!tail || (tail->ctx == m->ctx && tail->em.src == m->em.src));
    ring_add(&tail, m);
    *slot = (uintptr_t)tail;
    if (h)
        msg_heap_push(&h->msgs, m);
}

static void index_make(struct mpi_rank *self)
{
    struct mpi_early_index *x = mem_zalloc(sizeof *x);
    struct mpi_msg *end = self->early, *m = next_of(end), *next;

    assert(end && !index_of(self));
    map_init(&x->by_peer);
    mpi_ext_get(self)->index = x;
    self->early = NULL;
    for (;; m = next) {
        next = next_of(m);
        index_add(x, m);
        if (m == end)
            break;
    }
}

static void index_drop(struct mpi_rank *self)
{
    struct mpi_early_index *x = self->ext->index;

    assert(self->early_count == 0 && map_count(&x->by_peer) == 0);
    for (uint32_t i = 0; i < x->heap_count; i++)
        mem_free(x->heaps[i].msgs.at);
    mem_free(x->heaps);
    map_fini(&x->by_peer);
    mem_free(x);
    self->ext->index = NULL;
}

static struct mpi_msg *peer_tail(const struct mpi_early_index *x, uint32_t ctx, uint32_t src)
{
    uint64_t *slot = map_find(&x->by_peer, peer_key(ctx, src));

    return slot ? (struct mpi_msg *)(uintptr_t)*slot : NULL;
}

static void index_take(struct mpi_early_index *x, struct mpi_msg *m)
{
    uint64_t key = peer_key(m->ctx, m->em.src);
    uint64_t *slot = map_find(&x->by_peer, key);
    struct mpi_msg *tail = (struct mpi_msg *)(uintptr_t)*slot;
    struct heap *h = heap_for(x, m->ctx);

    assert_hot(!h || (m->heap_pos < h->msgs.len && h->msgs.at[m->heap_pos] == m));
    ring_take(&tail, m);
    if (tail)
        *slot = (uintptr_t)tail;
    else
        map_remove(&x->by_peer, key);
    if (h)
        msg_heap_remove(&h->msgs, m->heap_pos);
}

/* ---- the interface ---- */

void mpi_early_add(struct mpi_rank *self, struct mpi_msg *m)
{
    self->early_count++;
    assert_hot(self->early_count == 1 ? !self->early : self->early || index_of(self));
    if (index_of(self)) {
        index_add(self->ext->index, m);
        return;
    }
    ring_add(&self->early, m);
    if (self->early_count > INDEX_ABOVE)
        index_make(self);
}

struct mpi_msg *mpi_early_find(struct mpi_rank *self, uint32_t ctx, uint32_t src, int32_t tag)
{
    if (index_of(self))
        return ring_find(peer_tail(self->ext->index, ctx, src), ctx, src, tag);
    return ring_find(self->early, ctx, src, tag);
}

/* Is m the message that a receive from its source would get? */
static int is_first(struct mpi_rank *self, const struct mpi_msg *m, int32_t tag)
{
    return mpi_early_find(self, m->ctx, m->em.src, tag) == m;
}

static struct mpi_msg *better(struct mpi_rank *self, struct mpi_msg *best, struct mpi_msg *m,
                              uint32_t ctx, int32_t tag, const struct mpi_req *claimer)
{
    if (m->ctx != ctx || !mpi_tag_fits(tag, m->tag) || (best && !msg_before(m, best)))
        return best;
    return is_first(self, m, tag) && mpi_claimer(self, m) == claimer ? m : best;
}

struct mpi_msg *mpi_early_find_any(struct mpi_rank *self, uint32_t ctx, int32_t tag,
                                   const struct mpi_req *claimer)
{
    struct mpi_early_index *x = index_of(self);
    struct mpi_msg *best = NULL, *m = self->early;
    struct heap *h;

    if (!x) {
        if (!m)
            return NULL;
        do {
            m = next_of(m);
            best = better(self, best, m, ctx, tag, claimer);
        } while (m != self->early);
        return best;
    }
    h = heap_for(x, ctx);
    if (!h)
        h = heap_make(x, ctx);
    /* The root nearly always fits; otherwise examine all. */
    for (uint32_t i = 0; i < h->msgs.len && !(i > 0 && best == h->msgs.at[0]); i++)
        best = better(self, best, h->msgs.at[i], ctx, tag, claimer);
    return best;
}

void mpi_early_take(struct mpi_rank *self, struct mpi_msg *m)
{
    assert(self->early_count > 0);
    self->early_count--;
    if (!index_of(self)) {
        ring_take(&self->early, m);
        return;
    }
    index_take(self->ext->index, m);
    if (self->early_count == 0)
        index_drop(self);
}

static int ring_each(struct mpi_rank *self, struct mpi_msg *end,
                     int (*fn)(struct mpi_rank *, struct mpi_msg *, void *), void *arg)
{
    struct mpi_msg *m = end, *next;

    if (!end)
        return 0;
    for (m = next_of(end);; m = next) {
        int last = m == end, rc;

        next = next_of(m);
        rc = fn(self, m, arg);
        if (rc || last)
            return rc;
    }
}

int mpi_early_each(struct mpi_rank *self, int (*fn)(struct mpi_rank *, struct mpi_msg *, void *),
                   void *arg)
{
    struct mpi_early_index *x = index_of(self);
    uint64_t key, tail;
    size_t it = 0;

    if (!x)
        return ring_each(self, self->early, fn, arg);
    while (map_next(&x->by_peer, &it, &key, &tail)) {
        int rc = ring_each(self, (struct mpi_msg *)(uintptr_t)tail, fn, arg);

        if (rc)
            return rc;
    }
    return 0;
}
