/*
 * actions.c - see actions.h.
 *
 * The same code reads the records twice: the first pass stores what every posted receive has
 * received, so that the second knows it when the receive is posted. Both number operations (started
 * sends, receives, collectives) alike.
 */
#include <string.h>

#include "base/array.h"
#include "base/rng.h"
#include "formats/actions.h"

enum { PROC_NULL = -1, ANY_SOURCE = -2 }; /* of MPICH's ABI, as in traces */

/* A started operation. */
struct operation {
    uint8_t kind; /* enum action_kind: ACTION_ISEND, IRECV, ICOLL */
    uint8_t is_done;
    const struct trace_local_item *comm;
    int64_t peer, world, tag;
    uint64_t bytes, flow;
    size_t receive; /* of receives: number in order of posting */
    enum call_coll coll;
    int64_t root;
    uint64_t sent, received;
    size_t also; /* number + 1 of the send that the same request is for */
};

/* The message of a posted receive. */
struct received {
    const struct trace_local_item *comm;
    int64_t world, tag;
    uint64_t bytes;
    uint64_t flow;
    int is_known, is_cancelled;
};

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t state = a * RNG_SPLITMIX_STEP ^ b;
    return rng_splitmix(&state);
}

/* The flow of the next message of its kind from one rank to another. */
static uint64_t next_flow(struct actions *a, uint64_t comm, int64_t from, int64_t to, int64_t tag)
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

static struct action *push(struct actions *a, enum action_kind kind)
{
    ARRAY_RESERVE(a->list, a->room, a->count + 1, 8);
    a->list[a->count] = (struct action){.kind = kind,
                                        .peer = -1,
                                        .world = -1,
                                        .request = -1,
                                        .root = -1};
    return &a->list[a->count++];
}

static int64_t number(const struct trace_event *e, int at, int64_t otherwise)
{
    return at >= 0 ? e->args[at].number : otherwise;
}

static const struct trace_local_item *comm_of(const struct actions *a, int64_t comm)
{
    return trace_local_find(a->local, TRACE_DEFINE_COMM, comm);
}

/* ---- messages ---- */

/* Items of a message; partitions are sent as one. */
static int64_t items_of(const struct call_shape *s, const struct trace_event *e, int count)
{
    uint64_t items = (uint64_t)number(e, count, 0) * (uint64_t)number(e, s->partitions, 1);
    return (int64_t)items;
}

static struct action make_send(struct actions *a, const struct call_shape *s,
                               const struct trace_event *e)
{
    struct action send = {.kind = ACTION_SEND,
                          .comm = comm_of(a, number(e, s->comm, -1)),
                          .peer = number(e, s->dest, -1),
                          .tag = number(e, s->send_tag, 0),
                          .bytes = actions_bytes(a, items_of(s, e, s->send_count),
                                                 number(e, s->send_type, -1)),
                          .request = -1,
                          .root = -1};
    send.world = members_world(a->members, send.comm, a->rank, send.peer);
    return send;
}

static struct action make_recv(struct actions *a, const struct call_shape *s,
                               const struct trace_event *e)
{
    int64_t comm = number(e, s->comm, -1);
    if (s->comm < 0 && s->message >= 0) {
        const uint64_t *from = map_find(&a->messages, (uint64_t)number(e, s->message, -1));
        comm = from ? (int64_t)*from - 1 : -1;
    }
    struct action recv = {.kind = ACTION_RECV,
                          .comm = comm_of(a, comm),
                          .peer = number(e, s->source, ANY_SOURCE),
                          .tag = number(e, s->recv_tag, -1),
                          .bytes = actions_bytes(a, items_of(s, e, s->recv_count),
                                                 number(e, s->recv_type, -1)),
                          .request = -1,
                          .root = -1};
    recv.world = members_world(a->members, recv.comm, a->rank, recv.peer);
    return recv;
}

/* The flow of the current send. */
static void count_send(struct actions *a, struct action *send)
{
    if (send->world >= 0 && send->comm)
        send->flow = next_flow(a, send->comm->identity, (int64_t)a->rank, send->world, send->tag);
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
static void settle(struct actions *a, struct action *recv, size_t receive,
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
    if (request < 0)
        return;
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
    *push(a, ACTION_ISEND) = send;
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
    *push(a, ACTION_IRECV) = recv;
}

static void start_coll(struct actions *a, int64_t request, struct action coll)
{
    coll.kind = ACTION_ICOLL;
    coll.request = start(a, request,
                         &(struct operation){.kind = ACTION_ICOLL,
                                             .comm = coll.comm,
                                             .coll = coll.coll,
                                             .root = coll.root,
                                             .sent = coll.sent,
                                             .received = coll.received});
    *push(a, ACTION_ICOLL) = coll;
}

static void start_any(struct actions *a, int64_t request, struct action action)
{
    if (action.kind == ACTION_SEND)
        start_send(a, request, action);
    else if (action.kind == ACTION_RECV)
        start_recv(a, request, action);
    else
        start_coll(a, request, action);
}

static void begin(struct actions *a, const struct call_shape *s, const struct trace_event *e,
                  struct action action)
{
    int64_t request = number(e, s->request, -1);
    if (s->is_persistent)
        keep_template(a, request, action);
    else
        start_any(a, request, action);
}

/* MPI_Isendrecv: one request for both. */
static void begin_both(struct actions *a, const struct call_shape *s, const struct trace_event *e)
{
    start_send(a, -1, make_send(a, s, e));
    size_t send = a->operation_count;
    start_recv(a, number(e, s->request, -1), make_recv(a, s, e));
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
                          .coll = o->coll,
                          .root = o->root,
                          .sent = o->sent,
                          .received = o->received};
    if (status && status->is_set && status->is_cancelled) {
        done.kind = ACTION_CANCELLED;
        if (o->kind == ACTION_IRECV && o->receive < a->receive_count)
            a->receives[o->receive].is_cancelled = 1;
    } else if (o->kind == ACTION_IRECV)
        settle(a, &done, o->receive, status);
    *push(a, done.kind) = done;
}

static void complete(struct actions *a, int64_t request, const struct trace_status *status)
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

static void tested(struct actions *a, int64_t request)
{
    const uint64_t *at = request < 0 ? NULL : map_find(&a->requests, (uint64_t)request);
    if (at && !a->operations[*at - 1].is_done)
        push(a, ACTION_TESTED)->request = (int64_t)*at - 1;
}

/* ---- calls ---- */

/* Request i of a wait or test, and the status that belongs to it. */
static int64_t request_at(const struct trace_fn *fn, const struct trace_event *e, int arg,
                          uint64_t i)
{
    const struct trace_value *v = &e->args[arg];
    if (!fn->args[arg].is_array)
        return i == 0 ? v->number : -1;
    return i < v->count ? v->items[i] : -1;
}

static const struct trace_status *status_at(const struct trace_fn *fn, const struct trace_event *e,
                                            int arg, uint64_t i)
{
    if (arg < 0)
        return NULL;
    const struct trace_value *v = &e->args[arg];
    if (!fn->args[arg].is_array)
        return v->statuses;
    return i < v->count ? &v->statuses[i] : NULL;
}

static void wait_or_test(struct actions *a, const struct trace_fn *fn, const struct call_shape *s,
                         const struct trace_event *e)
{
    uint64_t given = fn->args[s->request].is_array ? e->args[s->request].count : 1;
    int is_some = s->outcount >= 0;
    int found = is_some ? number(e, s->outcount, 0) > 0 : number(e, s->flag, 1) != 0;
    int is_done = trace_event_is_done(e);
    if (!is_done || !found) {
        for (uint64_t i = 0; i < given && is_done; i++)
            tested(a, request_at(fn, e, s->request, i));
    } else if (is_some && s->index >= 0) {
        for (uint64_t i = 0; i < e->args[s->index].count; i++)
            if (e->args[s->index].items[i] >= 0)
                complete(a, request_at(fn, e, s->request, (uint64_t)e->args[s->index].items[i]),
                         status_at(fn, e, s->status, i));
    } else if (s->index >= 0) {
        int64_t index = number(e, s->index, -1);
        if (index >= 0)
            complete(a, request_at(fn, e, s->request, (uint64_t)index),
                     status_at(fn, e, s->status, 0));
    } else {
        for (uint64_t i = 0; i < given; i++)
            complete(a, request_at(fn, e, s->request, i), status_at(fn, e, s->status, i));
    }
}

static void start_persistent(struct actions *a, const struct trace_fn *fn,
                             const struct call_shape *s, const struct trace_event *e)
{
    uint64_t given = fn->args[s->request].is_array ? e->args[s->request].count : 1;
    for (uint64_t i = 0; i < given; i++) {
        int64_t request = request_at(fn, e, s->request, i);
        const uint64_t *at = request < 0 ? NULL : map_find(&a->persistent, (uint64_t)request);
        if (at)
            start_any(a, request, a->templates[*at - 1]);
    }
}

static void recv_now(struct actions *a, struct action recv, const struct trace_status *status)
{
    if (recv.peer == PROC_NULL)
        return;
    struct action asked = recv;
    size_t receive = post(a, &recv);
    settle(a, &asked, receive, status);
    *push(a, ACTION_RECV) = asked;
}

/* A matched probe: stores the communicator of its message. */
static void note_message(struct actions *a, const struct call_shape *s, const struct trace_event *e)
{
    int64_t message = number(e, s->message, -1);
    if (message >= 0 && s->comm >= 0)
        *map_insert(&a->messages, (uint64_t)message, NULL) = (uint64_t)(number(e, s->comm, 0) + 1);
}

struct action action_of_coll(const struct actions *, const struct trace_fn *,
                             const struct call_shape *, const struct trace_event *);

void actions_of(struct actions *a, const struct trace_event *e)
{
    a->count = 0;
    if (e->head != TRACE_CALL)
        return;
    const struct trace_fn *fn = &a->trace->header.schema->fns[e->fn];
    const struct call_shape *s = &a->shapes[e->fn];
    if (!trace_event_is_done(e) && s->kind != CALL_COMPLETE)
        return;
    const struct trace_status *status = status_at(fn, e, s->status, 0);
    switch (s->kind) {
    case CALL_SEND:
    case CALL_RECV:
    case CALL_SENDRECV:
        if (s->is_immediate && s->kind == CALL_SENDRECV) {
            begin_both(a, s, e);
            break;
        }
        if (s->is_immediate) {
            begin(a, s, e, s->kind == CALL_SEND ? make_send(a, s, e) : make_recv(a, s, e));
            break;
        }
        if (s->kind != CALL_RECV) {
            struct action send = make_send(a, s, e);
            if (send.peer != PROC_NULL) {
                count_send(a, &send);
                *push(a, ACTION_SEND) = send;
            }
        }
        if (s->kind != CALL_SEND)
            recv_now(a, make_recv(a, s, e), status);
        break;
    case CALL_COMPLETE:
        wait_or_test(a, fn, s, e);
        break;
    case CALL_START:
        start_persistent(a, fn, s, e);
        break;
    case CALL_FREE:
        map_remove(&a->requests, (uint64_t)number(e, s->request, -1));
        break;
    case CALL_PROBE:
        note_message(a, s, e);
        break;
    case CALL_COLLECTIVE:
        if (s->is_immediate)
            begin(a, s, e, action_of_coll(a, fn, s, e));
        else
            *push(a, ACTION_COLL) = action_of_coll(a, fn, s, e);
        break;
    default:
        break;
    }
}

/* ---- both passes ---- */

static void reset(struct actions *a)
{
    map_fini(&a->requests);
    map_fini(&a->persistent);
    map_fini(&a->messages);
    map_fini(&a->sent);
    map_init(&a->requests);
    map_init(&a->persistent);
    map_init(&a->messages);
    map_init(&a->sent);
    mem_free(a->templates);
    mem_free(a->operations);
    a->templates = NULL;
    a->operations = NULL;
    a->template_count = a->operation_count = a->next_receive = 0;
}

void actions_open(struct actions *a, struct trace *t, const struct trace_local *local,
                  const struct call_shape *shapes, struct members *members, uint64_t rank)
{
    struct trace_event e;
    struct err err;
    int more;
    *a = (struct actions){.trace = t,
                          .local = local,
                          .shapes = shapes,
                          .members = members,
                          .rank = rank,
                          .is_first = 1};
    reset(a);
    for (unsigned thread = 0, threads = trace_threads(t, rank); thread < threads; thread++) {
        struct trace_cursor c;
        trace_cursor_open(&c, t, rank, thread, TRACE_RECORDS);
        while ((more = trace_cursor_next(&c, &e, &err)) != 0)
            if (more > 0)
                actions_of(a, &e);
        trace_cursor_close(&c);
    }
    reset(a);
    for (size_t i = 0; i < a->receive_count; i++) {
        struct received *r = &a->receives[i];
        if (r->is_known)
            r->flow = next_flow(a, r->comm->identity, r->world, (int64_t)rank, r->tag);
    }
    reset(a);
    a->is_first = 0;
}

void actions_close(struct actions *a)
{
    reset(a);
    mem_free(a->receives);
    mem_free(a->list);
    *a = (struct actions){0};
}
