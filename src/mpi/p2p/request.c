/*
 * request.c - requests with handles: their table, statuses, completion as the user sees it.
 *
 * A few tables per process serve all ranks: chunks that never move, a free list through `next`. A
 * handle is MPICH's "direct request" pattern with the index into the rank's table in the low 25
 * bits.
 */
#include <string.h>

#include "base/log.h"
#include "base/hostile.h"
#include "base/mem.h"
#include "mpi/p2p/compound.h"

#define HANDLE_BASE 0xac000000u
#define INDEX_MASK 0x01ffffffu
#define CHUNK HOSTILE(4u, 256u)
/* Ranks are distributed over them, so that 25 bits suffice for hundreds of millions. */
#define TABLES 64u

typedef uint64_t vec __attribute__((vector_size(16), may_alias));
_Static_assert(sizeof(struct mpi_req) == 8 * sizeof(vec), "clear() leaves nothing out");

static struct table {
    struct mpi_req **chunks;
    uint32_t chunk_count;
    struct mpi_req *free;
} tables[TABLES];

/* All sends that are complete when they are started share one request, which is never released:
 * their state is the same, and they are half of all requests in most programs. Its handles have the
 * bit above the index set. */
static struct mpi_req sent = {.kind = MPI_REQ_SEND,
                              .flags = MPI_REQ_DONE | MPI_REQ_HEAP,
                              .id = MPI_REQ_SENT_HANDLE & ~HANDLE_BASE,
                              .comm = (uint32_t)MPI_COMM_WORLD};

MPI_Request mpi_req_sent(struct mpi_rank *self)
{
    uint32_t number = mpi_world.sent_number ? mpi_world.sent_number(self) : 0;

    return (MPI_Request)(MPI_REQ_SENT_HANDLE | (number & MPI_REQ_SENT_MASK));
}

static struct table *table_of(uint32_t rank)
{
    return &tables[rank % TABLES];
}

static void grow(struct table *table)
{
    struct mpi_req *c;

    if ((table->chunk_count + 1) * CHUNK > INDEX_MASK)
        log_fatal("too many requests at once: more than %u in one process", INDEX_MASK);
    c = mem_zalloc_lines(CHUNK * sizeof *c);
    table->chunks = mem_realloc(table->chunks, (table->chunk_count + 1) * sizeof *table->chunks);
    table->chunks[table->chunk_count] = c;
    for (uint32_t i = CHUNK; i-- > 0;) {
        c[i].id = table->chunk_count * CHUNK + i;
        c[i].next = table->free;
        table->free = &c[i];
    }
    table->chunk_count++;
}

/* A rank often creates several in a row. */
static inline void prefetch(const struct mpi_req *r)
{
    __builtin_prefetch(r, 1);
    __builtin_prefetch((const char *)r + 64, 1);
}

/* The compiler would make a slow instruction of memset, and of a loop. */
static inline void clear(struct mpi_req *r)
{
    const vec zero = {0};
    vec *at = (vec *)r;

    at[0] = at[1] = at[2] = at[3] = at[4] = at[5] = at[6] = at[7] = zero;
}

struct mpi_req *mpi_req_new(struct mpi_rank *self)
{
    struct table *table = table_of(mpi_rank_index(self));
    struct mpi_req *r;
    uint32_t id;

    if (!table->free)
        grow(table);
    r = table->free;
    table->free = r->next;
    prefetch(table->free);
    id = r->id;
    assert_hot(r->kind == MPI_REQ_FREE && id < table->chunk_count * CHUNK);
    clear(r);
    r->id = id;
    r->owner = mpi_rank_index(self);
    r->flags = MPI_REQ_HEAP;
    r->kind = MPI_REQ_NOOP;
    return r;
}

void mpi_req_orphan(struct mpi_rank *self, struct mpi_req *r)
{
    r->flags |= MPI_REQ_ORPHAN;
    if (r->kind == MPI_REQ_SEND)
        mpi_ext_get(self)->orphans++;
}

uint32_t mpi_req_orphans(const struct mpi_rank *self)
{
    return self->ext ? self->ext->orphans : 0;
}

void mpi_note_end(struct mpi_rank *self, vtime t)
{
    struct mpi_rare *x = mpi_rare_get(self);

    if (t > x->ended)
        x->ended = t;
}

/* Frees what only some kinds have. */
static void release_more(struct mpi_req *r)
{
    if (r->flags & MPI_REQ_OWN_BUF)
        mem_free(r->buf);
    if (r->kind == MPI_REQ_GREQ)
        mpi_greq_free(r);
    else if ((r->kind == MPI_REQ_PSEND || r->kind == MPI_REQ_PRECV) && r->partitions)
        mpi_partitioned_free(r);
}

void mpi_req_release(struct mpi_req *r)
{
    struct table *table;

    if (r == &sent)
        return;
    if ((r->flags & MPI_REQ_ORPHAN) && r->kind == MPI_REQ_SEND) {
        mpi_world.ranks[r->owner].ext->orphans--;
        mpi_note_end(&mpi_world.ranks[r->owner], r->complete);
    }
    if (r->kind == MPI_REQ_WORK && r->work)
        r->work->free(&mpi_world.ranks[r->owner], r);
    if (r->flags & MPI_REQ_CHILD)
        mpi_child_ended(r);
    else if (r->kept)
        mpi_comm_drop(r->kept);
    if (r->type)
        mpi_type_unref(r->type);
    if (__builtin_expect(r->kind > MPI_REQ_PAIR || (r->flags & MPI_REQ_OWN_BUF), 0))
        release_more(r);
    r->type = NULL;
    r->kept = NULL;
    r->kind = MPI_REQ_FREE;
    table = table_of(r->owner);
    r->next = table->free;
    table->free = r;
}

void mpi_req_done(struct mpi_req *r, vtime t, int error)
{
    r->complete = t;
    r->error = (int16_t)error;
    r->flags |= MPI_REQ_DONE;
    if (r->flags & MPI_REQ_ORPHAN)
        mpi_req_release(r);
}

void mpi_req_keep(struct mpi_req *r, struct mpi_comm *c, struct mpi_type *type)
{
    mpi_type_ref(type);
    mpi_comm_keep(c);
    r->type = type;
    r->kept = c;
    r->comm = (uint32_t)c->handle;
}

MPI_Request mpi_req_handle(const struct mpi_req *r)
{
    return (MPI_Request)(HANDLE_BASE | r->id);
}

struct mpi_req *mpi_req_get_any(struct mpi_rank *self, MPI_Request h)
{
    const struct table *table = table_of(mpi_rank_index(self));
    uint32_t id = (uint32_t)h & INDEX_MASK;
    struct mpi_req *r;

    if (((uint32_t)h & ~INDEX_MASK) != HANDLE_BASE)
        return mpi_req_is_sent((uint32_t)h) ? &sent : NULL;
    if (id >= table->chunk_count * CHUNK)
        return NULL;
    r = &table->chunks[id / CHUNK][id % CHUNK];
    if (r->kind == MPI_REQ_FREE || r->owner != mpi_rank_index(self) || (r->flags & MPI_REQ_CHILD))
        return NULL;
    return r;
}

struct mpi_req *mpi_req_get(struct mpi_rank *self, MPI_Request h)
{
    struct mpi_req *r = mpi_req_get_any(self, h);

    return r && !(r->flags & MPI_REQ_ORPHAN) ? r : NULL;
}

void mpi_req_each_left(void (*fn)(const struct mpi_req *, void *), void *arg)
{
    for (uint32_t t = 0; t < TABLES; t++)
        for (uint32_t i = 0; i < tables[t].chunk_count * CHUNK; i++) {
            const struct mpi_req *r = &tables[t].chunks[i / CHUNK][i % CHUNK];

            if (r->kind != MPI_REQ_FREE && !(r->flags & (MPI_REQ_ORPHAN | MPI_REQ_CHILD)))
                fn(r, arg);
        }
}

struct mpi_req *mpi_req_unfinished(struct mpi_rank *self, const struct mpi_comm *c, uint32_t *from)
{
    const struct table *table = table_of(mpi_rank_index(self));

    for (; *from < table->chunk_count * CHUNK; ++*from) {
        struct mpi_req *r = &table->chunks[*from / CHUNK][*from % CHUNK];

        if (r->kind == MPI_REQ_FREE || r->owner != mpi_rank_index(self) ||
            (r->flags & MPI_REQ_CHILD) || r->kept != c || mpi_req_is_idle(r))
            continue;
        if (!(r->flags & MPI_REQ_DONE))
            return r;
        mpi_req_charge(self, r);
    }
    return NULL;
}

const struct mpi_comm *mpi_req_comm(const struct mpi_req *r)
{
    int is_kept = (r->flags & (MPI_REQ_HEAP | MPI_REQ_CHILD)) == MPI_REQ_HEAP && r->kept;

    return is_kept ? r->kept : mpi_comm_at((MPI_Comm)r->comm);
}

enum mpi_fn mpi_req_maker(const struct mpi_req *r)
{
    static const enum mpi_fn started[] = {MPI_FN_ISEND, MPI_FN_IBSEND, MPI_FN_ISSEND,
                                          MPI_FN_IRSEND};
    static const enum mpi_fn persistent[] = {MPI_FN_SEND_INIT, MPI_FN_BSEND_INIT, MPI_FN_SSEND_INIT,
                                             MPI_FN_RSEND_INIT};
    int is_persistent = (r->flags & MPI_REQ_PERSISTENT) != 0;

    if (r->flags & MPI_REQ_CHILD)
        return MPI_FN_ISENDRECV;
    switch ((enum mpi_req_kind)r->kind) {
    case MPI_REQ_SEND:
        return is_persistent ? persistent[r->mode] : started[r->mode];
    case MPI_REQ_RECV:
        return is_persistent ? MPI_FN_RECV_INIT : MPI_FN_IRECV;
    case MPI_REQ_PAIR:
        return MPI_FN_ISENDRECV;
    case MPI_REQ_GREQ:
        return MPI_FN_GREQUEST_START;
    case MPI_REQ_PSEND:
        return MPI_FN_PSEND_INIT;
    case MPI_REQ_PRECV:
        return MPI_FN_PRECV_INIT;
    default:
        return MPI_FN_COUNT; /* to MPI_PROC_NULL, or not point-to-point */
    }
}

/* ---- statuses ---- */

static void set_count(MPI_Status *s, uint64_t bytes, int cancelled)
{
    s->count_lo = (int)(uint32_t)bytes;
    s->count_hi_and_cancelled = (int)((uint32_t)(bytes >> 32) << 1 | (uint32_t)(cancelled != 0));
}

void mpi_status_empty(MPI_Status *s)
{
    if (s == MPI_STATUS_IGNORE)
        return;
    s->MPI_SOURCE = MPI_ANY_SOURCE;
    s->MPI_TAG = MPI_ANY_TAG;
    s->MPI_ERROR = MPI_SUCCESS;
    set_count(s, 0, 0);
}

static void status_proc_null(MPI_Status *s)
{
    s->MPI_SOURCE = MPI_PROC_NULL;
    s->MPI_TAG = MPI_ANY_TAG;
    set_count(s, 0, 0);
}

uint64_t mpi_req_received(const struct mpi_req *r)
{
    if (r->error == MPI_ERR_TRUNCATE && r->kind == MPI_REQ_RECV)
        return r->bytes > r->count * r->type->size ? r->count * r->type->size
                                                   : mpi_type_whole_bytes(r->type, r->bytes);
    return r->bytes;
}

void mpi_status_set(MPI_Status *s, const struct mpi_req *r)
{
    struct mpi_comm *c;

    if (s == MPI_STATUS_IGNORE)
        return;
    if (r->kind == MPI_REQ_NOOP) {
        status_proc_null(s);
        return;
    }
    if (r->kind == MPI_REQ_WORK) {
        s->MPI_SOURCE = MPI_ANY_SOURCE;
        s->MPI_TAG = MPI_ANY_TAG;
        set_count(s, r->bytes, 0);
        return;
    }
    if (r->kind == MPI_REQ_SEND || r->kind == MPI_REQ_PSEND || (r->flags & MPI_REQ_CANCELLED)) {
        s->MPI_SOURCE = MPI_ANY_SOURCE;
        s->MPI_TAG = MPI_ANY_TAG;
        set_count(s, 0, r->flags & MPI_REQ_CANCELLED);
        return;
    }
    if (r->kind == MPI_REQ_PAIR && r->got_peer == MPI_PROC_NULL) {
        status_proc_null(s);
        return;
    }
    c = r->kept ? r->kept : mpi_comm_get((MPI_Comm)r->comm);
    s->MPI_SOURCE = c ? mpi_comm_rank_of(c, (uint32_t)r->got_peer) : r->got_peer;
    s->MPI_TAG = r->got_tag;
    set_count(s, mpi_req_received(r), 0);
}

int mpi_req_is_idle(const struct mpi_req *r)
{
    return (r->flags & (MPI_REQ_PERSISTENT | MPI_REQ_ACTIVE)) == MPI_REQ_PERSISTENT;
}

/* The program's query function fills the status; its free function is called when the request is
 * released. */
static int finish_greq(struct mpi_rank *self, struct mpi_req *r, MPI_Request *h, MPI_Status *s)
{
    int error = mpi_greq_query(self, r, s), free_error = mpi_greq_release(self, r);

    *h = MPI_REQUEST_NULL;
    return error ? error : free_error;
}

int mpi_req_finish(struct mpi_rank *self, struct mpi_req *r, MPI_Request *h, MPI_Status *s)
{
    int error = r->error;

    if (mpi_costs_are_for_requests())
        mpi_costs_finish(self, r);
    mpi_req_charge(self, r);
    mpi_observe_request(self, MPI_REQUEST_COMPLETE, r);
    if (__builtin_expect(r->kind == MPI_REQ_GREQ, 0))
        return finish_greq(self, r, h, s);
    if (__builtin_expect(error != MPI_SUCCESS, 0))
        mpi_misfit_note(self, r);
    mpi_status_set(s, r);
    if (r->flags & MPI_REQ_PERSISTENT) {
        r->flags &= (uint16_t)~MPI_REQ_ACTIVE;
        return error;
    }
    mpi_req_release(r);
    *h = MPI_REQUEST_NULL;
    return error;
}

int mpi_req_raise(struct mpi_rank *self, MPI_Comm comm, int error)
{
    char text[MPI_MISFIT_TEXT];

    if (error == MPI_ERR_TRUNCATE && mpi_misfit_text(self, text, sizeof text))
        return mpi_raise(self, comm, error, "%s", text);
    if (error == MPI_ERR_TRUNCATE)
        return mpi_raise(self, comm, error,
                         "the message is longer than the receive buffer, or ends within an item");
    if (error == MPI_ERR_OTHER)
        return mpi_raise(self, comm, error, "a message was shorter than its receiver expected");
    if (mpi_comm_window(mpi_comm_at(comm)) != MPI_WIN_NULL)
        return mpi_raise_win(self, mpi_comm_window(mpi_comm_at(comm)), error,
                             "the operation failed");
    return mpi_raise(self, comm, error, "the operation failed");
}

int mpi_req_look_up(struct mpi_rank *self, int n, const MPI_Request *hs)
{
    for (int i = 0; i < n; i++)
        if (hs[i] != MPI_REQUEST_NULL && !mpi_req_get(self, hs[i]))
            return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_REQUEST,
                             "request %d of %d (0x%x) is not a live request", i, n,
                             (unsigned)hs[i]);
    return MPI_SUCCESS;
}

struct mpi_req *mpi_req_pending(struct mpi_rank *self, MPI_Request h)
{
    struct mpi_req *r = h == MPI_REQUEST_NULL ? NULL : mpi_req_get(self, h);

    return r && !mpi_req_is_idle(r) ? r : NULL;
}
