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
    int at = call_arg(&w->trace->header.schema->fns[e->fn], name);
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

static void put_operation(struct otf2_out *o, struct walk *w, const struct trace_event *e,
                          uint32_t win, const char *name, OTF2_TimeStamp t)
{
    int64_t target = value(w, e, "target_rank", -1);
    uint64_t sent = actions_bytes(&w->actions, value(w, e, "origin_count", 1),
                                  value(w, e, "origin_datatype", value(w, e, "datatype", -1)));
    uint64_t received = actions_bytes(&w->actions, value(w, e, "result_count", 1),
                                      value(w, e, "result_datatype", value(w, e, "datatype", -1)));
    if (target < 0)
        return;
    uint64_t match = begin(o, win, target);
    const char *bare = *name == 'R' ? name + 1 : name; /* "Rput" */
    if (strncasecmp(bare, "put", 3) == 0)
        OTF2_EvtWriter_RmaPut(o->events, NULL, t, win, (uint32_t)target, sent, match);
    else if (strcasecmp(bare, "get") == 0 || strcasecmp(bare, "get_c") == 0)
        OTF2_EvtWriter_RmaGet(o->events, NULL, t, win, (uint32_t)target, sent, match);
    else
        OTF2_EvtWriter_RmaAtomic(o->events, NULL, t, win, (uint32_t)target,
                                 strncmp(bare, "Compare", 7) == 0
                                     ? OTF2_RMA_ATOMIC_TYPE_COMPARE_AND_SWAP
                                 : strncasecmp(bare, "accumulate", 10) == 0
                                     ? OTF2_RMA_ATOMIC_TYPE_ACCUMULATE
                                     : OTF2_RMA_ATOMIC_TYPE_FETCH_AND_ACCUMULATE,
                                 sent, strncasecmp(bare, "accumulate", 10) == 0 ? 0 : received,
                                 match);
}

static void put_end(struct otf2_out *o, struct walk *w, const struct trace_event *e, uint32_t win,
                    const char *name, OTF2_TimeStamp t)
{
    static const char *const group_syncs[] = {"Win_start", "Win_post", "Win_complete", "Win_wait"};
    int64_t rank = value(w, e, "rank", -1);
    OTF2_LockType type = value(w, e, "lock_type", 0) == 234
                             ? OTF2_LOCK_EXCLUSIVE /* of MPICH's ABI */
                             : OTF2_LOCK_SHARED;
    uint32_t remote = rank < 0 ? OTF2_UNDEFINED_UINT32 : (uint32_t)rank;
    for (size_t i = 0; i < sizeof group_syncs / sizeof group_syncs[0]; i++)
        if (strcmp(name, group_syncs[i]) == 0)
            OTF2_EvtWriter_RmaGroupSync(o->events, NULL, t,
                                        OTF2_RMA_SYNC_LEVEL_PROCESS | OTF2_RMA_SYNC_LEVEL_MEMORY,
                                        win, OTF2_UNDEFINED_GROUP);
    if (strcmp(name, "Win_fence") == 0) {
        complete(o, win, -1, t);
        OTF2_EvtWriter_RmaCollectiveEnd(o->events, NULL, t, OTF2_COLLECTIVE_OP_BARRIER,
                                        OTF2_RMA_SYNC_LEVEL_PROCESS | OTF2_RMA_SYNC_LEVEL_MEMORY,
                                        win, OTF2_UNDEFINED_UINT32, 0, 0);
    } else if (strcmp(name, "Win_lock") == 0 || strcmp(name, "Win_lock_all") == 0) {
        OTF2_EvtWriter_RmaAcquireLock(o->events, NULL, t, win, remote, 0,
                                      rank < 0 ? OTF2_LOCK_SHARED : type);
    } else if (strcmp(name, "Win_unlock") == 0 || strcmp(name, "Win_unlock_all") == 0) {
        complete(o, win, rank, t);
        OTF2_EvtWriter_RmaReleaseLock(o->events, NULL, t, win, remote, 0);
    } else if (strncmp(name, "Win_flush", 9) == 0 || strcmp(name, "Win_complete") == 0) {
        complete(o, win, rank, t);
    } else if (strcmp(name, "Win_sync") == 0) {
        OTF2_EvtWriter_RmaSync(o->events, NULL, t, win, OTF2_UNDEFINED_UINT32,
                               OTF2_RMA_SYNC_TYPE_MEMORY);
    } else if (strcmp(name, "Win_free") == 0) {
        OTF2_EvtWriter_RmaWinDestroy(o->events, NULL, t, win);
    } else if (w->shapes[e->fn].kind == CALL_COLLECTIVE) {
        OTF2_EvtWriter_RmaWinCreate(o->events, NULL, t, win);
    }
}

void otf2_out_rma(struct otf2_out *o, struct walk *w, const struct trace_event *e, int at_end,
                  OTF2_TimeStamp t)
{
    const char *name = call_bare_name(&w->trace->header.schema->fns[e->fn]);
    uint32_t win;
    if (w->shapes[e->fn].win < 0 || e->failed || !find_win(o, w, e, &win))
        return;
    if (at_end)
        put_end(o, w, e, win, name, t);
    else if (strcmp(name, "Win_fence") == 0)
        OTF2_EvtWriter_RmaCollectiveBegin(o->events, NULL, t);
    else if (strncmp(name, "Win_", 4) != 0)
        put_operation(o, w, e, win, name, t);
}
