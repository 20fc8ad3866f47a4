/*
 * names.c - numbers for handles; define.c says what they mean.
 *
 * A rank numbers the objects of each kind in the order in which its calls first mention them, and
 * never reuses a number. So the numbers depend only on the rank's own calls.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/hostile.h"
#include "base/rng.h"
#include "recorder/recorder_internal.h"
#include "recorder/regions.h"
#include "trace/definitions.h"
#include "trace/payload.h"

static uint64_t key(unsigned role, uint64_t handle)
{
    return handle ^ (uint64_t)role << 56;
}

/* ---- numbers ---- */

static int is_null(unsigned role, uint64_t handle)
{
    switch (role) {
    case MPI_ROLE_COMM:
        return (MPI_Comm)handle == MPI_COMM_NULL;
    case MPI_ROLE_DATATYPE:
        return (MPI_Datatype)handle == MPI_DATATYPE_NULL;
    case MPI_ROLE_GROUP:
        return (MPI_Group)handle == MPI_GROUP_NULL;
    case MPI_ROLE_OP:
        return (MPI_Op)handle == MPI_OP_NULL;
    case MPI_ROLE_WIN:
        return (MPI_Win)handle == MPI_WIN_NULL;
    case MPI_ROLE_REQUEST:
        return (MPI_Request)handle == MPI_REQUEST_NULL;
    case MPI_ROLE_MESSAGE: /* what a probe of MPI_PROC_NULL finds may be received many times */
        return (MPI_Message)handle == MPI_MESSAGE_NULL ||
               (MPI_Message)handle == MPI_MESSAGE_NO_PROC;
    case MPI_ROLE_SESSION:
        return (MPI_Session)handle == MPI_SESSION_NULL;
    default: /* files */
        return handle == 0;
    }
}

static uint32_t add(struct recorder_rank *r, unsigned role, uint64_t *number)
{
    uint32_t next = r->next[role]++;
    assert(next != UINT32_MAX); /* no number is used again */
    *number = (uint64_t)next + 1;
    return next;
}

/* The index of a pending request; pending_count: it is not there. */
static unsigned find_pending(const struct recorder_rank *r, uint32_t handle)
{
    unsigned i = 0, count = r->pending_count;
    while (i < count && r->pending[i].handle != handle)
        i++;
    return i;
}

static int is_numbered(uint32_t handle)
{
    return (handle & ~RECORDER_NUMBERED_MASK) == RECORDER_NUMBERED;
}

/* The last number that ends in these bits. */
static int64_t whole_number(const struct recorder_rank *r, uint32_t low, uint32_t mask)
{
    int64_t last = r->next_request - 1;
    assert_hot(last >= 0); /* the handle has a number */
    return last - (int64_t)((uint32_t)(last - (int64_t)low) & mask);
}

int64_t recorder_request(const struct recorder_rank *r, uint32_t handle)
{
    if (is_numbered(handle))
        return whole_number(r, handle, RECORDER_NUMBERED_MASK);
    unsigned i = find_pending(r, handle);
    if (i < r->pending_count)
        return whole_number(r, r->pending[i].number, UINT32_MAX);
    const uint64_t *number = r->more_pending ? map_find(&r->numbers, key(MPI_ROLE_REQUEST, handle))
                                             : NULL;
    return number ? (int64_t)(*number - 1) : -1;
}

static int64_t request_number(struct recorder_rank *r, uint32_t handle)
{
    int64_t number = recorder_request(r, handle);
    if (number >= 0)
        return number;
    number = r->next_request++;
    if (r->pending_count < RECORDER_PENDING) {
        r->pending[r->pending_count++] = (struct recorder_pending){handle, (uint32_t)number};
    } else {
        *map_insert(&r->numbers, key(MPI_ROLE_REQUEST, handle), NULL) = (uint64_t)number + 1;
        r->more_pending++;
    }
    return number;
}

static struct recorder_begun *find_begun(const struct recorder_rank *r, int64_t request)
{
    for (uint32_t i = 0; i < r->begun_count; i++)
        if (r->begun[i].request == request)
            return &r->begun[i];
    return NULL;
}

static void __attribute__((noinline)) forget_begun(struct recorder_rank *r, int64_t request)
{
    struct recorder_begun *begun = find_begun(r, request);
    if (begun) {
        *begun = r->begun[--r->begun_count];
        r->more_pending--;
    }
}

void recorder_forget_request(struct recorder_rank *r, uint32_t handle)
{
    if (is_numbered(handle))
        return;
    if (r->more_pending)
        forget_begun(r, recorder_request(r, handle));
    unsigned i = find_pending(r, handle);
    if (i < r->pending_count)
        r->pending[i] = r->pending[--r->pending_count];
    else if (r->more_pending && map_remove(&r->numbers, key(MPI_ROLE_REQUEST, handle)))
        r->more_pending--;
}

static struct recorder_known *recent(struct recorder_rank *r, unsigned role)
{
    switch (role) {
    case MPI_ROLE_COMM:
        return &r->recent[RECORDER_COMM];
    case MPI_ROLE_DATATYPE:
        return &r->recent[RECORDER_TYPE];
    case MPI_ROLE_OP:
        return &r->recent[RECORDER_OP];
    case MPI_ROLE_WIN:
        return &r->recent[RECORDER_WIN];
    default:
        return NULL;
    }
}

/* The number of an object, new if it has none. */
static int64_t find_number(struct recorder_rank *r, struct mpi_rank *self, unsigned role,
                           uint64_t handle)
{
    int is_new;
    uint64_t *at = map_insert(&r->numbers, key(role, handle), &is_new);
    if (!is_new)
        return (int64_t)(*at - 1);
    uint32_t number = add(r, role, at);
    recorder_define_object(r, self, role, handle, number);
    return number;
}

void recorder_world(struct recorder_rank *r, struct mpi_rank *self, int64_t now)
{
    r->now = now;
    recorder_define_object(r, self, MPI_ROLE_COMM, (uint64_t)MPI_COMM_WORLD, 0);
}

int64_t recorder_number(struct recorder_rank *r, struct mpi_rank *self, unsigned role,
                        uint64_t handle)
{
    if (role == MPI_ROLE_COMM && (MPI_Comm)handle == MPI_COMM_WORLD)
        return 0;
    struct recorder_known *known = recent(r, role);
    if (known && known->number && known->handle == (uint32_t)handle)
        return (int64_t)known->number - 1;
    if (is_null(role, handle))
        return -1;
    if (role == MPI_ROLE_REQUEST)
        return request_number(r, (uint32_t)handle);
    if (role == MPI_ROLE_COMM && (MPI_Comm)handle == MPI_COMM_SELF)
        return 1;
    int64_t number = find_number(r, self, role, handle);
    if (known)
        *known = (struct recorder_known){(uint32_t)handle, (uint32_t)number + 1};
    return number;
}

void recorder_forget(struct recorder_rank *r, unsigned role, uint64_t handle)
{
    struct recorder_known *known = recent(r, role);
    if (known)
        known->number = 0;
    map_remove(&r->numbers, key(role, handle));
}

void recorder_name(struct recorder_rank *r, unsigned role, uint64_t handle, int64_t number)
{
    recorder_forget(r, role, handle);
    *map_insert(&r->numbers, key(role, handle), NULL) = (uint64_t)number + 1;
}

/* ---- communicators that are not complete ---- */

int64_t recorder_begin_comm(struct recorder_rank *r, struct mpi_rank *self, uint64_t parent,
                            const void *at)
{
    uint32_t number = r->next[MPI_ROLE_COMM]++;
    recorder_define_object(r, self, MPI_ROLE_COMM, parent, number);
    ARRAY_EXTEND(r->begun, r->begun_count);
    r->begun[r->begun_count++] = (struct recorder_begun){-1, number, at};
    r->more_pending++;
    return number;
}

/* The request follows the communicator in the arguments of the call. */
void recorder_begin_request(struct recorder_rank *r, int64_t request)
{
    if (r->more_pending && r->begun_count && r->begun[r->begun_count - 1].request < 0)
        r->begun[r->begun_count - 1].request = request;
}

/* If making it has failed, there is no new handle. */
void recorder_made(struct recorder_rank *r, int64_t request)
{
    const struct recorder_begun *begun = r->more_pending ? find_begun(r, request) : NULL;
    int is_new = 0;
    if (!begun)
        return;
    uint64_t handle = *(const uint32_t *)begun->at;
    if (is_null(MPI_ROLE_COMM, handle))
        return;
    uint64_t *number = map_insert(&r->numbers, key(MPI_ROLE_COMM, handle), &is_new);
    if (is_new)
        *number = (uint64_t)begun->number + 1;
}

int64_t recorder_new_number(struct recorder_rank *r, struct mpi_rank *self,
                            const struct recorder_call *call, unsigned arg)
{
    const struct mpi_arg *a = &mpi_fn_signature[call->fn].args[arg];
    uint64_t handle = call->args[arg] ? (uint64_t)recorder_word(a, call->args[arg]) : 0;
    int is_new;
    if (a->bytes == 4)
        handle &= UINT32_MAX;
    if (!call->args[arg] || is_null(a->role, handle))
        return -1;
    if (a->role != MPI_ROLE_WIN && a->role != MPI_ROLE_FILE)
        return recorder_number(r, self, a->role, handle);
    uint64_t *number = map_insert(&r->numbers, key(a->role, handle), &is_new);
    if (!is_new)
        return (int64_t)(*number - 1);
    uint32_t next = add(r, a->role, number);
    if (a->role == MPI_ROLE_WIN)
        recorder_define_win(r, self, call, next);
    else
        recorder_define_file(r, call, next);
    return next;
}

int64_t recorder_reserve(struct recorder_rank *r, struct recorder_lane *lane, unsigned role)
{
    uint32_t number = r->next[role]++;
    lane->reserved = number + 1;
    return number;
}

void recorder_bind(struct recorder_rank *r, struct recorder_lane *lane,
                   const struct recorder_call *call)
{
    const struct mpi_signature *s = &mpi_fn_signature[call->fn];
    for (unsigned i = 0; lane->reserved && i < s->count; i++) {
        const struct mpi_arg *a = &s->args[i];
        int is_made = a->pointers == 1 && a->direction == MPI_DIRECTION_OUT && call->args[i] &&
                      (a->role == MPI_ROLE_COMM || a->role == MPI_ROLE_WIN ||
                       a->role == MPI_ROLE_FILE || a->role == MPI_ROLE_MESSAGE ||
                       a->role == MPI_ROLE_SESSION || a->role == MPI_ROLE_GROUP ||
                       a->role == MPI_ROLE_DATATYPE || a->role == MPI_ROLE_OP);
        if (!is_made)
            continue;
        uint64_t handle = (uint64_t)recorder_word(a, call->args[i]);
        if (a->bytes == 4)
            handle &= UINT32_MAX;
        if (!is_null(a->role, handle)) {
            recorder_forget(r, a->role, handle);
            *map_insert(&r->numbers, key(a->role, handle), NULL) = lane->reserved;
        }
        lane->reserved = 0;
    }
}

int64_t recorder_region_number(struct recorder_rank *r, int64_t t, const char *name)
{
    uint64_t hash = 0;
    size_t length = 0;
    int is_new;
    for (; name[length]; length++)
        hash = recorder_mix(hash, (uint8_t)name[length]);
    uint64_t *number = map_insert(&r->regions, hash, &is_new);
    if (is_new) {
        struct buf out;
        buf_init(&out);
        *number = r->next_region++;
        trace_write_varint(&out, *number);
        buf_add(&out, name, length < RECORDER_TEXT_MOST ? length : RECORDER_TEXT_MOST);
        recorder_define_local(r, TRACE_DEFINE_NAME, t, &out);
    }
    return (int64_t)*number;
}

/* The number of its name, looked up once. */
int64_t recorder_function_number(struct recorder_rank *r, int64_t t, const void *address)
{
    char name[2 * RECORDER_NAME_MOST];
    uint64_t key = recorder_mix((uintptr_t)address, 1), *known = map_find(&r->regions, key);
    if (known)
        return (int64_t)*known;
    if (!recorder_address(address, name, sizeof name))
        snprintf(name, sizeof name, "%p", address);
    int64_t number = recorder_region_number(r, t, name);
    *map_insert(&r->regions, key, NULL) = (uint64_t)number;
    return number;
}
