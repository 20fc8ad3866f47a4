/*
 * match_rank.h - a rank of prop_match.c: performs the operations of its program by calls of the
 * middleware, and logs what they return.
 */
#ifndef MATCH_RANK_H
#define MATCH_RANK_H

#include "match_program.h"
#include "mpi/p2p/p2p_internal.h"
#include "mpi_impl.h"
#include "vp_standin.h"

static struct params params;
static struct program program;
static MPI_Comm comms[COMMS];
static struct log logs[RANKS_MAX];
static vtime clocks[RANKS_MAX];
static int ended[RANKS_MAX], corrupt;

struct slot {
    MPI_Request request;
    int send;
    unsigned char buf[BYTES_MAX];
};
static struct slot slots[RANKS_MAX][SLOTS];

static void payload_fill(unsigned char *buf, uint32_t bytes, uint64_t id)
{
    for (uint32_t i = 0; i < bytes; i++)
        buf[i] = i < 8 ? (unsigned char)(id >> 8 * i) : (unsigned char)(id * 31 + i);
}

static uint64_t payload_id(const unsigned char *buf, uint32_t bytes)
{
    unsigned char want[BYTES_MAX];
    uint64_t id = 0;

    if (bytes < 8)
        return 0;
    memcpy(&id, buf, 8);
    payload_fill(want, bytes, id);
    corrupt += memcmp(buf, want, bytes) != 0;
    return id;
}

static void log_status(int rank, const MPI_Status *s, const unsigned char *buf)
{
    struct log *l = &logs[rank];
    int cancelled, count;

    mpi_test_cancelled(&mpi_world.ranks[rank], s, &cancelled);
    mpi_get_count(&mpi_world.ranks[rank], s, MPI_BYTE, &count);
    log_add(l, cancelled);
    if (cancelled)
        return;
    log_add(l, s->MPI_SOURCE);
    log_add(l, s->MPI_TAG);
    log_add(l, count);
    log_add(l, (int64_t)payload_id(buf, (uint32_t)count));
}

static void log_slot(int rank, int i, const MPI_Status *s)
{
    if (!slots[rank][i].send)
        log_status(rank, s, slots[rank][i].buf);
}

static int source(const struct op *o)
{
    return o->peer == ANY ? MPI_ANY_SOURCE : o->peer;
}

static int tag(int t)
{
    return t == ANY_TAG ? MPI_ANY_TAG : t;
}

static void start(int rank, struct mpi_rank *self, const struct op *o)
{
    struct slot *s = &slots[rank][o->slot];
    MPI_Comm comm = comms[o->comm];

    if (s->request != MPI_REQUEST_NULL)
        return;
    s->send = o->kind != OP_IRECV;
    if (s->send)
        payload_fill(s->buf, o->bytes, o->id);
    if (o->kind == OP_IRECV)
        mpi_irecv_c(self, s->buf, BYTES_MAX, MPI_BYTE, source(o), tag(o->tag), comm, &s->request);
    else if (o->kind == OP_ISEND)
        mpi_isend_c(self, s->buf, (int)o->bytes, MPI_BYTE, o->peer, o->tag, comm, &s->request);
    else if (o->kind == OP_ISSEND)
        mpi_issend_c(self, s->buf, (int)o->bytes, MPI_BYTE, o->peer, o->tag, comm, &s->request);
    else
        mpi_ibsend_c(self, s->buf, (int)o->bytes, MPI_BYTE, o->peer, o->tag, comm, &s->request);
}

/* The slots of the mask as arrays. */
static int gather(int rank, uint32_t mask, MPI_Request *requests, int *index)
{
    int n = 0;

    for (int i = 0; i < SLOTS; i++)
        if (mask >> i & 1) {
            index[n] = i;
            requests[n++] = slots[rank][i].request;
        }
    return n;
}

static void wait_several(int rank, struct mpi_rank *self, const struct op *o)
{
    MPI_Request requests[SLOTS];
    MPI_Status statuses[SLOTS];
    int index[SLOTS], done[SLOTS], n = gather(rank, o->mask, requests, index), count = 0;

    if (o->kind == OP_WAITANY) {
        mpi_waitany(self, n, requests, &done[0], &statuses[0]);
        count = done[0] != MPI_UNDEFINED;
    } else if (o->kind == OP_WAITSOME) {
        mpi_waitsome(self, n, requests, &count, done, statuses);
        if (count == MPI_UNDEFINED)
            count = 0;
    } else {
        mpi_waitall(self, n, requests, statuses);
        for (int i = 0; i < n; i++)
            if (slots[rank][index[i]].request != MPI_REQUEST_NULL)
                log_slot(rank, index[i], &statuses[i]);
    }
    for (int i = 0; i < count; i++) {
        log_add(&logs[rank], index[done[i]]);
        log_slot(rank, index[done[i]], &statuses[i]);
    }
    for (int i = 0; i < n; i++)
        slots[rank][index[i]].request = requests[i];
}

static void finish_one(int rank, struct mpi_rank *self, const struct op *o)
{
    struct slot *s = &slots[rank][o->slot];
    MPI_Status status;
    int flag = 1;

    if (s->request == MPI_REQUEST_NULL || (o->kind == OP_CANCEL && s->send))
        return;
    if (o->kind == OP_TEST) {
        mpi_test(self, &s->request, &flag, &status);
        log_add(&logs[rank], flag);
    } else {
        if (o->kind == OP_CANCEL)
            mpi_cancel(self, &s->request);
        mpi_wait(self, &s->request, &status);
    }
    if (flag)
        log_slot(rank, o->slot, &status);
}

static void log_probe(int rank, int flag, const MPI_Status *s)
{
    int count;

    log_add(&logs[rank], flag);
    if (!flag)
        return;
    mpi_get_count(&mpi_world.ranks[rank], s, MPI_BYTE, &count);
    log_add(&logs[rank], s->MPI_SOURCE);
    log_add(&logs[rank], s->MPI_TAG);
    log_add(&logs[rank], count);
}

static void look(int rank, struct mpi_rank *self, const struct op *o)
{
    MPI_Comm comm = comms[o->comm];
    MPI_Status s = {.MPI_SOURCE = -77, .MPI_TAG = -77};
    MPI_Message message;
    unsigned char buf[BYTES_MAX];
    int flag = 1;

    if (o->kind == OP_PROBE)
        mpi_probe(self, source(o), tag(o->tag), comm, &s);
    else if (o->kind == OP_MPROBE)
        mpi_mprobe(self, source(o), tag(o->tag), comm, &message, &s);
    else
        mpi_iprobe(self, source(o), tag(o->tag), comm, &flag, &s);
    log_probe(rank, flag, &s);
    if (!flag || o->kind == OP_PROBE || o->kind == OP_IPROBE)
        return;
    if (o->kind == OP_MPROBE)
        mpi_mrecv_c(self, buf, BYTES_MAX, MPI_BYTE, &message, &s);
    else
        mpi_recv_c(self, buf, BYTES_MAX, MPI_BYTE, s.MPI_SOURCE, s.MPI_TAG, comm, &s);
    log_status(rank, &s, buf);
}

static void blocking(int rank, struct mpi_rank *self, const struct op *o)
{
    MPI_Comm comm = comms[o->comm];
    unsigned char out[BYTES_MAX], in[BYTES_MAX];
    MPI_Status s;

    payload_fill(out, o->bytes, o->id);
    if (o->kind == OP_SEND) {
        mpi_send_c(self, out, (int)o->bytes, MPI_BYTE, o->peer, o->tag, comm);
        return;
    }
    if (o->kind == OP_RECV)
        mpi_recv_c(self, in, BYTES_MAX, MPI_BYTE, source(o), tag(o->tag), comm, &s);
    else
        mpi_sendrecv_c(self, out, (int)o->bytes, MPI_BYTE, o->peer, o->tag, in, BYTES_MAX, MPI_BYTE,
                       o->peer2 == ANY ? MPI_ANY_SOURCE : o->peer2, tag(o->tag2), comm, &s);
    log_status(rank, &s, in);
}

static void perform(int rank, struct mpi_rank *self, const struct op *o)
{
    switch (o->kind) {
    case OP_COMPUTE:
        mpi_clock_spend(self, o->arg);
        break;
    case OP_ISEND:
    case OP_ISSEND:
    case OP_IBSEND:
    case OP_IRECV:
        start(rank, self, o);
        break;
    case OP_SEND:
    case OP_RECV:
    case OP_SENDRECV:
        blocking(rank, self, o);
        break;
    case OP_WAITALL:
    case OP_WAITANY:
    case OP_WAITSOME:
        wait_several(rank, self, o);
        break;
    case OP_WAIT:
    case OP_TEST:
    case OP_CANCEL:
        finish_one(rank, self, o);
        break;
    default:
        look(rank, self, o);
        break;
    }
}

/* The program, and then on duty for the protocol until nothing moves any more. */
static void rank_main(int rank)
{
    struct mpi_rank *self = &mpi_world.ranks[rank];
    static char room[RANKS_MAX][1 << 16];

    self->phase = MPI_PHASE_ACTIVE;
    if (rank < params.ranks) {
        mpi_buffer_attach_c(self, room[rank], sizeof room[rank]);
        for (int i = 0; i < program.count[rank]; i++) {
            perform(rank, self, &program.ops[rank][i]);
            log_add(&logs[rank], self->ent.clock);
        }
        ended[rank] = 1;
    }
    clocks[rank] = self->ent.clock;
    mpi_drain(self);
    while (!mpi_decision_step(self, VTIME_LIMIT - 1, NULL))
        ;
    self->vp.ended = 1;
    vp_suspend();
}

#endif
