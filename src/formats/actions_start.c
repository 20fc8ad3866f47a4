/*
 * actions_start.c - messages and operations of a rank: when they start, what they carry, and when
 * they complete. See actions.h.
 */
#include "base/array.h"
#include "base/rng.h"
#include "formats/actions_internal.h"

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t state = a * RNG_SPLITMIX_STEP ^ b;
    return rng_splitmix(&state);
}

uint64_t actions_next_flow(struct actions *a, uint64_t comm, int64_t from, int64_t to, int64_t tag)
{
    uint64_t key = mix(mix(mix(comm, (uint64_t)from), (uint64_t)to), (uint64_t)tag);
    uint64_t flow = mix(key, ++*map_insert(&a->sent, key, NULL));
    return flow ? flow : 1;
}

uint64_t actions_bytes(const struct actions *a, int64_t count, int64_t type)
{
    const struct trace_local_item *item = trace_local_find(a->local, TRACE_DEFINE_TYPE, type);
    uint64_t bytes;
    if (!item || count < 0 || __builtin_mul_overflow((uint64_t)count, item->size, &bytes))
        return 0;
    return bytes;
}

struct action *actions_push(struct actions *a, enum action_kind kind)
{
    ARRAY_RESERVE(a->list, a->room, a->count + 1, 8);
    a->list[a->count] = (struct action){.kind = kind,
                                        .peer = -1,
                                        .world = -1,
                                        .request = -1,
                                        .root = -1};
    return &a->list[a->count++];
}

static const struct trace_local_item *comm_of(const struct actions *a, int64_t comm)
{
    return trace_local_find(a->local, TRACE_DEFINE_COMM, comm);
}

/* Items of a message; partitions are sent as one. */
static int64_t items_of(const struct mpi_effect *s, const struct trace_event *e, int count)
{
    uint64_t items = (uint64_t)action_number(e, count, 0) *
                     (uint64_t)action_number(e, s->partitions, 1);
    return (int64_t)items;
}

struct action action_make_send(struct actions *a, const struct mpi_effect *s,
                               const struct trace_event *e)
{
    struct action send = {.kind = ACTION_SEND,
                          .comm = comm_of(a, action_number(e, s->comm, -1)),
                          .peer = action_number(e, s->dest, -1),
                          .tag = action_number(e, s->send_tag, 0),
                          .bytes = actions_bytes(a, items_of(s, e, s->send_count),
                                                 action_number(e, s->send_type, -1)),
                          .request = -1,
                          .root = -1};
    send.world = members_world(a->members, send.comm, a->rank, send.peer);
    return send;
}

struct action action_make_recv(struct actions *a, const struct mpi_effect *s,
                               const struct trace_event *e)
{
    int64_t comm = action_number(e, s->comm, -1);
    if (s->comm < 0 && s->message >= 0) {
        const uint64_t *from = map_find(&a->messages, (uint64_t)action_number(e, s->message, -1));
        comm = from ? (int64_t)*from - 1 : -1;
    }
    struct action recv = {.kind = ACTION_RECV,
                          .comm = comm_of(a, comm),
                          .peer = action_number(e, s->source, ANY_SOURCE),
                          .tag = action_number(e, s->recv_tag, -1),
                          .bytes = actions_bytes(a, items_of(s, e, s->recv_count),
                                                 action_number(e, s->recv_type, -1)),
                          .request = -1,
                          .root = -1};
    recv.world = members_world(a->members, recv.comm, a->rank, recv.peer);
    return recv;
}

/* The flow of the current send. */
static void count_send(struct actions *a, struct action *send)
{
    if (send->world >= 0 && send->comm)
        send->flow = actions_next_flow(a, send->comm->identity, (int64_t)a->rank, send->world,
                                       send->tag);
}

/* A receive is posted: finds what it will receive, if that is known. */
static size_t post(struct actions *a, struct action *recv)
{
    size_t number = a->next_receive++;
    if (a->is_first) {
        ARRAY_EXTEND(a->receives, a->receive_count);
        a->receives[a->receive_count++] = (struct received){.comm = recv->comm};
        return number;
    }
    const struct received *r = number < a->receive_count ? &a->receives[number] : NULL;
    recv->is_cancelled = r && r->is_cancelled;
    if (!r || !r->is_known)
        return number;
    recv->world = r->world;
    recv->peer = members_peer(a->members, recv->comm, a->rank, r->world);
    recv->tag = r->tag;
    recv->bytes = r->bytes;
    recv->flow = r->flow;
    return number;
}

/* What a receive has received: from its status, or without one from its arguments. */
static void note_received(struct actions *a, struct action *recv, size_t receive,
                          const struct trace_status *status)
{
    if (status && status->is_set) {
        recv->world = status->source;
        recv->tag = status->tag >= 0 ? status->tag : recv->tag;
        recv->bytes = status->bytes;
        recv->peer = members_peer(a->members, recv->comm, a->rank, status->source);
    }
    struct received *r = receive < a->receive_count ? &a->receives[receive] : NULL;
    if (r && a->is_first)
        *r = (struct received){recv->comm, recv->world,
                               recv->tag,  recv->bytes,
                               0,          recv->world >= 0 && recv->comm != NULL && recv->tag >= 0,
                               0};
    else if (r)
        recv->flow = r->flow;
}

/* ---- operations ---- */

static int64_t start(struct actions *a, int64_t request, const struct operation *o)
{
    ARRAY_EXTEND(a->operations, a->operation_count);
    a->operations[a->operation_count++] = *o;
    if (request >= 0)
        *map_insert(&a->requests, (uint64_t)request, NULL) = a->operation_count;
    return (int64_t)a->operation_count - 1;
}

static void keep_template(struct actions *a, int64_t request, struct action action)
{
    if (request < 0) {
        action_free(&action.blocks);
        return;
    }
    ARRAY_EXTEND(a->templates, a->template_count);
    a->templates[a->template_count++] = action;
    *map_insert(&a->persistent, (uint64_t)request, NULL) = a->template_count;
}

static void start_send(struct actions *a, int64_t request, struct action send)
{
    send.kind = ACTION_ISEND;
    if (send.peer == PROC_NULL) {
        start(a, request, &(struct operation){.kind = ACTION_ISEND, .is_done = 1});
        return;
    }
    count_send(a, &send);
    send.request = start(a, request,
                         &(struct operation){.kind = ACTION_ISEND,
                                             .comm = send.comm,
                                             .peer = send.peer,
                                             .world = send.world,
                                             .tag = send.tag,
                                             .bytes = send.bytes,
                                             .flow = send.flow});
    *actions_push(a, ACTION_ISEND) = send;
}

static void start_recv(struct actions *a, int64_t request, struct action recv)
{
    recv.kind = ACTION_IRECV;
    if (recv.peer == PROC_NULL) {
        start(a, request, &(struct operation){.kind = ACTION_IRECV, .is_done = 1});
        return;
    }
    struct operation o = {.kind = ACTION_IRECV,
                          .comm = recv.comm,
                          .peer = recv.peer,
                          .world = recv.world,
                          .tag = recv.tag,
                          .bytes = recv.bytes};
    o.receive = post(a, &recv);
    recv.request = start(a, request, &o);
    *actions_push(a, ACTION_IRECV) = recv;
}

static void start_coll(struct actions *a, int64_t request, struct action coll)
{
    coll.kind = ACTION_ICOLL;
    coll.request = start(a, request,
                         &(struct operation){.kind = ACTION_ICOLL,
                                             .comm = coll.comm,
                                             .does = coll.does,
                                             .root = coll.root,
                                             .sent = coll.sent,
                                             .received = coll.received,
                                             .blocks = coll.blocks});
    coll.blocks.is_owner = 0;
    *actions_push(a, ACTION_ICOLL) = coll;
}

void action_start(struct actions *a, int64_t request, struct action action)
{
    if (action.kind == ACTION_SEND)
        start_send(a, request, action);
    else if (action.kind == ACTION_RECV)
        start_recv(a, request, action);
    else
        start_coll(a, request, action);
}

void action_begin(struct actions *a, const struct mpi_effect *s, const struct trace_event *e,
                  struct action action)
{
    int64_t request = action_number(e, s->request, -1);
    if (s->form == MPI_FORM_PERSISTENT)
        keep_template(a, request, action);
    else
        action_start(a, request, action);
}

void action_begin_both(struct actions *a, const struct mpi_effect *s, const struct trace_event *e)
{
    start_send(a, -1, action_make_send(a, s, e));
    size_t send = a->operation_count;
    start_recv(a, action_number(e, s->request, -1), action_make_recv(a, s, e));
    a->operations[a->operation_count - 1].also = send;
}

static void finish(struct actions *a, int64_t id, const struct trace_status *status)
{
    struct operation *o = &a->operations[id];
    if (o->is_done)
        return;
    o->is_done = 1;
    struct action done = {.kind = o->kind == ACTION_ISEND   ? ACTION_ISEND_DONE
                                  : o->kind == ACTION_IRECV ? ACTION_IRECV_DONE
                                                            : ACTION_ICOLL_DONE,
                          .comm = o->comm,
                          .peer = o->peer,
                          .world = o->world,
                          .tag = o->tag,
                          .bytes = o->bytes,
                          .flow = o->flow,
                          .request = id,
                          .does = o->does,
                          .root = o->root,
                          .sent = o->sent,
                          .received = o->received,
                          .blocks = o->blocks};
    o->blocks.is_owner = 0;
    if (status && status->is_set && status->is_cancelled) {
        done.kind = ACTION_CANCELLED;
        if (o->kind == ACTION_IRECV && o->receive < a->receive_count)
            a->receives[o->receive].is_cancelled = 1;
    } else if (o->kind == ACTION_IRECV)
        note_received(a, &done, o->receive, status);
    *actions_push(a, done.kind) = done;
}

void action_complete(struct actions *a, int64_t request, const struct trace_status *status)
{
    const uint64_t *at = request < 0 ? NULL : map_find(&a->requests, (uint64_t)request);
    if (!at)
        return;
    size_t number = *at - 1, also = a->operations[number].also;
    map_remove(&a->requests, (uint64_t)request);
    finish(a, (int64_t)number, status);
    if (also)
        finish(a, (int64_t)also - 1, NULL);
}

void action_tested(struct actions *a, int64_t request)
{
    const uint64_t *at = request < 0 ? NULL : map_find(&a->requests, (uint64_t)request);
    if (at && !a->operations[*at - 1].is_done)
        actions_push(a, ACTION_TESTED)->request = (int64_t)*at - 1;
}

/* ---- blocking calls ---- */

void action_send_now(struct actions *a, struct action send)
{
    if (send.peer == PROC_NULL)
        return;
    count_send(a, &send);
    *actions_push(a, ACTION_SEND) = send;
}

void action_recv_now(struct actions *a, struct action recv, const struct trace_status *status)
{
    if (recv.peer == PROC_NULL)
        return;
    struct action asked = recv;
    size_t receive = post(a, &recv);
    note_received(a, &asked, receive, status);
    *actions_push(a, ACTION_RECV) = asked;
}
