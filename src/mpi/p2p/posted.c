/*
 * posted.c - receives that wait for their message, in the order they were posted.
 *
 * All of them are on one circular list, self->posted being its tail. When they are many, an index
 * groups them by kind, that is by (context, source, tag), wildcards included: a message fits at most
 * four kinds, and within a kind the oldest receive has the first claim. So the first receive for a
 * message is the oldest of at most four heads, and a rank that posts a receive for each of a million
 * others finds the right one at once.
 *
 *     kinds   hash of (ctx, source, tag) -> struct kind -> oldest ... newest (req->same_kind)
 *     wild    the kinds that hold undecided receives, which mpi_decide goes through
 */
#include "mpi/p2p/posted.h"

#include <assert.h>

#include "base/mem.h"

uint32_t mpi_posted_index_above = 32;

struct kind {
    struct kind *next; /* other kinds of the same hash */
    uint32_t ctx;
    int32_t peer, tag;
    uint32_t wild_pos;           /* place in `wild` + 1 */
    struct mpi_req *head, *tail; /* oldest, newest */
};

struct mpi_posted_index {
    struct map kinds;
    struct kind **wild;
    uint32_t wild_count, wild_cap;
    uint64_t count, named;
    uint64_t order; /* of the next receive */
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

static struct kind *kind_find(const struct mpi_posted_index *x, uint32_t ctx, int32_t peer,
                              int32_t tag)
{
    const uint64_t *slot = map_find(&x->kinds, hash(ctx, peer, tag));
    struct kind *k = slot ? (struct kind *)(uintptr_t)*slot : NULL;

    while (k && (k->ctx != ctx || k->peer != peer || k->tag != tag))
        k = k->next;
    return k;
}

static struct kind *kind_make(struct mpi_posted_index *x, uint32_t ctx, int32_t peer, int32_t tag)
{
    struct kind *k = kind_find(x, ctx, peer, tag);
    uint64_t *slot;
    int is_new;

    if (k)
        return k;
    k = pool_alloc(&mpi_world.pool, sizeof *k);
    slot = map_insert(&x->kinds, hash(ctx, peer, tag), &is_new);
    *k = (struct kind){.ctx = ctx, .peer = peer, .tag = tag,
                       .next = is_new ? NULL : (struct kind *)(uintptr_t)*slot};
    *slot = (uintptr_t)k;
    return k;
}

static void kind_drop(struct mpi_posted_index *x, struct kind *k)
{
    uint64_t key = hash(k->ctx, k->peer, k->tag);
    uint64_t *slot = map_find(&x->kinds, key);
    struct kind *first = (struct kind *)(uintptr_t)*slot, **at = &first;

    while (*at != k)
        at = &(*at)->next;
    *at = k->next;
    if (first)
        *slot = (uintptr_t)first;
    else
        map_remove(&x->kinds, key);
    if (k->wild_pos) {
        struct kind *last = x->wild[--x->wild_count];

        x->wild[k->wild_pos - 1] = last;
        last->wild_pos = k->wild_pos;
    }
    pool_free(&mpi_world.pool, k, sizeof *k);
}

static void wild_add(struct mpi_posted_index *x, struct kind *k)
{
    if (k->wild_pos)
        return;
    if (x->wild_count == x->wild_cap) {
        x->wild_cap = x->wild_cap ? 2 * x->wild_cap : 8;
        x->wild = mem_realloc(x->wild, x->wild_cap * sizeof *x->wild);
    }
    x->wild[x->wild_count++] = k;
    k->wild_pos = x->wild_count;
}

/* ---- the index ---- */

static void index_add(struct mpi_posted_index *x, struct mpi_req *req)
{
    struct kind *k = kind_make(x, req->ctx, req->peer, req->tag);

    req->same_kind = NULL;
    req->order = x->order++;
    if (k->tail)
        k->tail->same_kind = req;
    else
        k->head = req;
    k->tail = req;
    x->count++;
    if (req->flags & MPI_REQ_WILD)
        wild_add(x, k);
    else
        x->named++;
}

static void index_make(struct mpi_rank *self)
{
    struct mpi_posted_index *x = mem_zalloc(sizeof *x);
    struct mpi_req *r = self->posted;

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
    struct kind *k = kind_find(x, req->ctx, req->peer, req->tag);
    struct mpi_req *before = NULL;

    for (struct mpi_req *r = k->head; r != req; r = r->same_kind)
        before = r;
    if (before)
        before->same_kind = req->same_kind;
    else
        k->head = req->same_kind;
    if (k->tail == req)
        k->tail = before;
    if (!k->head)
        kind_drop(x, k);
    x->named -= !(req->flags & MPI_REQ_WILD);
    if (--x->count)
        return;
    map_fini(&x->kinds);
    mem_free(x->wild);
    mem_free(x);
    self->ext->posted = NULL;
}

/* ---- what others call ---- */

void mpi_posted_add(struct mpi_rank *self, struct mpi_req *req)
{
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
    else if (++self->ent.owner_half > mpi_posted_index_above)
        index_make(self);
}

void mpi_unpost(struct mpi_rank *self, struct mpi_req *req)
{
    int indexed = index_of(self) != NULL;

    if (indexed)
        index_remove(self, req);
    if (req->next == req) {
        self->posted = NULL;
        self->ent.owner_half = 0;
    } else {
        req->prev->next = req->next;
        req->next->prev = req->prev;
        if (self->posted == req)
            self->posted = req->prev;
        if (!indexed)
            self->ent.owner_half--;
    }
    req->flags &= (uint16_t)~MPI_REQ_QUEUED;
    if (req->flags & MPI_REQ_WILD) {
        req->flags &= (uint16_t)~MPI_REQ_WILD;
        self->ent.owner_word--;
    }
}

static int fits(const struct mpi_req *r, const struct mpi_msg *m)
{
    return r->ctx == m->ctx && (r->peer == MPI_P2P_ANY || (uint32_t)r->peer == m->em.src) &&
           mpi_tag_fits(r->tag, m->tag);
}

static void older(const struct mpi_posted_index *x, struct mpi_req **best, uint32_t ctx,
                  int32_t peer, int32_t tag)
{
    struct kind *k = kind_find(x, ctx, peer, tag);

    if (k && (!*best || k->head->order < (*best)->order))
        *best = k->head;
}

struct mpi_req *mpi_posted_first(const struct mpi_rank *self, const struct mpi_msg *m)
{
    const struct mpi_posted_index *x = index_of(self);
    struct mpi_req *r = self->posted, *best = NULL;

    if (!r)
        return NULL;
    if (x) {
        older(x, &best, m->ctx, (int32_t)m->em.src, m->tag);
        older(x, &best, m->ctx, (int32_t)m->em.src, MPI_ANY_TAG);
        older(x, &best, m->ctx, MPI_P2P_ANY, m->tag);
        older(x, &best, m->ctx, MPI_P2P_ANY, MPI_ANY_TAG);
        return best;
    }
    do {
        r = r->next;
        if (fits(r, m))
            return r;
    } while (r != self->posted);
    return NULL;
}

int mpi_posted_named(const struct mpi_rank *self)
{
    const struct mpi_posted_index *x = index_of(self);
    struct mpi_req *r = self->posted;

    if (!r || x)
        return r && x->named > 0;
    do {
        r = r->next;
        if (!(r->flags & MPI_REQ_WILD))
            return 1;
    } while (r != self->posted);
    return 0;
}

void mpi_posted_each_wild(struct mpi_rank *self,
                          void (*fn)(struct mpi_rank *, struct mpi_req *, void *), void *arg)
{
    const struct mpi_posted_index *x = index_of(self);
    struct mpi_req *r = self->posted;

    for (uint32_t i = 0; x && i < x->wild_count; i++)
        fn(self, x->wild[i]->head, arg);
    if (!r || x)
        return;
    do {
        r = r->next;
        if (r->flags & MPI_REQ_WILD)
            fn(self, r, arg);
    } while (r != self->posted);
}
