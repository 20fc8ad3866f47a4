/*
 * calls.c - what functions do.
 */
#include <string.h>

#include "base/mem.h"
#include "formats/calls.h"

int call_arg(const struct trace_fn *fn, const char *name)
{
    for (unsigned i = 0; i < fn->count; i++)
        if (strcmp(fn->args[i].name, name) == 0)
            return (int)i;
    return -1;
}

const char *call_bare_name(const struct trace_fn *fn)
{
    return strncmp(fn->name, "MPI_", 4) == 0 ? fn->name + 4 : fn->name;
}

/* The position of the first of these names that the function has. */
static int first_of(const struct trace_fn *fn, const char *a, const char *b)
{
    int at = call_arg(fn, a);
    return at >= 0 ? at : call_arg(fn, b);
}

static int starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static int ends(const char *text, size_t length, const char *with)
{
    size_t n = strlen(with);
    return length >= n && strncmp(text + length - n, with, n) == 0;
}

static int equals(const char *text, size_t length, const char *name)
{
    return strlen(name) == length && strncmp(text, name, length) == 0;
}

/* ---- collectives ---- */

static const struct {
    const char *name;
    enum call_coll coll;
} colls[] = {
    {"Barrier", COLL_BARRIER},
    {"Bcast", COLL_BCAST},
    {"Gather", COLL_GATHER},
    {"Gatherv", COLL_GATHERV},
    {"Scatter", COLL_SCATTER},
    {"Scatterv", COLL_SCATTERV},
    {"Allgather", COLL_ALLGATHER},
    {"Allgatherv", COLL_ALLGATHERV},
    {"Alltoall", COLL_ALLTOALL},
    {"Alltoallv", COLL_ALLTOALLV},
    {"Alltoallw", COLL_ALLTOALLW},
    {"Reduce", COLL_REDUCE},
    {"Allreduce", COLL_ALLREDUCE},
    {"Reduce_scatter", COLL_REDUCE_SCATTER},
    {"Reduce_scatter_block", COLL_REDUCE_SCATTER_BLOCK},
    {"Scan", COLL_SCAN},
    {"Exscan", COLL_EXSCAN},
    {"Neighbor_allgather", COLL_NEIGHBOR},
    {"Neighbor_allgatherv", COLL_NEIGHBOR},
    {"Neighbor_alltoall", COLL_NEIGHBOR},
    {"Neighbor_alltoallv", COLL_NEIGHBOR},
    {"Neighbor_alltoallw", COLL_NEIGHBOR},
    {"Comm_dup", COLL_CREATE},
    {"Comm_dup_with_info", COLL_CREATE},
    {"Comm_create", COLL_CREATE},
    {"Comm_split", COLL_CREATE},
    {"Comm_split_type", COLL_CREATE},
    {"Cart_create", COLL_CREATE},
    {"Cart_sub", COLL_CREATE},
    {"Graph_create", COLL_CREATE},
    {"Dist_graph_create", COLL_CREATE},
    {"Dist_graph_create_adjacent", COLL_CREATE},
    {"Intercomm_merge", COLL_CREATE},
    {"Win_create", COLL_CREATE},
    {"Win_create_dynamic", COLL_CREATE},
    {"Win_allocate", COLL_CREATE},
    {"Win_allocate_shared", COLL_CREATE},
    {"Comm_free", COLL_DESTROY},
};

static int coll_of(const char *name, size_t length)
{
    char lower[64];
    for (size_t i = 0; i < sizeof colls / sizeof colls[0]; i++)
        if (equals(name, length, colls[i].name))
            return (int)i;
    if (name[0] != 'I' || length < 2 || length >= sizeof lower)
        return -1;
    memcpy(lower, name + 1, length - 1); /* "Ibcast" is a nonblocking "Bcast" */
    lower[0] = (char)(lower[0] - 'a' + 'A');
    for (size_t i = 0; i < sizeof colls / sizeof colls[0]; i++)
        if (equals(lower, length - 1, colls[i].name))
            return (int)i;
    return -1;
}

/* ---- all ---- */

static void find_args(const struct trace_fn *fn, struct call_shape *s)
{
    s->send_count = first_of(fn, "sendcount", "count");
    s->send_type = first_of(fn, "sendtype", "datatype");
    s->recv_count = first_of(fn, "recvcount", "count");
    s->recv_type = first_of(fn, "recvtype", "datatype");
    int is_precv = starts(call_bare_name(fn), "Precv_init"); /* its source is called `dest` */
    s->dest = is_precv ? -1 : call_arg(fn, "dest");
    s->source = call_arg(fn, is_precv ? "dest" : "source");
    s->partitions = call_arg(fn, "partitions");
    s->send_tag = first_of(fn, "sendtag", "tag");
    s->recv_tag = first_of(fn, "recvtag", "tag");
    s->comm = call_arg(fn, "comm");
    s->request = first_of(fn, "request", "array_of_requests");
    s->status = first_of(fn, "status", "array_of_statuses");
    s->flag = call_arg(fn, "flag");
    s->index = first_of(fn, "indx", "array_of_indices");
    s->outcount = call_arg(fn, "outcount");
    s->root = call_arg(fn, "root");
    s->message = call_arg(fn, "message");
    s->win = call_arg(fn, "win");
}

static enum call_kind kind_of(const struct trace_fn *fn, const struct call_shape *s,
                              const char *name, size_t length)
{
    int in_request = s->request >= 0 && fn->args[s->request].is_in;
    if (s->dest >= 0 && s->source >= 0 && s->send_count >= 0)
        return CALL_SENDRECV;
    if (s->dest >= 0 && s->send_count >= 0)
        return CALL_SEND;
    if ((s->source >= 0 || s->message >= 0) && s->recv_count >= 0)
        return CALL_RECV;
    if (s->source >= 0 && s->status >= 0)
        return CALL_PROBE;
    if (in_request && (starts(name, "Wait") || starts(name, "Test")))
        return CALL_COMPLETE;
    if (equals(name, length, "Start") || equals(name, length, "Startall"))
        return CALL_START;
    if (in_request && equals(name, length, "Cancel"))
        return CALL_CANCEL;
    if (in_request && equals(name, length, "Request_free"))
        return CALL_FREE;
    return s->win >= 0 ? CALL_RMA : CALL_OTHER;
}

static void make(const struct trace_fn *fn, struct call_shape *s)
{
    const char *name = call_bare_name(fn);
    size_t length = strlen(name);
    if (ends(name, length, "_c"))
        length -= 2;
    s->is_persistent = ends(name, length, "_init");
    if (s->is_persistent)
        length -= 5;
    find_args(fn, s);
    s->is_immediate = s->request >= 0 && !fn->args[s->request].is_in;
    s->is_persistent = s->is_persistent && s->is_immediate;
    int coll = coll_of(name, length);
    if (coll >= 0)
        s->kind = CALL_COLLECTIVE, s->coll = colls[coll].coll;
    else
        s->kind = kind_of(fn, s, name, length);
}

struct call_shape *call_shapes_make(const struct trace_schema *schema)
{
    struct call_shape *shapes = mem_zalloc((schema->count + 1) * sizeof *shapes);
    for (unsigned i = 0; i < schema->count; i++)
        make(&schema->fns[i], &shapes[i]);
    return shapes;
}
