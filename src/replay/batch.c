/*
 * batch.c - what the calls that complete requests share (complete.c, complete_some.c, ask.c).
 */
#include "replay/complete.h"

struct replay_batch replay_batch_of(struct replay_rank *k, const int64_t *numbers, uint64_t all)
{
    struct replay_batch b = {.k = k, .numbers = numbers, .all = (int)all};
    b.at = replay_scratch(k, (all + 1) * sizeof *b.at);
    b.handles = replay_scratch(k, (all + 1) * sizeof *b.handles);
    b.statuses = replay_scratch(k, (all + 1) * sizeof *b.statuses);
    for (int i = 0; i < b.all; i++) {
        const struct replay_request *r = replay_request_find(k, numbers[i]);
        if (!r)
            continue;
        b.at[b.count] = i;
        b.statuses[b.count].MPI_SOURCE = MPI_PROC_NULL; /* if the call fails before this one */
        b.handles[b.count++] = r->handle;
    }
    return b;
}

const int64_t *replay_origins(struct replay_rank *k, const int64_t *numbers, uint64_t count)
{
    int64_t *out = replay_scratch(k, (count + 1) * sizeof *out);
    for (uint64_t i = 0; i < count; i++) {
        const struct replay_request *r = replay_request_find(k, numbers[i]);
        out[i] = r ? r->origin : replay_request_is_drawn(k, numbers[i]) ? -1 : numbers[i];
    }
    return out;
}

struct trace_status replay_status_of(struct replay_rank *k, int64_t number, const MPI_Status *s)
{
    const struct replay_request *r = replay_request_find(k, number);
    struct trace_status status = {0};
    if (r && r->receives)
        status = replay_status(k, r->comm, s);
    if (status.source < 0 && !status.is_cancelled)
        status = (struct trace_status){0}; /* of MPI_PROC_NULL */
    return status;
}

void replay_completed(struct replay_batch *b, int i)
{
    struct replay_request *r = replay_request_find(b->k, b->numbers[b->at[i]]);
    r->handle = b->handles[i];
}

void replay_undraw_all(struct replay_rank *k, const int64_t *numbers, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (replay_request_is_drawn(k, numbers[i]))
            replay_request_undraw(k, numbers[i]);
}

void replay_compare(struct replay_rank *k, const struct trace_status *was,
                    const struct trace_status *is)
{
    if (was->is_set && is->is_set && (was->source != is->source || was->tag != is->tag))
        k->replay->counts.remapped++;
}

void replay_keep_failure(struct replay_rank *k, const struct trace_status *was,
                         struct trace_status *is)
{
    if (!k->may_fail || !was->is_set || was->source != is->source || was->tag != is->tag)
        return;
    is->bytes = was->bytes;
    k->event->failed = k->may_fail;
}

void replay_compare_own(struct replay_rank *k, int64_t number, const struct trace_status *was,
                        struct trace_status *is)
{
    const struct replay_request *r = replay_request_find(k, number);
    if (r && r->origin == number)
        replay_compare(k, was, is);
    replay_keep_failure(k, was, is);
}

int replay_dropped(struct replay_rank *k)
{
    k->replay->counts.removed++;
    return 0;
}

int replay_spent(struct replay_rank *k)
{
    replay_until(k, replay_now(k) + k->duration);
    return 1;
}

void replay_set_status(struct replay_rank *k, const struct replay_fn *fn,
                       struct trace_status status)
{
    struct trace_status *at = replay_scratch(k, sizeof *at);
    struct trace_value *v = replay_arg(k, fn->status);
    *at = status;
    if (v)
        v->statuses = at;
}
