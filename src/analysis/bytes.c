/*
 * bytes.c - the bytes that a call moves (see bytes.h).
 */
#include "analysis/bytes.h"

static uint64_t type_size(const void *handles, int64_t type)
{
    return handles_size(handles, type);
}

static struct calls_place place_of(const struct handles_book *book, const struct handles *h,
                                   const struct mpi_effect *s, const struct trace_event *e)
{
    struct handles_mine mine = s->comm >= 0 ? handles_comm(h, e->args[s->comm].number)
                                            : (struct handles_mine){.comm = HANDLES_NONE};
    struct calls_place place = {.rank = mine.rank,
                                .root = s->root >= 0 ? e->args[s->root].number : CALLS_PROC_NULL,
                                .is_inter = mine.is_inter,
                                .sends_in_place = calls_is_in_place(e, s->send_buf) != 0,
                                .receives_in_place = calls_is_in_place(e, s->recv_buf) != 0};
    if (mine.comm == HANDLES_NONE)
        return place;
    const struct handles_comm *c = &book->comms[mine.comm];
    place.size = mine.is_second ? c->other_count : c->rank_count;
    place.peers = mine.is_inter && !mine.is_second ? c->other_count : c->rank_count;
    place.sources = place.peers;
    if (mine.neighbours && s->class == MPI_CLASS_NEIGHBOURS)
        calls_neighbours(&place, mine.neighbours->destinations, mine.neighbours->out,
                         mine.neighbours->sources, mine.neighbours->in);
    return place;
}

uint64_t bytes_of_collective(const struct handles_book *book, const struct handles *h,
                             const struct mpi_effect *s, const struct trace_event *e)
{
    struct calls_place place = place_of(book, h, s, e);
    return calls_share_bytes(s, e, &place, calls_gives(s, &place),
                             &(struct calls_types){type_size, h});
}

uint64_t bytes_of_message(const struct handles *h, const struct mpi_effect *s,
                          const struct trace_event *e)
{
    return calls_message_bytes(s, e, &(struct calls_types){type_size, h});
}

uint64_t bytes_of_access(const struct handles *h, const struct mpi_effect *s,
                         const struct trace_event *e)
{
    static const struct calls_place nowhere;
    struct calls_types types = {type_size, h};
    if (s->target >= 0 && e->args[s->target].number < 0)
        return 0;
    return calls_share_bytes(s, e, &nowhere, calls_gives(s, &nowhere), &types) +
           calls_share_bytes(s, e, &nowhere, calls_gets(s, &nowhere), &types);
}
