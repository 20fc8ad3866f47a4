/*
 * actions.c - derives messages and completions from the calls of a rank (see actions.h).
 *
 * The same code reads the records twice: the first pass stores what every posted receive has
 * received, so that the second knows it when the receive is posted. Both number operations (started
 * sends, receives, collectives) alike.
 */
#include "base/mem.h"
#include "formats/actions_internal.h"

/* ---- calls ---- */

static void wait_or_test(struct actions *a, const struct mpi_effect *s, const struct trace_event *e)
{
    size_t done = calls_completed(s, e);
    for (size_t i = 0; i < done; i++)
        action_complete(a, calls_completed_request(s, e, i), calls_completed_status(s, e, i));
    if (!done && trace_event_is_done(e) && calls_is_failed_test(s, e))
        for (size_t i = 0, given = calls_given(s, e); i < given; i++)
            action_tested(a, calls_given_request(s, e, i));
}

static void start_persistent(struct actions *a, const struct mpi_effect *s,
                             const struct trace_event *e)
{
    for (size_t i = 0, given = calls_given(s, e); i < given; i++) {
        int64_t request = calls_given_request(s, e, i);
        const uint64_t *at = request < 0 ? NULL : map_find(&a->persistent, (uint64_t)request);
        if (!at)
            continue;
        struct action action = a->templates[*at - 1];
        action.blocks.is_owner = 0;
        action_start(a, request, action);
    }
}

/* A matched probe: stores the communicator of its message. */
static void note_message(struct actions *a, const struct mpi_effect *s, const struct trace_event *e)
{
    int64_t message = action_number(e, s->message, -1);
    if (message >= 0 && s->comm >= 0)
        *map_insert(&a->messages, (uint64_t)message,
                    NULL) = (uint64_t)(action_number(e, s->comm, 0) + 1);
}

static void message(struct actions *a, const struct mpi_effect *s, const struct trace_event *e)
{
    int is_begun = s->form != MPI_FORM_BLOCKING;
    if (is_begun && s->kind == MPI_DOES_EXCHANGE) {
        action_begin_both(a, s, e);
        return;
    }
    if (is_begun) {
        action_begin(a, s, e,
                     s->kind == MPI_DOES_SEND ? action_make_send(a, s, e)
                                              : action_make_recv(a, s, e));
        return;
    }
    if (s->kind != MPI_DOES_RECEIVE)
        action_send_now(a, action_make_send(a, s, e));
    if (s->kind != MPI_DOES_SEND)
        action_recv_now(a, action_make_recv(a, s, e),
                        s->status >= 0 ? e->args[s->status].statuses : NULL);
}

static void drop_list(struct actions *a)
{
    for (size_t i = 0; i < a->count; i++)
        action_free(&a->list[i].blocks);
    a->count = 0;
}

void actions_of(struct actions *a, const struct trace_event *e)
{
    drop_list(a);
    if (e->head != TRACE_CALL || !trace_event_is_done(e))
        return;
    const struct mpi_effect *s = &a->shapes[e->fn];
    switch (s->kind) {
    case MPI_DOES_SEND:
    case MPI_DOES_RECEIVE:
    case MPI_DOES_EXCHANGE:
        message(a, s, e);
        break;
    case MPI_DOES_COMPLETE:
        wait_or_test(a, s, e);
        break;
    case MPI_DOES_START:
        start_persistent(a, s, e);
        break;
    case MPI_DOES_RELEASE:
        map_remove(&a->requests, (uint64_t)action_number(e, s->request, -1));
        break;
    case MPI_DOES_PROBE:
        note_message(a, s, e);
        break;
    case MPI_DOES_COLLECTIVE:
        if (s->form != MPI_FORM_BLOCKING)
            action_begin(a, s, e, action_of_coll(a, s, e));
        else
            *actions_push(a, ACTION_COLL) = action_of_coll(a, s, e);
        break;
    default:
        break;
    }
}

/* ---- both passes ---- */

static void reset(struct actions *a)
{
    drop_list(a);
    for (size_t i = 0; i < a->template_count; i++)
        action_free(&a->templates[i].blocks);
    for (size_t i = 0; i < a->operation_count; i++)
        action_free(&a->operations[i].blocks);
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
                  const struct mpi_effect *shapes, struct members *members, uint64_t rank,
                  int wants_blocks)
{
    struct trace_event e;
    struct err err;
    int more;
    *a = (struct actions){.trace = t,
                          .local = local,
                          .shapes = shapes,
                          .members = members,
                          .rank = rank,
                          .wants_blocks = wants_blocks,
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
