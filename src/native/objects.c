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

static int comm_of(struct mpi_rank *self, uint64_t handle, struct recorder_comm *out)
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

static int64_t member(struct mpi_rank *self, uint64_t handle, int other, uint32_t rank)
{
    (void)self;
    const struct native_comm *c = get(handle, 0);
    return c->members[(other ? c->size : 0) + rank];
}

/* The kind of topology, or MPI_UNDEFINED. */
static int topology_of(MPI_Comm comm)
{
    int topology = MPI_UNDEFINED;
    if (!native.may_ask || (native.may_fail && !exists(comm)) ||
        native_real.MPI_Topo_test(comm, &topology) != MPI_SUCCESS)
        return MPI_UNDEFINED;
    return topology;
}

static void degrees(MPI_Comm comm, int topology, int *in, int *out)
{
    int weighted, rank;
    *in = *out = 0;
    if (topology == MPI_CART) {
        native_real.MPI_Cartdim_get(comm, in);
        *in = *out = 2 * *in;
    } else if (topology == MPI_GRAPH) {
        native_real.MPI_Comm_rank(comm, &rank);
        native_real.MPI_Graph_neighbors_count(comm, rank, in);
        *out = *in;
    } else if (topology == MPI_DIST_GRAPH) {
        native_real.MPI_Dist_graph_neighbors_count(comm, in, out, &weighted);
    }
}

static int64_t amount_of_topology(enum mpi_length which, MPI_Comm comm)
{
    int topology = topology_of(comm), in, out;
    degrees(comm, topology, &in, &out);
    if (which == MPI_LENGTH_DIMS)
        return topology == MPI_CART ? in / 2 : 0;
    return which == MPI_LENGTH_INDEGREE ? in : out;
}

/* Those in a Cartesian topology: one step down and one step up in each dimension. */
static void ask_neighbours(MPI_Comm comm, int topology, int in, int *sources, int out,
                           int *destinations)
{
    int rank;
    if (topology == MPI_DIST_GRAPH) {
        int *weights = mem_alloc(((size_t)in + (size_t)out + 1) * sizeof *weights);
        native_real.MPI_Dist_graph_neighbors(comm, in, sources, weights, out, destinations,
                                             weights + in);
        mem_free(weights);
        return;
    }
    if (topology == MPI_GRAPH) {
        native_real.MPI_Comm_rank(comm, &rank);
        native_real.MPI_Graph_neighbors(comm, rank, in, sources);
    }
    for (int i = 0; topology == MPI_CART && i < in; i += 2)
        native_real.MPI_Cart_shift(comm, i / 2, 1, &sources[i], &sources[i + 1]);
    memcpy(destinations, sources, (size_t)out * sizeof *destinations);
}

static int neighbours(struct mpi_rank *self, uint64_t handle, struct recorder_neighbours *to)
{
    MPI_Comm comm = native_comm_real((MPI_Comm)handle);
    int topology = topology_of(comm), in, out;
    (void)self;
    if (topology == MPI_UNDEFINED)
        return 0;
    degrees(comm, topology, &in, &out);
    int *sources = mem_zalloc(((size_t)in + (size_t)out + 1) * sizeof *sources),
        *destinations = sources + in;
    ask_neighbours(comm, topology, in, sources, out, destinations);
    *to = (struct recorder_neighbours){recorder_ranks(sources, in),
                                       recorder_ranks(destinations, out), (uint32_t)in,
                                       (uint32_t)out};
    mem_free(sources);
    return 1;
}

static int64_t amount_of_graph(enum mpi_length which, MPI_Comm comm, int member)
{
    int nodes = 0, edges = 0;
    if (which == MPI_LENGTH_NEIGHBORS) {
        native_real.MPI_Graph_neighbors_count(comm, member, &nodes);
        return nodes;
    }
    native_real.MPI_Graphdims_get(comm, &nodes, &edges);
    return which == MPI_LENGTH_NODES ? nodes : edges;
}

static int64_t amount_of_dist(enum mpi_length which, MPI_Comm comm)
{
    int in = 0, out = 0, weighted = 0;
    native_real.MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    if (!weighted &&
        (which == MPI_LENGTH_SOURCE_WEIGHTS || which == MPI_LENGTH_DESTINATION_WEIGHTS))
        return 0;
    return which <= MPI_LENGTH_SOURCE_WEIGHTS ? in : out;
}

/* The form for large counts is the one for all datatypes. */
static int64_t amount_of_type(enum mpi_length which, MPI_Datatype type)
{
    MPI_Count integers = 0, addresses = 0, large = 0, types = 0;
    int combiner;
    MPI_Errhandler before = begin_query();
    native_real.MPI_Type_get_envelope_c(type, &integers, &addresses, &large, &types, &combiner);
    end_query(before);
    return which == MPI_LENGTH_INTEGERS       ? integers
           : which == MPI_LENGTH_ADDRESSES    ? addresses
           : which == MPI_LENGTH_LARGE_COUNTS ? large
                                              : types;
}

static int64_t amount(struct mpi_rank *self, enum mpi_length which, uint64_t handle, int member)
{
    (void)self;
    if (which > MPI_LENGTH_DESTINATION_WEIGHTS)
        return may_ask(handle) ? amount_of_type(which, (MPI_Datatype)handle) : 0;
    MPI_Comm comm = native_comm_real((MPI_Comm)handle);
    if (which <= MPI_LENGTH_DIMS)
        return amount_of_topology(which, comm);
    if (!native.may_ask || (native.may_fail && !exists(comm)))
        return 0;
    return which <= MPI_LENGTH_NEIGHBORS ? amount_of_graph(which, comm, member)
                                         : amount_of_dist(which, comm);
}

static void type_of(struct mpi_rank *self, uint64_t handle, struct recorder_type *out)
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

static int64_t *group_of(struct mpi_rank *self, uint64_t handle, uint32_t *count)
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

static int op_commutes(struct mpi_rank *self, uint64_t handle)
{
    int commutes = 0;
    (void)self;
    MPI_Errhandler before = begin_query();
    if (may_ask(handle))
        native_real.MPI_Op_commutative((MPI_Op)handle, &commutes);
    end_query(before);
    return commutes != 0;
}

static int is_no_array(const void *items)
{
    for (size_t i = 0; i < sizeof native.no_arrays / sizeof native.no_arrays[0]; i++)
        if (native.no_arrays[i] && *native.no_arrays[i] == items)
            return 1;
    return 0;
}

struct recorder_mpi native_objects(void (*define)(unsigned kind, const void *payload, size_t bytes))
{
    return (struct recorder_mpi){.comm = comm_of,
                                 .member = member,
                                 .neighbours = neighbours,
                                 .amount = amount,
                                 .type = type_of,
                                 .group = group_of,
                                 .op_commutes = op_commutes,
                                 .is_no_array = is_no_array,
                                 .define = define};
}
