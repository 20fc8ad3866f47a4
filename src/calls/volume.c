/*
 * volume.c - how much data a call moves.
 *
 * What a rank gives and gets is told by its own arguments alone, since those of other ranks are not
 * known. With MPI_IN_PLACE the data is in the other buffer, whose arguments then tell its size; at
 * the root of a gather or scatter it stays where it is, and does not count.
 */
#include <assert.h>

#include "calls/calls.h"

static const struct calls_share nothing;

/* ---- places ---- */

static uint64_t count_there(const int64_t *ranks, uint64_t count)
{
    uint64_t there = 0;
    for (uint64_t i = 0; i < count; i++)
        there += ranks[i] >= 0;
    return there;
}

void calls_neighbours(struct calls_place *p, const int64_t *to, uint64_t to_count,
                      const int64_t *from, uint64_t from_count)
{
    p->to = to;
    p->to_count = to_count;
    p->from = from;
    p->from_count = from_count;
    p->peers = count_there(to, to_count);
    p->sources = count_there(from, from_count);
    assert(p->peers <= to_count && p->sources <= from_count);
}

/* ---- shares ---- */

static int is_root(const struct calls_place *p)
{
    return p->is_inter ? p->root == CALLS_ROOT : p->root == (int64_t)p->rank;
}

/* The group of the root of an intercommunicator takes no part but for the root. */
static int is_on_root_side(const struct mpi_effect *s, const struct calls_place *p)
{
    return s->kind == MPI_DOES_COLLECTIVE && s->root >= 0 && p->is_inter &&
           (p->root == CALLS_ROOT || p->root == CALLS_PROC_NULL);
}

static int is_rooted(const struct mpi_effect *s)
{
    return s->class == MPI_CLASS_ONE_TO_ALL || s->class == MPI_CLASS_ALL_TO_ONE;
}

/* Of what all ranks but this one get or give, if its own part stays in place. */
static struct calls_share all_parts(unsigned volume, uint64_t ranks, int is_in_place,
                                    const struct calls_place *p)
{
    if (volume == MPI_VOLUME_BLOCKS)
        return (struct calls_share){.what = MPI_VOLUME_BLOCK,
                                    .times = ranks - (is_in_place && ranks > 0)};
    return (struct calls_share){.what = (uint8_t)volume,
                                .times = 1,
                                .is_without = (uint8_t)is_in_place,
                                .item = p->rank};
}

/* A rank that has its data in the receive buffer: all of it, or of a rank that gives one block to
 * all (`spreads`) its own part. */
static struct calls_share from_receive_buffer(const struct mpi_effect *s,
                                              const struct calls_place *p)
{
    struct calls_share share = {.what = s->gets, .is_received = 1, .times = 1, .item = p->rank};
    if (s->gets == MPI_VOLUME_BLOCKS) {
        share.what = MPI_VOLUME_BLOCK;
        share.times = s->spreads ? 1 : p->sources;
    } else if (s->gets == MPI_VOLUME_LIST && s->spreads) {
        share.what = MPI_VOLUME_ITEM;
    }
    return share;
}

struct calls_share calls_gives(const struct mpi_effect *s, const struct calls_place *p)
{
    if (s->gives == MPI_VOLUME_NOTHING || (s->gives_root && !is_root(p)) ||
        (!s->gives_root && is_on_root_side(s, p)))
        return nothing;
    if (s->gives_root && s->gives != MPI_VOLUME_BLOCK)
        return all_parts(s->gives, p->peers, p->receives_in_place, p);
    if (p->sends_in_place && !s->reduces)
        return is_rooted(s) ? nothing : from_receive_buffer(s, p);
    uint64_t times = s->gives == MPI_VOLUME_BLOCKS ? s->reduces ? p->size : p->peers : 1;
    unsigned what = s->gives == MPI_VOLUME_BLOCKS ? MPI_VOLUME_BLOCK : s->gives;
    return (struct calls_share){.what = (uint8_t)what, .times = times, .item = p->rank};
}

struct calls_share calls_gets(const struct mpi_effect *s, const struct calls_place *p)
{
    if (s->gets == MPI_VOLUME_NOTHING || (s->gets_root && !is_root(p)) ||
        (!s->gets_root && is_on_root_side(s, p)) || (s->is_exclusive && p->rank == 0))
        return nothing;
    struct calls_share share = {.what = s->gets, .times = 1, .item = p->rank};
    if (s->gets_root && s->gets != MPI_VOLUME_BLOCK)
        share = all_parts(s->gets, p->sources, p->sends_in_place, p);
    else if (is_rooted(s) && p->receives_in_place)
        return nothing;
    else if (s->gets == MPI_VOLUME_BLOCKS)
        share.what = MPI_VOLUME_BLOCK, share.times = p->sources;
    share.is_received = 1;
    return share;
}

/* ---- a linear algorithm ---- */

uint64_t calls_copies_sent(const struct mpi_effect *s, const struct calls_place *p)
{
    if (s->class == MPI_CLASS_SCAN)
        return p->size - p->rank - (s->is_exclusive && p->size > p->rank);
    return s->spreads ? p->peers : 1;
}

uint64_t calls_copies_received(const struct mpi_effect *s, const struct calls_place *p)
{
    if (s->class == MPI_CLASS_SCAN)
        return p->rank + !s->is_exclusive;
    return s->reduces ? p->sources : 1;
}

/* ---- arguments ---- */

int calls_meant(const struct mpi_effect *s, const struct trace_event *e, int at)
{
    const signed char pairs[][2] = {{s->send_count, s->recv_count},
                                    {s->send_type, s->recv_type},
                                    {s->send_counts, s->recv_counts},
                                    {s->send_types, s->recv_types},
                                    {s->send_displs, s->recv_displs}};
    if (at < 0 || s->reduces || is_rooted(s) || !calls_is_in_place(e, s->send_buf))
        return at;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (pairs[i][0] == at && pairs[i][1] >= 0)
            return pairs[i][1];
    return at;
}

int64_t calls_send_count(const struct mpi_effect *s, const struct trace_event *e, uint64_t rank)
{
    if (s->spreads && s->recv_counts >= 0 && calls_is_in_place(e, s->send_buf)) {
        const struct trace_value *counts = &e->args[s->recv_counts];
        return rank < counts->count ? counts->items[rank] : 0;
    }
    int at = calls_meant(s, e, s->send_count);
    return at < 0 ? -1 : e->args[at].number;
}

/* ---- bytes ---- */

static uint64_t times(int64_t count, uint64_t size)
{
    return count > 0 ? (uint64_t)count * size : 0;
}

int calls_is_counted(const struct calls_place *p, struct calls_share share, uint64_t i)
{
    const int64_t *neighbours = share.is_received ? p->from : p->to;
    uint64_t count = share.is_received ? p->from_count : p->to_count;
    if (share.what == MPI_VOLUME_ITEM)
        return i == share.item;
    return !(share.is_without && i == share.item) &&
           !(neighbours && i < count && neighbours[i] < 0);
}

uint64_t calls_item_bytes(const struct mpi_effect *s, const struct trace_event *e,
                          struct calls_share share, uint64_t i, const struct calls_types *t)
{
    int counts = share.is_received ? s->recv_counts : s->send_counts,
        types = share.is_received ? s->recv_types : s->send_types,
        type = share.is_received ? s->recv_type : s->send_type;
    const struct trace_value *list = counts >= 0 ? &e->args[counts] : NULL,
                             *each = types >= 0 ? &e->args[types] : NULL;
    if (!list || i >= list->count)
        return 0;
    int64_t of = each        ? i < each->count ? each->items[i] : -1
                 : type >= 0 ? e->args[type].number
                             : -1;
    return times(list->items[i], t->size(t->context, of));
}

static uint64_t list_bytes(const struct mpi_effect *s, const struct trace_event *e, uint64_t count,
                           const struct calls_place *p, struct calls_share share,
                           const struct calls_types *t)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count; i++)
        if (calls_is_counted(p, share, i))
            sum += calls_item_bytes(s, e, share, i, t);
    return sum;
}

uint64_t calls_share_bytes(const struct mpi_effect *s, const struct trace_event *e,
                           const struct calls_place *p, struct calls_share share,
                           const struct calls_types *t)
{
    int count = share.is_received ? s->recv_count : s->send_count,
        type = share.is_received ? s->recv_type : s->send_type;
    assert(share.what != MPI_VOLUME_BLOCKS); /* these are `times` a block */
    if (share.what == MPI_VOLUME_BLOCK)
        return type < 0 ? 0
                        : share.times * times(count >= 0 ? e->args[count].number : 1,
                                              t->size(t->context, e->args[type].number));
    int counts = share.is_received ? s->recv_counts : s->send_counts;
    if (share.what == MPI_VOLUME_NOTHING || counts < 0)
        return 0;
    return list_bytes(s, e, e->args[counts].count, p, share, t);
}

uint64_t calls_message_bytes(const struct mpi_effect *s, const struct trace_event *e,
                             const struct calls_types *t)
{
    if (s->send_count < 0 || s->send_type < 0)
        return 0;
    uint64_t bytes = times(e->args[s->send_count].number,
                           t->size(t->context, e->args[s->send_type].number));
    return s->partitions >= 0 ? times(e->args[s->partitions].number, bytes) : bytes;
}
