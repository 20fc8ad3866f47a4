/*
 * profile.c - see profile.h.
 *
 * The volume of a call is derived from its arguments: for messages their count, for collectives
 * what the rank itself contributes (all that a root sends, and nothing on the others). A persistent
 * send counts when it is started.
 */
#include "recorder/profile.h"

#include <string.h>

#include "base/array.h"
#include "recorder/recorder_internal.h"
#include "trace/payload.h"

enum volume_kind {
    VOLUME_NONE,
    VOLUME_SEND,      /* to `peer`, unless that is MPI_PROC_NULL */
    VOLUME_SEND_INIT, /* the same, each time that the request is started */
    VOLUME_INIT,      /* another persistent request, which may have the handle of an earlier send */
    VOLUME_START,
    VOLUME_GIVE,      /* count, or the sum of counts */
    VOLUME_GIVE_EACH, /* count, to every member */
};

/* Positions of arguments; -1: there is none. */
struct volume {
    uint8_t kind;       /* enum volume_kind */
    uint8_t is_rooted;  /* only the root contributes */
    uint8_t is_reduced; /* its contribution is as long as all results together */
    int8_t count, type, counts, types, peer, root, comm, request, partitions;
    /* With MPI_IN_PLACE the count of the other side is used. */
    int8_t buffer, other_count, other_type;
};

/* A function on one rank. */
struct recorder_sum {
    uint32_t fn;
    uint64_t calls, sent, received;
    int64_t time, began; /* began: its first call */
};

struct recorder_profile {
    struct recorder_sum *sums;
    uint32_t count, room, last; /* last: the one that was counted last */
    uint32_t type;              /* the datatype that was queried last ... */
    uint64_t size;              /* ... and its size */
    struct map persistent;      /* bytes of sends, by request */
};

static struct volume volumes[MPI_FN_COUNT];

/* ---- volumes of functions ---- */

static int8_t find(const struct mpi_signature *s, const char *name)
{
    for (unsigned i = 0; i < s->count; i++)
        if (strcmp(s->args[i].name, name) == 0)
            return (int8_t)i;
    return -1;
}

static int8_t first(int8_t one, int8_t other)
{
    return one >= 0 ? one : other;
}

static struct volume learn(enum mpi_fn fn)
{
    const struct mpi_signature *s = &mpi_fn_signature[fn];
    const char *name = mpi_fn_name[fn];
    int is_reduced = find(s, "op") >= 0, is_scatter = strstr(name, "catter") != NULL;
    struct volume v = {
        .count = first(first(find(s, "sendcount"), find(s, "count")), find(s, "origin_count")),
        .type = first(first(find(s, "sendtype"), find(s, "datatype")), find(s, "origin_datatype")),
        .counts = find(s, "sendcounts"),
        .types = find(s, "sendtypes"),
        .peer = fn == MPI_FN_PRECV_INIT ? -1 /* it calls its source so */
                                        : first(find(s, "dest"), find(s, "target_rank")),
        .root = find(s, "root"),
        .comm = find(s, "comm"),
        .request = first(find(s, "request"), find(s, "array_of_requests")),
        .partitions = find(s, "partitions"),
        .buffer = find(s, "sendbuf"),
        .other_count = find(s, "recvcount"),
        .other_type = find(s, "recvtype"),
    };
    if (is_reduced && v.count < 0) { /* MPI_Reduce_scatter and its block form */
        v.count = find(s, "recvcount");
        v.counts = find(s, "recvcounts");
    }
    if (strcmp(name, "MPI_Start") == 0 || strcmp(name, "MPI_Startall") == 0)
        v.kind = VOLUME_START;
    else if (v.peer >= 0 && v.count >= 0 && v.type >= 0)
        v.kind = strstr(name, "_init") ? VOLUME_SEND_INIT : VOLUME_SEND;
    else if (strstr(name, "_init") && v.request >= 0)
        v.kind = VOLUME_INIT;
    else if (v.comm < 0 || find(s, "source") >= 0 || (v.count < 0 && v.counts < 0) ||
             mpi_fn_group[fn] == MPI_FNGROUP_PT2PT)
        v.kind = VOLUME_NONE;
    else
        v.kind = strstr(name, "lltoall") || (is_scatter && v.counts < 0) ? VOLUME_GIVE_EACH
                                                                         : VOLUME_GIVE;
    v.is_reduced = (uint8_t)is_reduced;
    v.is_rooted = v.root >= 0 && !is_reduced && !strstr(name, "ather");
    return v;
}

void recorder_profile_init(void)
{
    for (unsigned i = 0; i < MPI_FN_COUNT; i++)
        volumes[i] = learn((enum mpi_fn)i);
}

/* ---- bytes ---- */

static uint64_t type_size(struct recorder_profile *p, struct mpi_rank *self, uint64_t handle)
{
    struct recorder_type type;
    if (p->type == (uint32_t)handle)
        return p->size;
    recorder_type(self, (uint32_t)handle, &type);
    p->type = (uint32_t)handle;
    return p->size = type.size;
}

static int64_t word(const struct recorder_call *c, int8_t arg)
{
    return recorder_word(&mpi_fn_signature[c->fn].args[arg], c->args[arg]);
}

static uint64_t times(int64_t count, uint64_t size)
{
    return count > 0 ? (uint64_t)count * size : 0;
}

static uint64_t sum_counts(struct recorder_profile *p, struct mpi_rank *self,
                           const struct volume *v, const struct recorder_call *c, uint32_t members)
{
    const struct mpi_arg *arg = &mpi_fn_signature[c->fn].args[v->counts];
    const uint32_t *types = v->types >= 0 ? (const uint32_t *)(uintptr_t)c->args[v->types] : NULL;
    struct mpi_arg item = {.pointers = 1, .bytes = arg->bytes};
    uint64_t sum = 0;
    for (uint32_t i = 0; i < members && c->args[v->counts]; i++)
        sum += times(recorder_word(&item, c->args[v->counts] + (uint64_t)i * arg->bytes),
                     type_size(p, self,
                               types          ? types[i]
                               : v->type >= 0 ? c->args[v->type]
                                              : (uint64_t)MPI_BYTE));
    return sum;
}

static uint64_t given_bytes(struct recorder_profile *p, struct mpi_rank *self,
                            const struct volume *v, const struct recorder_call *c)
{
    struct recorder_comm comm;
    uint64_t handle = (uint32_t)c->args[v->comm];
    if (!recorder_comm(self, handle, &comm))
        return 0;
    int is_in_place = v->buffer >= 0 && (void *)(uintptr_t)c->args[v->buffer] == MPI_IN_PLACE;
    int is_neighbor = strstr(mpi_fn_name[c->fn], "eighbor") != NULL;
    uint32_t members = is_neighbor
                           ? (uint32_t)recorder_comm_degree(self, handle, MPI_LENGTH_OUTDEGREE)
                       : comm.is_inter ? comm.others
                                       : comm.size;
    int64_t root = v->root >= 0 ? word(c, v->root) : -1;
    if (v->is_rooted && (comm.is_inter ? root != MPI_ROOT : root != comm.rank))
        return 0;
    if (v->counts >= 0 && v->is_reduced)
        return sum_counts(p, self, v, c, comm.size);
    if (v->counts >= 0)
        return is_in_place ? 0 : sum_counts(p, self, v, c, members);
    if (is_in_place && !v->is_rooted && !v->is_reduced && root >= 0)
        return 0; /* the root of a gather */
    int8_t count = is_in_place && !v->is_rooted ? first(v->other_count, v->count) : v->count;
    int8_t type = is_in_place && !v->is_rooted ? first(v->other_type, v->type) : v->type;
    uint64_t one = times(word(c, count), type < 0 ? 1 : type_size(p, self, c->args[type]));
    return v->kind == VOLUME_GIVE_EACH ? one * members : one;
}

static uint64_t started_bytes(const struct recorder_profile *p, const struct volume *v,
                              const struct recorder_call *c)
{
    int is_array = mpi_fn_signature[c->fn].args[v->request].length != MPI_LENGTH_NONE;
    const uint32_t *requests = (const uint32_t *)(uintptr_t)c->args[v->request];
    int64_t count = is_array ? (int)c->args[0] : 1;
    uint64_t sum = 0;
    for (int64_t i = 0; i < count; i++) {
        const uint64_t *bytes = map_find(&p->persistent, requests[i]);
        sum += bytes ? *bytes : 0;
    }
    return sum;
}

static uint64_t sent_bytes(struct recorder_profile *p, struct mpi_rank *self,
                           const struct recorder_call *c)
{
    const struct volume *v = &volumes[c->fn];
    uint64_t bytes;
    switch (v->kind) {
    case VOLUME_SEND:
    case VOLUME_SEND_INIT:
        if (word(c, v->peer) < 0)
            return 0;
        bytes = times(word(c, v->count), type_size(p, self, c->args[v->type]));
        if (v->partitions >= 0)
            bytes = times(word(c, v->partitions), bytes);
        if (v->kind == VOLUME_SEND)
            return bytes;
        *map_insert(&p->persistent, *(const uint32_t *)(uintptr_t)c->args[v->request],
                    NULL) = bytes;
        return 0;
    case VOLUME_INIT:
        map_remove(&p->persistent, *(const uint32_t *)(uintptr_t)c->args[v->request]);
        return 0;
    case VOLUME_START:
        return started_bytes(p, v, c);
    case VOLUME_GIVE:
    case VOLUME_GIVE_EACH:
        return given_bytes(p, self, v, c);
    default:
        return 0;
    }
}

/* ---- sums ---- */

static struct recorder_sum *sum_of(struct recorder_profile *p, enum mpi_fn fn, int64_t began)
{
    if (p->count && p->sums[p->last].fn == (uint32_t)fn)
        return &p->sums[p->last];
    for (p->last = 0; p->last < p->count; p->last++)
        if (p->sums[p->last].fn == (uint32_t)fn)
            return &p->sums[p->last];
    ARRAY_RESERVE(p->sums, p->room, p->count + 1, 8);
    p->sums[p->count++] = (struct recorder_sum){.fn = (uint32_t)fn, .began = began};
    return &p->sums[p->last];
}

void recorder_profile_call(struct recorder_rank *r, struct recorder_lane *lane,
                           struct mpi_rank *self, const struct recorder_call *c, int64_t t)
{
    if (!r->profile)
        r->profile = mem_zalloc(sizeof *r->profile);
    struct recorder_sum *sum = sum_of(r->profile, c->fn, c->began);
    sum->calls++;
    sum->time += t - c->began;
    if (recorder_has_done(c->rc))
        sum->sent += sent_bytes(r->profile, self, c);
    for (uint32_t i = 0; i < lane->done_count; i++)
        if (!lane->done[i].status.is_cancelled)
            sum->received += lane->done[i].status.bytes;
    if (t > r->now)
        r->now = t;
}

void recorder_profile_write(struct recorder_rank *r)
{
    struct recorder_profile *p = r->profile;
    for (uint32_t i = 0; p && i < p->count; i++) {
        const struct recorder_sum *sum = &p->sums[i];
        struct buf out;
        buf_init(&out);
        trace_write_varint(&out, sum->fn);
        trace_write_varint(&out, sum->calls);
        trace_write_varint(&out, (uint64_t)sum->time);
        trace_write_varint(&out, sum->sent);
        trace_write_varint(&out, sum->received);
        trace_write_varint(&out, (uint64_t)(r->now - sum->began));
        trace_other(&r->lane.stream, TRACE_PROFILE, r->now, out.data, out.len);
        buf_fini(&out);
    }
    if (p)
        p->count = p->last = 0;
}
