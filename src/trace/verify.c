/*
 * verify.c - checks that a trace is undamaged, in order and complete (see verify.h).
 */
#include <string.h>

#include "base/mem.h"
#include "trace/local.h"
#include "trace/verify.h"

enum fault {
    DAMAGED,
    BACKWARDS,
    UNDEFINED,
    EMPTY_COMM,
    UNKNOWN_MEMBERS,
    OTHER_MEMBERS,
    WRONG_GROUP,
    UNKNOWN_REQUEST,
    REGIONS,
    FAULTS,
};

static const char *const words[FAULTS] = {
    [DAMAGED] = "a block is damaged",
    [BACKWARDS] = "a call begins before time 0, or ends before it begins",
    [UNDEFINED] = "a handle or a name is used that is not defined",
    [EMPTY_COMM] = "a communicator is used whose definition has no members, or not this rank",
    [UNKNOWN_MEMBERS] = "a communicator is used whose members are not defined",
    [OTHER_MEMBERS] = "a communicator is used whose members are others",
    [WRONG_GROUP] = "a group is used with ranks that the trace does not have",
    [UNKNOWN_REQUEST] = "a request is completed that was not started",
    [REGIONS] = "a region is left that was not entered",
};

struct verify {
    struct trace *trace;
    struct trace_local local;
    uint64_t rank, records, counts[FAULTS], first_rank[FAULTS], first_record[FAULTS];
    struct map requests; /* that were started */
    int64_t regions;
    int finalize;       /* the number of MPI_Finalize, or -1 */
    uint64_t finalized; /* ranks that called it */
    int has_failed;     /* the next call: it may have been passed anything */
};

static void find(struct verify *v, enum fault fault)
{
    if (v->counts[fault]++ == 0) {
        v->first_rank[fault] = v->rank;
        v->first_record[fault] = v->records;
    }
}

/* ---- definitions ---- */

static int is_member(const int64_t *ranks, uint64_t size, const struct trace_local_item *item,
                     uint64_t rank)
{
    return size == item->size && (uint64_t)item->rank < size &&
           (ranks ? ranks[item->rank] : item->rank) == (int64_t)rank;
}

/* The rank is where it says in one of the groups, and the other one has its size. */
static int has_members(const struct trace_comm *c, const struct trace_local_item *item,
                       uint64_t rank)
{
    return (is_member(c->ranks, c->size, item, rank) && c->other_size == item->other_size) ||
           (is_member(c->others, c->other_size, item, rank) && c->size == item->other_size);
}

static void check_comm(struct verify *v, const struct trace_local_item *item)
{
    const struct trace_comm *c;
    if (item->identity == TRACE_COMM_SELF(v->rank))
        return;
    /* Traces of other tools may not know the members; then it has an identity alone. */
    if (item->size == 0 && item->identity != TRACE_COMM_WORLD)
        return;
    if (item->rank < 0 || (uint64_t)item->rank >= item->size) {
        find(v, EMPTY_COMM);
        return;
    }
    /* The part that has the members may be missing, if the trace is not complete. */
    if (item->identity == TRACE_COMM_WORLD || !v->trace->is_complete || v->trace->missing.code)
        return;
    c = trace_definitions_comm(&v->trace->definitions, item->identity);
    if (!c)
        find(v, UNKNOWN_MEMBERS);
    else if (!has_members(c, item, v->rank))
        find(v, OTHER_MEMBERS);
}

static void check_group(struct verify *v, const struct trace_local_item *item)
{
    for (uint64_t i = 0; i < item->size; i++)
        if (item->members[i] < 0 || (uint64_t)item->members[i] >= v->trace->header.ranks) {
            find(v, WRONG_GROUP);
            return;
        }
}

/* ---- what records refer to ---- */

static void check_handle(struct verify *v, const struct trace_arg *arg, int64_t number)
{
    enum trace_head kind = trace_local_kind(arg->role);
    const struct trace_local_item *item;
    if (!kind || number < 0)
        return;
    item = trace_local_find(&v->local, kind, number);
    if (!item)
        find(v, UNDEFINED);
    else if (kind == TRACE_DEFINE_COMM && !v->has_failed)
        check_comm(v, item);
    else if (kind == TRACE_DEFINE_GROUP && !v->has_failed)
        check_group(v, item);
    else if (kind == TRACE_DEFINE_WIN &&
             !trace_local_find(&v->local, TRACE_DEFINE_COMM, item->lower))
        find(v, UNDEFINED);
}

static void check_request(struct verify *v, const struct trace_arg *arg, int64_t number)
{
    if (number < 0)
        return;
    if (arg->is_out && !arg->is_in)
        map_insert(&v->requests, (uint64_t)number, NULL);
    else if (!map_find(&v->requests, (uint64_t)number))
        find(v, UNKNOWN_REQUEST);
}

static void check_value(struct verify *v, const struct trace_arg *arg,
                        const struct trace_value *value)
{
    if (arg->class != TRACE_HANDLE && arg->class != TRACE_REQUEST)
        return;
    uint64_t count = arg->is_array ? value->count : 1;
    for (uint64_t i = 0; i < count; i++) {
        int64_t number = arg->is_array ? value->items[i] : value->number;
        if (arg->class == TRACE_HANDLE)
            check_handle(v, arg, number);
        else
            check_request(v, arg, number);
    }
}

static void check_region(struct verify *v, const struct trace_event *e)
{
    uint64_t name;
    v->regions++;
    if (!trace_varint_get(e->payload, e->payload + e->bytes, &name) || name > INT64_MAX ||
        !trace_local_find(&v->local, TRACE_DEFINE_NAME, (int64_t)name))
        find(v, UNDEFINED);
}

static void check_call(struct verify *v, const struct trace_event *e)
{
    const struct trace_fn *fn = &v->trace->header.schema->fns[e->fn];
    if (e->enter < 0 || e->leave < e->enter)
        find(v, BACKWARDS);
    v->finalized += (int)e->fn == v->finalize;
    for (unsigned i = 0; i < e->argc; i++)
        check_value(v, &fn->args[i], &e->args[i]);
}

static void check_event(struct verify *v, const struct trace_event *e)
{
    v->records++;
    if (e->head == TRACE_REGION_ENTER)
        check_region(v, e);
    else if (e->head == TRACE_REGION_LEAVE && v->regions-- == 0)
        find(v, REGIONS), v->regions = 0;
    if (e->head == TRACE_CALL)
        check_call(v, e);
    v->has_failed = e->head == TRACE_FAILED;
}

static void check_stream(struct verify *v, unsigned thread)
{
    struct trace_cursor c;
    struct trace_event e;
    struct err err;
    int more;
    v->regions = 0;
    trace_cursor_open(&c, v->trace, v->rank, thread, TRACE_RECORDS);
    while ((more = trace_cursor_next(&c, &e, &err)) != 0) {
        if (more < 0)
            find(v, DAMAGED);
        else
            check_event(v, &e);
    }
    trace_cursor_close(&c);
}

/* A thread may complete a request that another one has started. */
static void learn_requests(struct verify *v, unsigned thread)
{
    struct trace_cursor c;
    struct trace_event e;
    struct err err;
    int more;
    trace_cursor_open(&c, v->trace, v->rank, thread, TRACE_RECORDS);
    while ((more = trace_cursor_next(&c, &e, &err)) != 0) {
        if (more < 0 || e.head != TRACE_CALL)
            continue;
        const struct trace_fn *fn = &v->trace->header.schema->fns[e.fn];
        for (unsigned i = 0; i < e.argc; i++)
            if (fn->args[i].class == TRACE_REQUEST && !fn->args[i].is_in && e.args[i].number >= 0)
                map_insert(&v->requests, (uint64_t)e.args[i].number, NULL);
    }
    trace_cursor_close(&c);
}

uint64_t trace_verify(struct trace *t, struct buf *out)
{
    struct verify v = {.trace = t, .finalize = trace_schema_find(t->header.schema, "MPI_Finalize")};
    uint64_t all = 0;
    for (v.rank = 0; v.rank < t->header.ranks; v.rank++) {
        trace_local_read(&v.local, t, v.rank);
        map_init(&v.requests);
        v.records = 0;
        unsigned threads = trace_threads(t, v.rank);
        for (unsigned thread = 1; thread < threads; thread++)
            learn_requests(&v, thread);
        for (unsigned thread = 0; thread < threads; thread++)
            check_stream(&v, thread);
        map_fini(&v.requests);
        trace_local_fini(&v.local);
    }
    /* The rank that should have written them may have been killed before. */
    if (v.finalized < t->header.ranks)
        v.counts[UNKNOWN_MEMBERS] = 0;
    for (unsigned i = 0; i < FAULTS; i++) {
        if (v.counts[i])
            buf_addf(out, "%s: %llu times, first at record %llu of rank %llu\n", words[i],
                     (unsigned long long)v.counts[i], (unsigned long long)v.first_record[i],
                     (unsigned long long)v.first_rank[i]);
        all += v.counts[i];
    }
    if (t->missing.code) {
        buf_addf(out, "%s\n", t->missing.text);
        all++;
    }
    if (!t->is_complete) {
        buf_adds(out, "the trace has no end: it is a part, or writing it was interrupted\n");
        all++;
    }
    return all;
}
