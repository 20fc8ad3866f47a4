/*
 * p2p.h - random valid point-to-point traffic on a communicator: all send modes, named and wildcard
 * receives, probes of all kinds, persistent and partitioned requests, exchanges, receives that are
 * cancelled. Every message is checked, and that messages of one source come in order.
 */
#ifndef TESTS_RANDOM_P2P_H
#define TESTS_RANDOM_P2P_H

#include "comms.h"

enum { MESSAGES_MAX = 40 };

struct message {
    int src, dst, tag, mode, bytes, strided;
    uint64_t id; /* rises for each source */
};

static struct message messages[MESSAGES_MAX];
static int message_count;
static unsigned char *outgoing[MESSAGES_MAX], *incoming[MESSAGES_MAX];
static int mine[MESSAGES_MAX], mine_count;

/* Makes a list that is the same on every member. On an intercommunicator both groups send to the
 * other. */
static void make_messages(const struct comm *c, struct draw *d)
{
    int senders = c->is_inter ? c->size + c->others : c->size, most = 8 + (int)draw(d, 24);
    message_count = mine_count = 0;
    while (message_count < most) {
        struct message *m = &messages[message_count];
        int sender = (int)draw(d, (uint32_t)senders), from_first = sender < c->first_size;
        int targets = !c->is_inter ? c->size : from_first ? senders - c->first_size : c->first_size;
        int receiver = (int)draw(d, (uint32_t)targets);
        *m = (struct message){.src = from_first || !c->is_inter ? sender : sender - c->first_size,
                              .dst = receiver,
                              .tag = (int)draw(d, 3),
                              .mode = (int)draw(d, 5),
                              .bytes = draw_bytes(d),
                              .strided = draw(d, 5) == 0};
        m->id = (uint64_t)run.action << 40 | (uint64_t)sender << 16 | (uint64_t)(message_count + 1);
        int is_mine = !c->is_inter || from_first != c->is_first;
        if (is_mine && receiver == c->rank)
            mine[mine_count++] = message_count;
        if (c->is_inter && from_first != c->is_first)
            m->src = -1 - m->src; /* of the other group: not to be sent here */
        message_count++;
    }
}

static int source_of(const struct message *m)
{
    return m->src < 0 ? -1 - m->src : m->src;
}

/* Every second byte of its memory, if it is strided. */
static MPI_Datatype strided_type(int bytes)
{
    MPI_Datatype type;
    MPI_Type_vector(bytes, 1, 2, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    return type;
}

static unsigned char *make_outgoing(const struct message *m)
{
    unsigned char *b = malloc((size_t)m->bytes * 2 + 1);
    fill(b, m->id, m->bytes);
    for (int i = m->bytes - 1; i > 0 && m->strided; i--)
        b[2 * i] = b[i];
    return b;
}

static void start_send(const struct comm *c, int i, int is_ready, MPI_Request *r)
{
    const struct message *m = &messages[i];
    int count = m->strided ? 1 : m->bytes;
    MPI_Datatype type = m->strided ? strided_type(m->bytes) : MPI_BYTE;
    unsigned char *b = outgoing[i] = make_outgoing(m);
    if (is_ready)
        MPI_Irsend(b, count, type, m->dst, m->tag, c->comm, r);
    else if (m->mode == 0)
        MPI_Issend(b, count, type, m->dst, m->tag, c->comm, r);
    else if (m->mode == 1)
        MPI_Ibsend(b, count, type, m->dst, m->tag, c->comm, r);
    else if (m->mode == 2) {
        MPI_Send_init(b, count, type, m->dst, m->tag, c->comm, r);
        MPI_Start(r);
    } else
        MPI_Isend(b, count, type, m->dst, m->tag, c->comm, r);
    if (m->strided)
        MPI_Type_free(&type);
}

static uint64_t last_of[64][3];

/* One received message: is it one that was sent to me, whole, and in its source's order? */
static void received(const unsigned char *b, const MPI_Status *s)
{
    const struct message *m = NULL;
    int bytes;
    MPI_Get_count(s, MPI_BYTE, &bytes);
    CHECK(bytes >= 8 && bytes <= BYTES_MAX);
    uint64_t id = id_in(b);
    for (int i = 0; i < mine_count; i++)
        if (messages[mine[i]].id == id)
            m = &messages[mine[i]];
    CHECK(m != NULL && source_of(m) == s->MPI_SOURCE && m->tag == s->MPI_TAG && m->bytes == bytes);
    CHECK(is_filled(b, id, bytes));
    CHECK(id > last_of[s->MPI_SOURCE][s->MPI_TAG]);
    last_of[s->MPI_SOURCE][s->MPI_TAG] = id;
    run.sum += id * 31 + (uint64_t)bytes;
}

static void post(const struct comm *c, int is_wild, int is_persistent, MPI_Request *r)
{
    for (int i = 0; i < mine_count; i++) {
        const struct message *m = &messages[mine[i]];
        int source = is_wild ? MPI_ANY_SOURCE : source_of(m);
        int tag = is_wild == 2 ? MPI_ANY_TAG : m->tag;
        incoming[i] = malloc(BYTES_MAX);
        if (is_persistent)
            MPI_Recv_init(incoming[i], BYTES_MAX, MPI_BYTE, source, tag, c->comm, &r[i]);
        else
            MPI_Irecv(incoming[i], BYTES_MAX, MPI_BYTE, source, tag, c->comm, &r[i]);
    }
    if (is_persistent && mine_count)
        MPI_Startall(mine_count, r);
}

/* Order holds for the order of posting: it is checked in that. */
static void receive_posted(int way, MPI_Request *r)
{
    MPI_Status s[MESSAGES_MAX];
    complete(way, mine_count, r, s);
    for (int i = 0; i < mine_count; i++) {
        received(incoming[i], &s[i]);
        note(id_in(incoming[i]));
        free(incoming[i]);
        if (r[i] != MPI_REQUEST_NULL)
            MPI_Request_free(&r[i]);
    }
}

/* One after another, by probing. */
static void receive_probed(const struct comm *c, int how)
{
    unsigned char *b = malloc(BYTES_MAX);
    for (int i = 0; i < mine_count; i++) {
        int flag = 0, bytes;
        MPI_Message handle;
        MPI_Status s;
        MPI_Request r;
        if (how == 0)
            MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, c->comm, &s);
        else if (how == 1)
            MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, c->comm, &handle, &s);
        for (; !flag && how == 2;)
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, c->comm, &flag, &s);
        for (; !flag && how == 3;)
            MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, c->comm, &flag, &handle, &s);
        MPI_Get_count(&s, MPI_BYTE, &bytes);
        CHECK(bytes >= 8 && bytes <= BYTES_MAX);
        if (how == 0 || how == 2) {
            MPI_Recv(b, bytes, MPI_BYTE, s.MPI_SOURCE, s.MPI_TAG, c->comm, &s);
        } else if (i % 2) {
            MPI_Mrecv(b, bytes, MPI_BYTE, &handle, &s);
        } else {
            MPI_Imrecv(b, bytes, MPI_BYTE, &handle, &r);
            MPI_Wait(&r, &s);
        }
        received(b, &s);
        note(id_in(b));
    }
    free(b);
}

#if RANDOM_HAS_CANCEL
/* A receive that nothing matches. */
static void cancel_one(const struct comm *c, int way)
{
    MPI_Request r;
    MPI_Status s;
    int flag = 0, word;
    MPI_Irecv(&word, 1, MPI_INT, way ? MPI_ANY_SOURCE : 0, 77, c->comm, &r);
    MPI_Test(&r, &flag, &s);
    CHECK(!flag);
    MPI_Cancel(&r);
    MPI_Wait(&r, &s);
    MPI_Test_cancelled(&s, &flag);
    CHECK(flag);
}
#else
static void cancel_one(const struct comm *c, int way)
{
    (void)c, (void)way;
}
#endif

static void end_sends(MPI_Request *r, int count, int way)
{
    MPI_Status s[MESSAGES_MAX];
    complete(way, count, r, s);
    for (int i = 0; i < count; i++)
        if (r[i] != MPI_REQUEST_NULL)
            MPI_Request_free(&r[i]);
    for (int i = 0; i < message_count; i++)
        free(outgoing[i]), outgoing[i] = NULL;
}

static void act_messages(const struct comm *c)
{
    struct draw d = draw_shared(), own = draw_own();
    MPI_Request sends[MESSAGES_MAX], receives[MESSAGES_MAX];
    int sent = 0, is_ready = draw(&d, 6) == 0, probes = (int)draw(&own, 3) == 0;
    int is_wild = (int)draw(&own, 3), persistent = draw(&own, 4) == 0;
    make_messages(c, &d);
    memset(last_of, 0, sizeof last_of);
    spend(&own);
    if (is_ready) {
        probes = is_wild = 0;
        post(c, is_wild, persistent, receives);
        MPI_Barrier(c->comm);
    } else if (!probes && draw(&own, 2)) {
        post(c, is_wild, persistent, receives);
        is_ready = -1; /* posted, but others may have sent before */
    }
    for (int i = 0; i < message_count; i++)
        if (messages[i].src == c->rank)
            start_send(c, i, is_ready > 0, &sends[sent++]);
    spend(&own);
    if (draw(&own, 4) == 0)
        cancel_one(c, (int)draw(&own, 2));
    if (!is_ready && !probes)
        post(c, is_wild, persistent, receives);
    if (probes)
        receive_probed(c, (int)draw(&own, 4));
    else
        receive_posted((int)draw(&own, COMPLETIONS), receives);
    end_sends(sends, sent, (int)draw(&own, COMPLETIONS));
    MPI_Barrier(c->comm); /* no message of the next action is received in this one */
}

/* ---- everybody exchanges with the members `shift` away ---- */

/* Persistent requests, started again and again. */
static void exchange_again(const struct comm *c, int to, int from, int bytes, unsigned char *a,
                           unsigned char *b)
{
    MPI_Request r[2];
    MPI_Status s[2];
    int flag = 0;
    MPI_Recv_init(b, bytes, MPI_BYTE, from, 5, c->comm, &r[0]);
    MPI_Ssend_init(a, bytes, MPI_BYTE, to, 5, c->comm, &r[1]);
    for (int i = 0; i < 3; i++, flag = 0) {
        MPI_Startall(2, r);
        for (int tries = 0; !flag && i == 1; tries++)
            MPI_Testall(2, r, &flag, s), note((uint64_t)tries);
        MPI_Waitall(2, r, s);
    }
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
}

static void exchange(const struct comm *c, int how, int to, int from, int bytes, unsigned char *a,
                     unsigned char *b)
{
    MPI_Request r[2];
    MPI_Status s[2];
    switch (how) {
    case 0:
        MPI_Sendrecv(a, bytes, MPI_BYTE, to, 5, b, bytes, MPI_BYTE, MPI_ANY_SOURCE, 5, c->comm, s);
        break;
    case 1:
        MPI_Sendrecv_replace(a, bytes, MPI_BYTE, to, 5, from, MPI_ANY_TAG, c->comm, s);
        memcpy(b, a, (size_t)bytes);
        break;
    case 2:
        MPI_Isendrecv(a, bytes, MPI_BYTE, to, 5, b, bytes, MPI_BYTE, from, 5, c->comm, r);
        MPI_Wait(r, s);
        break;
    case 3:
        MPI_Irecv(b, bytes, MPI_BYTE, from, 5, c->comm, r);
        MPI_Ssend(a, bytes, MPI_BYTE, to, 5, c->comm);
        MPI_Wait(r, s);
        break;
    case 4:
        MPI_Bsend(a, bytes, MPI_BYTE, to, 5, c->comm);
        MPI_Recv(b, bytes, MPI_BYTE, from, 5, c->comm, s);
        break;
    case 5:
        memcpy(b, a, (size_t)bytes);
        MPI_Isendrecv_replace(b, bytes, MPI_BYTE, to, 5, from, 5, c->comm, r);
        MPI_Wait(r, s);
        break;
    case 6: /* neighbours of the ends are nobody, whose messages are empty */
        MPI_Irecv(b, bytes, MPI_BYTE, from, 5, c->comm, &r[0]);
        MPI_Sendrecv(a, bytes, MPI_BYTE, MPI_PROC_NULL, 5, b, 0, MPI_BYTE, MPI_PROC_NULL, 5,
                     c->comm, s);
        CHECK(s->MPI_SOURCE == MPI_PROC_NULL);
        MPI_Barrier(c->comm);
        MPI_Rsend(a, bytes, MPI_BYTE, to, 5, c->comm);
        MPI_Wait(r, s);
        break;
    case 7: /* several times */
        exchange_again(c, to, from, bytes, a, b);
        break;
    default: /* in parts */
        MPI_Psend_init(a, 4, bytes / 4, MPI_BYTE, to, 5, c->comm, MPI_INFO_NULL, &r[0]);
        MPI_Precv_init(b, 2, bytes / 2, MPI_BYTE, from, 5, c->comm, MPI_INFO_NULL, &r[1]);
        MPI_Startall(2, r);
        MPI_Pready_range(1, 2, r[0]);
        MPI_Pready(3, r[0]);
        MPI_Pready_list(1, (int[]){0}, r[0]);
        for (int flag = 0; !flag;)
            MPI_Parrived(r[1], 1, &flag);
        MPI_Waitall(2, r, s);
        MPI_Request_free(&r[0]);
        MPI_Request_free(&r[1]);
    }
}

static void act_exchange(const struct comm *c)
{
    struct draw d = draw_shared(), own = draw_own();
    int shift = (int)draw(&d, (uint32_t)c->size), bytes = draw_bytes(&d) / 8 * 8;
    int to = (c->rank + shift) % c->size, from = (c->rank - shift + c->size) % c->size;
    uint64_t base = (uint64_t)run.action << 16;
    unsigned char *a = malloc((size_t)bytes), *b = malloc((size_t)bytes);
    spend(&own);
    fill(a, base + (uint64_t)c->rank, bytes);
    exchange(c, (int)draw(&d, 9), to, from, bytes, a, b);
    CHECK(is_filled(b, base + (uint64_t)from, bytes));
    run.sum += (uint64_t)bytes * (uint64_t)(from + 1);
    MPI_Barrier(c->comm);
    free(a);
    free(b);
}

#endif
