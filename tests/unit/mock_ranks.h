/*
 * Ranks as coroutines over a small message layer that stands in for mpi/p2p, mpi/comm and mpi/error
 * in tests of code that runs on a rank's stack.
 *
 * Messages match by (source, destination, tag) in order. Those above `eager` bytes complete only
 * when received, so a wrong order of blocking sends shows as a deadlock. Ranks run in random order.
 * One test program is one translation unit that includes this header.
 */
#ifndef MOCK_RANKS_H
#define MOCK_RANKS_H

#include <stdlib.h>
#include <ucontext.h>

#include "base/mem.h"
#include "mpi/coll/message.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/topology.h"
#include "mpi/datatype/datatype.h"
#include "mpi/error.h"
#include "mpi/p2p/p2p_internal.h"
#include "mpi/verify.h"

enum { MAX_RANKS = 17, STACK = 64 << 10 };

/* ---- random numbers ---- */

static uint64_t rng_state;
static uint32_t rnd(uint32_t n)
{
    rng_state = rng_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(rng_state >> 33) % n;
}

/* ---- the message layer ---- */

struct message {
    struct message *next;
    int src, dst, tag;
    uint64_t bytes;
    struct mpi_req *sender; /* still waiting, or NULL */
    char data[];
};

struct mpi_world mpi_world;
struct vp_private vp_private;
static struct mpi_group group;
static struct mpi_comm comm_object;
static struct message *messages; /* in order of sending */
static struct mpi_req *posted;   /* in order of posting */
static uint64_t eager, sent;
static uint64_t traffic; /* depends on all messages, not on their order */
static uint64_t carried; /* bytes of messages that were not sent from hollow buffers */
static int last_class;

static ucontext_t main_context, contexts[MAX_RANKS];
static char *stacks[MAX_RANKS];
static int running, blocked[MAX_RANKS], progress;
static void (*body)(int rank);

static void yield(void)
{
    swapcontext(&contexts[running], &main_context);
}

static void finish_recv(struct mpi_req *req, struct message *m)
{
    uint64_t room = req->count * req->type->size;

    req->error = m->bytes > room ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
    mpi_type_unpack(req->type, req->count, req->buf, m->data, m->bytes < room ? m->bytes : room);
    req->flags |= MPI_REQ_DONE;
    if (m->sender)
        m->sender->flags |= MPI_REQ_DONE;
    mem_free(m);
    progress = 1;
}

/* Our number of rank r of c, which is the world or some members of it. */
static int number_of(const struct mpi_comm *c, int r)
{
    int i = 0;

    if (c == &comm_object)
        return r;
    while (mpi_group_world_rank(&group, (uint32_t)i) != mpi_group_world_rank(c->group, (uint32_t)r))
        i++;
    return i;
}

void mpi_coll_isend(struct mpi_rank *self, struct mpi_comm *c, struct mpi_req *req, const void *buf,
                    uint64_t count, struct mpi_type *type, int dst, int tag)
{
    uint64_t bytes = count * type->size;
    struct message *m = (struct message *)mem_alloc(sizeof *m + bytes);

    sent++;
    dst = number_of(c, dst);
    *m = (struct message){.src = (int)mpi_rank_id(self), .dst = dst, .tag = tag, .bytes = bytes};
    mpi_type_pack(type, count, buf, m->data);
    traffic += ((bytes * 31 + (uint64_t)dst) * 31 + (uint64_t)m->src + 1) * 0x9e3779b97f4a7c15u;
    carried += mpi_data_is_hollow(buf, type) ? 0 : bytes;
    *req = (struct mpi_req){.kind = MPI_REQ_SEND};
    if (bytes && bytes > eager)
        m->sender = req;
    else
        req->flags = MPI_REQ_DONE;
    for (struct mpi_req **p = &posted; *p; p = &(*p)->next)
        if ((*p)->peer == m->src && (*p)->tag == tag && (int)(*p)->owner == dst) {
            struct mpi_req *found = *p;
            *p = found->next;
            finish_recv(found, m);
            return;
        }
    struct message **end = &messages;
    while (*end)
        end = &(*end)->next;
    *end = m;
}

void mpi_coll_irecv(struct mpi_rank *self, struct mpi_comm *c, struct mpi_req *req, void *buf,
                    uint64_t count, struct mpi_type *type, int src, int tag)
{
    src = number_of(c, src);
    *req = (struct mpi_req){.kind = MPI_REQ_RECV,
                            .buf = buf,
                            .count = count,
                            .type = type,
                            .peer = src,
                            .tag = tag,
                            .owner = mpi_rank_id(self)};
    for (struct message **p = &messages; *p; p = &(*p)->next)
        if ((*p)->src == src && (*p)->tag == tag && (*p)->dst == (int)req->owner) {
            struct message *found = *p;
            *p = found->next;
            finish_recv(req, found);
            return;
        }
    struct mpi_req **end = &posted;
    while (*end)
        end = &(*end)->next;
    *end = req;
}

int mpi_p2p_waitall(struct mpi_rank *self, struct mpi_req *reqs, uint32_t n)
{
    int rc = MPI_SUCCESS;

    (void)self;
    for (uint32_t i = 0; i < n; i++) {
        while (!(reqs[i].flags & MPI_REQ_DONE))
            yield();
        rc = rc ? rc : reqs[i].error;
    }
    return rc;
}

int mpi_coll_send(struct mpi_rank *self, struct mpi_comm *c, const void *buf, uint64_t count,
                  struct mpi_type *type, int dst, int tag)
{
    struct mpi_req req;
    mpi_coll_isend(self, c, &req, buf, count, type, dst, tag);
    return mpi_p2p_waitall(self, &req, 1);
}

int mpi_coll_recv(struct mpi_rank *self, struct mpi_comm *c, void *buf, uint64_t count,
                  struct mpi_type *type, int src, int tag)
{
    struct mpi_req req;
    mpi_coll_irecv(self, c, &req, buf, count, type, src, tag);
    return mpi_p2p_waitall(self, &req, 1);
}

int mpi_coll_sendrecv(struct mpi_rank *self, struct mpi_comm *c, const void *sbuf, uint64_t scount,
                      struct mpi_type *stype, int dst, void *rbuf, uint64_t rcount,
                      struct mpi_type *rtype, int src, int tag)
{
    struct mpi_req reqs[2];
    mpi_coll_irecv(self, c, &reqs[0], rbuf, rcount, rtype, src, tag);
    mpi_coll_isend(self, c, &reqs[1], sbuf, scount, stype, dst, tag);
    return mpi_p2p_waitall(self, reqs, 2);
}

struct mpi_comm *mpi_comm_get(MPI_Comm handle)
{
    return handle == MPI_COMM_WORLD ? &comm_object : NULL;
}

int mpi_group_rank_of(struct mpi_group *g, uint32_t world)
{
    (void)g;
    return (int)world;
}

int mpi_raise(struct mpi_rank *self, MPI_Comm comm, int error_class, const char *fmt, ...)
{
    (void)self;
    (void)comm;
    (void)fmt;
    last_class = error_class;
    return error_class;
}

/* Nothing is checked, and errors have no more to say. */
void mpi_verify_coll(struct mpi_rank *self, const struct mpi_comm *c, const struct mpi_coll_args *a,
                     enum mpi_verify_way way)
{
    (void)self;
    (void)c;
    (void)a;
    (void)way;
}

const char *mpi_misfit_text(struct mpi_rank *self, char *out, size_t n)
{
    (void)self;
    (void)out;
    (void)n;
    return NULL;
}

void mpi_clock_overflow(struct mpi_rank *self)
{
    (void)self;
    abort();
}

static void start(void)
{
    body(running);
    blocked[running] = 0;
}

static void prepare(int rank)
{
    getcontext(&contexts[rank]);
    contexts[rank].uc_stack.ss_sp = stacks[rank];
    contexts[rank].uc_stack.ss_size = STACK;
    contexts[rank].uc_link = &main_context;
    makecontext(&contexts[rank], start, 0);
    blocked[rank] = 1;
}

/* Runs the ranks in random order until all are done; 1, or 0 at a deadlock. */
__attribute__((unused)) static int run_ranks(int size, void (*fn)(int rank))
{
    int idle = 0;

    body = fn;
    for (int i = 0; i < size; i++)
        prepare(i);
    while (idle < 2) {
        int left = 0, first = (int)rnd((uint32_t)size);
        progress = 0;
        for (int i = 0; i < size; i++) {
            running = (first + i) % size;
            if (!blocked[running])
                continue;
            swapcontext(&main_context, &contexts[running]);
            progress |= !blocked[running];
            left |= blocked[running];
        }
        if (!left)
            return !messages && !posted;
        idle = progress ? 0 : idle + 1;
    }
    return 0;
}

/* ---- what collectives need beside messages ---- */

/* Charging time is the clock's. */
void mpi_user_begin(void);
void mpi_user_end(void);
void mpi_user_begin(void)
{
}
void mpi_user_end(void)
{
}

/* There are no topologies. */
struct mpi_degrees mpi_topo_degrees(const struct mpi_rank *self, const struct mpi_comm *c)
{
    (void)self, (void)c;
    return (struct mpi_degrees){0, 0};
}
int mpi_topo_neighbors(const struct mpi_rank *self, const struct mpi_comm *c,
                       struct mpi_neighbors *n)
{
    (void)self, (void)c, (void)n;
    return MPI_ERR_TOPOLOGY;
}
void mpi_neighbors_fini(struct mpi_neighbors *n)
{
    (void)n;
}

#endif
