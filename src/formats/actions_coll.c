/*
 * actions_coll.c - the bytes that a rank sends and receives in a collective: those of a linear
 * algorithm that also sends to itself, as measurement systems count them.
 */
#include "base/mem.h"
#include "formats/actions_internal.h"

static uint64_t type_size(const void *actions, int64_t type)
{
    return actions_bytes(actions, 1, type);
}

static struct calls_place place_of(const struct actions *a, const struct trace_local_item *comm,
                                   const struct mpi_effect *s, const struct trace_event *e)
{
    uint64_t peers = members_count(a->members, comm);
    struct calls_place p = {.size = comm ? comm->size : 0,
                            .peers = peers,
                            .sources = peers,
                            .rank = comm && comm->rank >= 0 ? (uint64_t)comm->rank : 0,
                            .root = action_number(e, s->root, -1),
                            .is_inter = comm && comm->other_size > 0,
                            .sends_in_place = calls_is_in_place(e, s->send_buf) != 0,
                            .receives_in_place = calls_is_in_place(e, s->recv_buf) != 0};
    if (comm && comm->has_topology && s->class == MPI_CLASS_NEIGHBOURS)
        calls_neighbours(&p, comm->destinations, comm->destination_count, comm->sources,
                         comm->source_count);
    return p;
}

/* Of a rank to or from each other one; of a list they differ. */
static void add_blocks(const struct mpi_effect *s, const struct trace_event *e,
                       const struct calls_place *p, const struct calls_types *types,
                       struct action_blocks *b)
{
    struct calls_share gives = calls_gives(s, p), gets = calls_gets(s, p);
    int has_lists = gives.what == MPI_VOLUME_LIST || gets.what == MPI_VOLUME_LIST;
    gives.times = gives.times > 0;
    gets.times = gets.times > 0;
    b->sent = gives.what == MPI_VOLUME_LIST ? 0 : calls_share_bytes(s, e, p, gives, types);
    b->received = gets.what == MPI_VOLUME_LIST ? 0 : calls_share_bytes(s, e, p, gets, types);
    if (!has_lists || p->is_inter || s->class == MPI_CLASS_NEIGHBOURS)
        return;
    b->n = p->size;
    b->each = mem_alloc((2 * b->n + 1) * sizeof *b->each);
    b->is_owner = 1;
    for (uint64_t i = 0; i < b->n; i++) {
        b->each[i] = gives.what == MPI_VOLUME_LIST ? calls_item_bytes(s, e, gives, i, types)
                                                   : b->sent;
        b->each[b->n + i] = gets.what == MPI_VOLUME_LIST ? calls_item_bytes(s, e, gets, i, types)
                                                         : b->received;
    }
}

struct action action_of_coll(const struct actions *a, const struct mpi_effect *s,
                             const struct trace_event *e)
{
    const struct calls_types types = {type_size, a};
    struct action c = {.kind = ACTION_COLL, .does = s, .peer = -1, .world = -1, .request = -1};
    c.comm = s->comm >= 0 ? trace_local_find(a->local, TRACE_DEFINE_COMM, e->args[s->comm].number)
                          : NULL;
    struct calls_place p = place_of(a, c.comm, s, e);
    c.root = p.root;
    c.sent = calls_copies_sent(s, &p) * calls_share_bytes(s, e, &p, calls_gives(s, &p), &types);
    c.received = calls_copies_received(s, &p) *
                 calls_share_bytes(s, e, &p, calls_gets(s, &p), &types);
    if (a->wants_blocks && !a->is_first)
        add_blocks(s, e, &p, &types, &c.blocks);
    return c;
}
