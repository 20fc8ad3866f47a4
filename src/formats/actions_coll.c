/*
 * actions_coll.c - the bytes that a rank sends and receives in a collective: those of a linear
 * algorithm that also sends to itself, as measurement systems count them.
 */
#include "formats/actions_internal.h"

/* Bytes of all items of an array of counts, with one datatype or an array of them. */
static uint64_t sum(const struct actions *a, const struct trace_fn *fn, const struct trace_event *e,
                    const char *counts, const char *types)
{
    int c = call_arg(fn, counts), t = call_arg(fn, types);
    uint64_t all = 0;
    if (c < 0 || t < 0)
        return 0;
    for (uint64_t i = 0; i < e->args[c].count; i++)
        all += actions_bytes(a, e->args[c].items[i],
                             !fn->args[t].is_array  ? e->args[t].number
                             : i < e->args[t].count ? e->args[t].items[i]
                                                    : -1);
    return all;
}

static uint64_t one(const struct actions *a, const struct trace_event *e, int count, int type)
{
    return count < 0 || type < 0 ? 0
                                 : actions_bytes(a, e->args[count].number, e->args[type].number);
}

static int is_in_place(const struct trace_fn *fn, const struct trace_event *e, const char *buffer)
{
    int at = call_arg(fn, buffer);
    return at >= 0 && e->args[at].number == 2;
}

struct action action_of_coll(const struct actions *a, const struct trace_fn *fn,
                             const struct call_shape *s, const struct trace_event *e)
{
    struct action c = {.kind = ACTION_COLL, .coll = s->coll, .peer = -1, .world = -1, .request = -1};
    c.comm = s->comm >= 0 ? trace_local_find(a->local, TRACE_DEFINE_COMM, e->args[s->comm].number)
                          : NULL;
    c.root = s->root >= 0 ? e->args[s->root].number : -1;
    uint64_t n = members_count(a->members, c.comm);
    uint64_t me = c.comm && c.comm->rank >= 0 ? (uint64_t)c.comm->rank : 0;
    int at_root = c.root == (int64_t)me;
    uint64_t send = one(a, e, s->send_count, s->send_type),
             recv = one(a, e, s->recv_count, s->recv_type);
    int in_place = is_in_place(fn, e, "sendbuf");
    switch (s->coll) {
    case COLL_BCAST:
        c.sent = at_root ? send * n : 0;
        c.received = send;
        break;
    case COLL_GATHER:
        c.sent = in_place ? 0 : send;
        c.received = at_root ? recv * (n - (uint64_t)in_place) : 0;
        break;
    case COLL_GATHERV:
        c.sent = in_place ? 0 : send;
        c.received = at_root ? sum(a, fn, e, "recvcounts", "recvtype") : 0;
        break;
    case COLL_SCATTER:
        c.sent = at_root ? send * n : 0;
        c.received = is_in_place(fn, e, "recvbuf") ? 0 : recv;
        break;
    case COLL_SCATTERV:
        c.sent = at_root ? sum(a, fn, e, "sendcounts", "sendtype") : 0;
        c.received = is_in_place(fn, e, "recvbuf") ? 0 : recv;
        break;
    case COLL_ALLGATHER:
        c.sent = (in_place ? recv : send) * n;
        c.received = recv * n;
        break;
    case COLL_ALLGATHERV:
        c.received = sum(a, fn, e, "recvcounts", "recvtype");
        c.sent = send * n;
        break;
    case COLL_ALLTOALL:
        c.sent = (in_place ? recv : send) * n;
        c.received = recv * n;
        break;
    case COLL_ALLTOALLV:
        c.received = sum(a, fn, e, "recvcounts", "recvtype");
        c.sent = in_place ? c.received : sum(a, fn, e, "sendcounts", "sendtype");
        break;
    case COLL_ALLTOALLW:
        c.received = sum(a, fn, e, "recvcounts", "recvtypes");
        c.sent = in_place ? c.received : sum(a, fn, e, "sendcounts", "sendtypes");
        break;
    case COLL_REDUCE:
        c.sent = send;
        c.received = at_root ? send * n : 0;
        break;
    case COLL_ALLREDUCE:
        c.sent = c.received = send * n;
        break;
    case COLL_REDUCE_SCATTER:
        c.sent = sum(a, fn, e, "recvcounts", "datatype");
        c.received = me < e->args[call_arg(fn, "recvcounts")].count
                         ? n * actions_bytes(a, e->args[call_arg(fn, "recvcounts")].items[me],
                                             e->args[s->recv_type].number)
                         : 0;
        break;
    case COLL_REDUCE_SCATTER_BLOCK:
        c.sent = c.received = recv * n;
        break;
    case COLL_SCAN:
        c.sent = send * (n - me);
        c.received = send * (me + 1);
        break;
    case COLL_EXSCAN:
        c.sent = send * (n - me - (n > 0));
        c.received = send * me;
        break;
    default:
        break;
    }
    return c;
}
