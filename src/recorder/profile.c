/*
 * profile.c - sums up calls instead of recording them (see profile.h).
 *
 * The volume of a call is what calls/calls.h says. A persistent operation counts when it is
 * started.
 */
#include "recorder/profile.h"

#include "base/array.h"
#include "calls/calls.h"
#include "recorder/recorder_internal.h"
#include "trace/payload.h"

/* A function on one rank. */
struct recorder_sum {
    uint32_t fn;
    uint64_t calls, received;
    struct moved {
        uint64_t
            bytes; /* in messages, to collectives, by one-sided operations and to and from files */
        uint64_t passed;   /* of these, to collectives */
        uint64_t messages; /* that were sent */
    } moved;
    int64_t time, began; /* began: its first call */
};

struct recorder_profile {
    struct recorder_sum *sums;
    uint32_t count, room, last; /* last: the one that was counted last */
    uint32_t type;              /* the datatype that was queried last; 0: none */
    uint64_t size;              /* size of that datatype */
    struct map persistent;      /* of requests by handle: bytes + 1, and IS_COLLECTIVE */
};

#define IS_COLLECTIVE (UINT64_C(1) << 63)

/* ---- bytes ---- */

static uint64_t type_size(struct recorder_profile *p, struct mpi_rank *self, uint64_t handle)
{
    struct recorder_type type;
    if (p->type == (uint32_t)handle)
        return p->size;
    recorder_mpi->type(self, (uint32_t)handle, &type);
    p->type = (uint32_t)handle;
    return p->size = type.size;
}

static int64_t word(const struct recorder_call *c, int arg)
{
    return recorder_word(&mpi_fn_signature[c->fn].args[arg], c->args[arg]);
}

static uint64_t times(int64_t count, uint64_t size)
{
    return count > 0 ? (uint64_t)count * size : 0;
}

static uint64_t block_bytes(struct recorder_profile *p, struct mpi_rank *self,
                            const struct recorder_call *c, int count, int type)
{
    return times(count >= 0 ? word(c, count) : 1, type_size(p, self, c->args[type]));
}

static uint64_t list_bytes(struct recorder_profile *p, struct mpi_rank *self,
                           const struct recorder_call *c, const struct calls_place *place,
                           struct calls_share share)
{
    const struct mpi_effect *s = &mpi_fn_effect[c->fn];
    int counts = share.is_received ? s->recv_counts : s->send_counts,
        types = share.is_received ? s->recv_types : s->send_types,
        type = share.is_received ? s->recv_type : s->send_type;
    const struct mpi_arg *arg = &mpi_fn_signature[c->fn].args[counts];
    const struct mpi_arg item = {.pointers = 1, .bytes = arg->bytes};
    const uint32_t *each = types >= 0 ? (const uint32_t *)(uintptr_t)c->args[types] : NULL;
    uint64_t sum = 0, count = arg->length == MPI_LENGTH_SIZE     ? place->size
                              : s->class != MPI_CLASS_NEIGHBOURS ? place->peers
                              : share.is_received                ? place->from_count
                                                                 : place->to_count;
    for (uint64_t i = 0; i < count && c->args[counts]; i++)
        if (calls_is_counted(place, share, i))
            sum += times(recorder_word(&item, c->args[counts] + i * arg->bytes),
                         type_size(p, self, each ? each[i] : c->args[type]));
    return sum;
}

static uint64_t share_bytes(struct recorder_profile *p, struct mpi_rank *self,
                            const struct recorder_call *c, const struct calls_place *place,
                            struct calls_share share)
{
    const struct mpi_effect *s = &mpi_fn_effect[c->fn];
    if (share.what == MPI_VOLUME_NOTHING)
        return 0;
    if (share.what != MPI_VOLUME_BLOCK)
        return list_bytes(p, self, c, place, share);
    return share.times * block_bytes(p, self, c, share.is_received ? s->recv_count : s->send_count,
                                     share.is_received ? s->recv_type : s->send_type);
}

static int is_in_place(const struct recorder_call *c, int buffer)
{
    return buffer >= 0 && recorder_buffer(c->args[buffer]) == TRACE_BUFFER_IN_PLACE;
}

static uint64_t collective_bytes(struct recorder_profile *p, struct mpi_rank *self,
                                 const struct recorder_call *c)
{
    const struct mpi_effect *s = &mpi_fn_effect[c->fn];
    struct recorder_neighbours n = {0};
    struct recorder_comm comm;
    uint64_t handle = s->comm >= 0 ? (uint32_t)c->args[s->comm] : 0;
    if (s->gives == MPI_VOLUME_NOTHING || !recorder_mpi->comm(self, handle, &comm))
        return 0;
    struct calls_place place = {.size = comm.size,
                                .peers = comm.is_inter ? comm.others : comm.size,
                                .sources = comm.is_inter ? comm.others : comm.size,
                                .rank = (uint64_t)comm.rank,
                                .root = s->root >= 0 ? word(c, s->root) : CALLS_PROC_NULL,
                                .is_inter = comm.is_inter != 0,
                                .sends_in_place = is_in_place(c, s->send_buf) != 0,
                                .receives_in_place = is_in_place(c, s->recv_buf) != 0};
    if (s->class == MPI_CLASS_NEIGHBOURS && recorder_mpi->neighbours(self, handle, &n))
        calls_neighbours(&place, n.destinations, n.out, n.sources, n.in);
    uint64_t bytes = share_bytes(p, self, c, &place, calls_gives(s, &place));
    mem_free(n.sources);
    mem_free(n.destinations);
    return bytes;
}

static uint64_t access_bytes(struct recorder_profile *p, struct mpi_rank *self,
                             const struct recorder_call *c)
{
    static const struct calls_place nowhere;
    const struct mpi_effect *s = &mpi_fn_effect[c->fn];
    return share_bytes(p, self, c, &nowhere, calls_gives(s, &nowhere)) +
           share_bytes(p, self, c, &nowhere, calls_gets(s, &nowhere));
}

static uint64_t message_bytes(struct recorder_profile *p, struct mpi_rank *self,
                              const struct recorder_call *c)
{
    const struct mpi_effect *s = &mpi_fn_effect[c->fn];
    uint64_t bytes = block_bytes(p, self, c, s->send_count, s->send_type);
    return s->partitions >= 0 ? times(word(c, s->partitions), bytes) : bytes;
}

/* ---- what calls move ---- */

static void keep_persistent(struct recorder_profile *p, struct mpi_rank *self,
                            const struct recorder_call *c)
{
    const struct mpi_effect *s = &mpi_fn_effect[c->fn];
    uint32_t request = *(const uint32_t *)(uintptr_t)c->args[s->request];
    /* It may have the handle of an earlier one. */
    map_remove(&p->persistent, request);
    if (s->kind == MPI_DOES_COLLECTIVE)
        *map_insert(&p->persistent, request, NULL) = (collective_bytes(p, self, c) + 1) |
                                                     IS_COLLECTIVE;
    else if (s->dest >= 0 && word(c, s->dest) >= 0)
        *map_insert(&p->persistent, request, NULL) = message_bytes(p, self, c) + 1;
}

static struct moved start(const struct recorder_profile *p, const struct recorder_call *c)
{
    const struct mpi_effect *s = &mpi_fn_effect[c->fn];
    const struct mpi_arg *arg = &mpi_fn_signature[c->fn].args[s->request];
    const uint32_t *requests = (const uint32_t *)(uintptr_t)c->args[s->request];
    int64_t count = s->amount == MPI_AMOUNT_ALL ? word(c, (int8_t)arg->length_of) : 1;
    struct moved moved = {0};
    for (int64_t i = 0; i < count; i++) {
        const uint64_t *found = map_find(&p->persistent, requests[i]);
        uint64_t bytes = found ? (*found & ~IS_COLLECTIVE) - 1 : 0;
        int is_collective = found && *found & IS_COLLECTIVE;
        moved.bytes += bytes;
        moved.passed += is_collective ? bytes : 0;
        moved.messages += found && !is_collective;
    }
    return moved;
}

static struct moved moved_by(struct recorder_profile *p, struct mpi_rank *self,
                             const struct recorder_call *c)
{
    const struct mpi_effect *s = &mpi_fn_effect[c->fn];
    struct moved moved = {0};
    if (s->form == MPI_FORM_PERSISTENT) {
        keep_persistent(p, self, c);
        return moved;
    }
    switch (s->kind) {
    case MPI_DOES_SEND:
    case MPI_DOES_EXCHANGE:
        if (word(c, s->dest) >= 0)
            moved = (struct moved){.bytes = message_bytes(p, self, c), .messages = 1};
        break;
    case MPI_DOES_START:
        return start(p, c);
    case MPI_DOES_COLLECTIVE:
        moved.bytes = moved.passed = collective_bytes(p, self, c);
        break;
    case MPI_DOES_RMA:
        moved.bytes = word(c, s->target) >= 0 ? access_bytes(p, self, c) : 0;
        break;
    case MPI_DOES_FILE:
        moved.bytes = access_bytes(p, self, c);
        break;
    default:
        break;
    }
    return moved;
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
    if (recorder_has_done(c->rc)) {
        struct moved moved = moved_by(r->profile, self, c);
        sum->moved.bytes += moved.bytes;
        sum->moved.passed += moved.passed;
        sum->moved.messages += moved.messages;
    }
    if (calls_frees(&mpi_fn_effect[c->fn], MPI_ROLE_DATATYPE))
        r->profile->type = 0; /* the next one may get its handle */
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
        trace_write_varint(&out, sum->moved.bytes);
        trace_write_varint(&out, sum->received);
        trace_write_varint(&out, (uint64_t)(r->now - sum->began));
        trace_write_varint(&out, sum->moved.messages);
        trace_write_varint(&out, sum->moved.passed);
        trace_other(&r->lane.stream, TRACE_PROFILE, r->now, out.data, out.len);
        buf_fini(&out);
    }
    if (p)
        p->count = p->last = 0;
}
