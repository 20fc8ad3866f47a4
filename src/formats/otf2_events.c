/*
 * otf2_events.c - the events of an OTF2 location as calls.
 *
 * What happens between ENTER and LEAVE of an MPI function is gathered, and becomes the arguments of a call when it is
 * left. Archives that Orrery wrote have all arguments as parameters. In others they follow from messages and collectives, in
 * bytes; a receive that is posted is described by the record of its completion, so such locations are read twice.
 * Requests are numbered anew, since some recorders use their numbers again.
 */
#include <string.h>

#include "base/array.h"
#include "formats/otf2_in.h"
#include "formats/otf2_out.h"
#include "trace/definitions.h"
#include "trace/local.h"

enum { ANY_SOURCE = -2, ANY_TAG = -1 }; /* of MPICH's ABI, as in traces */

/* Something that happened in a call. */
enum happening_kind {
    SENT,
    RECEIVED,
    POSTED,
    SEND_DONE,
    RECV_DONE,
    COLL_DONE,
    TESTED,
    CANCELLED,
    COLLECTIVE,
    ONE_SIDED
};

struct happening {
    enum happening_kind kind;
    int64_t request; /* its new number */
    struct otf2_result what;
};

/* An argument that a parameter says. */
struct said {
    unsigned arg;
    unsigned part; /* of a status */
    int64_t value;
    const char *text;
};

struct otf2_location_state {
    struct otf2_in *in;
    const struct otf2_location *location;
    int is_first; /* the first reading */
    /* regions that are open */
    struct open {
        uint32_t region;
        int64_t enter;
        int fn; /* -1: no MPI call, or one within another */
    } * open;
    size_t depth, calls; /* calls: of MPI */
    int64_t last;
    /* of the call */
    struct happening *happenings;
    size_t happening_count;
    struct said *said;
    size_t said_count;
    int failed;
    uint64_t site;
    /* requests */
    struct map requests; /* to number + 1 */
    struct map results;  /* to position + 1, in the first reading */
    int64_t next_request;
    size_t next_result;
    struct map wins; /* to local number + 1 */
    /* memory of the call that is put together */
    int64_t *items;
    size_t item_count;
    struct trace_status *statuses;
    size_t status_count;
};

static int64_t time_of(const struct otf2_in *in, OTF2_TimeStamp t)
{
    uint64_t since = t >= in->offset ? t - in->offset : 0;
    uint64_t ps = UINT64_C(1000000000000);
    if (in->resolution && ps % in->resolution == 0)
        return (int64_t)since;
    return (int64_t)((unsigned __int128)since * ps / (in->resolution ? in->resolution : ps));
}

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

static int64_t local_comm(struct otf2_location_state *s, uint32_t ref)
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

/* ---- requests ---- */

static int64_t new_request(struct otf2_location_state *s, uint64_t id)
{
    *map_insert(&s->requests, id, NULL) = (uint64_t)s->next_request + 1;
    return s->next_request++;
}

static int64_t end_request(struct otf2_location_state *s, uint64_t id)
{
    const uint64_t *at = map_find(&s->requests, id);
    if (!at) {
        format_note(s->in->notes, "left out: completions of requests that were not started");
        return -1;
    }
    int64_t number = (int64_t)*at - 1;
    map_remove(&s->requests, id);
    return number;
}

/* The first reading: an operation is started, or described. */
static void note_start(struct otf2_location_state *s, uint64_t id)
{
    ARRAY_EXTEND(s->in->results, s->in->result_count);
    s->in->results[s->in->result_count++] = (struct otf2_result){0};
    *map_insert(&s->results, id, NULL) = s->in->result_count;
}

static void note_result(struct otf2_location_state *s, uint64_t id, struct otf2_result what)
{
    const uint64_t *at = map_find(&s->results, id);
    what.is_known = 1;
    if (at)
        s->in->results[*at - 1] = what;
    map_remove(&s->results, id);
}

/* The second reading: what the next operation that is started will be. */
static struct otf2_result next_result(struct otf2_location_state *s)
{
    return s->next_result < s->in->result_count ? s->in->results[s->next_result++]
                                                : (struct otf2_result){0};
}

static void happen(struct otf2_location_state *s, enum happening_kind kind, int64_t request,
                   struct otf2_result what)
{
    if (!s->calls) {
        format_note(s->in->notes, "left out: messages and collectives outside of calls");
        return;
    }
    ARRAY_EXTEND(s->happenings, s->happening_count);
    s->happenings[s->happening_count++] = (struct happening){kind, request, what};
}

/* ---- arguments ---- */

static const struct happening *first_of(const struct otf2_location_state *s,
                                        enum happening_kind kind)
{
    for (size_t i = 0; i < s->happening_count; i++)
        if (s->happenings[i].kind == kind)
            return &s->happenings[i];
    return NULL;
}

static void set_at(struct format_call *call, int at, int64_t value)
{
    if (at >= 0)
        call->event.args[at].number = value;
}

static void set_send(struct otf2_location_state *s, struct format_call *call,
                     const struct call_shape *shape, const struct otf2_result *what)
{
    set_at(call, shape->send_count, (int64_t)what->bytes);
    set_at(call, shape->send_type, bytes_type(s));
    set_at(call, shape->dest, what->peer);
    set_at(call, shape->send_tag, (int64_t)what->tag);
    set_at(call, shape->comm, local_comm(s, what->comm));
}

static void set_recv(struct otf2_location_state *s, struct format_call *call,
                     const struct call_shape *shape, const struct otf2_result *what)
{
    set_at(call, shape->recv_count, (int64_t)what->bytes);
    set_at(call, shape->recv_type, bytes_type(s));
    set_at(call, shape->source, what->is_known ? (int64_t)what->peer : ANY_SOURCE);
    set_at(call, shape->recv_tag, what->is_known ? (int64_t)(int32_t)what->tag : ANY_TAG);
    set_at(call, shape->comm, what->is_known ? local_comm(s, what->comm) : TRACE_LOCAL_WORLD);
    if (!what->is_known)
        format_note(s->in->notes, "receives that were not completed: source and tag are not known");
}

static struct trace_status status_of(struct otf2_location_state *s, const struct happening *h)
{
    if (h->kind == CANCELLED)
        return (struct trace_status){-1, -1, 0, 1, 1};
    if (h->kind != RECEIVED && h->kind != RECV_DONE)
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

/* A wait or test: first what is complete, then what is not. */
static void set_completions(struct otf2_location_state *s, struct format_call *call,
                            const struct call_shape *shape)
{
    const struct trace_fn *fn = call->fn;
    size_t done = 0;
    for (size_t i = 0; i < s->happening_count; i++) {
        const struct happening *h = &s->happenings[i];
        if (h->kind < SEND_DONE || h->kind > CANCELLED || h->kind == TESTED || h->request < 0)
            continue;
        keep_item(s, h->request);
        keep_status(s, status_of(s, h));
        done++;
    }
    for (size_t i = 0; i < s->happening_count; i++)
        if (s->happenings[i].kind == TESTED && s->happenings[i].request >= 0)
            keep_item(s, s->happenings[i].request);
    set_at(call, shape->flag, done > 0);
    if (shape->request >= 0 && fn->args[shape->request].is_array) {
        set_at(call, call_arg(fn, "count"), (int64_t)s->item_count);
        set_at(call, call_arg(fn, "incount"), (int64_t)s->item_count);
        format_call_items(call, fn->args[shape->request].name, s->items, s->item_count);
    } else {
        set_at(call, shape->request, s->item_count ? s->items[0] : -1);
    }
    if (shape->outcount >= 0) {
        size_t given = s->item_count;
        set_at(call, shape->outcount, (int64_t)done);
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
    int at = call_arg(call->fn, name);
    if (at < 0 || !n)
        return;
    for (uint64_t i = 0; i < n; i++)
        keep_item(s, (int64_t)(sum / n + (i < sum % n)));
    call->event.args[at].number = (int64_t)first; /* the memory may move: see point_items */
    call->event.args[at].count = n;
    format_note(s->in->notes, "counts of vector collectives: only their sum is known");
}

static void point_items(struct otf2_location_state *s, struct format_call *call)
{
    static const char *const names[] = {"sendcounts", "recvcounts", "sendtypes", "recvtypes"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        int at = call_arg(call->fn, names[i]);
        if (at >= 0 && call->fn->args[at].is_array && call->event.args[at].count)
            call->event.args[at].items = s->items + call->event.args[at].number;
    }
}

static void set_types(struct otf2_location_state *s, struct format_call *call, const char *name,
                      uint64_t n)
{
    int at = call_arg(call->fn, name);
    size_t first = s->item_count;
    if (at < 0)
        return;
    for (uint64_t i = 0; i < n; i++)
        keep_item(s, bytes_type(s));
    call->event.args[at].number = (int64_t)first;
    call->event.args[at].count = n;
}

static void set_collective(struct otf2_location_state *s, struct format_call *call,
                           const struct call_shape *shape, const struct otf2_result *what)
{
    uint64_t n = comm_size(s->in, what->comm), sent = what->sent, received = what->bytes;
    const struct otf2_comm *c = find_comm(s->in, what->comm);
    uint64_t me = c && c->ranks ? (uint64_t)rank_in(c->ranks, c->count, s->location->rank) : 0;
    int at_root = what->root == me;
    uint64_t send = sent, recv = received;
    n = n ? n : 1;
    switch (shape->coll) {
    case COLL_BCAST:
        send = recv = received;
        break;
    case COLL_GATHER:
        recv = at_root ? received / n : 0;
        break;
    case COLL_SCATTER:
        send = at_root ? sent / n : 0;
        break;
    case COLL_ALLGATHER:
    case COLL_ALLTOALL:
    case COLL_ALLREDUCE:
    case COLL_REDUCE_SCATTER_BLOCK:
        send = sent / n, recv = received / n;
        break;
    case COLL_ALLGATHERV:
        send = sent / n;
        break;
    case COLL_SCAN:
        send = recv = received / (me + 1);
        break;
    case COLL_EXSCAN:
        send = recv = me ? received / me : sent / (n > 1 ? n - 1 : 1);
        break;
    default:
        break;
    }
    set_at(call, shape->comm, local_comm(s, what->comm));
    set_at(call, shape->root, (int64_t)(int32_t)what->root);
    if (shape->send_count >= 0 && shape->send_count == shape->recv_count)
        recv = send;
    set_at(call, shape->send_count, (int64_t)send);
    set_at(call, shape->recv_count, (int64_t)recv);
    if (shape->coll < COLL_CREATE) {
        if (shape->send_type >= 0 && !call->fn->args[shape->send_type].is_array)
            set_at(call, shape->send_type, bytes_type(s));
        if (shape->recv_type >= 0 && !call->fn->args[shape->recv_type].is_array)
            set_at(call, shape->recv_type, bytes_type(s));
    }
    int is_rooted = shape->root >= 0;
    if (!is_rooted || at_root) {
        set_counts(s, call, "sendcounts", sent, n);
        set_counts(s, call, "recvcounts", shape->coll == COLL_REDUCE_SCATTER ? sent : received, n);
        if (shape->coll == COLL_ALLTOALLW) {
            set_types(s, call, "sendtypes", n);
            set_types(s, call, "recvtypes", n);
        }
    }
    point_items(s, call);
}

static void set_started(struct otf2_location_state *s, struct format_call *call,
                        const struct call_shape *shape)
{
    for (size_t i = 0; i < s->happening_count; i++)
        if (s->happenings[i].request >= 0)
            keep_item(s, s->happenings[i].request);
    if (shape->request >= 0 && call->fn->args[shape->request].is_array) {
        set_at(call, call_arg(call->fn, "count"), (int64_t)s->item_count);
        format_call_items(call, call->fn->args[shape->request].name, s->items, s->item_count);
    } else if (s->item_count) {
        set_at(call, shape->request, s->items[0]);
    }
}

static void set_window(struct otf2_location_state *s, struct format_call *call)
{
    const struct happening *h = first_of(s, ONE_SIDED);
    if (!h)
        return;
    format_call_number(call, "win", h->request);
    format_call_number(call, "target_rank", (int64_t)(int32_t)h->what.peer);
    format_call_number(call, "rank", (int64_t)(int32_t)h->what.peer);
    format_call_number(call, "origin_count", (int64_t)h->what.bytes);
    format_call_number(call, "target_count", (int64_t)h->what.bytes);
    if (call_arg(call->fn, "origin_count") >= 0) {
        format_call_number(call, "origin_datatype", bytes_type(s));
        format_call_number(call, "target_datatype", bytes_type(s));
    }
}

/* What happened becomes the arguments of the call. */
static void assemble(struct otf2_location_state *s, struct format_call *call, int fn)
{
    const struct call_shape *shape = &s->in->shapes[fn];
    const struct happening *sent = first_of(s, SENT), *received = first_of(s, RECEIVED),
                           *posted = first_of(s, POSTED), *coll = first_of(s, COLLECTIVE);
    switch (shape->kind) {
    case CALL_SEND:
    case CALL_RECV:
    case CALL_SENDRECV:
        if (shape->kind != CALL_RECV && sent)
            set_send(s, call, shape, &sent->what);
        if (shape->kind != CALL_SEND && (received || posted))
            set_recv(s, call, shape, received ? &received->what : &posted->what);
        if (shape->kind != CALL_SEND && received && shape->status >= 0) {
            keep_status(s, status_of(s, received));
            call->event.args[shape->status].statuses = s->statuses;
        }
        if (shape->is_immediate && (sent || posted))
            set_at(call, shape->request, sent ? sent->request : posted->request);
        break;
    case CALL_COMPLETE:
        set_completions(s, call, shape);
        break;
    case CALL_START:
        set_started(s, call, shape);
        break;
    case CALL_COLLECTIVE:
        if (coll || posted)
            set_collective(s, call, shape, coll ? &coll->what : &posted->what);
        if (shape->is_immediate && posted)
            set_at(call, shape->request, posted->request);
        set_window(s, call);
        break;
    case CALL_RMA:
        set_window(s, call);
        break;
    default:
        if (call->fn->count)
            format_note(s->in->notes,
                        "not known: arguments of calls that are no messages or collectives");
    }
}

/* What parameters said becomes the arguments. */
static void assemble_said(struct otf2_location_state *s, struct format_call *call)
{
    for (unsigned arg = 0; arg < call->fn->count; arg++) {
        const struct trace_arg *a = &call->fn->args[arg];
        struct trace_value *v = &call->event.args[arg];
        size_t first_item = s->item_count, first_status = s->status_count;
        for (size_t i = 0; i < s->said_count; i++) {
            const struct said *said = &s->said[i];
            if (said->arg != arg)
                continue;
            if (a->class == TRACE_STATUS && said->part == OTF2_STATUS_FLAGS)
                keep_status(s, (struct trace_status){.is_set = said->value & 1,
                                                     .is_cancelled = said->value >> 1 & 1});
            else if (a->class == TRACE_STATUS && s->status_count > first_status) {
                struct trace_status *status = &s->statuses[s->status_count - 1];
                if (said->part == OTF2_STATUS_SOURCE)
                    status->source = (int32_t)said->value;
                else if (said->part == OTF2_STATUS_TAG)
                    status->tag = (int32_t)said->value;
                else
                    status->bytes = (uint64_t)said->value;
            } else if (a->class == TRACE_TEXT && said->text) {
                v->text = said->text;
                v->count = strlen(said->text);
            } else if (a->is_array && a->class != TRACE_STATUS) {
                keep_item(s, said->value);
            } else {
                v->number = said->value;
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

/* ---- enter and leave ---- */

static struct otf2_location_state *at_time(void *data, OTF2_TimeStamp t)
{
    struct otf2_location_state *s = data;
    s->last = time_of(s->in, t);
    return s;
}

static OTF2_CallbackCode on_enter(OTF2_LocationRef l, OTF2_TimeStamp t, uint64_t at, void *data,
                                  OTF2_AttributeList *attributes, OTF2_RegionRef ref)
{
    struct otf2_location_state *s = at_time(data, t);
    const struct otf2_region *region = otf2_table_find(&s->in->regions, ref, sizeof *region);
    int fn = region ? region->fn : -1;
    (void)l, (void)at, (void)attributes;
    if (s->is_first)
        return OTF2_CALLBACK_SUCCESS;
    if (fn >= 0 && s->calls) {
        format_note(s->in->notes, "left out: calls within calls");
        fn = -1;
    } else if (fn >= 0) {
        s->calls++;
        s->happening_count = s->said_count = s->item_count = s->status_count = 0;
        s->failed = 0;
        s->site = 0;
    } else if (!s->calls) {
        format_build_enter(&s->in->build, s->location->thread, s->last,
                           region ? otf2_string(s->in, region->name) : "");
    }
    ARRAY_EXTEND(s->open, s->depth);
    s->open[s->depth++] = (struct open){ref, s->last, fn};
    return OTF2_CALLBACK_SUCCESS;
}

static void end_call(struct otf2_location_state *s, const struct open *open)
{
    struct format_call call;
    s->calls--;
    if (!format_call_begin(&call, &s->in->build, s->in->build.header.schema->fns[open->fn].name))
        return;
    if (s->in->is_own)
        assemble_said(s, &call);
    else
        assemble(s, &call, open->fn);
    call.event.failed = s->failed;
    call.event.site = s->site;
    format_build_call(&s->in->build, s->location->thread, &call, open->enter, s->last);
}

static OTF2_CallbackCode on_leave(OTF2_LocationRef l, OTF2_TimeStamp t, uint64_t at, void *data,
                                  OTF2_AttributeList *attributes, OTF2_RegionRef ref)
{
    struct otf2_location_state *s = at_time(data, t);
    (void)l, (void)at, (void)attributes;
    if (s->is_first)
        return OTF2_CALLBACK_SUCCESS;
    if (!s->depth) {
        format_note(s->in->notes, "left out: regions that were left but not entered");
        return OTF2_CALLBACK_SUCCESS;
    }
    struct open open = s->open[--s->depth];
    if (open.region != ref)
        format_note(s->in->notes, "regions were left in another order than entered");
    if (open.fn >= 0)
        end_call(s, &open);
    else if (!s->calls)
        format_build_leave(&s->in->build, s->location->thread, s->last);
    return OTF2_CALLBACK_SUCCESS;
}

/* ---- parameters ---- */

static void say(struct otf2_location_state *s, uint32_t ref, int64_t value, const char *text)
{
    const struct otf2_parameter *p = otf2_table_find(&s->in->parameters, ref, sizeof *p);
    const char *name = p ? otf2_string(s->in, p->name) : "";
    if (!s->in->is_own || s->is_first)
        return;
    if (!s->calls) {
        if (strcmp(name, OTF2_OUT_LOST) == 0)
            format_build_lost(&s->in->build, s->location->thread, s->last, (uint64_t)value);
        return;
    }
    if (strcmp(name, OTF2_OUT_ERROR) == 0) {
        s->failed = (int)value;
        return;
    }
    if (strcmp(name, OTF2_OUT_SITE) == 0) {
        s->site = text ? format_build_site(&s->in->build, text) : 0;
        return;
    }
    const struct trace_fn *fn = NULL;
    for (size_t i = s->depth; i > 0 && !fn; i--)
        if (s->open[i - 1].fn >= 0)
            fn = &s->in->build.header.schema->fns[s->open[i - 1].fn];
    const char *dot = strchr(name, '.');
    size_t length = dot ? (size_t)(dot - name) : strlen(name);
    unsigned part = 0;
    for (unsigned i = 1; dot && i < OTF2_STATUS_PARTS; i++)
        if (strcmp(dot, otf2_status_parts[i]) == 0)
            part = i;
    for (unsigned i = 0; fn && i < fn->count; i++)
        if (strncmp(fn->args[i].name, name, length) == 0 && !fn->args[i].name[length]) {
            ARRAY_EXTEND(s->said, s->said_count);
            s->said[s->said_count++] = (struct said){i, part, value, text};
            return;
        }
    format_note(s->in->notes, "left out: parameters that are no arguments");
}

static OTF2_CallbackCode on_int(OTF2_LocationRef l, OTF2_TimeStamp t, uint64_t at, void *data,
                                OTF2_AttributeList *attributes, OTF2_ParameterRef ref,
                                int64_t value)
{
    (void)l, (void)at, (void)attributes;
    say(at_time(data, t), ref, value, NULL);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_text(OTF2_LocationRef l, OTF2_TimeStamp t, uint64_t at, void *data,
                                 OTF2_AttributeList *attributes, OTF2_ParameterRef ref,
                                 OTF2_StringRef string)
{
    struct otf2_location_state *s = at_time(data, t);
    (void)l, (void)at, (void)attributes;
    say(s, ref, 0, otf2_string(s->in, string));
    return OTF2_CALLBACK_SUCCESS;
}

/* ---- messages ---- */

#define STANDARD \
    OTF2_LocationRef l, OTF2_TimeStamp t, uint64_t at, void *data, OTF2_AttributeList *attributes

/* Begins a callback; 1 if the record counts in this reading. */
static int counts(struct otf2_location_state *s, int in_first)
{
    return !s->in->is_own && s->is_first == in_first;
}

static OTF2_CallbackCode on_send(STANDARD, uint32_t peer, OTF2_CommRef comm, uint32_t tag,
                                 uint64_t bytes)
{
    struct otf2_location_state *s = at_time(data, t);
    (void)l, (void)at, (void)attributes;
    if (counts(s, 0))
        happen(s, SENT, -1,
               (struct otf2_result){.is_known = 1,
                                    .peer = peer,
                                    .comm = comm,
                                    .tag = tag,
                                    .bytes = bytes});
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_isend(STANDARD, uint32_t peer, OTF2_CommRef comm, uint32_t tag,
                                  uint64_t bytes, uint64_t request)
{
    struct otf2_location_state *s = at_time(data, t);
    (void)l, (void)at, (void)attributes;
    if (counts(s, 0))
        happen(s, SENT, new_request(s, request),
               (struct otf2_result){.is_known = 1,
                                    .peer = peer,
                                    .comm = comm,
                                    .tag = tag,
                                    .bytes = bytes});
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_recv(STANDARD, uint32_t peer, OTF2_CommRef comm, uint32_t tag,
                                 uint64_t bytes)
{
    struct otf2_location_state *s = at_time(data, t);
    (void)l, (void)at, (void)attributes;
    if (counts(s, 0))
        happen(s, RECEIVED, -1,
               (struct otf2_result){.is_known = 1,
                                    .peer = peer,
                                    .comm = comm,
                                    .tag = tag,
                                    .bytes = bytes});
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_irecv(STANDARD, uint32_t peer, OTF2_CommRef comm, uint32_t tag,
                                  uint64_t bytes, uint64_t request)
{
    struct otf2_location_state *s = at_time(data, t);
    struct otf2_result what = {.is_known = 1,
                               .peer = peer,
                               .comm = comm,
                               .tag = tag,
                               .bytes = bytes};
    (void)l, (void)at, (void)attributes;
    if (counts(s, 1))
        note_result(s, request, what);
    else if (counts(s, 0))
        happen(s, RECV_DONE, end_request(s, request), what);
    return OTF2_CALLBACK_SUCCESS;
}

/* A receive or collective is started. */
static OTF2_CallbackCode on_started(STANDARD, uint64_t request)
{
    struct otf2_location_state *s = at_time(data, t);
    (void)l, (void)at, (void)attributes;
    if (counts(s, 1))
        note_start(s, request);
    else if (counts(s, 0))
        happen(s, POSTED, new_request(s, request), next_result(s));
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_isend_done(STANDARD, uint64_t request)
{
    struct otf2_location_state *s = at_time(data, t);
    (void)l, (void)at, (void)attributes;
    if (counts(s, 0))
        happen(s, SEND_DONE, end_request(s, request), (struct otf2_result){0});
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_tested(STANDARD, uint64_t request)
{
    struct otf2_location_state *s = at_time(data, t);
    (void)l, (void)at, (void)attributes;
    if (counts(s, 0)) {
        const uint64_t *known = map_find(&s->requests, request);
        happen(s, TESTED, known ? (int64_t)*known - 1 : -1, (struct otf2_result){0});
    }
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_cancelled(STANDARD, uint64_t request)
{
    struct otf2_location_state *s = at_time(data, t);
    (void)l, (void)at, (void)attributes;
    if (counts(s, 0))
        happen(s, CANCELLED, end_request(s, request), (struct otf2_result){0});
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_coll(STANDARD, OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root,
                                 uint64_t sent, uint64_t received)
{
    struct otf2_location_state *s = at_time(data, t);
    (void)l, (void)at, (void)attributes;
    if (counts(s, 0))
        happen(s, COLLECTIVE, -1,
               (struct otf2_result){.is_known = 1,
                                    .comm = comm,
                                    .root = root,
                                    .sent = sent,
                                    .bytes = received,
                                    .op = op});
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_icoll(STANDARD, OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root,
                                  uint64_t sent, uint64_t received, uint64_t request)
{
    struct otf2_location_state *s = at_time(data, t);
    struct otf2_result what =
        {.is_known = 1, .comm = comm, .root = root, .sent = sent, .bytes = received, .op = op};
    (void)l, (void)at, (void)attributes;
    if (counts(s, 1))
        note_result(s, request, what);
    else if (counts(s, 0))
        happen(s, COLL_DONE, end_request(s, request), what);
    return OTF2_CALLBACK_SUCCESS;
}

/* ---- windows ---- */

static void on_window(struct otf2_location_state *s, uint32_t win, uint32_t peer, uint64_t bytes)
{
    int is_new;
    if (!counts(s, 0))
        return;
    uint64_t *number = map_insert(&s->wins, win, &is_new);
    if (is_new) {
        const uint32_t *comm = otf2_table_find(&s->in->wins, win, sizeof *comm);
        *number = (uint64_t)format_local_win(&s->in->build, comm ? local_comm(s, *comm) : 0, 0, 1) +
                  1;
    }
    happen(s, ONE_SIDED, (int64_t)*number - 1, (struct otf2_result){.peer = peer, .bytes = bytes});
}

static OTF2_CallbackCode on_win(STANDARD, OTF2_RmaWinRef win)
{
    (void)l, (void)at, (void)attributes;
    on_window(at_time(data, t), win, 0, 0);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_transfer(STANDARD, OTF2_RmaWinRef win, uint32_t peer, uint64_t bytes,
                                     uint64_t match)
{
    (void)l, (void)at, (void)attributes, (void)match;
    on_window(at_time(data, t), win, peer, bytes);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_atomic(STANDARD, OTF2_RmaWinRef win, uint32_t peer,
                                   OTF2_RmaAtomicType type, uint64_t sent, uint64_t received,
                                   uint64_t match)
{
    (void)l, (void)at, (void)attributes, (void)match, (void)type, (void)received;
    on_window(at_time(data, t), win, peer, sent);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_fence(STANDARD, OTF2_CollectiveOp op, OTF2_RmaSyncLevel level,
                                  OTF2_RmaWinRef win, uint32_t root, uint64_t sent,
                                  uint64_t received)
{
    (void)l, (void)at, (void)attributes, (void)op, (void)level, (void)root, (void)sent,
        (void)received;
    on_window(at_time(data, t), win, 0, 0);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_group_sync(STANDARD, OTF2_RmaSyncLevel level, OTF2_RmaWinRef win,
                                       OTF2_GroupRef group)
{
    (void)l, (void)at, (void)attributes, (void)level, (void)group;
    on_window(at_time(data, t), win, 0, 0);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_lock(STANDARD, OTF2_RmaWinRef win, uint32_t peer, uint64_t lock,
                                 OTF2_LockType type)
{
    (void)l, (void)at, (void)attributes, (void)lock, (void)type;
    on_window(at_time(data, t), win, peer, 0);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_unlock(STANDARD, OTF2_RmaWinRef win, uint32_t peer, uint64_t lock)
{
    (void)l, (void)at, (void)attributes, (void)lock;
    on_window(at_time(data, t), win, peer, 0);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_unknown(STANDARD)
{
    struct otf2_location_state *s = at_time(data, t);
    (void)l, (void)at, (void)attributes;
    format_note(s->in->notes, "left out: records of an unknown kind");
    return OTF2_CALLBACK_SUCCESS;
}

/* ---- a location ---- */

static OTF2_EvtReaderCallbacks *make_callbacks(void)
{
    OTF2_EvtReaderCallbacks *c = OTF2_EvtReaderCallbacks_New();
    OTF2_EvtReaderCallbacks_SetEnterCallback(c, on_enter);
    OTF2_EvtReaderCallbacks_SetLeaveCallback(c, on_leave);
    OTF2_EvtReaderCallbacks_SetParameterIntCallback(c, on_int);
    OTF2_EvtReaderCallbacks_SetParameterStringCallback(c, on_text);
    OTF2_EvtReaderCallbacks_SetMpiSendCallback(c, on_send);
    OTF2_EvtReaderCallbacks_SetMpiIsendCallback(c, on_isend);
    OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(c, on_isend_done);
    OTF2_EvtReaderCallbacks_SetMpiRecvCallback(c, on_recv);
    OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(c, on_irecv);
    OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(c, on_started);
    OTF2_EvtReaderCallbacks_SetMpiRequestTestCallback(c, on_tested);
    OTF2_EvtReaderCallbacks_SetMpiRequestCancelledCallback(c, on_cancelled);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(c, on_coll);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(c, on_started);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(c, on_icoll);
    OTF2_EvtReaderCallbacks_SetRmaWinCreateCallback(c, on_win);
    OTF2_EvtReaderCallbacks_SetRmaWinDestroyCallback(c, on_win);
    OTF2_EvtReaderCallbacks_SetRmaPutCallback(c, on_transfer);
    OTF2_EvtReaderCallbacks_SetRmaGetCallback(c, on_transfer);
    OTF2_EvtReaderCallbacks_SetRmaAtomicCallback(c, on_atomic);
    OTF2_EvtReaderCallbacks_SetRmaCollectiveEndCallback(c, on_fence);
    OTF2_EvtReaderCallbacks_SetRmaGroupSyncCallback(c, on_group_sync);
    OTF2_EvtReaderCallbacks_SetRmaAcquireLockCallback(c, on_lock);
    OTF2_EvtReaderCallbacks_SetRmaReleaseLockCallback(c, on_unlock);
    OTF2_EvtReaderCallbacks_SetUnknownCallback(c, on_unknown);
    return c;
}

static void read_once(struct otf2_location_state *s)
{
    struct otf2_in *in = s->in;
    uint64_t count = 0;
    OTF2_EvtReader *events = OTF2_Reader_GetEvtReader(in->reader, s->location->ref);
    OTF2_ErrorCode rc = OTF2_ERROR_FILE_CAN_NOT_OPEN;
    if (events) {
        OTF2_EvtReaderCallbacks *callbacks = make_callbacks();
        OTF2_Reader_RegisterEvtCallbacks(in->reader, events, callbacks, s);
        OTF2_EvtReaderCallbacks_Delete(callbacks);
        OTF2_EvtReader_ApplyMappingTables(events, true);
        OTF2_EvtReader_ApplyClockOffsets(events, true);
        rc = OTF2_Reader_ReadAllLocalEvents(in->reader, events, &count);
        OTF2_Reader_CloseEvtReader(in->reader, events);
    }
    if (rc != OTF2_SUCCESS && !s->is_first)
        format_note(in->notes, "events of location %llu cannot be read to their end: %s",
                    (unsigned long long)s->location->ref, OTF2_Error_GetDescription(rc));
}

void otf2_in_events(struct otf2_in *in, const struct otf2_location *location)
{
    struct otf2_location_state s = {.in = in, .location = location};
    in->result_count = 0;
    map_init(&s.requests);
    map_init(&s.results);
    map_init(&s.wins);
    if (!in->is_own) {
        s.is_first = 1;
        read_once(&s);
        s.is_first = 0;
    }
    read_once(&s);
    for (size_t i = s.depth; i > 0; i--)
        if (s.open[i - 1].fn >= 0)
            format_build_open_call(&in->build, location->thread, s.open[i - 1].enter, s.last,
                                   in->build.header.schema->fns[s.open[i - 1].fn].name);
    map_fini(&s.requests);
    map_fini(&s.results);
    map_fini(&s.wins);
    mem_free(s.open);
    mem_free(s.happenings);
    mem_free(s.said);
    mem_free(s.items);
    mem_free(s.statuses);
}
