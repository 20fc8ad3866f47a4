/*
 * requests.c - finds the request of a handle, and its outcome.
 *
 * The recorder gets numbers of requests instead of the program's handles: MPICH uses one handle for
 * all sends that complete immediately, so several requests may have the same handle. The variable
 * in which the program stores the handle then tells them apart; if it was copied, the oldest
 * request counts.
 */
#include "base/array.h"
#include "mpi_roles.h"
#include "native/native.h"

/* ---- the table ---- */

static struct native_request *at(uint32_t id)
{
    return &native.requests[id - 1];
}

static uint32_t get_free(void)
{
    uint32_t id = native.free_request;
    if (id) {
        native.free_request = at(id)->next;
        return id;
    }
    ARRAY_RESERVE(native.requests, native.request_room, native.request_count + 1, 64);
    return ++native.request_count;
}

/* Appends it to those with its handle: `last` of the first one is the last one. */
static uint32_t add(uint32_t handle, uint64_t where, struct native_comm *comm, int is_receive)
{
    uint32_t id = get_free();
    *at(id) = (struct native_request){.handle = handle,
                                      .where = where,
                                      .comm = comm,
                                      .is_receive = (uint8_t)is_receive};
    if (comm)
        comm->users++;
    if (where)
        *map_insert(&native.by_place, where, NULL) = id;
    uint64_t *first = map_insert(&native.by_handle, handle, NULL);
    if (*first) {
        at(id)->last = at((uint32_t)*first)->last;
        at(at(id)->last)->next = id;
        at((uint32_t)*first)->last = id;
    } else {
        *first = at(id)->last = id;
    }
    return id;
}

/* The request that the program means by the handle in that variable, if it is not in use for
 * another one. */
static uint32_t find(uint32_t handle, uint64_t where)
{
    const uint64_t *place = map_find(&native.by_place, where);
    if (place && at((uint32_t)*place)->handle == handle && !at((uint32_t)*place)->is_taken)
        return (uint32_t)*place;
    const uint64_t *first = map_find(&native.by_handle, handle);
    uint32_t id = first ? (uint32_t)*first : 0;
    while (id && at(id)->is_taken)
        id = at(id)->next;
    return id;
}

static const struct native_request *request_at(const uint32_t *where)
{
    uint32_t id = *where == (uint32_t)MPI_REQUEST_NULL ? 0
                                                       : find(*where, (uint64_t)(uintptr_t)where);
    return id ? at(id) : NULL;
}

int native_request_receives(const uint32_t *where)
{
    const struct native_request *r = request_at(where);
    return r && r->is_receive;
}

int native_request_sends(const uint32_t *where)
{
    const struct native_request *r = request_at(where);
    return r && r->is_send;
}

static void drop(uint32_t id)
{
    struct native_request *r = at(id);
    uint64_t *first = map_find(&native.by_handle, r->handle), *place;
    if (*first != id) {
        at(r->last)->next = r->next;
        at(r->next ? r->next : (uint32_t)*first)->last = r->last;
    } else if (r->next) {
        at(r->next)->last = r->last;
        *first = r->next;
    } else {
        map_remove(&native.by_handle, r->handle);
    }
    place = map_find(&native.by_place, r->where);
    if (place && *place == id)
        map_remove(&native.by_place, r->where);
    if (r->comm)
        native_comm_release(r->comm);
    *r = (struct native_request){.next = native.free_request};
    native.free_request = id;
}

/* ---- before the call ---- */

static uint32_t count_given(const struct native_call *c, const struct mpi_arg *arg)
{
    int64_t count = 1;
    if (arg->length != MPI_LENGTH_NONE)
        count = (int)c->args[arg->length_of];
    return count < 0 ? 0 : (uint32_t)count;
}

void native_requests_enter(struct native_lane *lane, struct native_call *c, uint64_t *words)
{
    int position = calls_request(native_does(c));
    const struct mpi_arg *arg = &mpi_fn_signature[c->fn].args[position];
    uint64_t word = c->args[position];
    uint32_t count = count_given(c, arg);
    ARRAY_RESERVE(lane->ids, lane->id_room, count, 8);
    lane->id_count = arg->pointers && !word ? 0 : count;
    for (uint32_t i = 0; i < lane->id_count; i++) {
        const uint32_t *from = (const uint32_t *)(uintptr_t)word + i;
        uint32_t handle = arg->pointers ? *from : (uint32_t)word;
        uint32_t id = handle == (uint32_t)MPI_REQUEST_NULL
                          ? 0
                          : find(handle, arg->pointers ? (uint64_t)(uintptr_t)from : 0);
        if (id)
            at(id)->is_taken = 1;
        lane->ids[i] = id ? id : (uint32_t)MPI_REQUEST_NULL;
    }
    for (uint32_t i = 0; i < lane->id_count; i++)
        if (lane->ids[i] != (uint32_t)MPI_REQUEST_NULL)
            at(lane->ids[i])->is_taken = 0;
    if (!arg->pointers)
        words[position] = lane->id_count ? lane->ids[0] : (uint32_t)MPI_REQUEST_NULL;
    else if (word)
        words[position] = (uint64_t)(uintptr_t)lane->ids;
}

/* ---- after the call ---- */

/* If the call has failed, statuses say which requests are not complete. */
static void keep(struct native_lane *lane, uint32_t id, const MPI_Status *status, int is_failed)
{
    if (id == (uint32_t)MPI_REQUEST_NULL)
        return;
    const struct native_request *r = at(id);
    int64_t number = recorder_request(&native.rank, id);
    if (is_failed && status->MPI_ERROR == MPI_ERR_PENDING)
        return;
    if (status->count_hi_and_cancelled & 1)
        recorder_done(lane->recorder, number, (struct trace_status){-1, 0, 0, 1, 1});
    else if (r->is_receive && status->MPI_SOURCE >= 0)
        recorder_done(lane->recorder, number,
                      (struct trace_status){native_source(r->comm, status->MPI_SOURCE),
                                            status->MPI_TAG, recorder_status_bytes(status), 1, 0});
}

/* A test that found nothing has filled in nothing. */
static int is_done(const struct native_call *c)
{
    int flag = native_does(c)->flag;
    return flag < 0 || !c->args[flag] || *(const int *)(uintptr_t)c->args[flag];
}

static void keep_all(struct native_lane *lane, const struct native_call *c, int is_failed)
{
    const struct mpi_signature *s = &mpi_fn_signature[c->fn];
    int position = native_does(c)->index;
    const int *indices = position < 0 ? NULL : (const int *)(uintptr_t)c->args[position];
    int64_t count = lane->id_count;
    if (indices)
        count = s->args[position].length == MPI_LENGTH_NONE
                    ? 1
                    : *(const int *)(uintptr_t)c->args[s->args[position].length_of];
    for (int64_t i = 0; i < count; i++) {
        int64_t which = indices ? indices[i] : i;
        if (which >= 0 && which < lane->id_count)
            keep(lane, lane->ids[which], &c->statuses[i], is_failed);
    }
}

static struct native_comm *comm_of(const struct native_call *c)
{
    const struct mpi_effect *f = native_does(c);
    if (f->comm >= 0)
        return native_comm((uint32_t)c->args[f->comm]);
    const uint64_t *comm = calls_message(f) >= 0 ? map_find(&native.messages, (uint32_t)c->gone)
                                                 : NULL;
    return comm ? (struct native_comm *)(uintptr_t)*comm : NULL;
}

static void keep_received(struct native_lane *lane, const struct native_call *c)
{
    const struct native_comm *comm = comm_of(c);
    if (comm && c->statuses->MPI_SOURCE >= 0)
        recorder_done(lane->recorder, -1,
                      (struct trace_status){native_source(comm, c->statuses->MPI_SOURCE),
                                            c->statuses->MPI_TAG,
                                            recorder_status_bytes(c->statuses), 1, 0});
}

static void keep_made(struct native_lane *lane, const struct native_call *c, uint64_t *words)
{
    const struct mpi_effect *f = native_does(c);
    int made = calls_new_request(f);
    uint64_t where = c->args[made];
    uint32_t handle = where ? *(const uint32_t *)(uintptr_t)where : (uint32_t)MPI_REQUEST_NULL;
    if (handle == (uint32_t)MPI_REQUEST_NULL)
        return;
    if (!lane->id_room) {
        lane->id_room = 16;
        lane->ids = mem_alloc(lane->id_room * sizeof *lane->ids);
    }
    /* MPICH 4.0 does not fill in the status of MPI_Isendrecv. */
    int is_receive = f->kind == MPI_DOES_RECEIVE &&
                     (f->source < 0 || (int)c->args[f->source] != MPI_PROC_NULL);
    lane->ids[0] = add(handle, where, is_receive ? comm_of(c) : NULL, is_receive);
    at(lane->ids[0])->is_send = f->kind == MPI_DOES_SEND;
    words[made] = (uint64_t)(uintptr_t)lane->ids;
}

static void keep_probed(const struct native_call *c)
{
    const struct mpi_effect *f = native_does(c);
    struct native_comm *comm = f->comm < 0 ? NULL : native_comm((uint32_t)c->args[f->comm]);
    uint32_t handle = c->args[f->message] && is_done(c)
                          ? *(const uint32_t *)(uintptr_t)c->args[f->message]
                          : (uint32_t)MPI_MESSAGE_NO_PROC;
    if (comm && handle != (uint32_t)MPI_MESSAGE_NO_PROC) {
        *map_insert(&native.messages, handle, NULL) = (uint64_t)(uintptr_t)comm;
        comm->users++;
    }
}

void native_requests_leave(struct native_lane *lane, struct native_call *c, uint64_t *words, int rc)
{
    const struct mpi_effect *f = native_does(c);
    if (!recorder_has_done(rc))
        return;
    int makes_request = calls_makes_request(f);
    if (f->kind == MPI_DOES_COMPLETE && c->statuses && is_done(c))
        keep_all(lane, c, rc == MPI_ERR_IN_STATUS);
    else if (calls_receives(f) && !makes_request && c->statuses)
        keep_received(lane, c);
    if (makes_request)
        keep_made(lane, c, words);
    if (calls_new_message(f) >= 0)
        keep_probed(c);
}

/* Requests that the call has set to null have ended. */
void native_requests_forget(struct native_lane *lane, struct native_call *c)
{
    const struct mpi_effect *f = native_does(c);
    if (calls_message(f) >= 0) {
        uint64_t *comm = map_find(&native.messages, (uint32_t)c->gone);
        if (comm)
            native_comm_release((struct native_comm *)(uintptr_t)*comm);
        map_remove(&native.messages, (uint32_t)c->gone);
    }
    int given = calls_request(f);
    if (given < 0 || mpi_fn_signature[c->fn].args[given].direction != MPI_DIRECTION_BOTH)
        return;
    const uint32_t *now = (const uint32_t *)(uintptr_t)c->args[given];
    for (uint32_t i = 0; i < lane->id_count; i++) {
        uint32_t id = lane->ids[i];
        if (id == (uint32_t)MPI_REQUEST_NULL || now[i] != (uint32_t)MPI_REQUEST_NULL)
            continue;
        if (f->kind != MPI_DOES_RELEASE)
            recorder_made(&native.rank, recorder_request(&native.rank, id));
        recorder_forget_request(&native.rank, id);
        drop(id);
    }
}
