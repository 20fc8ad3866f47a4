/*
 * calls.c - finds functions by name. The name also tells the form of a function: MPI_Send_c has
 * large counts, MPI_Ibcast does not block, MPI_Bcast_init creates a persistent request.
 */
#include "analysis/calls.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

struct known {
    const char *name;
    uint8_t kind, class, share;
};

static const struct known calls[] = {
    {"Init", CALL_INIT, 0, 0},
    {"Init_thread", CALL_INIT, 0, 0},
    {"Finalize", CALL_FINALIZE, 0, 0},
    {"Send", CALL_SEND, 0, 0},
    {"Ssend", CALL_SEND, 0, 0},
    {"Rsend", CALL_SEND, 0, 0},
    {"Bsend", CALL_BSEND, 0, 0},
    {"Isend", CALL_ISEND, 0, 0},
    {"Issend", CALL_ISEND, 0, 0},
    {"Irsend", CALL_ISEND, 0, 0},
    {"Ibsend", CALL_ISEND, 0, 0},
    {"Send_init", CALL_SEND_INIT, 0, 0},
    {"Ssend_init", CALL_SEND_INIT, 0, 0},
    {"Rsend_init", CALL_SEND_INIT, 0, 0},
    {"Bsend_init", CALL_SEND_INIT, 0, 0},
    {"Psend_init", CALL_SEND_INIT, 0, 0},
    {"Recv", CALL_RECV, 0, 0},
    {"Irecv", CALL_IRECV, 0, 0},
    {"Recv_init", CALL_RECV_INIT, 0, 0},
    {"Precv_init", CALL_RECV_INIT, 0, 0},
    {"Sendrecv", CALL_SENDRECV, 0, 0},
    {"Sendrecv_replace", CALL_SENDRECV, 0, 0},
    {"Isendrecv", CALL_ISENDRECV, 0, 0},
    {"Isendrecv_replace", CALL_ISENDRECV, 0, 0},
    {"Start", CALL_START, 0, 0},
    {"Startall", CALL_STARTALL, 0, 0},
    {"Wait", CALL_WAIT, 0, 0},
    {"Waitall", CALL_WAITALL, 0, 0},
    {"Waitany", CALL_WAITANY, 0, 0},
    {"Waitsome", CALL_WAITSOME, 0, 0},
    {"Test", CALL_TEST, 0, 0},
    {"Testall", CALL_TESTALL, 0, 0},
    {"Testany", CALL_TESTANY, 0, 0},
    {"Testsome", CALL_TESTSOME, 0, 0},
    {"Request_get_status", CALL_GET_STATUS, 0, 0},
    {"Request_free", CALL_FREE, 0, 0},
    {"Cancel", CALL_CANCEL, 0, 0},
    {"Probe", CALL_PROBE, 0, 0},
    {"Mprobe", CALL_MPROBE, 0, 0},
    {"Improbe", CALL_IMPROBE, 0, 0},
    {"Mrecv", CALL_MRECV, 0, 0},
    {"Imrecv", CALL_IMRECV, 0, 0},
    {"Barrier", CALL_COLLECTIVE, CALL_BARRIER, CALL_GIVES_NOTHING},
    {"Bcast", CALL_COLLECTIVE, CALL_FROM_ROOT, CALL_ROOT_GIVES_ONE},
    {"Scatter", CALL_COLLECTIVE, CALL_FROM_ROOT, CALL_ROOT_GIVES_EACH},
    {"Scatterv", CALL_COLLECTIVE, CALL_FROM_ROOT, CALL_ROOT_GIVES_COUNTS},
    {"Gather", CALL_COLLECTIVE, CALL_TO_ROOT, CALL_GIVES_ONE},
    {"Gatherv", CALL_COLLECTIVE, CALL_TO_ROOT, CALL_GIVES_ONE},
    {"Reduce", CALL_COLLECTIVE, CALL_TO_ROOT, CALL_GIVES_ONE},
    {"Allreduce", CALL_COLLECTIVE, CALL_NXN, CALL_GIVES_ONE},
    {"Allgather", CALL_COLLECTIVE, CALL_NXN, CALL_GIVES_ONE},
    {"Allgatherv", CALL_COLLECTIVE, CALL_NXN, CALL_GIVES_ONE},
    {"Alltoall", CALL_COLLECTIVE, CALL_NXN, CALL_GIVES_EACH},
    {"Alltoallv", CALL_COLLECTIVE, CALL_NXN, CALL_GIVES_COUNTS},
    {"Alltoallw", CALL_COLLECTIVE, CALL_NXN, CALL_GIVES_COUNTS},
    {"Reduce_scatter", CALL_COLLECTIVE, CALL_NXN, CALL_GIVES_COUNTS},
    {"Reduce_scatter_block", CALL_COLLECTIVE, CALL_NXN, CALL_GIVES_EACH},
    {"Scan", CALL_COLLECTIVE, CALL_SCAN, CALL_GIVES_ONE},
    {"Exscan", CALL_COLLECTIVE, CALL_SCAN, CALL_GIVES_ONE},
    {"Comm_dup", CALL_COLLECTIVE, CALL_NXN, CALL_GIVES_NOTHING},
    {"Comm_dup_with_info", CALL_COLLECTIVE, CALL_NXN, CALL_GIVES_NOTHING},
    {"Comm_idup", CALL_ICOLLECTIVE, CALL_NXN, CALL_GIVES_NOTHING},
    {"Comm_idup_with_info", CALL_ICOLLECTIVE, CALL_NXN, CALL_GIVES_NOTHING},
    {"Comm_split", CALL_COLLECTIVE, CALL_NXN, CALL_GIVES_NOTHING},
    {"Comm_split_type", CALL_COLLECTIVE, CALL_NXN, CALL_GIVES_NOTHING},
    {"Comm_create", CALL_COLLECTIVE, CALL_NXN, CALL_GIVES_NOTHING},
    {"Put", CALL_RMA, 0, 0},
    {"Get", CALL_RMA, 0, 0},
    {"Accumulate", CALL_RMA, 0, 0},
    {"Get_accumulate", CALL_RMA, 0, 0},
    {"Rput", CALL_RMA, 0, 0},
    {"Rget", CALL_RMA, 0, 0},
    {"Raccumulate", CALL_RMA, 0, 0},
    {"Rget_accumulate", CALL_RMA, 0, 0},
};

static const struct known *find(const char *name)
{
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (strcmp(calls[i].name, name) == 0)
            return &calls[i];
    return NULL;
}

static int ends_with(const char *name, const char *end)
{
    size_t length = strlen(name), more = strlen(end);
    return length > more && strcmp(name + length - more, end) == 0;
}

/* The table's entry for this function: its own, or that of the collective of which it is a form. */
static struct known know(const char *name)
{
    struct known known = {0};
    char base[64];
    if (strncmp(name, "MPI_", 4) != 0)
        return known;
    snprintf(base, sizeof base, "%s", name + 4);
    if (ends_with(base, "_c"))
        base[strlen(base) - 2] = '\0';
    const struct known *found = find(base);
    uint8_t kind = found ? found->kind : CALL_LOCAL;
    if (!found && ends_with(base, "_init")) {
        base[strlen(base) - 5] = '\0';
        found = find(base);
        kind = CALL_COLLECTIVE_INIT;
    } else if (!found && base[0] == 'I') {
        base[1] = (char)toupper((unsigned char)base[1]);
        found = find(base + 1);
        kind = CALL_ICOLLECTIVE;
    }
    if (!found || (found->kind != CALL_COLLECTIVE && kind != found->kind))
        return known;
    known = *found;
    known.kind = kind;
    return known;
}

/* The first argument with one of these names (separated by spaces), or -1. */
static int8_t arg_named(const struct trace_fn *fn, const char *names)
{
    for (unsigned i = 0; i < fn->count; i++) {
        size_t length = strlen(fn->args[i].name);
        for (const char *at = names; *at; at += strspn(at, " ")) {
            size_t word = strcspn(at, " ");
            if (word == length && memcmp(at, fn->args[i].name, length) == 0)
                return (int8_t)i;
            at += word;
        }
    }
    return -1;
}

static int8_t arg_of_role(const struct trace_fn *fn, const char *role)
{
    return (int8_t)trace_fn_find(fn, role);
}

static uint8_t blocks(uint8_t kind)
{
    switch (kind) {
    case CALL_SEND:
    case CALL_BSEND:
    case CALL_RECV:
    case CALL_SENDRECV:
    case CALL_WAIT:
    case CALL_WAITALL:
    case CALL_WAITANY:
    case CALL_WAITSOME:
    case CALL_PROBE:
    case CALL_MPROBE:
    case CALL_MRECV:
    case CALL_COLLECTIVE:
        return 1;
    default:
        return 0;
    }
}

static struct call_shape shape_of(const struct trace_fn *fn)
{
    struct known known = know(fn->name);
    int is_precv = strncmp(fn->name, "MPI_Precv_init", 14) == 0; /* its source is called `dest` */
    struct call_shape s = {
        .kind = known.kind,
        .class = known.class,
        .share = known.share,
        .blocks = blocks(known.kind),
        .comm = arg_of_role(fn, "comm"),
        .dest = is_precv ? -1 : arg_named(fn, "dest"),
        .source = arg_named(fn, is_precv ? "dest" : "source"),
        .send_tag = arg_named(fn, "sendtag tag"),
        .recv_tag = arg_named(fn, "recvtag tag"),
        .count = arg_named(fn, "sendcount count origin_count"),
        .type = arg_named(fn, "sendtype datatype origin_datatype"),
        .counts = arg_named(fn, "sendcounts"),
        .types = arg_named(fn, "sendtypes"),
        .recv_count = arg_named(fn, "recvcount"),
        .recv_type = arg_named(fn, "recvtype"),
        .request = arg_of_role(fn, "request"),
        .status = arg_of_role(fn, "status"),
        .flag = arg_of_role(fn, "flag"),
        .index = arg_of_role(fn, "index"),
        .out_count = arg_named(fn, "outcount"),
        .root = arg_of_role(fn, "root"),
        .message = arg_of_role(fn, "message"),
        .place = arg_named(fn, "sendbuf"),
        .partitions = arg_named(fn, "partitions"),
    };
    if (s.counts < 0)
        s.counts = arg_named(fn, "recvcounts"); /* MPI_Reduce_scatter */
    if (s.count < 0 && s.kind == CALL_COLLECTIVE)
        s.count = s.recv_count; /* MPI_Reduce_scatter_block */
    return s;
}

struct call_shape *calls_of(const struct trace_schema *schema)
{
    struct call_shape *shapes = mem_alloc((schema->count + 1) * sizeof *shapes);
    for (unsigned i = 0; i < schema->count; i++)
        shapes[i] = shape_of(&schema->fns[i]);
    return shapes;
}

/* ---- requests ---- */

/* Whether a call is given an array of requests. */
static int takes_array(const struct call_shape *s)
{
    switch (s->kind) {
    case CALL_STARTALL:
    case CALL_WAITALL:
    case CALL_WAITANY:
    case CALL_WAITSOME:
    case CALL_TESTALL:
    case CALL_TESTANY:
    case CALL_TESTSOME:
        return 1;
    default:
        return 0;
    }
}

size_t calls_given(const struct call_shape *s, const struct trace_event *e)
{
    if (s->request < 0)
        return 0;
    return takes_array(s) ? e->args[s->request].count : 1;
}

int64_t calls_given_request(const struct call_shape *s, const struct trace_event *e, size_t i)
{
    const struct trace_value *value = &e->args[s->request];
    if (!takes_array(s))
        return value->number;
    return i < value->count ? value->items[i] : -1;
}

size_t calls_completed(const struct call_shape *s, const struct trace_event *e)
{
    if (s->request < 0 || !trace_event_is_done(e))
        return 0;
    switch (s->kind) {
    case CALL_WAIT:
        return 1;
    case CALL_TEST:
        return s->flag >= 0 && e->args[s->flag].number != 0;
    case CALL_WAITALL:
        return e->args[s->request].count;
    case CALL_TESTALL:
        return s->flag >= 0 && e->args[s->flag].number != 0 ? e->args[s->request].count : 0;
    case CALL_WAITANY:
        return s->index >= 0 && e->args[s->index].number >= 0;
    case CALL_TESTANY:
        return s->flag >= 0 && e->args[s->flag].number != 0 && s->index >= 0 &&
               e->args[s->index].number >= 0;
    case CALL_WAITSOME:
    case CALL_TESTSOME:
        return s->index >= 0 ? e->args[s->index].count : 0;
    default:
        return 0;
    }
}

static int64_t completed_position(const struct call_shape *s, const struct trace_event *e, size_t i)
{
    switch (s->kind) {
    case CALL_WAITANY:
    case CALL_TESTANY:
        return e->args[s->index].number;
    case CALL_WAITSOME:
    case CALL_TESTSOME:
        return e->args[s->index].items[i];
    default:
        return (int64_t)i;
    }
}

int64_t calls_completed_request(const struct call_shape *s, const struct trace_event *e, size_t i)
{
    int64_t at = completed_position(s, e, i);
    return at < 0 ? -1 : calls_given_request(s, e, (size_t)at);
}

const struct trace_status *calls_completed_status(const struct call_shape *s,
                                                  const struct trace_event *e, size_t i)
{
    static const struct trace_status none;
    if (s->status < 0)
        return &none;
    switch (s->kind) {
    case CALL_WAITALL:
    case CALL_TESTALL:
    case CALL_WAITSOME:
    case CALL_TESTSOME:
        return i < e->args[s->status].count ? &e->args[s->status].statuses[i] : &none;
    default:
        return e->args[s->status].statuses;
    }
}
