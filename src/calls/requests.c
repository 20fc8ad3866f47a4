/*
 * requests.c - the requests of a call that completes, tests or starts them.
 */
#include "base/hostile.h"
#include "calls/calls.h"

static int takes_array(const struct mpi_effect *s)
{
    return (s->kind == MPI_DOES_COMPLETE || s->kind == MPI_DOES_START) &&
           s->amount != MPI_AMOUNT_ONE;
}

size_t calls_given(const struct mpi_effect *s, const struct trace_event *e)
{
    if (s->request < 0)
        return 0;
    return takes_array(s) ? e->args[s->request].count : 1;
}

int64_t calls_given_request(const struct mpi_effect *s, const struct trace_event *e, size_t i)
{
    const struct trace_value *value = &e->args[s->request];
    if (!takes_array(s))
        return i == 0 ? value->number : -1;
    return i < value->count ? value->items[i] : -1;
}

static int64_t number_or(const struct trace_event *e, int at, int64_t none)
{
    return at >= 0 ? e->args[at].number : none;
}

size_t calls_completed(const struct mpi_effect *s, const struct trace_event *e)
{
    if (s->kind != MPI_DOES_COMPLETE || s->request < 0 || !trace_event_is_done(e) ||
        number_or(e, s->flag, 1) == 0)
        return 0;
    switch (s->amount) {
    case MPI_AMOUNT_ANY:
        return number_or(e, s->index, -1) >= 0;
    case MPI_AMOUNT_SOME:
        return s->index >= 0 ? e->args[s->index].count : 0;
    default:
        return calls_given(s, e);
    }
}

static int64_t completed_position(const struct mpi_effect *s, const struct trace_event *e, size_t i)
{
    switch (s->amount) {
    case MPI_AMOUNT_ANY:
        return e->args[s->index].number;
    case MPI_AMOUNT_SOME:
        return e->args[s->index].items[i];
    default:
        return (int64_t)i;
    }
}

int64_t calls_completed_request(const struct mpi_effect *s, const struct trace_event *e, size_t i)
{
    assert_hot(i < calls_completed(s, e));
    int64_t at = completed_position(s, e, i);
    return at < 0 ? -1 : calls_given_request(s, e, (size_t)at);
}

const struct trace_status *calls_completed_status(const struct mpi_effect *s,
                                                  const struct trace_event *e, size_t i)
{
    static const struct trace_status none;
    if (s->status < 0)
        return &none;
    const struct trace_value *value = &e->args[s->status];
    if (s->amount != MPI_AMOUNT_ALL && s->amount != MPI_AMOUNT_SOME)
        return value->statuses;
    return i < value->count ? &value->statuses[i] : &none;
}

uint64_t calls_ready_parts(const struct mpi_effect *s, const struct trace_event *e)
{
    if (s->kind != MPI_DOES_PARTITION || s->form != MPI_FORM_BLOCKING)
        return 0;
    if (s->last_part < 0)
        return s->index >= 0 ? e->args[s->index].count : 1;
    int64_t first = number_or(e, s->first_part, 0), last = e->args[s->last_part].number;
    return last >= first ? (uint64_t)last - (uint64_t)first + 1 : 0;
}

int calls_is_failed_test(const struct mpi_effect *s, const struct trace_event *e)
{
    if (s->form != MPI_FORM_POLLING ||
        (s->kind != MPI_DOES_COMPLETE && s->kind != MPI_DOES_INQUIRE))
        return 0;
    return s->amount == MPI_AMOUNT_SOME ? number_or(e, s->out_count, 1) <= 0
                                        : number_or(e, s->flag, 1) == 0;
}
