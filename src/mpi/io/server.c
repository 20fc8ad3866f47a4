/*
 * server.c - the agents of MPI-IO: file servers, shared file pointers, turns in atomic mode.
 *
 * A server handles one request after the other, in the order in which they arrive:
 *
 *     done = max(done before, arrival) + io.latency + bytes / io.bandwidth
 *
 * (io.open_cost for a metadata operation), and answers then. Server s belongs to the agent of world
 * rank s * ranks / servers. The agent of the first rank of the file's communicator keeps the shared
 * pointer of a file and the turns of atomic mode: it answers at once.
 */
#include "mpi/io/io_internal.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

/* Picoseconds to send 8 bits at 1 bit/s, in 2^-20 ps. */
#define SCALE (8e12 * 1048576.0)

#define SERVERS_MAX (1u << 20)

static struct {
    vtime *done; /* per server; of the servers whose agents are here */
    uint64_t ps_per_byte;
} servers;

static const struct platform_config *config(void)
{
    return &mpi_world.opt->platform;
}

uint32_t io_servers(void)
{
    uint64_t n = config()->io_servers;

    return n < SERVERS_MAX ? (uint32_t)n : SERVERS_MAX;
}

/* FNV-1a of the last component: the directory may differ between runs. */
uint64_t io_hash_name(const char *name)
{
    const char *slash = strrchr(name, '/');
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (const char *c = slash ? slash + 1 : name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    return hash ^ hash >> 32;
}

/* ---- requests ---- */

static void ask(struct mpi_rank *self, uint32_t dst, enum io_ask what, uint32_t ctx, uint64_t value,
                uint64_t on_the_way, void *cookie, vtime t)
{
    struct mpi_msg *m = mpi_service_new(self, dst, MPI_SERVICE_IO, 0);

    m->tag = (int32_t)what;
    m->ctx = ctx;
    m->bytes = value;
    m->cookie = (uint64_t)(uintptr_t)cookie;
    mpi_service_send_on(m, on_the_way, t);
}

void io_ask_server(struct mpi_rank *self, uint32_t s, enum io_ask what, uint64_t bytes,
                   void *cookie, vtime t)
{
    uint32_t dst = (uint32_t)((uint64_t)s * mpi_world.size / io_servers());

    ask(self, dst, what, s, bytes, what == IO_ASK_WRITE ? bytes : 0, cookie, t);
}

void io_ask_first(struct mpi_rank *self, const struct io_file *f, enum io_ask what, int64_t value,
                  void *cookie, vtime t)
{
    ask(self, mpi_comm_world_rank(f->s->comm, 0), what, f->s->ctx, (uint64_t)value, 0, cookie, t);
}

/* ---- serving ---- */

static void set_up(void)
{
    double bandwidth = config()->io_bandwidth;

    servers.done = mem_zalloc(io_servers() * sizeof *servers.done);
    servers.ps_per_byte = isinf(bandwidth) ? 0 : (uint64_t)llround(SCALE / bandwidth);
}

/* Time that a server needs for a request. */
static vtime work(const struct mpi_msg *m)
{
    if (m->tag == IO_ASK_METADATA)
        return config()->io_open_cost;
    return vtime_add(config()->io_latency, vtime_mul_q(m->bytes, servers.ps_per_byte));
}

static void serve_request(struct mpi_rank *self, struct mpi_msg *m, vtime t)
{
    vtime *done;

    if (!servers.done)
        set_up();
    done = &servers.done[m->ctx];
    *done = vtime_add(*done > t ? *done : t, work(m));
    mpi_service_reply(mpi_service_answer(self, m, 0), m->tag == IO_ASK_READ ? m->bytes : 0, *done);
    engine_msg_free(&mpi_world.engine, &m->em);
}

static void answer(struct mpi_rank *self, struct mpi_msg *m, uint64_t value, vtime t)
{
    struct mpi_msg *a = mpi_service_answer(self, m, 0);

    a->bytes = value;
    mpi_service_reply(a, 0, t);
    engine_msg_free(&mpi_world.engine, &m->em);
}

static void serve_pointer(struct mpi_rank *self, struct io_shared *s, struct mpi_msg *m, vtime t)
{
    int64_t old = s->pointer;

    s->pointer = m->tag == IO_ASK_SET ? (int64_t)m->bytes : old + (int64_t)m->bytes;
    answer(self, m, (uint64_t)old, t);
}

/* Waiting requests are kept as the messages they came in, in a ring. */
static void serve_turn(struct mpi_rank *self, struct io_shared *s, struct mpi_msg *m, vtime t)
{
    if (!s->turn_taken) {
        s->turn_taken = 1;
        answer(self, m, 0, t);
        return;
    }
    m->em.next = &m->em;
    if (s->turns) {
        m->em.next = s->turns->em.next;
        s->turns->em.next = &m->em;
    }
    s->turns = m;
}

static void serve_turn_end(struct mpi_rank *self, struct io_shared *s, struct mpi_msg *m, vtime t)
{
    engine_msg_free(&mpi_world.engine, &m->em);
    if (!s->turns) {
        s->turn_taken = 0;
        return;
    }
    m = (struct mpi_msg *)s->turns->em.next;
    if (m == s->turns)
        s->turns = NULL;
    else
        s->turns->em.next = m->em.next;
    answer(self, m, 0, t);
}

void io_serve(struct mpi_rank *self, struct mpi_msg *m, vtime t)
{
    enum io_ask what = (enum io_ask)m->tag;

    if (what <= IO_ASK_METADATA)
        serve_request(self, m, t);
    else if (what <= IO_ASK_SET)
        serve_pointer(self, io_shared_find(m->ctx), m, t);
    else if (what == IO_ASK_TURN)
        serve_turn(self, io_shared_find(m->ctx), m, t);
    else
        serve_turn_end(self, io_shared_find(m->ctx), m, t);
}

void io_reply(struct mpi_rank *self, struct mpi_msg *m)
{
    io_op_answer(self, (struct io_op *)(uintptr_t)m->cookie, m);
    engine_msg_free(&mpi_world.engine, &m->em);
}
