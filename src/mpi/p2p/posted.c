/*
 * posted.c - receives that wait for their message, in the order they were posted.
 *
 * All of them are on one circular list; self->posted is its tail. Messages usually come in the
 * order in which they are expected, and the first on the list matches. When a search goes far down
 * the list, an index is built, and kept until the list is empty. It groups the receives by kind,
 * that is by (context, source, tag), wildcards included: a message matches at most four kinds, and
 * within a kind the oldest receive has the first claim. So the first receive for a message is the
 * oldest of at most four heads, and a rank that posts a receive for each of a million others finds
 * the right one at once.
 *
 *     kinds   hash of (ctx, source, tag) -> kind -> oldest ... newest (req->same_kind)
 *     wild    the kinds that hold undecided receives, which mpi_decide examines
 */
#include "mpi/p2p/posted.h"

#include <assert.h>

#include "base/array.h"
#include "base/hostile.h"
#include "base/mem.h"

uint32_t mpi_posted_index_above = HOSTILE(1, 32);

struct mpi_posted_kind {
    struct mpi_posted_kind *next; /* other kinds of the same hash */
    uint32_t ctx;
    int32_t peer, tag;
    uint32_t wild_pos;           /* index in `wild` + 1 */
    struct mpi_req *head, *tail; /* oldest, newest */
};

struct mpi_posted_index {
    struct map kinds;
    struct mpi_posted_kind **wild;
    uint32_t wild_count, wild_cap;
    uint64_t count, named;
    uint64_t any_source, any_tag; /* receives with wildcards: if none, fewer kinds to look at */
    uint64_t order;               /* of the next receive */
};

static struct mpi_posted_index *index_of(const struct mpi_rank *self)
{
    return self->ext ? self->ext->posted : NULL;
}

/* ---- kinds ---- */

static uint64_t hash(uint32_t ctx, int32_t peer, int32_t tag)
{
    uint64_t h = ((uint64_t)ctx << 32 | (uint32_t)peer) * 0x9e3779b97f4a7c15u;

    h ^= h >> 29;
    h = (h + (uint32_t)tag) * 0xbf58476d1ce4e5b9u;
    return h ^ h >> 32;
}

static struct mpi_posted_kind *kind_find(const struct mpi_posted_index *x, uint32_t ctx,
                                         int32_t peer, int32_t tag)
{
    const uint64_t *slot = map_find(&x->kinds, hash(ctx, peer, tag));
    struct mpi_posted_kind *k = slot ? (struct mpi_posted_kind *)(uintptr_t)*slot : NULL;

    while (k && (k->ctx != ctx || k->peer != peer || k->tag != tag))
        k = k->next;
    return k;
}

static struct mpi_posted_kind *kind_make(struct mpi_posted_index *x, uint32_t ctx, int32_t peer,
                                         int32_t tag)
{
    struct mpi_posted_kind *k = kind_find(x, ctx, peer, tag);
    uint64_t *slot;
    int is_new;

    if (k)
        return k;
    k = pool_alloc(&mpi_world.pool, sizeof *k);
    slot = map_insert(&x->kinds, hash(ctx, peer, tag), &is_new);
    *k = (struct mpi_posted_kind){.ctx = ctx,
                                  .peer = peer,
                                  .tag = tag,
                                  .next = is_new ? NULL
                                                 : (struct mpi_posted_kind *)(uintptr_t)*slot};
    *slot = (uintptr_t)k;
    return k;
}

static void kind_drop(struct mpi_posted_index *x, struct mpi_posted_kind *k)
{
    uint64_t key = hash(k->ctx, k->peer, k->tag);
    uint64_t *slot = map_find(&x->kinds, key);
    struct mpi_posted_kind *first = (struct mpi_posted_kind *)(uintptr_t)*slot, **at = &first;

    assert(!k->head && !k->tail);
    while (*at != k)
        at = &(*at)->next;
    *at = k->next;
    if (first)
        *slot = (uintptr_t)first;
    else
        map_remove(&x->kinds, key);
    if (k->wild_pos) {
        struct mpi_posted_kind *last = x->wild[--x->wild_count];

        assert(x->wild[k->wild_pos - 1] == k);
        x->wild[k->wild_pos - 1] = last;
        last->wild_pos = k->wild_pos;
    }
    pool_free(&mpi_world.pool, k, sizeof *k);
}

static void wild_add(struct mpi_posted_index *x, struct mpi_posted_kind *k)
{
    if (k->wild_pos)
        return;
    ARRAY_RESERVE(x->wild, x->wild_cap, x->wild_count + 1, 8);
    x->wild[x->wild_count++] = k;
    k->wild_pos = x->wild_count;
}

/* ---- the index ---- */

static void index_add(struct mpi_posted_index *x, struct mpi_req *req)
{
    struct mpi_posted_kind *k = kind_make(x, req->ctx, req->peer, req->tag);

    assert_hot(!k->head == !k->tail && (!k->tail || k->tail->order < x->order));
    req->same_kind = NULL;
    req->kind_of = k;
    req->order = x->order++;
    x->any_source += req->peer == MPI_P2P_ANY;
    x->any_tag += req->tag == MPI_ANY_TAG;
    if (k->tail)
        k->tail->same_kind = req;
    else
        k->head = req;
    k->tail = req;
    x->count++;
    assert_hot(x->count <= x->order && x->named <= x->count);
    if (req->flags & MPI_REQ_WILD)
        wild_add(x, k);
    else
        x->named++;
}

static void index_make(struct mpi_rank *self)
{
    struct mpi_posted_index *x = mem_zalloc(sizeof *x);
    struct mpi_req *r = self->posted;

    assert(r && !index_of(self));
    map_init(&x->kinds);
    mpi_ext_get(self)->posted = x;
    do {
        r = r->next;
        index_add(x, r);
    } while (r != self->posted);
}

static void index_remove(struct mpi_rank *self, struct mpi_req *req)
{
    struct mpi_posted_index *x = self->ext->posted;
    struct mpi_posted_kind *k = req->kind_of;
    struct mpi_req *before = NULL;

    assert_hot(k->ctx == req->ctx && k->tag == req->tag && x->count > 0);
    for (struct mpi_req *r = k->head; r != req; r = r->same_kind) {
        assert_hot(r && r->order < req->order); /* it is one of its kind, which is in order */
        before = r;
    }
    if (before)
        before->same_kind = req->same_kind;
    else
        k->head = req->same_kind;
    if (k->tail == req)
        k->tail = before;
    req->same_kind = NULL;
    if (!k->head)
        kind_drop(x, k);
    x->named -= !(req->flags & MPI_REQ_WILD);
    x->any_source -= req->peer == MPI_P2P_ANY;
    x->any_tag -= req->tag == MPI_ANY_TAG;
    if (--x->count)
        return;
    assert(x->wild_count == 0 && x->named == 0 && x->any_source == 0 && x->any_tag == 0);
    assert(map_count(&x->kinds) == 0);
    map_fini(&x->kinds);
    mem_free(x->wild);
    mem_free(x);
    self->ext->posted = NULL;
}

/* ---- the interface ---- */

void mpi_posted_add(struct mpi_rank *self, struct mpi_req *req)
{
    assert_hot(!(req->flags & (MPI_REQ_QUEUED | MPI_REQ_DONE)));
    assert_hot(req->peer != MPI_P2P_ANY || (req->flags & MPI_REQ_WILD));
    if (self->posted) {
        req->next = self->posted->next;
        req->prev = self->posted;
        req->next->prev = req;
        self->posted->next = req;
    } else {
        req->next = req->prev = req;
    }
    self->posted = req;
    req->flags |= MPI_REQ_QUEUED;
    req->order = 0;
    if (req->flags & MPI_REQ_WILD)
        self->ent.owner_word++;
    if (index_of(self))
        index_add(self->ext->posted, req);
}

void mpi_unpost(struct mpi_rank *self, struct mpi_req *req)
{
    assert_hot((req->flags & MPI_REQ_QUEUED) && self->posted);
    assert_hot(req->next->prev == req && req->prev->next == req);
    if (index_of(self))
        index_remove(self, req);
    if (req->next == req) {
        self->posted = NULL;
    } else {
        req->prev->next = req->next;
        req->next->prev = req->prev;
        if (self->posted == req)
            self->posted = req->prev;
    }
    req->flags &= (uint16_t)~MPI_REQ_QUEUED;
    if (req->flags & MPI_REQ_WILD) {
        assert_hot(mpi_wild_count(self) > 0);
        req->flags &= (uint16_t)~MPI_REQ_WILD;
        self->ent.owner_word--;
    }
}

/* Within its new kind it stays in the order of posting. */
static void index_name(struct mpi_posted_index *x, struct mpi_req *req, int32_t peer)
{
    struct mpi_posted_kind *k = kind_make(x, req->ctx, peer, req->tag);
    struct mpi_req **at = &k->head;

    while (*at && (*at)->order < req->order)
        at = &(*at)->same_kind;
    req->same_kind = *at;
    req->kind_of = k;
    *at = req;
    if (!req->same_kind)
        k->tail = req;
    x->any_tag += req->tag == MPI_ANY_TAG;
    x->count++;
    x->named++;
}

void mpi_posted_name(struct mpi_rank *self, struct mpi_req *req, int32_t peer)
{
    struct mpi_posted_index *x = index_of(self);

    assert_hot((req->flags & MPI_REQ_WILD) && (req->flags & MPI_REQ_QUEUED) && peer >= 0);
    if (x) {
        x->count++; /* it stays, whatever else is posted */
        index_remove(self, req);
        x->count--;
        index_name(x, req, peer);
    }
    req->peer = peer;
    req->flags &= (uint16_t)~MPI_REQ_WILD;
    self->ent.owner_word--;
}

static int fits(const struct mpi_req *r, const struct mpi_msg *m)
{
    return r->ctx == m->ctx && (r->peer == MPI_P2P_ANY || (uint32_t)r->peer == m->em.src) &&
           mpi_tag_fits(r->tag, m->tag);
}

static void older(const struct mpi_posted_index *x, struct mpi_req **best, uint32_t ctx,
                  int32_t peer, int32_t tag)
{
    struct mpi_posted_kind *k = kind_find(x, ctx, peer, tag);

    if (k && (!*best || k->head->order < (*best)->order))
        *best = k->head;
}

static struct mpi_req *oldest_of_kinds(const struct mpi_posted_index *x, const struct mpi_msg *m)
{
    struct mpi_req *best = NULL;

    older(x, &best, m->ctx, (int32_t)m->em.src, m->tag);
    if (x->any_tag)
        older(x, &best, m->ctx, (int32_t)m->em.src, MPI_ANY_TAG);
    if (x->any_source)
        older(x, &best, m->ctx, MPI_P2P_ANY, m->tag);
    if (x->any_source && x->any_tag)
        older(x, &best, m->ctx, MPI_P2P_ANY, MPI_ANY_TAG);
    return best;
}

struct mpi_req *mpi_posted_first(struct mpi_rank *self, const struct mpi_msg *m)
{
    struct mpi_req *r = self->posted;

    if (!r)
        return NULL;
    if (index_of(self))
        return oldest_of_kinds(self->ext->posted, m);
    for (uint32_t steps = 0; steps < mpi_posted_index_above; steps++) {
        r = r->next;
        if (fits(r, m))
            return r;
        if (r == self->posted)
            return NULL;
    }
    index_make(self);
    return oldest_of_kinds(self->ext->posted, m);
}

int mpi_posted_named(struct mpi_rank *self)
{
    struct mpi_req *r = self->posted;

    if (!r)
        return 0;
    for (uint32_t steps = 0; !index_of(self) && steps < mpi_posted_index_above; steps++) {
        r = r->next;
        if (!(r->flags & MPI_REQ_WILD))
            return 1;
        if (r == self->posted)
            return 0;
    }
    if (!index_of(self))
        index_make(self);
    return self->ext->posted->named > 0;
}

/* More than a few receives on the list? */
static int is_long(const struct mpi_rank *self)
{
    const struct mpi_req *r = self->posted;

    for (uint32_t steps = 0; steps < mpi_posted_index_above; steps++) {
        r = r->next;
        if (r == self->posted)
            return 0;
    }
    return 1;
}

void mpi_posted_each_wild(struct mpi_rank *self,
                          void (*fn)(struct mpi_rank *, struct mpi_req *, void *), void *arg)
{
    struct mpi_req *r = self->posted;

    if (!r)
        return;
    if (!index_of(self) && is_long(self))
        index_make(self);
    if (index_of(self)) {
        for (uint32_t i = 0; i < self->ext->posted->wild_count; i++)
            fn(self, self->ext->posted->wild[i]->head, arg);
        return;
    }
    do {
        r = r->next;
        if (r->flags & MPI_REQ_WILD)
            fn(self, r, arg);
    } while (r != self->posted);
}
