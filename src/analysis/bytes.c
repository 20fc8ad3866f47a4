/*
 * bytes.c - multiplies counts by sizes of datatypes.
 */
#include "analysis/bytes.h"

static uint64_t times(int64_t count, uint64_t size)
{
    return count > 0 ? (uint64_t)count * size : 0;
}

static uint64_t sum_counts(const struct handles *h, const struct call_shape *s,
                           const struct trace_event *e)
{
    uint64_t sum = 0;
    const struct trace_value *counts = s->counts >= 0 ? &e->args[s->counts] : NULL;
    const struct trace_value *types = s->types >= 0 ? &e->args[s->types] : NULL;
    int64_t type = s->type >= 0 ? e->args[s->type].number : -1;
    for (uint64_t i = 0; counts && i < counts->count; i++)
        sum += times(counts->items[i],
                     handles_size(h, types ? i < types->count ? types->items[i] : -1 : type));
    return sum;
}

uint64_t bytes_of_collective(const struct handles_book *book, const struct handles *h,
                             const struct call_shape *s, const struct trace_event *e)
{
    struct handles_mine mine = s->comm >= 0 ? handles_comm(h, e->args[s->comm].number)
                                            : (struct handles_mine){HANDLES_NONE, 0, 0, 0};
    int in_place = s->place >= 0 && e->args[s->place].number == 2;
    int8_t count_at = in_place && s->recv_count >= 0 ? s->recv_count : s->count;
    int8_t type_at = in_place && s->recv_type >= 0 ? s->recv_type : s->type;
    int64_t root = s->root >= 0 ? e->args[s->root].number : -1;
    int is_root = mine.is_inter ? root == -3 : root == (int64_t)mine.rank;
    uint64_t members = mine.comm == HANDLES_NONE          ? 0
                       : mine.is_inter && !mine.is_second ? book->comms[mine.comm].other_count
                                                          : book->comms[mine.comm].rank_count;
    uint64_t one = count_at >= 0 && type_at >= 0
                       ? times(e->args[count_at].number, handles_size(h, e->args[type_at].number))
                       : 0;
    if (s->root >= 0 && !is_root && s->share >= CALL_ROOT_GIVES_ONE)
        return 0;
    switch (s->share) {
    case CALL_GIVES_ONE:
        return in_place && is_root && s->recv_count >= 0 && s->root >= 0 ? 0 : one;
    case CALL_ROOT_GIVES_ONE:
        return one;
    case CALL_GIVES_EACH:
    case CALL_ROOT_GIVES_EACH:
        return one * members;
    case CALL_GIVES_COUNTS:
    case CALL_ROOT_GIVES_COUNTS:
        return sum_counts(h, s, e);
    default:
        return 0;
    }
}

uint64_t bytes_of_message(const struct handles *h, const struct call_shape *s,
                          const struct trace_event *e)
{
    if (s->count < 0 || s->type < 0)
        return 0;
    uint64_t bytes = times(e->args[s->count].number, handles_size(h, e->args[s->type].number));
    return s->partitions >= 0 ? bytes * times(e->args[s->partitions].number, 1) : bytes;
}
