/*
 * otf2_calls.c - the arguments of calls, derived from the events in them, or read from parameters.
 */
#include <string.h>

#include "base/array.h"
#include "formats/otf2_location.h"
#include "formats/otf2_out.h"
#include "trace/definitions.h"
#include "trace/local.h"

enum { ANY_SOURCE = -2, ANY_TAG = -1 }; /* of MPICH's ABI, as in traces */

/* ---- objects ---- */

static const struct otf2_comm *find_comm(const struct otf2_in *in, uint32_t ref)
{
    return otf2_table_find(&in->comms, ref, sizeof(struct otf2_comm));
}

static int64_t rank_in(const int64_t *ranks, size_t count, int64_t rank)
{
    if (rank >= 0 && (size_t)rank < count && ranks[rank] == rank)
        return rank;
    for (size_t i = 0; i < count; i++)
        if (ranks[i] == rank)
            return (int64_t)i;
    return -1;
}

int64_t otf2_local_comm(struct otf2_location_state *s, uint32_t ref)
{
    const struct otf2_comm *c = find_comm(s->in, ref);
    int64_t me = s->location->rank;
    if (!c)
        return -1;
    if (c->identity == FORMAT_NO_COMM)
        return TRACE_LOCAL_SELF;
    if (c->identity == TRACE_COMM_WORLD)
        return TRACE_LOCAL_WORLD;
    int64_t rank = rank_in(c->ranks, c->count, me);
    int other_side = c->is_inter && rank < 0;
    if (other_side)
        rank = rank_in(c->others, c->other_count, me);
    return format_local_comm(&s->in->build, c->identity,
                             c->is_inter ? TRACE_COMM_INTER : TRACE_COMM_INTRA, rank,
                             other_side ? c->other_count : c->count,
                             other_side ? c->count : c->other_count);
}

/* The world rank of a peer. */
static int64_t world_rank(struct otf2_location_state *s, uint32_t ref, uint32_t peer)
{
    const struct otf2_comm *c = find_comm(s->in, ref);
    if (!c || c->identity == FORMAT_NO_COMM)
        return s->location->rank;
    int others = c->is_inter && rank_in(c->ranks, c->count, s->location->rank) >= 0;
    return peer < (others ? c->other_count : c->count) ? (others ? c->others : c->ranks)[peer] : -1;
}

static uint64_t comm_size(const struct otf2_in *in, uint32_t ref)
{
    const struct otf2_comm *c = find_comm(in, ref);
    return c && c->identity != FORMAT_NO_COMM ? c->is_inter ? c->other_count : c->count : 1;
}

static int64_t bytes_type(struct otf2_location_state *s)
{
    return format_local_type(&s->in->build, "MPI_BYTE", 1, 0, 1);
}

/* ---- arguments ---- */

static const struct otf2_call_event *first_of(const struct otf2_location_state *s,
                                              enum otf2_call_event_kind kind)
{
    for (size_t i = 0; i < s->event_count; i++)
        if (s->events[i].kind == kind)
            return &s->events[i];
    return NULL;
}

static void set_at(struct format_call *call, int at, int64_t value)
{
    if (at >= 0)
        call->event.args[at].number = value;
}

static void set_send(struct otf2_location_state *s, struct format_call *call,
                     const struct mpi_effect *shape, const struct otf2_result *what)
{
    set_at(call, shape->send_count, (int64_t)what->bytes);
    set_at(call, shape->send_type, bytes_type(s));
    set_at(call, shape->dest, what->peer);
    set_at(call, shape->send_tag, (int64_t)what->tag);
    set_at(call, shape->comm, otf2_local_comm(s, what->comm));
}

static void set_recv(struct otf2_location_state *s, struct format_call *call,
                     const struct mpi_effect *shape, const struct otf2_result *what)
{
    set_at(call, shape->recv_count, (int64_t)what->bytes);
    set_at(call, shape->recv_type, bytes_type(s));
    set_at(call, shape->source, what->is_known ? (int64_t)what->peer : ANY_SOURCE);
    set_at(call, shape->recv_tag, what->is_known ? (int64_t)(int32_t)what->tag : ANY_TAG);
    set_at(call, shape->comm, what->is_known ? otf2_local_comm(s, what->comm) : TRACE_LOCAL_WORLD);
    if (!what->is_known)
        format_note(s->in->notes, "receives that were not completed: source and tag are not known");
}

static struct trace_status status_of(struct otf2_location_state *s, const struct otf2_call_event *h)
{
    if (h->kind == OTF2_DID_CANCELLED)
        return (struct trace_status){-1, -1, 0, 1, 1};
    if (h->kind != OTF2_DID_RECEIVED && h->kind != OTF2_DID_RECV_DONE)
        return (struct trace_status){0};
    return (struct trace_status){(int32_t)world_rank(s, h->what.comm, h->what.peer),
                                 (int32_t)h->what.tag, h->what.bytes, 1, 0};
}

static void keep_item(struct otf2_location_state *s, int64_t value)
{
    ARRAY_EXTEND(s->items, s->item_count);
    s->items[s->item_count++] = value;
}

static void keep_status(struct otf2_location_state *s, struct trace_status status)
{
    ARRAY_EXTEND(s->statuses, s->status_count);
    s->statuses[s->status_count++] = status;
}

/* A wait or test: first the requests that are complete, then the others. */
static void set_completions(struct otf2_location_state *s, struct format_call *call,
                            const struct mpi_effect *shape)
{
    const struct trace_fn *fn = call->fn;
    size_t done = 0;
    for (size_t i = 0; i < s->event_count; i++) {
        const struct otf2_call_event *h = &s->events[i];
        if (h->kind < OTF2_DID_SEND_DONE || h->kind > OTF2_DID_CANCELLED ||
            h->kind == OTF2_DID_TESTED || h->request < 0)
            continue;
        keep_item(s, h->request);
        keep_status(s, status_of(s, h));
        done++;
    }
    for (size_t i = 0; i < s->event_count; i++)
        if (s->events[i].kind == OTF2_DID_TESTED && s->events[i].request >= 0)
            keep_item(s, s->events[i].request);
    set_at(call, shape->flag, done > 0);
    if (shape->request >= 0 && fn->args[shape->request].is_array) {
        set_at(call, calls_arg(fn, "count"), (int64_t)s->item_count);
        set_at(call, calls_arg(fn, "incount"), (int64_t)s->item_count);
        format_call_items(call, fn->args[shape->request].name, s->items, s->item_count);
    } else {
        set_at(call, shape->request, s->item_count ? s->items[0] : -1);
    }
    if (shape->out_count >= 0) {
        size_t given = s->item_count;
        set_at(call, shape->out_count, (int64_t)done);
        for (size_t i = 0; i < done; i++)
            keep_item(s, (int64_t)i);
        format_call_items(call, fn->args[shape->request].name, s->items, given);
        format_call_items(call, "array_of_indices", s->items + given, done);
    } else {
        set_at(call, shape->index, done ? 0 : -32766); /* MPI_UNDEFINED */
    }
    if (shape->status >= 0 && fn->args[shape->status].is_array)
        format_call_statuses(call, fn->args[shape->status].name, s->statuses, s->status_count);
    else if (shape->status >= 0 && s->status_count)
        call->event.args[shape->status].statuses = s->statuses;
}

/* An array of counts whose sum is known. */
static void set_counts(struct otf2_location_state *s, struct format_call *call, const char *name,
                       uint64_t sum, uint64_t n)
{
    size_t first = s->item_count;
    int at = calls_arg(call->fn, name);
    if (at < 0 || !n)
        return;
    for (uint64_t i = 0; i < n; i++)
        keep_item(s, (int64_t)(sum / n + (i < sum % n)));
    call->event.args[at].number = (int64_t)first; /* the memory may move: see point_items */
    call->event.args[at].count = n;
    format_note(s->in->notes, "not known: counts of vector collectives, except their sum");
}

static void point_items(struct otf2_location_state *s, struct format_call *call)
{
    static const char *const names[] = {"sendcounts", "recvcounts", "sendtypes", "recvtypes"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        int at = calls_arg(call->fn, names[i]);
        if (at >= 0 && call->fn->args[at].is_array && call->event.args[at].count)
            call->event.args[at].items = s->items + call->event.args[at].number;
    }
}

static void set_types(struct otf2_location_state *s, struct format_call *call, const char *name,
                      uint64_t n)
{
    int at = calls_arg(call->fn, name);
    size_t first = s->item_count;
    if (at < 0)
        return;
    for (uint64_t i = 0; i < n; i++)
        keep_item(s, bytes_type(s));
    call->event.args[at].number = (int64_t)first;
    call->event.args[at].count = n;
}

static void set_collective(struct otf2_location_state *s, struct format_call *call,
                           const struct mpi_effect *shape, const struct otf2_result *what)
{
    uint64_t n = comm_size(s->in, what->comm), sent = what->sent, received = what->bytes;
    const struct otf2_comm *c = find_comm(s->in, what->comm);
    uint64_t me = c && c->ranks ? (uint64_t)rank_in(c->ranks, c->count, s->location->rank) : 0;
    int at_root = what->root == me;
    uint64_t send = sent, recv = received;
    n = n ? n : 1;
    switch (shape->base) {
    case MPI_FN_BCAST:
        send = recv = received;
        break;
    case MPI_FN_GATHER:
        recv = at_root ? received / n : 0;
        break;
    case MPI_FN_SCATTER:
        send = at_root ? sent / n : 0;
        break;
    case MPI_FN_ALLGATHER:
    case MPI_FN_ALLTOALL:
    case MPI_FN_ALLREDUCE:
    case MPI_FN_REDUCE_SCATTER_BLOCK:
        send = sent / n, recv = received / n;
        break;
    case MPI_FN_ALLGATHERV:
        send = sent / n;
        break;
    case MPI_FN_SCAN:
        send = recv = received / (me + 1);
        break;
    case MPI_FN_EXSCAN:
        send = recv = me ? received / me : sent / (n > 1 ? n - 1 : 1);
        break;
    default:
        break;
    }
    set_at(call, shape->comm, otf2_local_comm(s, what->comm));
    set_at(call, shape->root, (int64_t)(int32_t)what->root);
    if (shape->send_count >= 0 && shape->send_count == shape->recv_count)
        recv = send;
    set_at(call, shape->send_count, (int64_t)send);
    set_at(call, shape->recv_count, (int64_t)recv);
    if (!shape->makes && !shape->frees) {
        if (shape->send_type >= 0 && !call->fn->args[shape->send_type].is_array)
            set_at(call, shape->send_type, bytes_type(s));
        if (shape->recv_type >= 0 && !call->fn->args[shape->recv_type].is_array)
            set_at(call, shape->recv_type, bytes_type(s));
    }
    int is_rooted = shape->root >= 0;
    if (!is_rooted || at_root) {
        set_counts(s, call, "sendcounts", sent, n);
        set_counts(s, call, "recvcounts", shape->base == MPI_FN_REDUCE_SCATTER ? sent : received,
                   n);
        if (shape->base == MPI_FN_ALLTOALLW) {
            set_types(s, call, "sendtypes", n);
            set_types(s, call, "recvtypes", n);
        }
    }
    point_items(s, call);
}

static void set_started(struct otf2_location_state *s, struct format_call *call,
                        const struct mpi_effect *shape)
{
    for (size_t i = 0; i < s->event_count; i++)
        if (s->events[i].request >= 0)
            keep_item(s, s->events[i].request);
    if (shape->request >= 0 && call->fn->args[shape->request].is_array) {
        set_at(call, calls_arg(call->fn, "count"), (int64_t)s->item_count);
        format_call_items(call, call->fn->args[shape->request].name, s->items, s->item_count);
    } else if (s->item_count) {
        set_at(call, shape->request, s->items[0]);
    }
}

static void set_window(struct otf2_location_state *s, struct format_call *call)
{
    const struct otf2_call_event *h = first_of(s, OTF2_DID_ONE_SIDED);
    if (!h)
        return;
    format_call_number(call, "win", h->request);
    format_call_number(call, "target_rank", (int64_t)(int32_t)h->what.peer);
    format_call_number(call, "rank", (int64_t)(int32_t)h->what.peer);
    format_call_number(call, "origin_count", (int64_t)h->what.bytes);
    format_call_number(call, "target_count", (int64_t)h->what.bytes);
    if (calls_arg(call->fn, "origin_count") >= 0) {
        format_call_number(call, "origin_datatype", bytes_type(s));
        format_call_number(call, "target_datatype", bytes_type(s));
    }
}

void otf2_call_assemble(struct otf2_location_state *s, struct format_call *call, int fn)
{
    const struct mpi_effect *shape = &s->in->shapes[fn];
    const struct otf2_call_event *sent = first_of(s, OTF2_DID_SENT),
                                 *received = first_of(s, OTF2_DID_RECEIVED),
                                 *posted = first_of(s, OTF2_DID_POSTED),
                                 *coll = first_of(s, OTF2_DID_COLLECTIVE);
    switch (shape->kind) {
    case MPI_DOES_SEND:
    case MPI_DOES_RECEIVE:
    case MPI_DOES_EXCHANGE:
        if (shape->kind != MPI_DOES_RECEIVE && sent)
            set_send(s, call, shape, &sent->what);
        if (shape->kind != MPI_DOES_SEND && (received || posted))
            set_recv(s, call, shape, received ? &received->what : &posted->what);
        if (shape->kind != MPI_DOES_SEND && received && shape->status >= 0) {
            keep_status(s, status_of(s, received));
            call->event.args[shape->status].statuses = s->statuses;
        }
        if (shape->form != MPI_FORM_BLOCKING && (sent || posted))
            set_at(call, shape->request, sent ? sent->request : posted->request);
        break;
    case MPI_DOES_COMPLETE:
        set_completions(s, call, shape);
        break;
    case MPI_DOES_START:
        set_started(s, call, shape);
        break;
    case MPI_DOES_COLLECTIVE:
        if (coll || posted)
            set_collective(s, call, shape, coll ? &coll->what : &posted->what);
        if (shape->form != MPI_FORM_BLOCKING && posted)
            set_at(call, shape->request, posted->request);
        set_window(s, call);
        break;
    case MPI_DOES_RMA:
    case MPI_DOES_EPOCH:
        set_window(s, call);
        break;
    default:
        if (call->fn->count)
            format_note(s->in->notes,
                        "not known: arguments of calls that are neither messages nor collectives");
    }
}

void otf2_call_fill(struct otf2_location_state *s, struct format_call *call)
{
    for (unsigned arg = 0; arg < call->fn->count; arg++) {
        const struct trace_arg *a = &call->fn->args[arg];
        struct trace_value *v = &call->event.args[arg];
        size_t first_item = s->item_count, first_status = s->status_count;
        for (size_t i = 0; i < s->argument_count; i++) {
            const struct otf2_argument *argument = &s->arguments[i];
            if (argument->arg != arg)
                continue;
            if (a->class == TRACE_STATUS && argument->part == OTF2_STATUS_FLAGS)
                keep_status(s, (struct trace_status){.is_set = argument->value & 1,
                                                     .is_cancelled = argument->value >> 1 & 1});
            else if (a->class == TRACE_STATUS && s->status_count > first_status) {
                struct trace_status *status = &s->statuses[s->status_count - 1];
                if (argument->part == OTF2_STATUS_SOURCE)
                    status->source = (int32_t)argument->value;
                else if (argument->part == OTF2_STATUS_TAG)
                    status->tag = (int32_t)argument->value;
                else
                    status->bytes = (uint64_t)argument->value;
            } else if (a->class == TRACE_TEXT && argument->text) {
                v->text = argument->text;
                v->count = strlen(argument->text);
            } else if (a->is_array && a->class != TRACE_STATUS) {
                keep_item(s, argument->value);
            } else {
                v->number = argument->value;
            }
        }
        if (a->class == TRACE_STATUS || a->is_array) {
            v->number = (int64_t)(a->class == TRACE_STATUS ? first_status : first_item);
            v->count = a->class == TRACE_STATUS ? s->status_count - first_status
                                                : s->item_count - first_item;
        }
    }
    for (unsigned arg = 0; arg < call->fn->count; arg++) {
        const struct trace_arg *a = &call->fn->args[arg];
        struct trace_value *v = &call->event.args[arg];
        if (a->class == TRACE_STATUS && v->count)
            v->statuses = s->statuses + v->number;
        else if (a->is_array && a->class != TRACE_STATUS)
            v->items = s->items + v->number;
    }
}
