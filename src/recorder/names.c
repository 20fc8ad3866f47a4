/*
 * names.c - numbers for handles, and what they mean.
 *
 * A rank numbers the objects of each kind in the order in which its calls first mention them, and
 * never reuses a number. So the numbers depend only on the rank's own calls. Communicators, which
 * several ranks share, also have an identity that is the same on all of them: a hash of the
 * members, and of the number of earlier communicators with the same members, which all of them
 * know.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "recorder/recorder_internal.h"
#include "recorder/regions.h"
#include "trace/definitions.h"
#include "trace/payload.h"

#define NAME_MOST 4096

static uint64_t key(unsigned role, uint64_t handle)
{
    return handle ^ (uint64_t)role << 56;
}

/* ---- payloads ---- */

static void add_members(struct buf *out, struct mpi_rank *self, uint64_t handle, int other,
                        uint32_t count)
{
    int64_t *ranks = mem_alloc((count + 1) * sizeof *ranks);
    for (uint32_t i = 0; i < count; i++)
        ranks[i] = recorder_comm_member(self, handle, other, i);
    trace_write_array(out, ranks, count);
    mem_free(ranks);
}

static void define(struct recorder_rank *r, enum trace_head kind, int64_t t, struct buf *payload)
{
    trace_other(&r->locals, kind, t > r->locals.last ? t : r->locals.last, payload->data,
                payload->len);
    buf_fini(payload);
}

/* ---- what they mean ---- */

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t state = a * RNG_SPLITMIX_STEP ^ b;
    return rng_splitmix(&state);
}

/* A hash of the members in order; the sides of an intercommunicator may be swapped. */
static uint64_t members_hash(const struct recorder_comm *c)
{
    if (!c->is_inter)
        return mix(c->hash, c->size);
    return c->hash < c->other_hash ? mix(mix(c->hash, c->other_hash), 1)
                                   : mix(mix(c->other_hash, c->hash), 1);
}

/* One member writes the list of members; of an intercommunicator, one of the side whose first rank
 * is lower. */
static void define_members(const struct recorder_comm *c, struct mpi_rank *self, uint64_t handle,
                           uint64_t identity)
{
    struct buf out;
    if (c->rank != 0 || (c->is_inter && recorder_comm_member(self, handle, 1, 0) <
                                            recorder_comm_member(self, handle, 0, 0)))
        return;
    buf_init(&out);
    buf_add(&out, &identity, sizeof identity);
    trace_write_varint(&out, c->is_inter ? TRACE_COMM_INTER : TRACE_COMM_INTRA);
    add_members(&out, self, handle, 0, c->size);
    add_members(&out, self, handle, 1, c->others);
    recorder_define(TRACE_COMM, out.data, out.len);
    buf_fini(&out);
}

static void define_comm(struct recorder_rank *r, struct mpi_rank *self, uint64_t handle,
                        struct buf *out)
{
    struct recorder_comm c = {0};
    uint64_t identity = 0;
    if (recorder_comm(self, handle, &c)) {
        uint64_t hash = members_hash(&c), *before = map_insert(&r->comms, hash, NULL);
        identity = mix(hash, ++*before) & ~(UINT64_C(1) << 63);
        define_members(&c, self, handle, identity);
    }
    buf_add(out, &identity, sizeof identity);
    trace_write_varint(out, c.is_inter ? TRACE_COMM_INTER : TRACE_COMM_INTRA);
    trace_write_number(out, c.rank);
    trace_write_varint(out, c.size);
    trace_write_varint(out, c.others);
}

static void define_type(struct mpi_rank *self, uint64_t handle, struct buf *out)
{
    struct recorder_type type;
    recorder_type(self, handle, &type);
    trace_write_varint(out, type.size);
    trace_write_number(out, type.lower);
    trace_write_number(out, type.extent);
    buf_adds(out, type.name);
}

static void define_group(struct mpi_rank *self, uint64_t handle, struct buf *out)
{
    uint32_t count;
    int64_t *ranks = recorder_group(self, handle, &count);
    trace_write_array(out, ranks, count);
    mem_free(ranks);
}

static void define_op(struct mpi_rank *self, uint64_t handle, struct buf *out)
{
    static const struct {
        MPI_Op op;
        const char *name;
    } names[] = {
        {MPI_MAX, "MPI_MAX"},         {MPI_MIN, "MPI_MIN"},       {MPI_SUM, "MPI_SUM"},
        {MPI_PROD, "MPI_PROD"},       {MPI_LAND, "MPI_LAND"},     {MPI_BAND, "MPI_BAND"},
        {MPI_LOR, "MPI_LOR"},         {MPI_BOR, "MPI_BOR"},       {MPI_LXOR, "MPI_LXOR"},
        {MPI_BXOR, "MPI_BXOR"},       {MPI_MINLOC, "MPI_MINLOC"}, {MPI_MAXLOC, "MPI_MAXLOC"},
        {MPI_REPLACE, "MPI_REPLACE"}, {MPI_NO_OP, "MPI_NO_OP"},
    };
    trace_write_varint(out, (uint64_t)recorder_op_commutes(self, handle));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].op == (MPI_Op)handle)
            buf_adds(out, names[i].name);
}

/* The kind of definition by role; 0: numbers alone. */
static enum trace_head kind_of(unsigned role)
{
    switch (role) {
    case MPI_ROLE_COMM:
        return TRACE_DEFINE_COMM;
    case MPI_ROLE_DATATYPE:
        return TRACE_DEFINE_TYPE;
    case MPI_ROLE_GROUP:
        return TRACE_DEFINE_GROUP;
    case MPI_ROLE_OP:
        return TRACE_DEFINE_OP;
    default:
        return 0;
    }
}

static void define_object(struct recorder_rank *r, struct mpi_rank *self, unsigned role,
                          uint64_t handle, uint32_t number)
{
    enum trace_head kind = kind_of(role);
    struct buf out;
    if (!kind)
        return;
    buf_init(&out);
    trace_write_varint(&out, number);
    switch (role) {
    case MPI_ROLE_COMM:
        define_comm(r, self, handle, &out);
        break;
    case MPI_ROLE_DATATYPE:
        define_type(self, handle, &out);
        break;
    case MPI_ROLE_GROUP:
        define_group(self, handle, &out);
        break;
    default:
        define_op(self, handle, &out);
    }
    define(r, kind, recorder_now(self), &out);
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
    case MPI_ROLE_MESSAGE:
        return (MPI_Message)handle == MPI_MESSAGE_NULL;
    case MPI_ROLE_SESSION:
        return (MPI_Session)handle == MPI_SESSION_NULL;
    default: /* files */
        return handle == 0;
    }
}

static uint32_t add(struct recorder_rank *r, unsigned role, uint64_t *number)
{
    uint32_t next = r->next[role]++;
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

void recorder_forget_request(struct recorder_rank *r, uint32_t handle)
{
    if (is_numbered(handle))
        return;
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
    define_object(r, self, role, handle, number);
    return number;
}

void recorder_world(struct recorder_rank *r, struct mpi_rank *self)
{
    define_object(r, self, MPI_ROLE_COMM, (uint64_t)MPI_COMM_WORLD, 0);
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

/* The first argument of a call with this role and name (NULL: any), or -1. */
static int find_arg(const struct mpi_signature *s, unsigned role, const char *name)
{
    for (unsigned i = 0; i < s->count; i++)
        if (s->args[i].role == role && (!name || strcmp(s->args[i].name, name) == 0))
            return (int)i;
    return -1;
}

static void define_win(struct recorder_rank *r, struct mpi_rank *self,
                       const struct recorder_call *call, uint32_t number)
{
    const struct mpi_signature *s = &mpi_fn_signature[call->fn];
    int comm = find_arg(s, MPI_ROLE_COMM, NULL), size = find_arg(s, MPI_ROLE_SIZE, "size"),
        unit = find_arg(s, MPI_ROLE_SIZE, "disp_unit");
    struct buf out;
    buf_init(&out);
    trace_write_varint(&out, number);
    trace_write_varint(&out, comm < 0 ? 0
                                      : (uint64_t)recorder_number(r, self, MPI_ROLE_COMM,
                                                                  (uint32_t)call->args[comm]));
    trace_write_number(&out, size < 0 ? 0 : recorder_word(&s->args[size], call->args[size]));
    trace_write_number(&out, unit < 0 ? 1 : recorder_word(&s->args[unit], call->args[unit]));
    define(r, TRACE_DEFINE_WIN, recorder_now(self), &out);
}

static void define_file(struct recorder_rank *r, struct mpi_rank *self,
                        const struct recorder_call *call, uint32_t number)
{
    int name = find_arg(&mpi_fn_signature[call->fn], MPI_ROLE_TEXT, NULL);
    struct buf out;
    buf_init(&out);
    trace_write_varint(&out, number);
    if (name >= 0 && call->args[name])
        buf_add(&out, (const char *)(uintptr_t)call->args[name],
                strnlen((const char *)(uintptr_t)call->args[name], NAME_MOST));
    define(r, TRACE_DEFINE_FILE, recorder_now(self), &out);
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
        define_win(r, self, call, next);
    else
        define_file(r, self, call, next);
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
        hash = mix(hash, (uint8_t)name[length]);
    uint64_t *number = map_insert(&r->regions, hash, &is_new);
    if (is_new) {
        struct buf out;
        buf_init(&out);
        *number = r->next_region++;
        trace_write_varint(&out, *number);
        buf_add(&out, name, length < NAME_MOST ? length : NAME_MOST);
        define(r, TRACE_DEFINE_NAME, t, &out);
    }
    return (int64_t)*number;
}

/* The number of its name, looked up once. */
int64_t recorder_function_number(struct recorder_rank *r, int64_t t, const void *address)
{
    char name[2 * RECORDER_NAME_MOST];
    uint64_t key = mix((uintptr_t)address, 1), *known = map_find(&r->regions, key);
    if (known)
        return (int64_t)*known;
    if (!recorder_address(address, name, sizeof name))
        snprintf(name, sizeof name, "%p", address);
    int64_t number = recorder_region_number(r, t, name);
    *map_insert(&r->regions, key, NULL) = (uint64_t)number;
    return number;
}
