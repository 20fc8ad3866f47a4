/*
 * objects.c - queries the real MPI about communicators, datatypes, groups and operations
 * (recorder/objects.h).
 *
 * A handle is queried only after a call with it has succeeded: a wrong one would raise an error in
 * the recorder's own call. Ranks in MPI_COMM_WORLD identify the members of a communicator, except
 * for processes that were spawned or connected later. If there are such, all members exchange their
 * ranks in the call that creates the communicator: it is collective, and each of them sees a member
 * that is not in its own world.
 */
#include "recorder/objects.h"

#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "mpi_roles.h"
#include "native/native.h"

/* ---- members ---- */

static uint64_t hash_of(const int64_t *members, uint32_t count)
{
    uint64_t hash = count;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t state = hash * RNG_SPLITMIX_STEP ^ (uint64_t)members[i];
        hash = rng_splitmix(&state);
    }
    return hash;
}

/* World ranks of a group; 0 if some belong to a world that is not known (-1). */
static int translate(MPI_Group group, uint32_t count, int64_t *members)
{
    int *from = mem_alloc(2 * (count + 1) * sizeof *from), *to = from + count + 1, is_known = 1;
    for (uint32_t i = 0; i < count; i++)
        from[i] = (int)i;
    native_real.MPI_Group_translate_ranks(group, (int)count, from, native.world, to);
    for (uint32_t i = 0; i < count; i++) {
        members[i] = to[i] == MPI_UNDEFINED ? -1 : native.base + to[i];
        is_known &= to[i] != MPI_UNDEFINED;
    }
    mem_free(from);
    return is_known;
}

static int translate_all(MPI_Comm handle, const struct native_comm *c)
{
    MPI_Group group;
    native_real.MPI_Comm_group(handle, &group);
    int is_known = translate(group, c->size, c->members);
    native_real.MPI_Group_free(&group);
    if (c->is_inter) {
        native_real.MPI_Comm_remote_group(handle, &group);
        is_known &= translate(group, c->others, c->members + c->size);
        native_real.MPI_Group_free(&group);
    }
    return is_known;
}

/* All members exchange their ranks in the trace; each side gets those of the other. */
static void exchange(MPI_Comm handle, struct native_comm *c)
{
    int64_t self = native.base + native.self;
    native_real.MPI_Allgather(&self, 1, MPI_INT64_T, c->members + (c->is_inter ? c->size : 0), 1,
                              MPI_INT64_T, handle);
}

/* Errors of a query are none of the program's: around queries that may fail. */
static MPI_Errhandler begin_query(void)
{
    MPI_Errhandler before = MPI_ERRHANDLER_NULL;
    if (native.may_fail) {
        native_real.MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
        native_real.MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    }
    return before;
}

static void end_query(MPI_Errhandler before)
{
    if (before == MPI_ERRHANDLER_NULL)
        return;
    native_real.MPI_Comm_set_errhandler(MPI_COMM_WORLD, before);
    native_real.MPI_Errhandler_free(&before);
}

static int exists(MPI_Comm handle)
{
    MPI_Errhandler before = begin_query();
    int number, rc = native_real.MPI_Comm_size(handle, &number);
    end_query(before);
    return rc == MPI_SUCCESS;
}

static struct native_comm *make(MPI_Comm handle, int is_new)
{
    struct native_comm *c = mem_zalloc(sizeof *c);
    int number = 0;
    native_real.MPI_Comm_test_inter(handle, &number);
    c->is_inter = number != 0;
    native_real.MPI_Comm_size(handle, &number);
    c->size = (uint32_t)number;
    native_real.MPI_Comm_rank(handle, &c->rank);
    if (c->is_inter) {
        native_real.MPI_Comm_remote_size(handle, &number);
        c->others = (uint32_t)number;
    }
    c->users = 1;
    c->members = mem_alloc((c->size + c->others + 1) * sizeof *c->members);
    if (!translate_all(handle, c) && is_new)
        exchange(handle, c);
    c->hash = hash_of(c->members, c->size);
    c->other_hash = hash_of(c->members + c->size, c->others);
    return c;
}

static struct native_comm *get(uint64_t handle, int is_new)
{
    uint64_t *found = map_find(&native.comms, (uint32_t)handle);
    if (found)
        return (struct native_comm *)(uintptr_t)*found;
    if ((MPI_Comm)handle == MPI_COMM_NULL || !native.may_ask)
        return NULL;
    if (native.may_fail && !exists(native_comm_real((MPI_Comm)handle)))
        return NULL;
    struct native_comm *c = make(native_comm_real((MPI_Comm)handle), is_new);
    *map_insert(&native.comms, (uint32_t)handle, NULL) = (uint64_t)(uintptr_t)c;
    return c;
}

MPI_Comm native_comm_real(MPI_Comm comm)
{
    return comm == MPI_COMM_WORLD && native.world_comm ? native.world_comm : comm;
}

struct native_comm *native_comm(uint64_t handle)
{
    return get(handle, 0);
}

void native_comm_created(uint64_t handle)
{
    get(handle, 1);
}

void native_comm_release(struct native_comm *c)
{
    if (--c->users)
        return;
    mem_free(c->members);
    mem_free(c);
}

void native_comm_gone(uint64_t handle)
{
    const uint64_t *found = map_find(&native.comms, (uint32_t)handle);
    if (!found)
        return;
    native_comm_release((struct native_comm *)(uintptr_t)*found);
    map_remove(&native.comms, (uint32_t)handle);
}

int32_t native_source(const struct native_comm *c, int source)
{
    if (!c || source < 0 || (uint32_t)source >= (c->is_inter ? c->others : c->size))
        return source;
    return (int32_t)c->members[(c->is_inter ? c->size : 0) + (uint32_t)source];
}

/* ---- queries of the recorder ---- */

/* The highest bits of a handle mark MPI's own datatypes and operations (MPICH's ABI). */
static int may_ask(uint64_t handle)
{
    return native.may_ask || (native.may_ask_builtin && (uint32_t)handle >> 30 == 1);
}

int recorder_comm(struct mpi_rank *self, uint64_t handle, struct recorder_comm *out)
{
    (void)self;
    const struct native_comm *c = get(handle, 0);
    if (!c)
        return 0;
    *out = (struct recorder_comm){.size = c->size,
                                  .others = c->others,
                                  .rank = c->rank,
                                  .is_inter = c->is_inter,
                                  .hash = c->hash,
                                  .other_hash = c->other_hash};
    return 1;
}

int64_t recorder_comm_member(struct mpi_rank *self, uint64_t handle, int other, uint32_t rank)
{
    (void)self;
    const struct native_comm *c = get(handle, 0);
    return c->members[(other ? c->size : 0) + rank];
}

int64_t recorder_comm_degree(struct mpi_rank *self, uint64_t handle, unsigned kind)
{
    MPI_Comm comm = native_comm_real((MPI_Comm)handle);
    int topology = MPI_UNDEFINED, in = 0, out = 0, weighted, rank;
    (void)self;
    if (!native.may_ask || (native.may_fail && !exists(comm)) ||
        native_real.MPI_Topo_test(comm, &topology) != MPI_SUCCESS)
        return 0;
    if (topology == MPI_CART) {
        native_real.MPI_Cartdim_get(comm, &in);
        return kind == MPI_LENGTH_DIMS ? in : 2 * (int64_t)in;
    }
    if (kind == MPI_LENGTH_DIMS)
        return 0;
    if (topology == MPI_GRAPH) {
        native_real.MPI_Comm_rank(comm, &rank);
        native_real.MPI_Graph_neighbors_count(comm, rank, &in);
        out = in;
    } else if (topology == MPI_DIST_GRAPH) {
        native_real.MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    }
    return kind == MPI_LENGTH_INDEGREE ? in : out;
}

void recorder_type(struct mpi_rank *self, uint64_t handle, struct recorder_type *out)
{
    MPI_Datatype type = (MPI_Datatype)handle;
    MPI_Count size = 0, lower = 0, extent = 0;
    int length = 0;
    (void)self;
    *out = (struct recorder_type){0};
    if (!may_ask(handle))
        return;
    MPI_Errhandler before = begin_query();
    native_real.MPI_Type_size_x(type, &size);
    native_real.MPI_Type_get_extent_x(type, &lower, &extent);
    native_real.MPI_Type_get_name(type, out->name, &length);
    end_query(before);
    out->size = size < 0 ? 0 : (uint64_t)size;
    out->lower = lower;
    out->extent = extent;
}

int64_t *recorder_group(struct mpi_rank *self, uint64_t handle, uint32_t *count)
{
    int size = 0;
    (void)self;
    MPI_Errhandler before = begin_query();
    if (native.may_ask)
        native_real.MPI_Group_size((MPI_Group)handle, &size);
    end_query(before);
    int64_t *members = mem_alloc(((size_t)size + 1) * sizeof *members);
    *count = (uint32_t)size;
    if (size)
        translate((MPI_Group)handle, *count, members);
    return members;
}

int recorder_op_commutes(struct mpi_rank *self, uint64_t handle)
{
    int commutes = 0;
    (void)self;
    MPI_Errhandler before = begin_query();
    if (may_ask(handle))
        native_real.MPI_Op_commutative((MPI_Op)handle, &commutes);
    end_query(before);
    return commutes != 0;
}

int recorder_is_no_array(const void *items)
{
    for (size_t i = 0; i < sizeof native.no_arrays / sizeof native.no_arrays[0]; i++)
        if (native.no_arrays[i] && *native.no_arrays[i] == items)
            return 1;
    return 0;
}
