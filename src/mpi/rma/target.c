/*
 * target.c - the agent's side: applies operations to the rank's memory in order of time.
 *
 * Each is applied as a whole, at the moment it arrives, in the rank's own context, so all of them
 * are atomic, and accumulates of one origin are in order. An operation outside the rank's window is
 * not applied: the answer carries MPI_ERR_RMA_RANGE.
 */
#include <string.h>

#include "base/mem.h"
#include "mpi/op/op.h"
#include "mpi/rma/rma_internal.h"

/* An operation as the target sees it. */
struct served {
    struct rma_head *head;
    struct mpi_type *type;
    char *data; /* that came with it, or hollow */
    char *at;   /* where its data lies here */
};

/* A new answer to m, with an MPI class and room for `bytes` of data; if it is hollow, it only
 * counts them. */
static struct mpi_msg *new_answer(struct mpi_rank *self, const struct mpi_msg *m, uint64_t bytes,
                                  int is_hollow, int error)
{
    struct mpi_msg *a = mpi_service_answer(self, m, is_hollow ? 0 : bytes);

    a->is_hollow = (uint8_t)is_hollow & 1;
    a->tag = m->tag;
    a->ctx = (uint32_t)error;
    a->bytes = bytes;
    return a;
}

/* ---- locating the data ---- */

/* The bytes that `count` items of the type span, from *low to *high around the buffer's address. */
static void span(const struct mpi_type *t, uint64_t count, int64_t *low, int64_t *high)
{
    int64_t far = (int64_t)(count - 1) * t->extent;

    *low = t->true_lb + (far < 0 ? far : 0);
    *high = t->true_lb + t->true_extent + (far > 0 ? far : 0);
}

/* It may span several adjacent pieces. */
static int is_attached(const struct rma_win *w, uintptr_t from, uintptr_t to)
{
    const struct rma_region *r;

    do {
        for (r = w->regions; r && from - r->base >= r->size; r = r->next)
            ;
        if (!r)
            return 0;
        from = r->base + r->size;
    } while (from < to);
    return 1;
}

static int locate(const struct rma_win *w, struct served *s)
{
    int64_t low, high, offset;

    span(s->type, s->head->count, &low, &high);
    if (w->flavor == MPI_WIN_FLAVOR_DYNAMIC) {
        s->at = (char *)(uintptr_t)s->head->disp;
        return is_attached(w, (uintptr_t)(s->head->disp + low), (uintptr_t)(s->head->disp + high))
                   ? MPI_SUCCESS
                   : MPI_ERR_RMA_RANGE;
    }
    if (__builtin_mul_overflow(s->head->disp, (int64_t)w->disp_unit, &offset) ||
        __builtin_add_overflow(offset, low, &low) || __builtin_add_overflow(offset, high, &high) ||
        low < 0 || high > w->size)
        return MPI_ERR_RMA_RANGE;
    s->at = (char *)w->base + offset;
    return MPI_SUCCESS;
}

/* ---- applying operations ---- */

/* memory = data op memory, items of the basic type `e` lying as the target type says. */
static void combine(const struct served *s, struct mpi_op *op, struct mpi_type *e)
{
    uint64_t bytes = s->head->count * s->type->size, n = bytes / e->size;
    char *old, *in, *stream;

    if (mpi_is_hollow(s->data) || mpi_data_is_hollow(s->at, s->type))
        return;
    if (s->type->contig && e->contig) {
        mpi_op_apply(op, s->data, s->at, n, e);
        return;
    }
    stream = mem_alloc(bytes);
    old = mem_zalloc(n * (uint64_t)e->extent);
    in = mem_zalloc(n * (uint64_t)e->extent);
    mpi_type_pack(s->type, s->head->count, s->at, stream);
    mpi_type_unpack(e, n, old, stream, bytes);
    mpi_type_unpack(e, n, in, s->data, bytes);
    mpi_op_apply(op, in, old, n, e);
    mpi_type_pack(e, n, old, stream);
    mpi_type_unpack(s->type, s->head->count, s->at, stream, bytes);
    mem_free(in);
    mem_free(old);
    mem_free(stream);
}

static void store(const struct served *s)
{
    mpi_type_unpack(s->type, s->head->count, s->at, s->data, s->head->bytes);
}

static void accumulate(const struct served *s)
{
    struct mpi_op *op = mpi_op_get(s->head->op);

    if (s->head->op == MPI_REPLACE)
        store(s);
    else if (s->head->op != MPI_NO_OP)
        combine(s, op, mpi_type_get(s->type->elem));
}

static void compare_and_swap(const struct served *s)
{
    uint64_t size = s->type->size;

    if (mpi_is_hollow(s->data) || mpi_is_hollow(s->at))
        return;
    if (memcmp(s->at, s->data + size, size) == 0)
        memcpy(s->at, s->data, size);
}

/* Applies it; returns the answer, with the previous data if that is requested. */
static struct mpi_msg *apply(struct mpi_rank *self, const struct mpi_msg *m, const struct served *s)
{
    int fetches = m->tag != RMA_PUT && m->tag != RMA_ACCUMULATE;
    int is_hollow = (s->head->lacks & RMA_LACKS_RESULT) || mpi_data_is_hollow(s->at, s->type);
    struct mpi_msg *a = new_answer(self, m, fetches ? s->head->count * s->type->size : 0, is_hollow,
                                   MPI_SUCCESS);

    if (fetches && !is_hollow)
        mpi_type_pack(s->type, s->head->count, s->at, a->payload);
    if (m->tag == RMA_PUT)
        store(s);
    else if (m->tag == RMA_COMPARE_SWAP)
        compare_and_swap(s);
    else if (m->tag != RMA_GET)
        accumulate(s);
    return a;
}

static void operate(struct mpi_rank *self, const struct rma_win *w, struct mpi_msg *m, vtime t)
{
    struct served s = {.head = (struct rma_head *)m->payload};
    struct mpi_type decoded;
    struct mpi_msg *a;
    int error;

    if (s.head->image)
        rma_type_decode(s.head + 1, s.head->image, &decoded);
    s.type = s.head->image    ? &decoded
             : s.head->handle ? mpi_type_get(s.head->handle)
                              : s.head->type;
    s.data = s.head->lacks & RMA_LACKS_DATA ? MPI_HOLLOW : (char *)(s.head + 1) + s.head->image;
    error = w ? locate(w, &s) : MPI_ERR_WIN;
    a = error ? new_answer(self, m, 0, 0, error) : apply(self, m, &s);
    mpi_service_reply(a, a->bytes, t);
    if (s.head->type)
        mpi_type_unref(s.head->type);
    engine_msg_free(&mpi_world.engine, &m->em);
}

/* ---- locks: shared ones together, else one at a time, in the order in which they came ---- */

static int may_hold(const struct rma_win *w, const struct mpi_msg *m)
{
    return m->bytes == MPI_LOCK_SHARED ? w->holders >= 0 : w->holders == 0;
}

static void grant(struct mpi_rank *self, struct rma_win *w, struct mpi_msg *m, vtime t)
{
    w->holders = m->bytes == MPI_LOCK_SHARED ? w->holders + 1 : -1;
    mpi_service_reply(new_answer(self, m, 0, 0, MPI_SUCCESS), 0, t);
    engine_msg_free(&mpi_world.engine, &m->em);
}

static void lock(struct mpi_rank *self, struct rma_win *w, struct mpi_msg *m, vtime t)
{
    if (!w->waiting && may_hold(w, m)) {
        grant(self, w, m, t);
        return;
    }
    m->em.next = w->waiting ? w->waiting->em.next : &m->em;
    if (w->waiting)
        w->waiting->em.next = &m->em;
    w->waiting = m;
}

static void unlock(struct mpi_rank *self, struct rma_win *w, struct mpi_msg *m, vtime t)
{
    struct mpi_msg *first;

    w->holders = w->holders < 0 ? 0 : w->holders - 1;
    mpi_service_reply(new_answer(self, m, 0, 0, MPI_SUCCESS), 0, t);
    engine_msg_free(&mpi_world.engine, &m->em);
    while (w->waiting && may_hold(w, first = (struct mpi_msg *)w->waiting->em.next)) {
        if (first == w->waiting)
            w->waiting = NULL;
        else
            w->waiting->em.next = first->em.next;
        grant(self, w, first, t);
    }
}

/* ---- the agent ---- */

static void complete(struct rma_win *w, struct mpi_msg *m, vtime t)
{
    w->incomplete--;
    w->completed = t;
    engine_msg_free(&mpi_world.engine, &m->em);
}

/* The window no longer exists: the program freed it too early. */
static void refuse(struct mpi_rank *self, struct mpi_msg *m, vtime t)
{
    if (m->tag != RMA_COMPLETE)
        mpi_service_reply(new_answer(self, m, 0, 0, MPI_ERR_WIN), 0, t);
    engine_msg_free(&mpi_world.engine, &m->em);
}

void rma_serve(struct mpi_rank *self, struct mpi_msg *m, vtime t)
{
    struct rma_win *w = rma_win_find(self, m->ctx);

    if (m->tag < RMA_LOCK)
        operate(self, w, m, t);
    else if (!w)
        refuse(self, m, t);
    else if (m->tag == RMA_LOCK)
        lock(self, w, m, t);
    else if (m->tag == RMA_UNLOCK)
        unlock(self, w, m, t);
    else
        complete(w, m, t);
}
