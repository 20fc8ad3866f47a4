/*
 * complete_some.c - calls that complete some of their requests: MPI_Waitany, MPI_Testany,
 * MPI_Waitsome, MPI_Testsome (Böhme et al., section 3.1, "Simulating Waitany").
 */
#include "replay/complete.h"

/* The record of a call that was given nothing to complete. */
static int is_undefined(const struct trace_value *v)
{
    return !v || v->number < 0; /* MPI_UNDEFINED is negative, too */
}

/* One that completed in place of the recorded one: the numbers change places. */
static void remap(struct replay_rank *k, int64_t recorded, int64_t actual)
{
    if (recorded != actual)
        replay_request_swap(k, recorded, actual);
}

int replay_complete_any(struct replay_rank *k, const struct replay_fn *fn, int is_test)
{
    struct trace_value *requests = replay_arg(k, fn->request), *flag = replay_arg(k, fn->flag);
    struct trace_value *index = replay_arg(k, fn->index);
    int succeeded = !is_test || flag->number != 0, deterministic = k->replay->options.deterministic;
    if (succeeded && is_undefined(index))
        return replay_spent(k);
    int64_t recorded = succeeded ? requests->items[index->number] : -1;
    if (succeeded && replay_request_is_drawn(k, recorded)) {
        replay_request_undraw(k, recorded);
        return replay_dropped(k);
    }
    struct replay_batch b = replay_batch_of(k, requests->items, requests->count);
    int done = 0, which = MPI_UNDEFINED;
    if (b.count == 0)
        return succeeded || b.all == 0 ? replay_spent(k) : replay_dropped(k);
    if (deterministic && !succeeded)
        return replay_spent(k);
    requests->items = replay_origins(k, b.numbers, requests->count);
    if (deterministic) {
        for (which = 0; which < b.count - 1 && b.numbers[b.at[which]] != recorded;)
            which++;
        replay_check(k, MPI_Wait(&b.handles[which], &b.statuses[0]));
        done = 1;
    } else if (is_test) {
        replay_check(k, MPI_Testany(b.count, b.handles, &which, &done, &b.statuses[0]));
    }
    if ((!done || which == MPI_UNDEFINED) && succeeded) {
        k->replay->counts.forced += (uint64_t)is_test;
        replay_check(k, MPI_Waitany(b.count, b.handles, &which, &b.statuses[0]));
    }
    done = which != MPI_UNDEFINED && (done || succeeded);
    if (flag)
        flag->number = done;
    if (!done)
        return 1;
    int64_t actual = b.numbers[b.at[which]];
    index->number = b.at[which];
    replay_completed(&b, which);
    replay_set_status(k, fn, replay_status_of(k, actual, &b.statuses[0]));
    if (!succeeded) {
        replay_request_draw(k, actual);
        return 1;
    }
    remap(k, recorded, actual);
    replay_request_done(k, recorded);
    return 1;
}

/* What MPI_Waitsome or MPI_Testsome has completed, over several calls of it. */
struct some {
    int *which; /* positions in the array of the call, in order of completion */
    MPI_Status *statuses;
    int count;
};

/* One call; what it completed leaves the batch. */
static int some_step(struct replay_rank *k, struct replay_batch *b, struct some *s, int is_test)
{
    int *indices = replay_scratch(k, (size_t)(b->count + 1) * sizeof *indices), got = 0;
    if (is_test)
        replay_check(k, MPI_Testsome(b->count, b->handles, &got, indices, b->statuses));
    else
        replay_check(k, MPI_Waitsome(b->count, b->handles, &got, indices, b->statuses));
    if (got == MPI_UNDEFINED)
        return -1;
    for (int i = 0; i < got; i++) {
        replay_completed(b, indices[i]);
        s->which[s->count] = b->at[indices[i]];
        s->statuses[s->count++] = b->statuses[i];
        b->at[indices[i]] = -1;
    }
    int left = 0;
    for (int i = 0; i < b->count; i++)
        if (b->at[i] >= 0) {
            b->at[left] = b->at[i];
            b->handles[left++] = b->handles[i];
        }
    b->count = left;
    return got;
}

static int in_list(const int64_t *list, int count, int64_t number)
{
    for (int i = 0; i < count; i++)
        if (list[i] == number)
            return i;
    return -1;
}

/* Pairs what completed with what had: the same ones, then others, which are remapped; what is more
 * than had is moved forward. */
static void settle_some(struct replay_rank *k, const int64_t *numbers, const struct some *s,
                        int64_t *recorded, int wanted)
{
    int64_t *extra = replay_scratch(k, (size_t)(s->count + 1) * sizeof *extra);
    int extras = 0;
    for (int i = 0; i < s->count; i++) {
        int64_t number = numbers[s->which[i]];
        int at = in_list(recorded, wanted, number);
        if (at < 0) {
            extra[extras++] = number;
            continue;
        }
        replay_request_done(k, number);
        recorded[at] = recorded[--wanted];
    }
    for (int i = 0; i < extras; i++) {
        if (wanted == 0) {
            replay_request_draw(k, extra[i]);
            continue;
        }
        remap(k, recorded[--wanted], extra[i]);
        replay_request_done(k, recorded[wanted]);
    }
}

static void set_some(struct replay_rank *k, const struct replay_fn *fn, const int64_t *numbers,
                     const struct some *s)
{
    struct trace_value *outcount = replay_arg(k, fn->outcount), *index = replay_arg(k, fn->index);
    struct trace_value *v = replay_arg(k, fn->status);
    int64_t *indices = replay_scratch(k, (size_t)(s->count + 1) * sizeof *indices);
    struct trace_status *statuses = replay_scratch(k, (size_t)(s->count + 1) * sizeof *statuses);
    for (int i = 0; i < s->count; i++) {
        indices[i] = s->which[i];
        statuses[i] = replay_status_of(k, numbers[s->which[i]], &s->statuses[i]);
        for (uint64_t was = 0; v && was < index->count && was < v->count; was++)
            if (index->items[was] == s->which[i])
                replay_keep_failure(k, &v->statuses[was], &statuses[i]);
    }
    outcount->number = s->count;
    index->items = indices;
    index->count = (uint64_t)s->count;
    if (v) {
        v->statuses = statuses;
        v->count = (uint64_t)s->count;
    }
}

/* The recorded requests that are not moved forward yet; those that are have their record here. */
static int wanted_of(struct replay_rank *k, const struct trace_value *requests,
                     const struct trace_value *index, int64_t *recorded)
{
    int wanted = 0;
    for (uint64_t i = 0; i < index->count; i++) {
        int64_t at = index->items[i];
        if (at < 0 || (uint64_t)at >= requests->count)
            continue;
        if (replay_request_is_drawn(k, requests->items[at]))
            replay_request_undraw(k, requests->items[at]);
        else if (replay_request_find(k, requests->items[at]))
            recorded[wanted++] = requests->items[at];
    }
    return wanted;
}

int replay_complete_some(struct replay_rank *k, const struct replay_fn *fn, int is_test)
{
    struct trace_value *requests = replay_arg(k, fn->request), *index = replay_arg(k, fn->index);
    const struct trace_value *outcount = replay_arg(k, fn->outcount);
    if (outcount->number == MPI_UNDEFINED)
        return replay_spent(k);
    int had = (int)outcount->number, deterministic = k->replay->options.deterministic;
    int64_t *recorded = replay_scratch(k, ((size_t)index->count + 1) * sizeof *recorded);
    int wanted = wanted_of(k, requests, index, recorded);
    if (had && wanted == 0)
        return replay_dropped(k);
    if (!had && deterministic)
        return replay_spent(k);
    struct replay_batch b = deterministic ? replay_batch_of(k, recorded, (uint64_t)wanted)
                                          : replay_batch_of(k, requests->items, requests->count);
    if (b.count == 0)
        return replay_dropped(k);
    const int64_t *numbers = requests->items;
    struct some s = {.which = replay_scratch(k, (size_t)(b.all + 1) * sizeof *s.which),
                     .statuses = replay_scratch(k, (size_t)(b.all + 1) * sizeof *s.statuses)};
    if (deterministic) {
        replay_check(k, MPI_Waitall(b.count, b.handles, b.statuses));
        for (int i = 0; i < b.count; i++) {
            replay_completed(&b, i);
            replay_request_done(k, recorded[b.at[i]]);
        }
        return 1; /* as recorded */
    }
    requests->items = replay_origins(k, numbers, requests->count);
    if (some_step(k, &b, &s, is_test) < 0)
        return 1;
    while (s.count < wanted && b.count) {
        k->replay->counts.forced++;
        some_step(k, &b, &s, 0);
    }
    set_some(k, fn, numbers, &s);
    settle_some(k, numbers, &s, recorded, wanted);
    return 1;
}
