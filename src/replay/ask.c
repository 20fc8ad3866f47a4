/*
 * ask.c - questions that complete no request: has a partition arrived, is a request complete, is
 * the epoch of a window over?
 */
#include "replay/complete.h"

/* A partition, or a request, that was there and now is not: asks until it is. */
int replay_ask(struct replay_rank *k, const struct replay_fn *fn)
{
    struct trace_value *flag = replay_arg(k, fn->flag);
    int64_t number = replay_arg(k, fn->request)->number;
    struct replay_request *r = replay_request_find(k, number);
    int succeeded = flag->number != 0, done = 0;
    MPI_Status status;
    if (!r)
        return replay_request_is_drawn(k, number) ? replay_dropped(k) : replay_spent(k);
    replay_arg(k, fn->request)->number = r->origin;
    MPI_Request handle = r->handle;
    if (k->replay->options.deterministic && !succeeded)
        return replay_spent(k);
    for (int tries = 0; !done && (succeeded || tries == 0); tries++) {
        k->replay->counts.forced += tries == 1;
        if (fn->how == REPLAY_PARRIVED)
            replay_check(k, MPI_Parrived(handle, (int)replay_arg(k, fn->index)->number, &done));
        else
            replay_check(k, MPI_Request_get_status(handle, &done, &status));
    }
    flag->number = done;
    if (done && fn->how == REPLAY_GET_STATUS &&
        !(succeeded && !replay_arg(k, fn->status)->statuses->is_set))
        replay_set_status(k, fn, replay_status_of(k, number, &status));
    return 1;
}

/* MPI_Win_test ends the epoch when it succeeds; MPI_Win_wait, or the test that had, is then left
 * out. */
int replay_test_win(struct replay_rank *k)
{
    struct trace_value *win = NULL, *flag = NULL;
    const struct trace_fn *fn = &k->replay->trace.header.schema->fns[k->event->fn];
    for (unsigned i = 0; i < k->event->argc; i++) {
        if (fn->args[i].role[0] == 'w')
            win = &k->event->args[i];
        if (fn->args[i].role[0] == 'f')
            flag = &k->event->args[i];
    }
    if (!win || !flag)
        return replay_spent(k);
    int succeeded = flag->number != 0, done = 0;
    MPI_Win handle = (MPI_Win)replay_handle(k, MPI_ROLE_WIN, win->number);
    if (map_find(&k->drawn_wins, (uint64_t)win->number)) {
        if (succeeded)
            map_remove(&k->drawn_wins, (uint64_t)win->number);
        return replay_dropped(k);
    }
    if (k->replay->options.deterministic && !succeeded)
        return replay_spent(k);
    replay_check(k, MPI_Win_test(handle, &done));
    if (!done && succeeded) {
        k->replay->counts.forced++;
        replay_check(k, MPI_Win_wait(handle));
    } else if (done && !succeeded) {
        k->replay->counts.drawn++;
        map_insert(&k->drawn_wins, (uint64_t)win->number, NULL);
    }
    flag->number = done || succeeded;
    return 1;
}
