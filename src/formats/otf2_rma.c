/*
 * otf2_rma.c - one-sided operations as records of OTF2.
 *
 * All ranks of a communicator number its windows in the order of their creation. An operation is
 * complete at the origin when the call returns that ends its epoch: a fence, an unlock, a flush, a
 * complete.
 */
#include <string.h>

#include "base/array.h"
#include "base/rng.h"
#include "formats/otf2_out.h"

void otf2_out_rma_reset(struct otf2_out *o)
{
    map_fini(&o->local_wins);
    map_fini(&o->comm_wins);
    map_init(&o->local_wins);
    map_init(&o->comm_wins);
    o->pending_count = 0;
}

static uint32_t new_win(struct otf2_out *o, uint64_t comm)
{
    int is_new;
    uint64_t identity = comm * RNG_SPLITMIX_STEP ^ ++*map_insert(&o->comm_wins, comm, NULL);
    uint64_t *number = map_insert(&o->wins, rng_splitmix(&identity), &is_new);
    if (is_new) {
        ARRAY_EXTEND(o->win_items, o->win_count);
        o->win_items[o->win_count++] = (struct otf2_win){comm};
        *number = o->win_count;
    }
    return (uint32_t)*number - 1;
}

/* The window of a call; 0 if it is not known. */
static int find_win(struct otf2_out *o, struct walk *w, const struct trace_event *e, uint32_t *win)
{
    const struct trace_fn *fn = &w->trace->header.schema->fns[e->fn];
    int at = w->shapes[e->fn].win, comm = w->shapes[e->fn].comm;
    if (at < 0 || e->args[at].number < 0)
        return 0;
    uint64_t *known = map_find(&o->local_wins, (uint64_t)e->args[at].number);
    if (!known && fn->args[at].is_out && comm >= 0) {
        const struct trace_local_item *item = trace_local_find(&w->local, TRACE_DEFINE_COMM,
                                                               e->args[comm].number);
        *win = new_win(o, item ? item->identity : TRACE_COMM_WORLD);
        *map_insert(&o->local_wins, (uint64_t)e->args[at].number, NULL) = *win + 1;
        return 1;
    }
    *win = known ? (uint32_t)*known - 1 : 0;
    return known != NULL;
}

static int64_t value(struct walk *w, const struct trace_event *e, const char *name,
                     int64_t otherwise)
{
    int at = calls_arg(&w->trace->header.schema->fns[e->fn], name);
    return at < 0 ? otherwise : e->args[at].number;
}

/* Completes the operations of a window, or of one target of it. */
static void complete(struct otf2_out *o, uint32_t win, int64_t target, OTF2_TimeStamp t)
{
    size_t left = 0;
    for (size_t i = 0; i < o->pending_count; i++) {
        struct otf2_pending *p = &o->pending[i];
        if (p->win == win && (target < 0 || p->target == target))
            OTF2_EvtWriter_RmaOpCompleteBlocking(o->events, NULL, t, win, p->match);
        else
            o->pending[left++] = *p;
    }
    o->pending_count = left;
}

static uint64_t begin(struct otf2_out *o, uint32_t win, int64_t target)
{
    ARRAY_EXTEND(o->pending, o->pending_count);
    o->pending[o->pending_count++] = (struct otf2_pending){win, target, o->next_match};
    return o->next_match++;
}

static uint64_t type_size(const void *walk, int64_t type)
{
    return actions_bytes(&((const struct walk *)walk)->actions, 1, type);
}

static void put_operation(struct otf2_out *o, struct walk *w, const struct trace_event *e,
                          uint32_t win, OTF2_TimeStamp t)
{
    static const struct calls_place nowhere;
    static const OTF2_RmaAtomicType atomics[] = {
        [MPI_STEP_ACCUMULATE] = OTF2_RMA_ATOMIC_TYPE_ACCUMULATE,
        [MPI_STEP_FETCH] = OTF2_RMA_ATOMIC_TYPE_FETCH_AND_ACCUMULATE,
        [MPI_STEP_SWAP] = OTF2_RMA_ATOMIC_TYPE_COMPARE_AND_SWAP,
    };
    const struct mpi_effect *s = &w->shapes[e->fn];
    const struct calls_types types = {type_size, w};
    int64_t target = e->args[s->target].number;
    uint64_t sent = calls_share_bytes(s, e, &nowhere, calls_gives(s, &nowhere), &types),
             received = calls_share_bytes(s, e, &nowhere, calls_gets(s, &nowhere), &types);
    if (target < 0)
        return;
    uint64_t match = begin(o, win, target);
    if (s->step == MPI_STEP_PUT)
        OTF2_EvtWriter_RmaPut(o->events, NULL, t, win, (uint32_t)target, sent, match);
    else if (s->step == MPI_STEP_GET)
        OTF2_EvtWriter_RmaGet(o->events, NULL, t, win, (uint32_t)target, received, match);
    else
        OTF2_EvtWriter_RmaAtomic(o->events, NULL, t, win, (uint32_t)target, atomics[s->step], sent,
                                 received, match);
}

/* ---- epochs ---- */

#define SYNCHRONISES (OTF2_RMA_SYNC_LEVEL_PROCESS | OTF2_RMA_SYNC_LEVEL_MEMORY)

static void put_lock(struct otf2_out *o, struct walk *w, const struct trace_event *e, uint32_t win,
                     int64_t rank, OTF2_TimeStamp t)
{
    uint32_t remote = rank < 0 ? OTF2_UNDEFINED_UINT32 : (uint32_t)rank;
    int is_exclusive = value(w, e, "lock_type", 0) == 234; /* of MPICH's ABI */
    if (w->shapes[e->fn].step == MPI_STEP_LOCK) {
        OTF2_EvtWriter_RmaAcquireLock(o->events, NULL, t, win, remote, 0,
                                      is_exclusive ? OTF2_LOCK_EXCLUSIVE : OTF2_LOCK_SHARED);
        return;
    }
    complete(o, win, rank, t);
    OTF2_EvtWriter_RmaReleaseLock(o->events, NULL, t, win, remote, 0);
}

static void put_epoch(struct otf2_out *o, struct walk *w, const struct trace_event *e, uint32_t win,
                      OTF2_TimeStamp t)
{
    const struct mpi_effect *s = &w->shapes[e->fn];
    int64_t rank = s->target >= 0 ? e->args[s->target].number : -1;
    switch (s->step) {
    case MPI_STEP_FENCE:
        complete(o, win, -1, t);
        OTF2_EvtWriter_RmaCollectiveEnd(o->events, NULL, t, OTF2_COLLECTIVE_OP_BARRIER,
                                        SYNCHRONISES, win, OTF2_UNDEFINED_UINT32, 0, 0);
        break;
    case MPI_STEP_POST:
    case MPI_STEP_ACCESS:
    case MPI_STEP_FINISH:
    case MPI_STEP_AWAIT:
        if (s->form == MPI_FORM_BLOCKING)
            OTF2_EvtWriter_RmaGroupSync(o->events, NULL, t, SYNCHRONISES, win,
                                        OTF2_UNDEFINED_GROUP);
        if (s->step == MPI_STEP_FINISH)
            complete(o, win, -1, t);
        break;
    case MPI_STEP_LOCK:
    case MPI_STEP_UNLOCK:
        put_lock(o, w, e, win, rank, t);
        break;
    case MPI_STEP_FLUSH:
        complete(o, win, rank, t);
        break;
    case MPI_STEP_SYNC:
        OTF2_EvtWriter_RmaSync(o->events, NULL, t, win, OTF2_UNDEFINED_UINT32,
                               OTF2_RMA_SYNC_TYPE_MEMORY);
        break;
    case MPI_STEP_FREE:
        OTF2_EvtWriter_RmaWinDestroy(o->events, NULL, t, win);
        break;
    default:
        break;
    }
}

void otf2_out_rma(struct otf2_out *o, struct walk *w, const struct trace_event *e, int at_end,
                  OTF2_TimeStamp t)
{
    const struct mpi_effect *s = &w->shapes[e->fn];
    uint32_t win;
    if (s->win < 0 || e->failed || !find_win(o, w, e, &win))
        return;
    if (s->kind == MPI_DOES_RMA && !at_end)
        put_operation(o, w, e, win, t);
    else if (s->kind == MPI_DOES_EPOCH && at_end)
        put_epoch(o, w, e, win, t);
    else if (s->step == MPI_STEP_FENCE)
        OTF2_EvtWriter_RmaCollectiveBegin(o->events, NULL, t);
    else if (s->kind == MPI_DOES_COLLECTIVE && at_end)
        OTF2_EvtWriter_RmaWinCreate(o->events, NULL, t, win);
}
