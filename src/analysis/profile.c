/*
 * profile.c - see profile.h.
 */
#include "analysis/profile.h"

#include <math.h>
#include <string.h>

#include "analysis/bytes.h"
#include "analysis/memory.h"
#include "analysis/phases.h"
#include "base/array.h"
#include "base/mem.h"

/* A function on all ranks so far; variance after Welford. */
struct fn_sum {
    uint64_t calls, ranks;
    double time, bytes, mean, squares, min, max;
};

/* The same on the current rank. */
struct fn_rank {
    uint64_t calls;
    int64_t time;
    uint64_t bytes;
};

struct profile {
    struct analysis *a;
    struct trace trace;
    struct handles_book book;
    struct call_shape *shapes;
    struct phases phases;
    struct fn_sum *sums;
    struct fn_rank *fns; /* of the rank */
    /* of the rank */
    struct handles handles;
    struct map requests; /* in flight, with their failed tests */
    int64_t last;        /* end of the last call of its first thread */
    int has_first;       /* that has made calls */
    int64_t compute, mpi, wait, overlapped, exposed;
    uint64_t sent, received, messages, collective, rma, calls;
    int64_t begin, end; /* of all ranks: start of the first call, end of the last */
    int is_begun;
};

/* ---- bytes ---- */

static uint64_t send_bytes(struct profile *p, const struct call_shape *s,
                           const struct trace_event *e)
{
    if (s->dest < 0 || e->args[s->dest].number < 0)
        return 0;
    uint64_t bytes = bytes_of_message(&p->handles, s, e);
    p->messages++;
    p->sent += bytes;
    return bytes;
}

/* ---- requests ---- */

/* Kept until a request is complete: failed tests, and the bytes of a persistent send. */
#define KEY_PERSISTENT(number) ((uint64_t)(number) | UINT64_C(1) << 62)

static void begin_request(struct profile *p, int64_t number)
{
    if (number >= 0)
        *map_insert(&p->requests, (uint64_t)number, NULL) = 0;
}

/* The bytes + 1 that a persistent request sends each time it is started. */
static void keep_persistent(struct profile *p, const struct call_shape *s,
                            const struct trace_event *e)
{
    int64_t number = s->request >= 0 ? e->args[s->request].number : -1;
    if (number >= 0 && s->kind == CALL_SEND_INIT && e->args[s->dest].number >= 0)
        *map_insert(&p->requests, KEY_PERSISTENT(number),
                    NULL) = bytes_of_message(&p->handles, s, e) + 1;
}

static uint64_t start(struct profile *p, const struct call_shape *s, const struct trace_event *e)
{
    uint64_t sum = 0;
    for (size_t i = 0, count = calls_given(s, e); i < count; i++) {
        int64_t number = calls_given_request(s, e, i);
        if (number < 0)
            continue;
        uint64_t *bytes = map_find(&p->requests, KEY_PERSISTENT(number));
        if (bytes && *bytes) {
            p->messages++;
            sum += *bytes - 1;
        }
        begin_request(p, number);
    }
    p->sent += sum;
    return sum;
}

static void count_tests(struct analysis *a, uint64_t tests)
{
    unsigned bin = 0;
    while (tests > 1 && bin + 1 < ANALYSIS_TESTS_BINS)
        tests /= 2, bin++;
    a->tests[bin]++;
}

static void receive(struct profile *p, const struct trace_status *status)
{
    if (status->is_set && !status->is_cancelled && status->source >= 0)
        p->received += status->bytes;
}

static void complete(struct profile *p, const struct call_shape *s, const struct trace_event *e)
{
    int is_test = s->kind >= CALL_TEST;
    for (size_t i = 0, count = calls_completed(s, e); i < count; i++) {
        int64_t number = calls_completed_request(s, e, i);
        uint64_t *failed = number < 0 ? NULL : map_find(&p->requests, (uint64_t)number);
        receive(p, calls_completed_status(s, e, i));
        if (!failed)
            continue;
        p->a->requests++;
        p->a->tested += is_test;
        if (*failed + (unsigned)is_test)
            count_tests(p->a, *failed + (unsigned)is_test);
        map_remove(&p->requests, (uint64_t)number);
    }
}

static void test_failed(struct profile *p, const struct call_shape *s, const struct trace_event *e)
{
    p->a->tests_failed++;
    for (size_t i = 0, count = calls_given(s, e); i < count; i++) {
        int64_t number = calls_given_request(s, e, i);
        uint64_t *failed = number < 0 ? NULL : map_find(&p->requests, (uint64_t)number);
        if (failed)
            ++*failed;
    }
}

/* ---- calls ---- */

static void collective(struct profile *p, const struct call_shape *s, const struct trace_event *e)
{
    struct handles_mine mine = s->comm >= 0 ? handles_comm(&p->handles, e->args[s->comm].number)
                                            : (struct handles_mine){HANDLES_NONE, 0, 0, 0};
    if (mine.comm != HANDLES_SELF)
        phases_collective(&p->phases, mine.comm, e->fn, e->enter, e->leave);
}

/* Counts what the call does. Returns the bytes that it sends or passes to a collective. */
static uint64_t take_call(struct profile *p, const struct call_shape *s,
                          const struct trace_event *e)
{
    uint64_t bytes = 0;
    switch (s->kind) {
    case CALL_SEND:
    case CALL_BSEND:
        return send_bytes(p, s, e);
    case CALL_SENDRECV:
        receive(p, e->args[s->status].statuses);
        return send_bytes(p, s, e);
    case CALL_ISEND:
    case CALL_ISENDRECV:
        bytes = send_bytes(p, s, e);
        begin_request(p, e->args[s->request].number);
        return bytes;
    case CALL_RECV:
    case CALL_MRECV:
        receive(p, e->args[s->status].statuses);
        return 0;
    case CALL_IRECV:
    case CALL_IMRECV:
        begin_request(p, e->args[s->request].number);
        return 0;
    case CALL_SEND_INIT:
        keep_persistent(p, s, e);
        return 0;
    case CALL_START:
    case CALL_STARTALL:
        return start(p, s, e);
    case CALL_FREE:
        map_remove(&p->requests, (uint64_t)e->args[s->request].number);
        map_remove(&p->requests, KEY_PERSISTENT(e->args[s->request].number));
        return 0;
    case CALL_ICOLLECTIVE:
        begin_request(p, s->request >= 0 ? e->args[s->request].number : -1);
        /* fall through */
    case CALL_COLLECTIVE:
        collective(p, s, e);
        bytes = bytes_of_collective(&p->book, &p->handles, s, e);
        p->collective += bytes;
        return bytes;
    case CALL_RMA:
        bytes = bytes_of_message(&p->handles, s, e);
        p->rma += bytes;
        return bytes;
    case CALL_INIT:
    case CALL_FINALIZE:
        phases_collective(&p->phases, HANDLES_WORLD, e->fn, e->enter, e->leave);
        return 0;
    default:
        if (calls_is_failed_test(s, e))
            test_failed(p, s, e);
        else if (s->kind >= CALL_WAIT && s->kind <= CALL_TESTSOME)
            complete(p, s, e);
        return 0;
    }
}

static void take_time(struct profile *p, const struct call_shape *s, unsigned fn, int64_t enter,
                      int64_t leave, int is_first_thread)
{
    struct fn_rank *f = &p->fns[fn];
    int64_t time = leave - enter;
    f->calls++;
    f->time += time;
    p->calls++;
    if (!p->is_begun || enter < p->begin)
        p->begin = enter;
    if (!p->is_begun || leave > p->end)
        p->end = leave;
    p->is_begun = 1;
    if (!is_first_thread)
        return;
    p->has_first = 1;
    p->mpi += time;
    if (s->blocks)
        p->wait += time;
    if (enter > p->last) {
        p->compute += enter - p->last;
        if (map_count(&p->requests))
            p->overlapped += enter - p->last;
    }
    if (s->kind >= CALL_WAIT && s->kind <= CALL_WAITSOME)
        p->exposed += time;
    p->last = leave > p->last ? leave : p->last;
}

/* A call that did not end. */
static void take_open(struct profile *p, const struct trace_event *e, int is_first_thread)
{
    uint64_t fn, time;
    const uint8_t *end = e->payload + e->bytes, *at = trace_varint_get(e->payload, end, &fn);
    if (at && trace_varint_get(at, end, &time) && fn < p->trace.header.schema->count &&
        time <= (uint64_t)e->leave)
        take_time(p, &p->shapes[fn], (unsigned)fn, e->leave - (int64_t)time, e->leave,
                  is_first_thread);
}

/* Statistics instead of calls: of a function since its last such record. */
static void take_profile(struct profile *p, const struct trace_event *e)
{
    uint64_t fn, v[5];
    const uint8_t *end = e->payload + e->bytes, *at = trace_varint_get(e->payload, end, &fn);
    for (int i = 0; i < 5 && at; i++)
        at = trace_varint_get(at, end, &v[i]);
    if (!at || fn >= p->trace.header.schema->count)
        return;
    const struct call_shape *s = &p->shapes[fn];
    int64_t began = e->leave - (int64_t)v[4];
    p->fns[fn].calls += v[0];
    p->fns[fn].time += (int64_t)v[1];
    p->fns[fn].bytes += v[2];
    p->calls += v[0];
    p->mpi += (int64_t)v[1];
    p->wait += s->blocks ? (int64_t)v[1] : 0;
    p->received += v[3];
    if (s->kind == CALL_RMA) {
        p->rma += v[2];
    } else if (s->dest >= 0 || s->kind == CALL_START || s->kind == CALL_STARTALL) {
        p->sent += v[2];
        p->messages += s->kind != CALL_SEND_INIT && v[2] ? v[0] : 0;
    } else {
        p->collective += v[2];
    }
    p->begin = !p->is_begun || began < p->begin ? began : p->begin;
    p->end = !p->is_begun || e->leave > p->end ? e->leave : p->end;
    p->is_begun = 1;
    p->has_first = 1;
    p->last = e->leave;
    p->compute = p->last - p->mpi;
}

static void read_thread(struct profile *p, uint64_t rank, unsigned thread)
{
    struct trace_cursor c;
    struct trace_event e;
    struct err err;
    int more;
    trace_cursor_open(&c, &p->trace, rank, thread, TRACE_RECORDS);
    while ((more = trace_cursor_next(&c, &e, &err)) != 0) {
        if (more < 0) {
            if (!p->a->warning.code)
                p->a->warning = err;
            continue;
        }
        p->a->events++;
        if (e.head == TRACE_CALL) {
            const struct call_shape *s = &p->shapes[e.fn];
            take_time(p, s, e.fn, e.enter, e.leave, thread == 0);
            if (s->kind != CALL_LOCAL && trace_event_is_done(&e))
                p->fns[e.fn].bytes += take_call(p, s, &e);
        } else if (e.head == TRACE_OPEN) {
            take_open(p, &e, thread == 0);
        } else if (e.head == TRACE_PROFILE) {
            take_profile(p, &e);
        } else if (e.head == TRACE_LOST) {
            uint64_t lost = 0;
            trace_varint_get(e.payload, e.payload + e.bytes, &lost);
            p->a->lost += (double)lost;
        }
    }
    trace_cursor_close(&c);
}

/* ---- ranks ---- */

static void add_functions(struct profile *p)
{
    for (unsigned i = 0; i < p->trace.header.schema->count; i++) {
        struct fn_rank *f = &p->fns[i];
        struct fn_sum *s = &p->sums[i];
        if (!f->calls)
            continue;
        double time = (double)f->time, from_mean = time - s->mean;
        s->min = s->ranks == 0 || time < s->min ? time : s->min;
        s->max = s->ranks == 0 || time > s->max ? time : s->max;
        s->mean += from_mean / (double)++s->ranks;
        s->squares += from_mean * (time - s->mean);
        s->calls += f->calls;
        s->time += time;
        s->bytes += (double)f->bytes;
        *f = (struct fn_rank){0};
    }
}

/* Times are in ticks until the end is known. */
static void read_rank(struct profile *p, uint64_t rank)
{
    struct analysis_rank *r = &p->a->rank[rank];
    handles_read(&p->handles, &p->book, rank);
    map_init(&p->requests);
    /* There is no computing before the first call yet; it is added at the end. */
    p->last = INT64_MAX;
    p->has_first = 0;
    p->compute = p->mpi = p->wait = p->overlapped = p->exposed = 0;
    p->sent = p->received = p->messages = p->collective = p->rma = p->calls = 0;
    for (unsigned thread = 0, threads = trace_threads(&p->trace, rank); thread < threads;
         thread++) {
        if (thread == 0)
            p->last = 0;
        read_thread(p, rank, thread);
    }
    phases_rank_end(&p->phases, (uint32_t)rank);
    r->node = p->trace.definitions.nodes ? p->trace.definitions.nodes[rank] : -1;
    r->end = p->has_first ? (double)p->last : NAN;
    r->compute = (double)p->compute;
    r->mpi = (double)p->mpi;
    r->wait = (double)p->wait;
    r->overlapped = (double)p->overlapped;
    r->exposed = (double)p->exposed;
    r->sent = (double)p->sent;
    r->received = (double)p->received;
    r->messages = (double)p->messages;
    r->collective_bytes = (double)p->collective;
    r->rma_bytes = (double)p->rma;
    r->calls = (double)p->calls;
    add_functions(p);
    map_fini(&p->requests);
    handles_fini(&p->handles);
}

/* ---- the result ---- */

/* Converts ticks to seconds since the start of the trace, where computing begins. */
static void finish_ranks(struct profile *p, double second)
{
    struct analysis *a = p->a;
    double begin = (double)p->begin;
    a->begin = begin * second;
    a->runtime = (double)(p->end - p->begin) * second;
    for (uint64_t i = 0; i < a->ranks; i++) {
        struct analysis_rank *r = &a->rank[i];
        int is_there = !isnan(r->end);
        r->end = is_there ? (r->end - begin) * second : 0;
        r->compute = is_there ? (r->compute - begin) * second : 0;
        r->mpi *= second;
        r->wait *= second;
        r->overlapped *= second;
        r->exposed *= second;
        a->compute += r->compute;
        a->mpi += r->mpi;
        a->wait += r->wait;
        a->sent += r->sent;
        a->received += r->received;
        a->messages += r->messages;
        a->collective_bytes += r->collective_bytes;
        a->rma_bytes += r->rma_bytes;
        a->calls += r->calls;
        a->overlapped += r->overlapped;
        a->exposed += r->exposed;
    }
    a->bandwidth = a->mpi > 0 ? (a->sent + a->collective_bytes + a->rma_bytes) / a->mpi : 0;
}

/* Ranks that did not call it count with no time. */
static void finish_functions(struct profile *p, double second)
{
    struct analysis *a = p->a;
    const struct trace_schema *schema = p->trace.header.schema;
    a->function = analysis_keep(a, (schema->count + 1) * sizeof *a->function);
    for (unsigned i = 0; i < schema->count; i++) {
        const struct fn_sum *s = &p->sums[i];
        if (!s->calls)
            continue;
        double n = (double)a->ranks, idle = n - (double)s->ranks, mean = s->time / n;
        double squares = s->squares + s->mean * s->mean * (double)s->ranks * idle / n;
        a->function[a->function_count++] = (struct analysis_function){
            .name = analysis_keep_text(a, schema->fns[i].name),
            .calls = (double)s->calls,
            .time = s->time * second,
            .mean = s->time * second / (double)s->calls,
            .rank_mean = mean * second,
            .rank_deviation = sqrt(squares / n) * second,
            .rank_min = idle > 0 ? 0 : s->min * second,
            .rank_max = s->max * second,
            .bytes = s->bytes,
        };
    }
}

static size_t node_index(struct map *nodes, struct analysis *a, int64_t node)
{
    int is_new;
    uint64_t *index = map_insert(nodes, (uint64_t)node, &is_new);
    if (is_new) {
        *index = a->nodes;
        a->node[a->nodes++] = (struct analysis_node){.node = node, .name = ""};
    }
    return *index;
}

static void finish_nodes(struct profile *p)
{
    struct analysis *a = p->a;
    const struct trace_definitions *d = &p->trace.definitions;
    struct map nodes;
    if (!d->nodes)
        return;
    map_init(&nodes);
    a->node = analysis_keep(a, (a->ranks + 1) * sizeof *a->node);
    for (uint64_t i = 0; i < a->ranks; i++) {
        const struct analysis_rank *r = &a->rank[i];
        struct analysis_node *n = &a->node[node_index(&nodes, a, r->node)];
        n->ranks++;
        n->compute += r->compute;
        n->mpi += r->mpi;
        n->wait += r->wait;
        n->sent += r->sent;
        n->received += r->received;
        n->messages += r->messages;
        n->collective_bytes += r->collective_bytes;
        n->rma_bytes += r->rma_bytes;
    }
    for (size_t i = 0; i < d->node_name_count; i++) {
        const uint64_t *index = map_find(&nodes, d->node_names[i].node);
        if (index)
            a->node[*index].name = analysis_keep_text(a, d->node_names[i].text);
    }
    map_fini(&nodes);
}

int profile_run(struct analysis *a, const char *path, const struct analysis_options *o,
                struct err *err)
{
    struct profile p = {.a = a};
    if (trace_open(&p.trace, path, err) != 0)
        return err->code;
    const struct trace_schema *schema = p.trace.header.schema;
    handles_book_init(&p.book, &p.trace);
    p.shapes = calls_of(schema);
    p.sums = mem_zalloc((schema->count + 1) * sizeof *p.sums);
    p.fns = mem_zalloc((schema->count + 1) * sizeof *p.fns);
    phases_init(&p.phases, p.trace.header.ranks, o->phase_cells);
    for (uint64_t rank = 0; rank < p.trace.header.ranks; rank++)
        read_rank(&p, rank);
    double second = (double)p.trace.header.tick / 1e12;
    finish_ranks(&p, second);
    finish_nodes(&p);
    finish_functions(&p, second);
    if (o->groups & 1u << ANALYSIS_PHASES)
        phases_result(&p.phases, &p.book, schema, second, a);
    if (p.trace.missing.code && !a->warning.code)
        a->warning = p.trace.missing;
    phases_fini(&p.phases);
    handles_book_fini(&p.book);
    mem_free(p.shapes);
    mem_free(p.sums);
    mem_free(p.fns);
    trace_close(&p.trace);
    return 0;
}
