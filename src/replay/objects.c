/*
 * objects.c - the objects of a rank: from the local numbers of a trace to handles of the MPI.
 *
 * Communicators, windows and messages are made by the calls of the trace. Datatypes, operations and
 * groups are made here, when they are first used, from what the trace says of them: only sizes and
 * members count.
 */
#include <string.h>

#include "base/array.h"
#include "replay/replay.h"

#define NAMED(name) \
    {               \
#name, name \
    }
#define NAMED_BIT (UINT64_C(1) << 32) /* beside a handle: it is a predefined one */

static const struct {
    const char *name;
    MPI_Datatype handle;
} types[] = {
    NAMED(MPI_CHAR),
    NAMED(MPI_SIGNED_CHAR),
    NAMED(MPI_UNSIGNED_CHAR),
    NAMED(MPI_BYTE),
    NAMED(MPI_WCHAR),
    NAMED(MPI_SHORT),
    NAMED(MPI_UNSIGNED_SHORT),
    NAMED(MPI_INT),
    NAMED(MPI_UNSIGNED),
    NAMED(MPI_LONG),
    NAMED(MPI_UNSIGNED_LONG),
    NAMED(MPI_FLOAT),
    NAMED(MPI_DOUBLE),
    NAMED(MPI_LONG_DOUBLE),
    NAMED(MPI_LONG_LONG),
    NAMED(MPI_LONG_LONG_INT),
    NAMED(MPI_UNSIGNED_LONG_LONG),
    NAMED(MPI_PACKED),
    NAMED(MPI_FLOAT_INT),
    NAMED(MPI_DOUBLE_INT),
    NAMED(MPI_LONG_INT),
    NAMED(MPI_SHORT_INT),
    NAMED(MPI_2INT),
    NAMED(MPI_LONG_DOUBLE_INT),
    NAMED(MPI_COMPLEX),
    NAMED(MPI_DOUBLE_COMPLEX),
    NAMED(MPI_LOGICAL),
    NAMED(MPI_REAL),
    NAMED(MPI_DOUBLE_PRECISION),
    NAMED(MPI_INTEGER),
    NAMED(MPI_2INTEGER),
    NAMED(MPI_2REAL),
    NAMED(MPI_2DOUBLE_PRECISION),
    NAMED(MPI_CHARACTER),
    NAMED(MPI_REAL4),
    NAMED(MPI_REAL8),
    NAMED(MPI_COMPLEX8),
    NAMED(MPI_COMPLEX16),
    NAMED(MPI_INTEGER1),
    NAMED(MPI_INTEGER2),
    NAMED(MPI_INTEGER4),
    NAMED(MPI_INTEGER8),
    NAMED(MPI_INT8_T),
    NAMED(MPI_INT16_T),
    NAMED(MPI_INT32_T),
    NAMED(MPI_INT64_T),
    NAMED(MPI_UINT8_T),
    NAMED(MPI_UINT16_T),
    NAMED(MPI_UINT32_T),
    NAMED(MPI_UINT64_T),
    NAMED(MPI_C_BOOL),
    NAMED(MPI_C_FLOAT_COMPLEX),
    NAMED(MPI_C_COMPLEX),
    NAMED(MPI_C_DOUBLE_COMPLEX),
    NAMED(MPI_C_LONG_DOUBLE_COMPLEX),
    NAMED(MPI_AINT),
    NAMED(MPI_OFFSET),
    NAMED(MPI_COUNT),
    NAMED(MPI_CXX_BOOL),
    NAMED(MPI_CXX_FLOAT_COMPLEX),
    NAMED(MPI_CXX_DOUBLE_COMPLEX),
    NAMED(MPI_CXX_LONG_DOUBLE_COMPLEX),
};

static const struct {
    const char *name;
    MPI_Op handle;
} operations[] = {
    NAMED(MPI_MAX),    NAMED(MPI_MIN),    NAMED(MPI_SUM),     NAMED(MPI_PROD),  NAMED(MPI_LAND),
    NAMED(MPI_BAND),   NAMED(MPI_LOR),    NAMED(MPI_BOR),     NAMED(MPI_LXOR),  NAMED(MPI_BXOR),
    NAMED(MPI_MINLOC), NAMED(MPI_MAXLOC), NAMED(MPI_REPLACE), NAMED(MPI_NO_OP),
};

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

static struct replay_handles *table_of(struct replay_rank *k, unsigned role)
{
    switch (role) {
    case MPI_ROLE_COMM:
        return &k->comms;
    case MPI_ROLE_DATATYPE:
        return &k->types;
    case MPI_ROLE_OP:
        return &k->ops;
    case MPI_ROLE_WIN:
        return &k->wins;
    case MPI_ROLE_MESSAGE:
        return &k->messages;
    default:
        return NULL;
    }
}

static void set(struct replay_handles *table, int64_t number, uint64_t handle)
{
    ARRAY_RESERVE_ZERO(table->items, table->room, (size_t)number + 1, 4);
    table->items[number] = handle;
}

void replay_handle_set(struct replay_rank *k, unsigned role, int64_t number, uint64_t handle)
{
    struct replay_handles *table = table_of(k, role);
    if (number >= 0 && table)
        set(table, number, handle);
}

void replay_message_comm(struct replay_rank *k, int64_t message, int64_t comm)
{
    if (message >= 0)
        set(&k->message_comms, message, (uint64_t)comm + 1);
}

int64_t replay_comm_of(struct replay_rank *k, const struct replay_fn *fn)
{
    const struct trace_value *comm = replay_arg(k, fn->comm), *message = replay_arg(k, fn->message);
    if (comm)
        return comm->number;
    return message && message->number >= 0 && (size_t)message->number < k->message_comms.room
               ? (int64_t)k->message_comms.items[message->number] - 1
               : TRACE_LOCAL_WORLD;
}

void replay_handles_free(struct replay_rank *k)
{
    mem_free(k->comms.items);
    mem_free(k->types.items);
    mem_free(k->ops.items);
    mem_free(k->wins.items);
    mem_free(k->messages.items);
    mem_free(k->message_comms.items);
}

/* ---- made from definitions ---- */

/* So many bytes, and the bounds: of a type that moves the same bytes. */
static uint64_t make_type(struct replay_rank *k, const struct trace_local_item *item)
{
    MPI_Datatype bytes, type;
    for (size_t i = 0; i < COUNT_OF(types); i++)
        if (strcmp(types[i].name, item->text) == 0)
            return (uint32_t)types[i].handle | NAMED_BIT;
    replay_check(k, PMPI_Type_contiguous_c((MPI_Count)item->size, MPI_BYTE, &bytes));
    replay_check(k, PMPI_Type_create_resized_c(bytes, item->lower, item->extent, &type));
    replay_check(k, PMPI_Type_commit(&type));
    replay_check(k, PMPI_Type_free(&bytes));
    return (uint32_t)type;
}

/* The content of messages does not count. */
static void no_operation(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)count, (void)type;
}

static uint64_t make_op(struct replay_rank *k, const struct trace_local_item *item)
{
    MPI_Op op;
    for (size_t i = 0; i < COUNT_OF(operations); i++)
        if (strcmp(operations[i].name, item->text) == 0)
            return (uint32_t)operations[i].handle | NAMED_BIT;
    replay_check(k, PMPI_Op_create(no_operation, item->commutes, &op));
    return (uint32_t)op;
}

static MPI_Group make_group(struct replay_rank *k, const struct trace_local_item *item)
{
    MPI_Group world, group;
    if (item->size == 0)
        return MPI_GROUP_EMPTY;
    int *members = replay_scratch(k, item->size * sizeof *members);
    for (uint64_t i = 0; i < item->size; i++)
        members[i] = (int)item->members[i];
    replay_check(k, PMPI_Comm_group(MPI_COMM_WORLD, &world));
    replay_check(k, PMPI_Group_incl(world, (int)item->size, members, &group));
    replay_check(k, PMPI_Group_free(&world));
    return group; /* of this event alone: a few words, not freed */
}

void replay_unnamed_add(struct replay_rank *k, int64_t request, int64_t number)
{
    ARRAY_EXTEND(k->unnamed, k->unnamed_count);
    k->unnamed[k->unnamed_count++] = (struct replay_unnamed){request, number, MPI_COMM_NULL};
}

static void remove_unnamed(struct replay_rank *k, uint32_t i)
{
    k->unnamed_count--;
    memmove(&k->unnamed[i], &k->unnamed[i + 1], (k->unnamed_count - i) * sizeof *k->unnamed);
}

void replay_unnamed_set(struct replay_rank *k, int64_t request, MPI_Comm comm)
{
    uint32_t i = 0;
    while (i < k->unnamed_count && k->unnamed[i].request != request)
        i++;
    if (i == k->unnamed_count)
        return;
    k->unnamed[i].comm = comm;
    if (k->unnamed[i].number < 0)
        return;
    replay_handle_set(k, MPI_ROLE_COMM, k->unnamed[i].number, (uint32_t)comm);
    remove_unnamed(k, i);
}

/* Of those that have as many members, the first. */
static MPI_Comm take_unnamed(struct replay_rank *k, const struct trace_local_item *item)
{
    for (uint32_t i = 0; i < k->unnamed_count; i++) {
        MPI_Comm comm = k->unnamed[i].comm;
        int size;
        if (comm == MPI_COMM_NULL)
            continue;
        replay_check(k, PMPI_Comm_size(comm, &size));
        if ((uint64_t)size != item->size)
            continue;
        remove_unnamed(k, i);
        return comm;
    }
    return MPI_COMM_NULL;
}

/* ---- communicators that no call of the trace makes ---- */

static MPI_Comm create_comm(struct replay_rank *k, const struct trace_comm *c, int tag)
{
    MPI_Group world, group;
    MPI_Comm comm = MPI_COMM_NULL;
    int is_member = 0, *members = mem_alloc(c->size * sizeof *members);
    for (uint64_t i = 0; i < c->size; i++) {
        members[i] = (int)(c->ranks ? c->ranks[i] : (int64_t)i);
        is_member |= members[i] == (int)k->rank;
    }
    if (is_member) {
        replay_check(k, PMPI_Comm_group(MPI_COMM_WORLD, &world));
        replay_check(k, PMPI_Group_incl(world, (int)c->size, members, &group));
        replay_check(k, PMPI_Comm_create_group(MPI_COMM_WORLD, group, tag, &comm));
        replay_check(k, PMPI_Group_free(&group));
        replay_check(k, PMPI_Group_free(&world));
    }
    mem_free(members);
    return comm;
}

void replay_create_comms(struct replay_rank *k)
{
    const struct trace_definitions *d = &k->replay->trace.definitions;
    for (size_t i = 0; i < d->comm_count; i++) {
        const struct trace_comm *c = &d->comms[i];
        if (c->kind != TRACE_COMM_INTRA || c->size == 0)
            continue;
        MPI_Comm comm = create_comm(k, c, (int)i);
        if (comm != MPI_COMM_NULL)
            *map_insert(&k->created, c->identity, NULL) = (uint32_t)comm;
    }
}

static uint64_t make(struct replay_rank *k, unsigned role, int64_t number)
{
    const uint64_t *created;
    MPI_Comm comm;
    enum trace_head kind = trace_local_kind(mpi_role_name[role]);
    const struct trace_local_item *item = kind ? trace_local_find(&k->locals, kind, number) : NULL;
    if (role == MPI_ROLE_COMM && number == TRACE_LOCAL_WORLD)
        return (uint32_t)MPI_COMM_WORLD;
    if (role == MPI_ROLE_COMM && number == TRACE_LOCAL_SELF)
        return (uint32_t)MPI_COMM_SELF;
    if (item && role == MPI_ROLE_COMM && (created = map_find(&k->created, item->identity)))
        return *created;
    if (item && role == MPI_ROLE_COMM && (comm = take_unnamed(k, item)) != MPI_COMM_NULL)
        return (uint32_t)comm;
    if (item && role == MPI_ROLE_DATATYPE)
        return make_type(k, item);
    if (item && role == MPI_ROLE_OP)
        return make_op(k, item);
    replay_fail(k, "it uses %s number %lld, which no call before has made", mpi_role_name[role],
                (long long)number);
}

static uint64_t null_of(unsigned role)
{
    switch (role) {
    case MPI_ROLE_COMM:
        return (uint64_t)MPI_COMM_NULL;
    case MPI_ROLE_DATATYPE:
        return (uint64_t)MPI_DATATYPE_NULL;
    case MPI_ROLE_OP:
        return (uint64_t)MPI_OP_NULL;
    case MPI_ROLE_WIN:
        return (uint64_t)MPI_WIN_NULL;
    case MPI_ROLE_GROUP:
        return (uint64_t)MPI_GROUP_NULL;
    default: /* it was received, so it was not null (recorder/names.c) */
        return (uint64_t)MPI_MESSAGE_NO_PROC;
    }
}

uint64_t replay_handle(struct replay_rank *k, unsigned role, int64_t number)
{
    const struct replay_handles *table = table_of(k, role);
    if (number < 0)
        return null_of(role);
    if (role == MPI_ROLE_GROUP) {
        const struct trace_local_item *item = trace_local_find(&k->locals, TRACE_DEFINE_GROUP,
                                                               number);
        if (!item)
            replay_fail(k, "the members of its group are not in the trace");
        return (uint64_t)make_group(k, item);
    }
    if (table && (size_t)number < table->room && table->items[number])
        return (uint32_t)table->items[number];
    uint64_t handle = make(k, role, number);
    replay_handle_set(k, role, number, handle);
    return (uint32_t)handle;
}

/* ---- facts ---- */

static const struct trace_comm *members_of(const struct replay_rank *k, int64_t comm)
{
    const struct trace_local_item *item = trace_local_find(&k->locals, TRACE_DEFINE_COMM, comm);
    return item ? trace_definitions_comm(&k->replay->trace.definitions, item->identity) : NULL;
}

/* The group that peers are ranks of: of an intercommunicator the one that the rank is not in. */
const int64_t *replay_peers(const struct replay_rank *k, int64_t comm, uint64_t *size)
{
    const struct trace_local_item *item = trace_local_find(&k->locals, TRACE_DEFINE_COMM, comm);
    const struct trace_comm *c = members_of(k, comm);
    *size = 0;
    if (!c)
        return NULL;
    int is_mine = item->rank >= 0 && (uint64_t)item->rank < c->size &&
                  (c->ranks ? c->ranks[item->rank] : item->rank) == (int64_t)k->rank;
    int is_other = c->kind == TRACE_COMM_INTER && is_mine;
    *size = is_other ? c->other_size : c->size;
    return is_other ? c->others : c->ranks;
}

int64_t replay_first_member(const struct replay_rank *k, int64_t comm)
{
    const struct trace_comm *c = members_of(k, comm);
    return c && c->size                ? (c->ranks ? c->ranks[0] : 0)
           : comm == TRACE_LOCAL_WORLD ? 0
                                       : (int64_t)k->rank;
}

int64_t replay_world_rank(const struct replay_rank *k, int64_t comm, int64_t rank)
{
    uint64_t size;
    if ((comm == TRACE_LOCAL_WORLD && !k->is_spawned) || rank < 0)
        return rank;
    if (comm == TRACE_LOCAL_SELF)
        return (int64_t)k->rank;
    const int64_t *peers = replay_peers(k, comm, &size);
    return peers && (uint64_t)rank < size ? peers[rank] : rank;
}

int64_t replay_comm_rank(const struct replay_rank *k, int64_t comm, int64_t world)
{
    uint64_t size;
    if ((comm == TRACE_LOCAL_WORLD && !k->is_spawned) || world < 0)
        return world;
    if (comm == TRACE_LOCAL_SELF)
        return 0;
    const int64_t *peers = replay_peers(k, comm, &size);
    for (uint64_t i = 0; peers && i < size; i++)
        if (peers[i] == world)
            return (int64_t)i;
    return world;
}

int64_t replay_byte_type(struct replay_rank *k)
{
    int64_t number = whatif_byte_type(&k->locals);
    if ((size_t)number < k->locals.tables[TRACE_DEFINE_TYPE].count)
        return number;
    k->new_byte_type = 1;
    replay_handle_set(k, MPI_ROLE_DATATYPE, number, (uint32_t)MPI_BYTE | NAMED_BIT);
    return number;
}

static int is_named(const struct replay_handles *table, int64_t number)
{
    return number >= 0 && (size_t)number < table->room && (table->items[number] & NAMED_BIT) != 0;
}

int replay_type_is_named(const struct replay_rank *k, int64_t type)
{
    return is_named(&k->types, type);
}

int replay_op_is_named(const struct replay_rank *k, int64_t op)
{
    return is_named(&k->ops, op);
}

MPI_Op replay_op_for_bytes(struct replay_rank *k, int of_windows)
{
    if (of_windows)
        return MPI_REPLACE;
    if (!k->any_op)
        replay_check(k, PMPI_Op_create(no_operation, 1, &k->any_op));
    return k->any_op;
}

uint64_t replay_type_size(const struct replay_rank *k, int64_t type)
{
    const struct trace_local_item *item = trace_local_find(&k->locals, TRACE_DEFINE_TYPE, type);
    return item ? item->size : 0;
}
