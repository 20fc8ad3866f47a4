/*
 * standin_told.c - `--order real`: the process says which messages receives from any source have
 * got, and which requests are complete (guest_told.c).
 */
#include <string.h>

#include "base/array.h"
#include "hybrid/standin.h"
#include "run/own.h"

/* Not by name: a program that imports it makes every receive a decision. */
static void cancel(struct standin *s, MPI_Request *request)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)request};
    s->k.replay->fns[MPI_FN_CANCEL].invoke(words);
}

static void bind_request(struct standin *s, const struct hybrid_match *m)
{
    struct replay_request *known = replay_request_find(&s->k, m->request);
    standin_forget_wild(s, m->request);
    s->is_cancelled = known && m->source == HYBRID_CANCELLED;
    if (s->is_cancelled)
        cancel(s, &known->handle);
    else if (known)
        orrery_own_bind((uint32_t)known->handle, m->source);
}

const uint8_t *standin_take_told(struct standin *s, const struct hybrid_head *head,
                                 const uint8_t *at)
{
    for (uint32_t i = 0; i < head->match_count; i++) {
        struct hybrid_match m;
        memcpy(&m, at, sizeof m);
        at += sizeof m;
        if (m.request >= 0)
            bind_request(s, &m);
        else
            orrery_own_bind(0, m.source);
    }
    ARRAY_RESERVE(s->now->chosen, s->now->chosen_room, head->index_count, 16);
    s->now->chosen_count = head->index_count;
    if (head->index_count)
        memcpy(s->now->chosen, at, head->index_count * sizeof *s->now->chosen);
    return at + (head->index_count * sizeof *s->now->chosen + 7) / 8 * 8;
}

/* The next message of the process, without records. */
static int take_outcome(struct standin *s, const struct orrery_own_call *c)
{
    size_t bytes;
    const uint8_t *message = s->is_threaded ? standin_thread_await(s, c, &bytes)
                                            : orrery_own_outcome(c, &bytes);
    struct hybrid_head head;
    memcpy(&head, message, sizeof head);
    standin_take_told(s, &head, message + sizeof head);
    orrery_own_release(message);
    return !head.is_failed;
}

/* A receive that has no message here may have one there: then the call has no effect. */
int standin_cancel(struct standin *s, int64_t request)
{
    const struct replay_request *known = replay_request_find(&s->k, request);
    const struct orrery_own_call none = {0};
    if (standin_is_wild(s, request))
        return 1; /* the process says later whether it has come in time */
    if (!s->may_cancel || !known || !orrery_own_hold((uint32_t)known->handle))
        return 0;
    s->now->result.flag = HYBRID_TELL;
    standin_answer(s, HYBRID_ASK_RESULT);
    take_outcome(s, &none);
    s->now->result.flag = 0;
    return s->is_cancelled;
}

int standin_await_outcome(struct standin *s, const struct replay_fn *fn)
{
    struct orrery_own_call c = {.fn = s->k.event->fn};
    int sends = strstr(fn->name, "Sendrecv") != NULL; /* others may wait for what it sends */
    if (fn->request >= 0) {
        struct standin_requests r = standin_requests(s, fn);
        c.count = r.count;
        c.requests = r.handles;
        c.is_all = fn->how == REPLAY_WAIT || fn->how == REPLAY_WAITALL;
    } else if (!sends && fn->comm >= 0) {
        int64_t comm = replay_arg(&s->k, fn->comm)->number;
        c.comm = (uint32_t)replay_handle(&s->k, MPI_ROLE_COMM, comm);
        c.source = (int)replay_arg(&s->k, fn->source)->number;
        c.tag = (int)replay_arg(&s->k, fn->tag)->number;
    }
    return take_outcome(s, &c);
}

void standin_choose(struct standin *s, struct standin_requests *r)
{
    for (int i = 0; s->now->chosen_count && i < r->count; i++) {
        int is_chosen = 0;
        for (uint32_t k = 0; k < s->now->chosen_count && !is_chosen; k++)
            is_chosen = s->now->chosen[k] == i;
        if (!is_chosen)
            r->handles[i] = MPI_REQUEST_NULL;
    }
}

int standin_ask_back(struct standin *s, const struct standin_requests *r)
{
    if (s->now->result.flag == 1 || s->now->result.index_count)
        return 0;
    for (int i = 0; i < r->count; i++)
        if (standin_is_wild(s, r->numbers[i]) && orrery_own_may_bind((uint32_t)r->handles[i]))
            standin_add_index(s, i);
    if (!s->now->result.index_count)
        return 0;
    s->now->result.flag = HYBRID_TELL;
    standin_answer(s, HYBRID_ASK_RESULT);
    const struct orrery_own_call none = {0};
    take_outcome(s, &none);
    return 1;
}

void standin_reopen(struct standin *s, const struct replay_fn *fn)
{
    const struct trace_value *v = fn->request < 0 ? NULL : replay_arg(&s->k, fn->request);
    int is_one = !fn->starts_all;
    if (!s->lasting_count || !fn->starts)
        return;
    for (uint64_t i = 0; i < (is_one ? 1 : v->count); i++)
        for (uint32_t at = 0; at < s->lasting_count; at++) {
            const struct replay_request *known = replay_request_find(&s->k, s->lasting[at]);
            if (known && s->lasting[at] == (is_one ? v->number : v->items[i]))
                orrery_own_bind((uint32_t)known->handle, MPI_ANY_SOURCE);
        }
}
