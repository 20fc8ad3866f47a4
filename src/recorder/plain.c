/*
 * plain.c - calls with plain arguments: numbers, handles and buffers that are passed by value, and
 * a request that the call returns. Most calls are such, so they are recorded without looking at the
 * roles of arguments again: each function has its steps, found once. They write what args.c would.
 */
#include "recorder/recorder_internal.h"

#define STEPS_MOST 12

enum step { STEP_INT, STEP_LONG, STEP_BUFFER, STEP_HANDLE, STEP_NEW_REQUEST };

static struct plain {
    uint8_t is_plain, is_by_value; /* by value: it returns no request */
    uint8_t count;
    struct {
        uint8_t step, position, role;
    } steps[STEPS_MOST];
} plain[MPI_FN_COUNT];

/* The step of an argument, or -1: it is not plain. */
static int step_of(const struct trace_arg *kept, const struct mpi_arg *arg)
{
    if (kept->is_array)
        return -1;
    if (kept->class == TRACE_BUFFER)
        return STEP_BUFFER;
    if (kept->class == TRACE_REQUEST && !kept->is_in)
        return STEP_NEW_REQUEST;
    if (arg->pointers || (arg->bytes != 4 && arg->bytes != 8))
        return -1;
    if (kept->class == TRACE_NUMBER)
        return arg->bytes == 4 ? STEP_INT : STEP_LONG;
    return kept->class == TRACE_HANDLE && arg->bytes == 4 && kept->is_in ? STEP_HANDLE : -1;
}

static void learn(struct plain *p, const struct trace_fn *fn, const struct mpi_signature *s)
{
    p->count = 0;
    p->is_plain = p->is_by_value = fn->count <= STEPS_MOST;
    for (unsigned i = 0; i < fn->count && p->is_plain; i++) {
        const struct mpi_arg *arg = &s->args[fn->args[i].position];
        int step = step_of(&fn->args[i], arg);
        p->is_plain = step >= 0;
        p->is_by_value &= p->is_plain && step != STEP_NEW_REQUEST;
        p->steps[p->count].step = (uint8_t)step;
        p->steps[p->count].position = fn->args[i].position;
        p->steps[p->count++].role = arg->role;
    }
}

void recorder_learn_plain(const struct trace_schema *schema)
{
    for (unsigned i = 0; i < MPI_FN_COUNT; i++)
        learn(&plain[i], &schema->fns[i], &mpi_fn_signature[i]);
}

int recorder_is_plain(enum mpi_fn fn)
{
    return plain[fn].is_plain;
}

int recorder_is_by_value(enum mpi_fn fn)
{
    return plain[fn].is_by_value;
}

void recorder_plain_args(struct recorder_rank *r, struct recorder_lane *lane, struct mpi_rank *self,
                         const struct recorder_call *call)
{
    const struct plain *p = &plain[call->fn];
    struct trace_stream *s = &lane->stream;
    int64_t number;
    uint8_t *at = trace_room(s, (size_t)p->count * TRACE_VARINT_MAX);
    for (unsigned i = 0; i < p->count; i++) {
        uint64_t word = call->args[p->steps[i].position];
        switch ((enum step)p->steps[i].step) {
        case STEP_INT:
            at = trace_varint_put(at, trace_zigzag((int32_t)word));
            break;
        case STEP_LONG:
            at = trace_varint_put(at, trace_zigzag((int64_t)word));
            break;
        case STEP_BUFFER:
            *at++ = (uint8_t)recorder_buffer(word);
            break;
        case STEP_HANDLE:
            number = recorder_number(r, self, p->steps[i].role, (uint32_t)word);
            at = trace_varint_put(at, (uint64_t)(number + 1));
            break;
        case STEP_NEW_REQUEST:
            number = recorder_has_done(call->rc)
                         ? recorder_new_number(r, self, call, p->steps[i].position)
                         : -1;
            at = trace_request_put(s, at, number);
            break;
        }
    }
    trace_filled(s, at);
}
