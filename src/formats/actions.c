/*
 * actions.c - see actions.h.
 *
 * The same code reads the records twice: the first pass stores what every posted receive has
 * received, so that the second knows it when the receive is posted. Both number operations (started
 * sends, receives, collectives) alike.
 */
#include "base/mem.h"
#include "formats/actions_internal.h"

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
    int found = is_some ? action_number(e, s->outcount, 0) > 0 : action_number(e, s->flag, 1) != 0;
    int is_done = trace_event_is_done(e);
    if (!is_done || !found) {
        for (uint64_t i = 0; i < given && is_done; i++)
            action_tested(a, request_at(fn, e, s->request, i));
    } else if (is_some && s->index >= 0) {
        for (uint64_t i = 0; i < e->args[s->index].count; i++)
            if (e->args[s->index].items[i] >= 0)
                action_complete(a,
                                request_at(fn, e, s->request, (uint64_t)e->args[s->index].items[i]),
                                status_at(fn, e, s->status, i));
    } else if (s->index >= 0) {
        int64_t index = action_number(e, s->index, -1);
        if (index >= 0)
            action_complete(a, request_at(fn, e, s->request, (uint64_t)index),
                            status_at(fn, e, s->status, 0));
    } else {
        for (uint64_t i = 0; i < given; i++)
            action_complete(a, request_at(fn, e, s->request, i), status_at(fn, e, s->status, i));
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
            action_start(a, request, a->templates[*at - 1]);
    }
}

/* A matched probe: stores the communicator of its message. */
static void note_message(struct actions *a, const struct call_shape *s, const struct trace_event *e)
{
    int64_t message = action_number(e, s->message, -1);
    if (message >= 0 && s->comm >= 0)
        *map_insert(&a->messages, (uint64_t)message,
                    NULL) = (uint64_t)(action_number(e, s->comm, 0) + 1);
}

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
            action_begin_both(a, s, e);
            break;
        }
        if (s->is_immediate) {
            action_begin(a, s, e,
                         s->kind == CALL_SEND ? action_make_send(a, s, e)
                                              : action_make_recv(a, s, e));
            break;
        }
        if (s->kind != CALL_RECV)
            action_send_now(a, action_make_send(a, s, e));
        if (s->kind != CALL_SEND)
            action_recv_now(a, action_make_recv(a, s, e), status);
        break;
    case CALL_COMPLETE:
        wait_or_test(a, fn, s, e);
        break;
    case CALL_START:
        start_persistent(a, fn, s, e);
        break;
    case CALL_FREE:
        map_remove(&a->requests, (uint64_t)action_number(e, s->request, -1));
        break;
    case CALL_PROBE:
        note_message(a, s, e);
        break;
    case CALL_COLLECTIVE:
        if (s->is_immediate)
            action_begin(a, s, e, action_of_coll(a, fn, s, e));
        else
            *actions_push(a, ACTION_COLL) = action_of_coll(a, fn, s, e);
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
            r->flow = actions_next_flow(a, r->comm->identity, r->world, (int64_t)rank, r->tag);
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
