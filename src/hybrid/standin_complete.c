/*
 * standin_complete.c - calls that complete requests, and probes: the simulator decides which
 * requests are complete, and the process does the same with the real ones.
 */
#include "hybrid/standin.h"

#define UNKNOWN -1

struct standin_requests standin_requests(struct standin *s, const struct replay_fn *fn)
{
    struct replay_rank *k = &s->k;
    const struct trace_value *v = replay_arg(k, fn->request);
    int is_array = v->items != NULL && v->count > 0;
    struct standin_requests r = {.count = is_array ? (int)v->count : 1,
                                 .numbers = is_array ? v->items : &v->number};
    if (fn->signature->args[0].role == MPI_ROLE_COUNT && !v->count)
        r.count = 0;
    r.handles = replay_scratch(k, ((size_t)r.count + 1) * sizeof *r.handles);
    r.statuses = replay_scratch(k, ((size_t)r.count + 1) * sizeof *r.statuses);
    for (int i = 0; i < r.count; i++) {
        const struct replay_request *known = replay_request_find(k, r.numbers[i]);
        r.handles[i] = known ? known->handle : MPI_REQUEST_NULL;
        r.statuses[i].MPI_SOURCE = MPI_PROC_NULL;
    }
    return r;
}

int standin_is_wild(const struct standin *s, int64_t number)
{
    for (uint32_t i = 0; i < s->wild_count; i++)
        if (s->wilds[i] == number)
            return 1;
    return 0;
}

void standin_forget_wild(struct standin *s, int64_t number)
{
    for (uint32_t i = 0; i < s->wild_count; i++)
        if (s->wilds[i] == number) {
            s->wilds[i] = s->wilds[--s->wild_count];
            return;
        }
}

/* The request is complete. */
static void done(struct standin *s, const struct standin_requests *r, int i,
                 const MPI_Status *status)
{
    struct replay_request *known = replay_request_find(&s->k, r->numbers[i]);
    if (!known)
        return;
    if (status->count_hi_and_cancelled & 1) /* no call: it would be in the trace */
        standin_add_match(s, r->numbers[i], HYBRID_CANCELLED, 0);
    else if (standin_is_wild(s, r->numbers[i]))
        standin_add_match(s, r->numbers[i], status->MPI_SOURCE, status->MPI_TAG);
    standin_forget_wild(s, r->numbers[i]);
    known->handle = r->handles[i];
    replay_request_done(&s->k, r->numbers[i]);
}

static void done_some(struct standin *s, const struct standin_requests *r, int count,
                      const int *indices)
{
    s->now->result.index_count = 0;
    for (int i = 0; i < count; i++) {
        standin_add_index(s, indices[i]);
        done(s, r, indices[i], &r->statuses[i]);
    }
    if (count == MPI_UNDEFINED)
        s->now->result.flag = MPI_UNDEFINED;
}

static void one(struct standin *s, const struct standin_requests *r, int flag, int index)
{
    s->now->result.flag = flag;
    if (!flag)
        return;
    standin_add_index(s, index);
    if (index != MPI_UNDEFINED)
        done(s, r, index, &r->statuses[0]);
}

static void all(struct standin *s, const struct standin_requests *r, int flag)
{
    s->now->result.flag = flag;
    for (int i = 0; flag && i < r->count; i++)
        done(s, r, i, &r->statuses[i]);
}

/* MPI_Waitsome: all that the real one has completed. */
static void wait_chosen(struct standin *s, const struct standin_requests *r)
{
    replay_check(&s->k, MPI_Waitall(r->count, r->handles, r->statuses));
    for (uint32_t i = 0; i < s->now->chosen_count; i++)
        done(s, r, s->now->chosen[i], &r->statuses[s->now->chosen[i]]);
}

static void complete(struct standin *s, const struct replay_fn *fn, struct standin_requests r)
{
    struct replay_rank *k = &s->k;
    int flag = 1, index = MPI_UNDEFINED, count = 0;
    int *indices = replay_scratch(k, ((size_t)r.count + 1) * sizeof *indices);
    if (s->now->tells)
        standin_choose(s, &r);
    switch ((enum replay_how)fn->how) {
    case REPLAY_WAIT:
        replay_check(k, MPI_Wait(r.handles, r.statuses));
        all(s, &r, 1);
        break;
    case REPLAY_WAITALL:
        replay_check(k, MPI_Waitall(r.count, r.handles, r.statuses));
        all(s, &r, 1);
        break;
    case REPLAY_WAITANY:
        replay_check(k, MPI_Waitany(r.count, r.handles, &index, r.statuses));
        one(s, &r, 1, index);
        break;
    case REPLAY_WAITSOME:
        if (s->now->tells) {
            wait_chosen(s, &r);
            break;
        }
        replay_check(k, MPI_Waitsome(r.count, r.handles, &count, indices, r.statuses));
        done_some(s, &r, count, indices);
        break;
    case REPLAY_TEST:
        replay_check(k, MPI_Test(r.handles, &flag, r.statuses));
        all(s, &r, flag);
        break;
    case REPLAY_TESTALL:
        replay_check(k, MPI_Testall(r.count, r.handles, &flag, r.statuses));
        all(s, &r, flag);
        break;
    case REPLAY_TESTANY:
        replay_check(k, MPI_Testany(r.count, r.handles, &index, &flag, r.statuses));
        one(s, &r, flag, index);
        break;
    case REPLAY_TESTSOME:
        replay_check(k, MPI_Testsome(r.count, r.handles, &count, indices, r.statuses));
        done_some(s, &r, count, indices);
        break;
    default: /* MPI_Request_get_status completes nothing */
        replay_check(k, MPI_Request_get_status(r.handles[0], &s->now->result.flag, r.statuses));
        if (s->now->result.flag && r.count && standin_is_wild(s, r.numbers[0]))
            standin_add_match(s, r.numbers[0], r.statuses->MPI_SOURCE, r.statuses->MPI_TAG);
        break;
    }
}

void standin_complete(struct standin *s, const struct replay_fn *fn)
{
    struct standin_requests r;
    do {
        s->now->result.flag = 0; /* it may be HYBRID_TELL */
        s->now->result.index_count = s->now->result.match_count = 0;
        r = standin_requests(s, fn);
        complete(s, fn, r);
    } while (s->is_real && fn->how >= REPLAY_TEST && standin_ask_back(s, &r));
}

void standin_probe(struct standin *s, const struct replay_fn *fn)
{
    struct replay_rank *k = &s->k;
    int source = (int)replay_arg(k, fn->source)->number, tag = (int)replay_arg(k, fn->tag)->number;
    int64_t number = replay_arg(k, fn->comm)->number;
    MPI_Comm comm = (MPI_Comm)replay_handle(k, MPI_ROLE_COMM, number);
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    int flag = 1, is_matched = fn->message >= 0;
    if (fn->how == REPLAY_PROBE)
        replay_check(k, is_matched ? MPI_Mprobe(source, tag, comm, &message, &status)
                                   : MPI_Probe(source, tag, comm, &status));
    else
        replay_check(k, is_matched ? MPI_Improbe(source, tag, comm, &flag, &message, &status)
                                   : MPI_Iprobe(source, tag, comm, &flag, &status));
    s->now->result.flag = flag;
    if (!flag || s->now->result.is_failed)
        return;
    standin_add_match(s, UNKNOWN, status.MPI_SOURCE, status.MPI_TAG);
    if (is_matched) {
        int64_t made = replay_arg(k, fn->message)->number;
        replay_handle_set(k, MPI_ROLE_MESSAGE, made, (uint64_t)(uint32_t)message);
        replay_message_comm(k, made, number);
    }
}
