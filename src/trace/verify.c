/*
 * verify.c - see verify.h.
 */
#include <string.h>

#include "base/mem.h"
#include "trace/local.h"
#include "trace/verify.h"

enum fault {
    DAMAGED,
    BACKWARDS,
    UNDEFINED,
    UNKNOWN_REQUEST,
    REGIONS,
    FAULTS,
};

static const char *const words[FAULTS] = {
    [DAMAGED] = "a block is damaged",
    [BACKWARDS] = "a call begins before time 0, or ends before it begins",
    [UNDEFINED] = "a handle is used that is not defined",
    [UNKNOWN_REQUEST] = "a request is completed that was not started",
    [REGIONS] = "a region is left that was not entered",
};

struct verify {
    struct trace *trace;
    struct trace_local local;
    uint64_t rank, records, counts[FAULTS], first_rank[FAULTS], first_record[FAULTS];
    struct map requests; /* that were started */
    int64_t regions;
};

static void find(struct verify *v, enum fault fault)
{
    if (v->counts[fault]++ == 0) {
        v->first_rank[fault] = v->rank;
        v->first_record[fault] = v->records;
    }
}

static void check_handle(struct verify *v, const struct trace_arg *arg, int64_t number)
{
    enum trace_head kind = trace_local_kind(arg->role);
    if (kind && number >= 0 && !trace_local_find(&v->local, kind, number))
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

static void check_event(struct verify *v, const struct trace_event *e)
{
    v->records++;
    if (e->head == TRACE_REGION_ENTER)
        v->regions++;
    else if (e->head == TRACE_REGION_LEAVE && v->regions-- == 0)
        find(v, REGIONS), v->regions = 0;
    if (e->head != TRACE_CALL)
        return;
    if (e->enter < 0 || e->leave < e->enter)
        find(v, BACKWARDS);
    const struct trace_fn *fn = &v->trace->header.schema->fns[e->fn];
    for (unsigned i = 0; i < e->argc; i++)
        check_value(v, &fn->args[i], &e->args[i]);
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
    struct verify v = {.trace = t};
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
