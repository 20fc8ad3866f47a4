/*
 * wait_usual.c - MPI_Wait and MPI_Waitall for requests that were neither remapped nor moved forward
 * (complete.c): nearly all there are.
 *
 * The record stays as it is, unless another message was received than in the recording.
 */
#include <string.h>

#include "replay/replay.h"

/* The handles of the requests; 0: not all are as recorded. */
static int get_handles(struct replay_rank *k, const int64_t *numbers, uint64_t count,
                       MPI_Request *handles)
{
    for (uint64_t i = 0; i < count; i++) {
        const struct replay_request *r = replay_request_find(k, numbers[i]);
        if (!r || r->origin != numbers[i])
            return 0;
        handles[i] = r->handle;
    }
    return 1;
}

/* What the record is to show of a request that is complete. */
static struct trace_status status_of(const struct replay_rank *k, const struct replay_request *r,
                                     const MPI_Status *s)
{
    struct trace_status none = {0};
    if (!r->receives)
        return none;
    struct trace_status status = replay_status(k, r->comm, s);
    return status.source < 0 && !status.is_cancelled ? none : status; /* of MPI_PROC_NULL */
}

/* Puts the statuses into the record, if they are not in it already. */
static void set_statuses(struct replay_rank *k, struct trace_value *v, const int64_t *numbers,
                         uint64_t count, const MPI_Status *statuses)
{
    struct trace_status *changed = NULL;
    for (uint64_t i = 0; i < count; i++) {
        const struct replay_request *r = replay_request_find(k, numbers[i]);
        struct trace_status status = status_of(k, r, &statuses[i]);
        replay_compare(k, &v->statuses[i], &status);
        if (changed) {
            changed[i] = status;
        } else if (!trace_status_equal(&status, &v->statuses[i])) {
            changed = replay_scratch(k, count * sizeof *changed);
            memcpy(changed, v->statuses, i * sizeof *changed);
            changed[i] = status;
        }
    }
    if (!changed)
        return;
    v->statuses = changed;
    k->is_changed = 1;
}

static void set_handles(struct replay_rank *k, const int64_t *numbers, uint64_t count,
                        const MPI_Request *handles)
{
    for (uint64_t i = 0; i < count; i++)
        replay_request_end(k, numbers[i], handles[i]);
}

int replay_wait_usual(struct replay_rank *k, const struct replay_fn *fn)
{
    const struct trace_value *requests = replay_arg(k, fn->request);
    struct trace_value *v = replay_arg(k, fn->status);
    int is_one = fn->how == REPLAY_WAIT;
    const int64_t *numbers = is_one ? &requests->number : requests->items;
    uint64_t count = is_one ? 1 : requests->count;
    if (k->may_fail || count == 0 || (v && !is_one && v->count != count))
        return 0;
    MPI_Request *handles = replay_scratch(k, count * sizeof *handles);
    if (!get_handles(k, numbers, count, handles))
        return 0;
    int is_shown = v && k->replay->is_open && !replay_is_certain(k);
    MPI_Status *statuses = is_shown ? replay_scratch(k, count * sizeof *statuses)
                                    : MPI_STATUSES_IGNORE;
    replay_check(k,
                 is_one ? MPI_Wait(handles, statuses) : MPI_Waitall((int)count, handles, statuses));
    if (is_shown)
        set_statuses(k, v, numbers, count, statuses);
    set_handles(k, numbers, count, handles);
    return 1;
}
