/*
 * profile.c - the first pass over a trace, rank by rank (see profile.h).
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

/* A function on the current rank. */
struct fn_rank {
    uint64_t calls;
    int64_t time;
    uint64_t bytes;
};

struct profile {
    struct analysis *a;
    struct trace trace;
    struct handles_book book;
    struct mpi_effect *shapes;
    struct phases phases;
    struct fn_sum *sums;
    struct fn_rank *fns; /* of the rank */
    /* of the rank */
    struct handles handles;
    struct map requests; /* in flight, with their failed tests */
    int64_t last;        /* end of the last call of its first thread */
    int has_first;       /* that has made calls */
    int is_first_thread; /* the current one is */
    int64_t first;       /* start of its first call */
    int64_t compute, mpi, file, wait, overlapped, exposed;
    uint64_t sent, received, messages, collective, rma, file_bytes, calls;
    int64_t begin, end; /* of all ranks: start of the first call, end of the last */
    int is_begun;
};

/* ---- bytes ---- */

static uint64_t send_bytes(struct profile *p, const struct mpi_effect *s,
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

/* Kept until a request is complete: its failed tests; and what a persistent one moves. */
#define KEY_PERSISTENT(number) ((uint64_t)(number) | UINT64_C(1) << 62)
#define IS_COLLECTIVE (UINT64_C(1) << 63)
#define IS_FILE (UINT64_C(1) << 62) /* added to the failed tests of a request */

static void begin_request(struct profile *p, int64_t number, uint64_t mark)
{
    if (number >= 0)
        *map_insert(&p->requests, (uint64_t)number, NULL) = mark;
}

/* The bytes + 1 that a persistent request sends, or passes to a collective, each time it is
 * started. */
static void keep_persistent(struct profile *p, const struct mpi_effect *s,
                            const struct trace_event *e)
{
    int64_t number = s->request >= 0 ? e->args[s->request].number : -1;
    if (number < 0)
        return;
    if (s->kind == MPI_DOES_COLLECTIVE)
        *map_insert(&p->requests, KEY_PERSISTENT(number),
                    NULL) = (bytes_of_collective(&p->book, &p->handles, s, e) + 1) | IS_COLLECTIVE;
    else if (s->dest >= 0 && e->args[s->dest].number >= 0)
        *map_insert(&p->requests, KEY_PERSISTENT(number),
                    NULL) = bytes_of_message(&p->handles, s, e) + 1;
}

static uint64_t start(struct profile *p, const struct mpi_effect *s, const struct trace_event *e)
{
    uint64_t sent = 0, passed = 0;
    for (size_t i = 0, count = calls_given(s, e); i < count; i++) {
        int64_t number = calls_given_request(s, e, i);
        if (number < 0)
            continue;
        uint64_t *bytes = map_find(&p->requests, KEY_PERSISTENT(number));
        if (bytes && *bytes & IS_COLLECTIVE) {
            passed += (*bytes & ~IS_COLLECTIVE) - 1;
        } else if (bytes && *bytes) {
            p->messages++;
            sent += *bytes - 1;
        }
        begin_request(p, number, 0);
    }
    p->sent += sent;
    p->collective += passed;
    return sent + passed;
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

static void complete(struct profile *p, const struct mpi_effect *s, const struct trace_event *e)
{
    int is_test = s->form == MPI_FORM_POLLING;
    size_t files = 0, others = 0;
    for (size_t i = 0, count = calls_completed(s, e); i < count; i++) {
        int64_t number = calls_completed_request(s, e, i);
        uint64_t *failed = number < 0 ? NULL : map_find(&p->requests, (uint64_t)number);
        receive(p, calls_completed_status(s, e, i));
        if (!failed)
            continue;
        p->a->requests++;
        p->a->tested += is_test;
        *(*failed & IS_FILE ? &files : &others) += 1;
        uint64_t tests = (*failed & ~IS_FILE) + (unsigned)is_test;
        if (tests)
            count_tests(p->a, tests);
        map_remove(&p->requests, (uint64_t)number);
    }
    if (files && !others && p->is_first_thread)
        p->file += e->leave - e->enter;
}

static void test_failed(struct profile *p, const struct mpi_effect *s, const struct trace_event *e)
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

static void collective(struct profile *p, const struct mpi_effect *s, const struct trace_event *e)
{
    struct handles_mine mine = s->comm >= 0 ? handles_comm(&p->handles, e->args[s->comm].number)
                                            : (struct handles_mine){.comm = HANDLES_NONE};
    if (mine.comm != HANDLES_SELF)
        phases_collective(&p->phases, mine.comm, e->fn, e->enter, e->leave);
}

/* Counts what the call does. Returns the bytes that it sends or passes to a collective. */
static uint64_t take_call(struct profile *p, const struct mpi_effect *s,
                          const struct trace_event *e)
{
    uint64_t bytes = 0;
    if (s->form == MPI_FORM_PERSISTENT) {
        keep_persistent(p, s, e);
        return 0;
    }
    if (s->form == MPI_FORM_NONBLOCKING && s->request >= 0)
        begin_request(p, e->args[s->request].number, s->kind == MPI_DOES_FILE ? IS_FILE : 0);
    if (s->status >= 0 && s->form == MPI_FORM_BLOCKING &&
        (s->kind == MPI_DOES_RECEIVE || s->kind == MPI_DOES_EXCHANGE))
        receive(p, e->args[s->status].statuses);
    switch (s->kind) {
    case MPI_DOES_SEND:
    case MPI_DOES_EXCHANGE:
        return send_bytes(p, s, e);
    case MPI_DOES_START:
        return start(p, s, e);
    case MPI_DOES_RELEASE:
        map_remove(&p->requests, (uint64_t)e->args[s->request].number);
        map_remove(&p->requests, KEY_PERSISTENT(e->args[s->request].number));
        return 0;
    case MPI_DOES_COLLECTIVE:
        collective(p, s, e);
        bytes = bytes_of_collective(&p->book, &p->handles, s, e);
        p->collective += bytes;
        return bytes;
    case MPI_DOES_RMA:
        bytes = bytes_of_access(&p->handles, s, e);
        p->rma += bytes;
        return bytes;
    case MPI_DOES_FILE:
        bytes = bytes_of_access(&p->handles, s, e);
        p->file_bytes += bytes;
        return bytes;
    case MPI_DOES_INIT:
    case MPI_DOES_FINALIZE:
        phases_collective(&p->phases, p->handles.world.comm, e->fn, e->enter, e->leave);
        return 0;
    default:
        if (calls_is_failed_test(s, e))
            test_failed(p, s, e);
        else if (s->kind == MPI_DOES_COMPLETE)
            complete(p, s, e);
        return 0;
    }
}

static void take_time(struct profile *p, const struct mpi_effect *s, unsigned fn, int64_t enter,
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
    p->first = p->has_first ? p->first : enter;
    p->has_first = 1;
    p->mpi += time;
    if (s->kind == MPI_DOES_FILE)
        p->file += time;
    if (calls_blocks(s))
        p->wait += time;
    if (enter > p->last) {
        p->compute += enter - p->last;
        if (map_count(&p->requests))
            p->overlapped += enter - p->last;
    }
    if (s->kind == MPI_DOES_COMPLETE && s->form == MPI_FORM_BLOCKING)
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
    uint64_t fn, v[7] = {0};
    const uint8_t *end = e->payload + e->bytes, *at = trace_varint_get(e->payload, end, &fn);
    int count = 0;
    while (count < 7 && at && at < end)
        at = trace_varint_get(at, end, &v[count++]);
    if (!at || count < 5 || fn >= p->trace.header.schema->count)
        return;
    const struct mpi_effect *s = &p->shapes[fn];
    int64_t began = e->leave - (int64_t)v[4];
    p->fns[fn].calls += v[0];
    p->fns[fn].time += (int64_t)v[1];
    p->fns[fn].bytes += v[2];
    p->calls += v[0];
    p->mpi += (int64_t)v[1];
    p->file += s->kind == MPI_DOES_FILE ? (int64_t)v[1] : 0;
    p->wait += calls_blocks(s) ? (int64_t)v[1] : 0;
    p->received += v[3];
    if (s->kind == MPI_DOES_RMA)
        p->rma += v[2];
    else if (s->kind == MPI_DOES_COLLECTIVE)
        p->collective += v[2];
    else if (s->kind == MPI_DOES_FILE)
        p->file_bytes += v[2];
    else
        p->sent += v[2] - v[6];
    if (s->kind == MPI_DOES_START)
        p->collective += v[6];
    p->messages += v[5];
    p->begin = !p->is_begun || began < p->begin ? began : p->begin;
    p->end = !p->is_begun || e->leave > p->end ? e->leave : p->end;
    p->is_begun = 1;
    p->first = !p->has_first || began < p->first ? began : p->first;
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
    p->is_first_thread = thread == 0;
    trace_cursor_open(&c, &p->trace, rank, thread, TRACE_RECORDS);
    while ((more = trace_cursor_next(&c, &e, &err)) != 0) {
        if (more < 0) {
            if (!p->a->warning.code)
                p->a->warning = err;
            continue;
        }
        p->a->events++;
        if (e.head == TRACE_CALL) {
            const struct mpi_effect *s = &p->shapes[e.fn];
            take_time(p, s, e.fn, e.enter, e.leave, thread == 0);
            if (s->kind != MPI_DOES_LOCAL && trace_event_is_done(&e))
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
    p->compute = p->mpi = p->file = p->wait = p->overlapped = p->exposed = p->first = 0;
    p->sent = p->received = p->messages = p->collective = p->rma = p->file_bytes = p->calls = 0;
    for (unsigned thread = 0, threads = trace_threads(&p->trace, rank); thread < threads;
         thread++) {
        if (thread == 0)
            p->last = 0;
        read_thread(p, rank, thread);
    }
    phases_rank_end(&p->phases, (uint32_t)rank);
    r->node = p->trace.definitions.nodes ? p->trace.definitions.nodes[rank] : -1;
    r->end = p->has_first ? (double)p->last : NAN;
    int is_spawned = p->has_first && p->handles.world.comm != HANDLES_WORLD;
    r->start = is_spawned ? (double)p->first : 0;
    r->compute = (double)p->compute;
    r->mpi = (double)p->mpi;
    r->file = (double)p->file;
    r->communication = (double)(p->mpi - p->file);
    r->wait = (double)p->wait;
    r->overlapped = (double)p->overlapped;
    r->exposed = (double)p->exposed;
    r->sent = (double)p->sent;
    r->received = (double)p->received;
    r->messages = (double)p->messages;
    r->collective_bytes = (double)p->collective;
    r->rma_bytes = (double)p->rma;
    r->file_bytes = (double)p->file_bytes;
    r->calls = (double)p->calls;
    add_functions(p);
    map_fini(&p->requests);
    handles_fini(&p->handles);
}

/* ---- the result ---- */

/* Converts ticks to seconds since the start of the trace, where computing begins, except of ranks
 * that were spawned. */
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
        r->compute = is_there ? (r->compute - (r->start > 0 ? r->start : begin)) * second : 0;
        r->start = r->start > 0 ? (r->start - begin) * second : 0;
        r->mpi *= second;
        r->file *= second;
        r->communication *= second;
        r->wait *= second;
        r->overlapped *= second;
        r->exposed *= second;
        a->compute += r->compute;
        a->mpi += r->mpi;
        a->file += r->file;
        a->communication += r->communication;
        a->wait += r->wait;
        a->sent += r->sent;
        a->received += r->received;
        a->messages += r->messages;
        a->collective_bytes += r->collective_bytes;
        a->rma_bytes += r->rma_bytes;
        a->file_bytes += r->file_bytes;
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
            .kind = p->shapes[i].kind,
            .class = p->shapes[i].kind == MPI_DOES_FILE ? "file" : "communication",
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
        n->file += r->file;
        n->communication += r->communication;
        n->wait += r->wait;
        n->sent += r->sent;
        n->received += r->received;
        n->messages += r->messages;
        n->collective_bytes += r->collective_bytes;
        n->rma_bytes += r->rma_bytes;
        n->file_bytes += r->file_bytes;
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
