/*
 * dumpi_lost.c - objects and requests that are not in a file of DUMPI, as it does not know the
 * function that made them: MPI_Win_allocate, MPI_Comm_split_type, MPI_Ibarrier. All ranks of such a
 * communicator, window or file leave out the same calls, so what remains is consistent. Datatypes
 * and operations are never lost: the file has their sizes.
 */
#include <string.h>

#include "formats/dumpi_out.h"

enum loss {
    LOST_WHOLLY = 1,
    LOST_EPOCH, /* of a window: operations have none, other calls are as before */
};

#define KIND_SHIFT 56

/* The key of what such an argument names; 0: it cannot be lost. Requests have no definitions. */
static uint64_t key_of(const struct trace_arg *arg, int64_t number)
{
    if (number < 0)
        return 0;
    if (arg->class == TRACE_REQUEST)
        return (uint64_t)TRACE_CALL << KIND_SHIFT | (uint64_t)number;
    enum trace_head kind = arg->class == TRACE_HANDLE ? trace_local_kind(arg->role) : 0;
    return kind == TRACE_DEFINE_COMM || kind == TRACE_DEFINE_GROUP || kind == TRACE_DEFINE_WIN ||
                   kind == TRACE_DEFINE_FILE
               ? (uint64_t)kind << KIND_SHIFT | (uint64_t)number
               : 0;
}

int dumpi_is_lost_request(const struct dumpi_out *o, int64_t number)
{
    static const struct trace_arg request = {.class = TRACE_REQUEST};
    return map_find(&o->lost, key_of(&request, number)) != NULL;
}

/* The epoch of a window that MPI_Win_lock_all begins. */
static void lose_epoch(struct dumpi_out *o, const struct walk *w, const struct trace_event *e)
{
    const struct trace_fn *fn = &w->trace->header.schema->fns[e->fn];
    const struct mpi_effect *s = &w->shapes[e->fn];
    int win = s->win, begins = s->step == MPI_STEP_LOCK, is_new;
    if (win < 0 || s->amount != MPI_AMOUNT_ALL || (!begins && s->step != MPI_STEP_UNLOCK))
        return;
    uint64_t key = key_of(&fn->args[win], e->args[win].number), *loss;
    if (!key)
        return;
    if (begins) {
        loss = map_insert(&o->lost, key, &is_new);
        *loss = is_new ? LOST_EPOCH : *loss;
    } else if ((loss = map_find(&o->lost, key)) && *loss == LOST_EPOCH) {
        map_remove(&o->lost, key);
    }
}

void dumpi_lose(struct dumpi_out *o, const struct walk *w, const struct trace_event *e)
{
    const struct trace_fn *fn = &w->trace->header.schema->fns[e->fn];
    for (unsigned i = 0; i < e->argc; i++) {
        const struct trace_arg *arg = &fn->args[i];
        uint64_t key = arg->is_out && !arg->is_in && !arg->is_array ? key_of(arg, e->args[i].number)
                                                                    : 0;
        if (key)
            *map_insert(&o->lost, key, NULL) = LOST_WHOLLY;
    }
    lose_epoch(o, w, e);
}

int dumpi_uses_lost(const struct dumpi_out *o, const struct walk *w, const struct trace_event *e)
{
    const struct trace_fn *fn = &w->trace->header.schema->fns[e->fn];
    for (unsigned i = 0; i < e->argc; i++) {
        const struct trace_arg *arg = &fn->args[i];
        if (arg->class != TRACE_HANDLE || arg->is_array || !arg->is_in)
            continue;
        const uint64_t *loss = map_find(&o->lost, key_of(arg, e->args[i].number));
        if (loss && (*loss == LOST_WHOLLY || w->shapes[e->fn].kind == MPI_DOES_RMA ||
                     w->shapes[e->fn].kind == MPI_DOES_EPOCH))
            return 1;
    }
    return 0;
}
