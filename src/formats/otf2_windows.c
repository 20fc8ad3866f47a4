/*
 * otf2_windows.c - converts the events of one-sided communication in an OTF2 location.
 */
#include "formats/otf2_location.h"

static void on_window(struct otf2_location_state *s, uint32_t win, uint32_t peer, uint64_t bytes)
{
    int is_new;
    if (!otf2_counts(s, 0))
        return;
    uint64_t *number = map_insert(&s->wins, win, &is_new);
    if (is_new) {
        const uint32_t *comm = otf2_table_find(&s->in->wins, win, sizeof *comm);
        *number = (uint64_t)format_local_win(&s->in->build, comm ? otf2_local_comm(s, *comm) : 0, 0,
                                             1) +
                  1;
    }
    otf2_add_event(s, OTF2_DID_ONE_SIDED, (int64_t)*number - 1,
                   (struct otf2_result){.peer = peer, .bytes = bytes});
}

static OTF2_CallbackCode on_win(OTF2_STANDARD, OTF2_RmaWinRef win)
{
    (void)l, (void)at, (void)attributes;
    on_window(otf2_at_time(data, t), win, 0, 0);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_transfer(OTF2_STANDARD, OTF2_RmaWinRef win, uint32_t peer,
                                     uint64_t bytes, uint64_t match)
{
    (void)l, (void)at, (void)attributes, (void)match;
    on_window(otf2_at_time(data, t), win, peer, bytes);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_atomic(OTF2_STANDARD, OTF2_RmaWinRef win, uint32_t peer,
                                   OTF2_RmaAtomicType type, uint64_t sent, uint64_t received,
                                   uint64_t match)
{
    (void)l, (void)at, (void)attributes, (void)match, (void)type, (void)received;
    on_window(otf2_at_time(data, t), win, peer, sent);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_fence(OTF2_STANDARD, OTF2_CollectiveOp op, OTF2_RmaSyncLevel level,
                                  OTF2_RmaWinRef win, uint32_t root, uint64_t sent,
                                  uint64_t received)
{
    (void)l, (void)at, (void)attributes, (void)op, (void)level, (void)root, (void)sent,
        (void)received;
    on_window(otf2_at_time(data, t), win, 0, 0);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_group_sync(OTF2_STANDARD, OTF2_RmaSyncLevel level, OTF2_RmaWinRef win,
                                       OTF2_GroupRef group)
{
    (void)l, (void)at, (void)attributes, (void)level, (void)group;
    on_window(otf2_at_time(data, t), win, 0, 0);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_lock(OTF2_STANDARD, OTF2_RmaWinRef win, uint32_t peer, uint64_t lock,
                                 OTF2_LockType type)
{
    (void)l, (void)at, (void)attributes, (void)lock, (void)type;
    on_window(otf2_at_time(data, t), win, peer, 0);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_unlock(OTF2_STANDARD, OTF2_RmaWinRef win, uint32_t peer, uint64_t lock)
{
    (void)l, (void)at, (void)attributes, (void)lock;
    on_window(otf2_at_time(data, t), win, peer, 0);
    return OTF2_CALLBACK_SUCCESS;
}

void otf2_window_callbacks(OTF2_EvtReaderCallbacks *c)
{
    OTF2_EvtReaderCallbacks_SetRmaWinCreateCallback(c, on_win);
    OTF2_EvtReaderCallbacks_SetRmaWinDestroyCallback(c, on_win);
    OTF2_EvtReaderCallbacks_SetRmaPutCallback(c, on_transfer);
    OTF2_EvtReaderCallbacks_SetRmaGetCallback(c, on_transfer);
    OTF2_EvtReaderCallbacks_SetRmaAtomicCallback(c, on_atomic);
    OTF2_EvtReaderCallbacks_SetRmaCollectiveEndCallback(c, on_fence);
    OTF2_EvtReaderCallbacks_SetRmaGroupSyncCallback(c, on_group_sync);
    OTF2_EvtReaderCallbacks_SetRmaAcquireLockCallback(c, on_lock);
    OTF2_EvtReaderCallbacks_SetRmaReleaseLockCallback(c, on_unlock);
}
