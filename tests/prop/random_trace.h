/*
 * Random traces: calls of all functions with random arguments, as a recorder would number what they
 * mention. The same seed gives the same trace.
 */
#ifndef PROP_RANDOM_TRACE_H
#define PROP_RANDOM_TRACE_H

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "formats/build.h"
#include "calls/calls.h"
#include "trace/definitions.h"
#include "trace/local.h"

#define RANDOM_REQUESTS 4096
#define RANDOM_ITEMS 4 /* of an array, at most */

struct random_trace {
    uint64_t seed;
    uint64_t ranks;
    unsigned calls; /* of each rank */
    /* Whether a function may be called; NULL: all. */
    int (*allows)(const struct trace_fn *);
    int is_plain; /* no failures, no missing buffers, no call sites */
};

struct random_rank {
    struct rng rng;
    struct format_build b;
    const struct random_trace *spec;
    struct mpi_effect *shapes;
    uint64_t rank;
    int64_t comm;                            /* local number of the part of MPI_COMM_WORLD */
    int64_t types, groups, wins, files, ops; /* of the program's own: how many */
    int64_t own_types[64], own_ops[64];
    struct random_request {
        int is_recv;
        int64_t comm;
    } requests[RANDOM_REQUESTS];
    int64_t request_count;
    int64_t now;
    int64_t items[TRACE_ARGS_MAX][RANDOM_ITEMS];
    struct trace_status statuses[TRACE_ARGS_MAX][RANDOM_ITEMS];
    char text[TRACE_ARGS_MAX][16];
};

static uint64_t random_below(struct random_rank *r, uint64_t n)
{
    return rng_below(&r->rng, n);
}

static int64_t random_choice(struct random_rank *r, const int64_t *items, size_t count)
{
    return items[random_below(r, count)];
}
#define RANDOM_CHOICE(r, ...)                          \
    random_choice((r), (const int64_t[]){__VA_ARGS__}, \
                  sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

/* Values that MPI gives a meaning to, by the argument's name. */
static int64_t random_number(struct random_rank *r, const char *function,
                             const struct trace_arg *arg)
{
    const char *name = arg->name;
    uint64_t half = r->spec->ranks / 2;
    if (strcmp(name, "source") == 0)
        return random_below(r, 8) ? (int64_t)random_below(r, half) : RANDOM_CHOICE(r, -1, -2);
    if (strcmp(name, "dest") == 0)
        return random_below(r, 8) ? (int64_t)random_below(r, half) : -1;
    if (strcmp(name, "root") == 0 || strcmp(name, "target_rank") == 0)
        return (int64_t)random_below(r, half);
    if (strcmp(arg->role, "tag") == 0)
        return (int64_t)random_below(r, 100);
    if (strcmp(arg->role, "flag") == 0)
        return (int64_t)random_below(r, 2);
    if (strcmp(name, "required") == 0 || strcmp(name, "provided") == 0)
        return (int64_t)random_below(r, 4);
    if (strcmp(name, "result") == 0 && strstr(function, "_compare"))
        return (int64_t)random_below(r, 4);
    if (strcmp(name, "order") == 0)
        return RANDOM_CHOICE(r, 56, 57);
    if (strcmp(name, "lock_type") == 0)
        return RANDOM_CHOICE(r, 234, 235);
    if (strcmp(name, "whence") == 0)
        return RANDOM_CHOICE(r, 600, 602, 604);
    if (strcmp(name, "amode") == 0)
        return RANDOM_CHOICE(r, 1, 2, 4, 8);
    if (strcmp(name, "assert") == 0)
        return (int64_t)random_below(r, 32) << 10;
    if (strcmp(name, "combiner") == 0)
        return 1 + (int64_t)random_below(r, 18);
    if (strcmp(name, "typeclass") == 0)
        return 1 + (int64_t)random_below(r, 3);
    if (strcmp(name, "array_of_distribs") == 0)
        return RANDOM_CHOICE(r, 121, 122, 123, -49767);
    if (strcmp(name, "status") == 0) /* MPI_Topo_test */
        return RANDOM_CHOICE(r, 1, 2, -32766);
    if (strcmp(arg->role, "count") == 0 || strcmp(arg->role, "keyval") == 0)
        return (int64_t)random_below(r, 1000);
    return (int64_t)random_below(r, 2000) - 500;
}

/* A handle that the call is given, or makes. */
static int64_t random_handle(struct random_rank *r, const struct trace_arg *arg)
{
    static const struct {
        const char *name;
        unsigned size;
    } types[] = {{"MPI_INT", 4}, {"MPI_DOUBLE", 8}, {"MPI_BYTE", 1}, {"MPI_CHAR", 1}};
    static const char *const ops[] = {"MPI_SUM", "MPI_MAX", "MPI_BAND"};
    int is_new = arg->is_out && !arg->is_in;
    if (strcmp(arg->role, "comm") == 0)
        return RANDOM_CHOICE(r, TRACE_LOCAL_WORLD, TRACE_LOCAL_WORLD, TRACE_LOCAL_SELF, r->comm);
    if (strcmp(arg->role, "datatype") == 0) {
        uint64_t which = random_below(r, 4);
        if (is_new && r->types < 64)
            return r->own_types[r->types++] = format_local_own_type(&r->b, which * 8);
        if (r->types && random_below(r, 3) == 0)
            return r->own_types[random_below(r, (uint64_t)r->types)];
        return format_local_type(&r->b, types[which].name, types[which].size, 0,
                                 (int64_t)types[which].size);
    }
    if (strcmp(arg->role, "op") == 0) {
        if (is_new && r->ops < 64)
            return r->own_ops[r->ops++] = format_local_own_op(&r->b, 1);
        if (r->ops && random_below(r, 3) == 0)
            return r->own_ops[random_below(r, (uint64_t)r->ops)];
        return format_local_op(&r->b, ops[random_below(r, 3)], 1);
    }
    if (strcmp(arg->role, "group") == 0) {
        if (is_new)
            return r->groups++, format_local_group(&r->b, NULL, 0);
        return r->groups ? (int64_t)random_below(r, (uint64_t)r->groups) : -1;
    }
    if (strcmp(arg->role, "win") == 0) {
        if (is_new)
            return r->wins++, format_local_win(&r->b, 0, 64, 1);
        return r->wins ? (int64_t)random_below(r, (uint64_t)r->wins) : -1;
    }
    if (strcmp(arg->role, "file") == 0) {
        if (is_new)
            return r->files++, format_local_file(&r->b, "data");
        return r->files ? (int64_t)random_below(r, (uint64_t)r->files) : -1;
    }
    return -1;
}

static int64_t random_request(struct random_rank *r, const struct trace_arg *arg, int is_recv,
                              int64_t comm)
{
    if (arg->is_out && !arg->is_in) {
        if (r->request_count == RANDOM_REQUESTS)
            return -1;
        r->requests[r->request_count] = (struct random_request){is_recv, comm};
        return r->request_count++;
    }
    return r->request_count && random_below(r, 8)
               ? (int64_t)random_below(r, (uint64_t)r->request_count)
               : -1;
}

static struct trace_status random_status(struct random_rank *r, int64_t comm)
{
    uint64_t half = r->spec->ranks / 2, peer = random_below(r, half);
    int64_t source = comm == TRACE_LOCAL_SELF    ? (int64_t)r->rank
                     : comm == TRACE_LOCAL_WORLD ? (int64_t)peer
                                                 : (int64_t)(2 * peer + r->rank % 2);
    return (struct trace_status){(int32_t)source, (int32_t)random_below(r, 100),
                                 random_below(r, 10000), 1, 0};
}

/* The request that status k belongs to; -1: none. */
static int64_t random_status_request(struct random_rank *r, const struct format_call *call,
                                     const struct mpi_effect *s, uint64_t k)
{
    const struct trace_value *requests = &call->event.args[s->request];
    (void)r;
    if (!call->fn->args[s->request].is_array)
        return requests->number;
    if (s->index >= 0 && call->fn->args[s->index].is_array)
        k = k < call->event.args[s->index].count ? (uint64_t)call->event.args[s->index].items[k]
                                                 : UINT64_MAX;
    else if (s->index >= 0)
        k = (uint64_t)call->event.args[s->index].number;
    return k < requests->count ? requests->items[k] : -1;
}

static void random_statuses(struct random_rank *r, struct format_call *call,
                            const struct mpi_effect *s, unsigned at, uint64_t count)
{
    int64_t comm = s->comm >= 0 ? call->event.args[s->comm].number : -1;
    for (uint64_t i = 0; i < count; i++) {
        int64_t request = s->request >= 0 ? random_status_request(r, call, s, i) : -1;
        struct trace_status status = {0};
        if (s->request >= 0 && request >= 0 && r->requests[request].is_recv)
            status = random_status(r, r->requests[request].comm);
        else if (s->request < 0 && comm >= 0 &&
                 (s->kind == MPI_DOES_RECEIVE || s->kind == MPI_DOES_EXCHANGE ||
                  s->kind == MPI_DOES_PROBE))
            status = random_status(r, comm);
        r->statuses[at][i] = status;
    }
    call->event.args[at].statuses = r->statuses[at];
    call->event.args[at].count = call->fn->args[at].is_array ? count : 0;
}

static void random_arg(struct random_rank *r, struct format_call *call, const struct mpi_effect *s,
                       unsigned i)
{
    const struct trace_arg *arg = &call->fn->args[i];
    struct trace_value *v = &call->event.args[i];
    int64_t comm = s->comm >= 0 ? call->event.args[s->comm].number : -1;
    uint64_t count = random_below(r, RANDOM_ITEMS + 1);
    if (arg->class == TRACE_STATUS) {
        random_statuses(r, call, s, i, arg->is_array ? count : 1);
    } else if (arg->class == TRACE_TEXT) {
        for (size_t k = 0; k < 8; k++)
            r->text[i][k] = (char)('a' + random_below(r, 26));
        v->text = r->text[i];
        v->count = random_below(r, 9);
    } else if (arg->is_array) {
        for (uint64_t k = 0; k < count; k++)
            r->items[i][k] = arg->class == TRACE_HANDLE    ? random_handle(r, arg)
                             : arg->class == TRACE_REQUEST ? random_request(r, arg, 0, comm)
                             : strcmp(arg->role, "index") == 0
                                 ? (int64_t)random_below(r, RANDOM_ITEMS)
                                 : random_number(r, call->fn->name, arg);
        v->items = r->items[i];
        v->count = count;
    } else if (arg->class == TRACE_HANDLE) {
        v->number = random_handle(r, arg);
    } else if (arg->class == TRACE_REQUEST) {
        v->number = random_request(r, arg, s->kind == MPI_DOES_RECEIVE, comm);
    } else if (arg->class == TRACE_BUFFER) {
        v->number = r->spec->is_plain ? 0 : (int64_t)random_below(r, 3);
    } else {
        v->number = strcmp(arg->role, "index") == 0 ? (int64_t)random_below(r, RANDOM_ITEMS)
                                                    : random_number(r, call->fn->name, arg);
    }
}

/* What counts at the root alone is not there elsewhere. */
static int random_skips(struct random_rank *r, struct format_call *call, const struct mpi_effect *s,
                        unsigned at)
{
    static const struct {
        const char *function, *args[2];
    } rooted[] = {{"MPI_Gather", {"recvcount", "recvtype"}},
                  {"MPI_Gatherv", {"recvcounts", "displs"}},
                  {"MPI_Scatter", {"sendcount", "sendtype"}},
                  {"MPI_Scatterv", {"sendcounts", "displs"}}};
    for (size_t i = 0; i < sizeof rooted / sizeof rooted[0]; i++) {
        if (strcmp(rooted[i].function, call->fn->name) != 0)
            continue;
        call->event.args[s->comm].number = TRACE_LOCAL_WORLD;
        return call->event.args[s->root].number != (int64_t)r->rank &&
               (strcmp(call->fn->args[at].name, rooted[i].args[0]) == 0 ||
                strcmp(call->fn->args[at].name, rooted[i].args[1]) == 0);
    }
    return 0;
}

static int random_allows(const struct random_rank *r, const struct trace_fn *fn)
{
    if (strncmp(fn->name, "MPI_Init", 8) == 0 || strcmp(fn->name, "MPI_Finalize") == 0 ||
        strncmp(fn->name, "MPI_", 4) != 0 || strncmp(fn->name, "MPI_T_", 6) == 0)
        return 0;
    for (unsigned i = 0; i < fn->count; i++)
        if ((strcmp(fn->args[i].role, "comm") == 0 && fn->args[i].is_out && !fn->args[i].is_in) ||
            strcmp(fn->args[i].role, "message") == 0 || strcmp(fn->args[i].role, "session") == 0)
            return 0;
    return !r->spec->allows || r->spec->allows(fn);
}

static void random_put(struct random_rank *r, struct format_call *call)
{
    int64_t enter = r->now + (int64_t)random_below(r, 1000) * 1000;
    r->now = enter + (int64_t)random_below(r, 5) * 1000000;
    format_build_call(&r->b, 0, call, enter, r->now);
}

static void random_call(struct random_rank *r)
{
    const struct trace_schema *schema = r->b.header.schema;
    struct format_call call;
    unsigned fn;
    do
        fn = (unsigned)random_below(r, schema->count);
    while (!random_allows(r, &schema->fns[fn]));
    /* messages and completions more often than others */
    static const char *const often[] = {"MPI_Isend",   "MPI_Irecv", "MPI_Send", "MPI_Recv",
                                        "MPI_Waitall", "MPI_Wait",  "MPI_Test", "MPI_Allreduce"};
    if (random_below(r, 2))
        fn = (unsigned)trace_schema_find(schema, often[random_below(r, 8)]);
    format_call_begin(&call, &r->b, schema->fns[fn].name);
    const struct mpi_effect *s = &r->shapes[fn];
    const int first[] = {s->comm, s->request, s->root}; /* others follow from them */
    for (int k = 0; k < 3; k++)
        if (first[k] >= 0)
            random_arg(r, &call, s, (unsigned)first[k]);
    for (unsigned i = 0; i < call.fn->count; i++)
        if ((int)i != s->comm && (int)i != s->request && (int)i != s->root &&
            !random_skips(r, &call, s, i))
            random_arg(r, &call, s, i);
    int name = calls_arg(call.fn, "filename");
    if (name >= 0) { /* as the file is called */
        call.event.args[name].text = "data";
        call.event.args[name].count = 4;
    }
    if (!r->spec->is_plain && random_below(r, 10) == 0)
        call.event.failed = 1 + (int)random_below(r, 50);
    random_put(r, &call);
}

static void random_rank_write(struct random_rank *r, uint64_t rank)
{
    struct format_call call;
    struct rng rng = r->rng;
    struct format_build b = r->b;
    const struct random_trace *spec = r->spec;
    struct mpi_effect *shapes = r->shapes;
    memset(r, 0, sizeof *r);
    r->rng = rng, r->b = b, r->spec = spec, r->shapes = shapes, r->rank = rank;
    format_build_rank(&r->b, rank);
    format_call_begin(&call, &r->b, "MPI_Init");
    format_call_number(&call, "argc", 2);
    random_put(r, &call);
    r->comm = format_local_comm(&r->b, 1001 + rank % 2, TRACE_COMM_INTRA, (int64_t)rank / 2,
                                spec->ranks / 2, 0);
    format_call_begin(&call, &r->b, "MPI_Comm_split");
    format_call_number(&call, "comm", TRACE_LOCAL_WORLD);
    format_call_number(&call, "color", (int64_t)rank % 2);
    format_call_number(&call, "key", (int64_t)rank);
    format_call_number(&call, "newcomm", r->comm);
    random_put(r, &call);
    format_build_enter(&r->b, 0, r->now, "solve");
    for (unsigned i = 0; i < spec->calls; i++)
        random_call(r);
    format_build_leave(&r->b, 0, r->now);
    format_call_begin(&call, &r->b, "MPI_Finalize");
    random_put(r, &call);
}

/* 0, or a failure. `ranks` is even. */
static int random_trace_write(const struct random_trace *spec, const char *path, struct err *err)
{
    struct random_rank *r = mem_zalloc(sizeof *r);
    int64_t *members = mem_zalloc(spec->ranks * sizeof *members);
    r->spec = spec;
    rng_seed(&r->rng, spec->seed);
    format_build_init(&r->b, path, spec->ranks, NULL);
    trace_header_add(&r->b.header, "program", "random");
    r->shapes = calls_of(r->b.header.schema);
    int rc = format_build_start(&r->b, err);
    if (rc == 0) {
        format_build_nodes(&r->b, members);
        for (uint64_t half = 0; half < 2; half++) {
            for (uint64_t i = 0; i < spec->ranks / 2; i++)
                members[i] = (int64_t)(2 * i + half);
            format_build_comm(&r->b, 1001 + half, TRACE_COMM_INTRA, members, spec->ranks / 2, NULL,
                              0);
        }
        for (uint64_t rank = 0; rank < spec->ranks; rank++)
            random_rank_write(r, rank);
    }
    int closed = format_build_close(&r->b, rc == 0, err);
    mem_free(r->shapes);
    mem_free(members);
    mem_free(r);
    return rc ? rc : closed;
}

#endif
