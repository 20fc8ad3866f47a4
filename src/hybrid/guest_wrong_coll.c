/*
 * guest_wrong_coll.c - collectives that the real MPI refuses on one rank: a buffer is missing, the
 * same for sending and receiving, or its datatype is not committed. Others may not make the call at
 * all, so the stand-in must not wait for them in it.
 *
 * What MPICH compares depends on the function; non-blocking ones are recorded after they were made,
 * and need no such care.
 */
#include <string.h>

#include "hybrid/guest.h"
#include "mpi_roles.h"

/* Positions of arguments; -1: there is none. */
struct side {
    int8_t buffer, count, counts, type, types, displacements;
};

static struct collective {
    uint8_t is_one, scatters, is_neighbor;
    int8_t comm, root;
    struct side from, to; /* what is sent, and received; from alone: both */
} collectives[MPI_FN_COUNT];

static int8_t find(const struct mpi_signature *s, const char *name, const char *other)
{
    for (unsigned i = 0; i < s->count; i++)
        if (strcmp(s->args[i].name, name) == 0 || strcmp(s->args[i].name, other) == 0)
            return (int8_t)i;
    return -1;
}

static void learn(struct collective *c, enum mpi_fn fn)
{
    const struct mpi_signature *s = &mpi_fn_signature[fn];
    *c = (struct collective){
        .comm = find(s, "comm", "comm"),
        .root = find(s, "root", "root"),
        .scatters = strstr(mpi_fn_name[fn], "_Scatter") != NULL,
        .is_neighbor = strstr(mpi_fn_name[fn], "_Neighbor") != NULL,
        .from = {find(s, "sendbuf", "buffer"), find(s, "sendcount", "count"),
                 find(s, "sendcounts", "recvcounts"), find(s, "sendtype", "datatype"),
                 find(s, "sendtypes", "sendtypes"), find(s, "sdispls", "displs")},
        .to = {find(s, "recvbuf", "recvbuf"), find(s, "recvcount", "count"),
               find(s, "recvcounts", "sendcounts"), find(s, "recvtype", "datatype"),
               find(s, "recvtypes", "recvtypes"), find(s, "rdispls", "displs")},
    };
    c->is_one = c->comm >= 0 && c->from.buffer >= 0 && (c->to.buffer >= 0 || c->root >= 0) &&
                find(s, "tag", "sendtag") < 0 && native.fns[fn].made < 0;
}

void guest_learn_wrong_coll(void)
{
    for (unsigned i = 0; i < MPI_FN_COUNT; i++)
        learn(&collectives[i], (enum mpi_fn)i);
}

/* A number, which is an int unless the function is of the large kind. */
static int64_t number(const struct guest_call *g, int8_t at)
{
    return at < 0                                             ? 0
           : mpi_fn_signature[g->call.fn].args[at].bytes == 4 ? (int64_t)(int32_t)g->call.args[at]
                                                              : (int64_t)g->call.args[at];
}

static int64_t item(const struct guest_call *g, int8_t at, int32_t i)
{
    const void *items = at < 0 ? NULL : (const void *)(uintptr_t)g->call.args[at];
    return !items                                             ? 0
           : mpi_fn_signature[g->call.fn].args[at].bytes == 4 ? ((const int32_t *)items)[i]
                                                              : ((const int64_t *)items)[i];
}

static uint64_t word(const struct guest_call *g, int8_t at)
{
    return at < 0 ? 0 : g->call.args[at];
}

static int is_in_place(uint64_t buffer)
{
    return (const void *)(uintptr_t)buffer == MPI_IN_PLACE;
}

static int is_wrong_side(const struct guest_call *g, const struct side *s)
{
    uint64_t buffer = word(g, s->buffer);
    if (s->buffer < 0 || s->type < 0 || s->count < 0 || is_in_place(buffer))
        return 0;
    int64_t count = number(g, s->count);
    MPI_Datatype type = (MPI_Datatype)g->call.args[s->type];
    return count > 0 && guest_is_wrong_buffer(buffer, type);
}

/* Where the rank's own block is, in bytes; -1: it has none. */
static int64_t own_block(const struct guest_call *g, const struct side *s, int32_t rank)
{
    int size = 0;
    int64_t count = s->count >= 0 ? number(g, s->count) : item(g, s->counts, rank);
    if (s->type < 0 || !count)
        return -1;
    native_real.MPI_Type_size((MPI_Datatype)g->call.args[s->type], &size);
    return size * (s->count >= 0 ? rank * count : item(g, s->displacements, rank));
}

/* Gather and scatter, and those to all: with the rank's own block on the side of all blocks. */
static int is_same_block(const struct guest_call *g, const struct collective *c, int32_t rank)
{
    const struct side *one = c->scatters ? &c->to : &c->from,
                      *all = c->scatters ? &c->from : &c->to;
    if (word(g, c->from.type) != word(g, c->to.type) || !number(g, one->count) ||
        (all->count >= 0 && number(g, one->count) != number(g, all->count)))
        return 0;
    int64_t at = own_block(g, all, rank);
    return at >= 0 && word(g, one->buffer) == word(g, all->buffer) + (uint64_t)at;
}

static int any_item(const struct guest_call *g, int8_t at, uint32_t size)
{
    for (uint32_t i = 0; i < size; i++)
        if (item(g, at, (int32_t)i))
            return 1;
    return 0;
}

/* The same memory for both sides. */
static int is_alias(const struct guest_call *g, const struct collective *c,
                    const struct native_comm *comm)
{
    const char *name = mpi_fn_name[g->call.fn];
    uint64_t from = word(g, c->from.buffer), to = word(g, c->to.buffer);
    int is_exchange = strstr(name, "_Alltoall") != NULL;
    if (c->to.buffer < 0 || c->is_neighbor || comm->is_inter || is_in_place(from) ||
        is_in_place(to))
        return 0;
    if (!is_exchange && c->from.type != c->to.type)
        return is_same_block(g, c, comm->rank);
    if (from != to)
        return 0;
    if (!is_exchange) /* a reduction */
        return c->from.count >= 0 ? number(g, c->from.count) > 0
                                  : any_item(g, c->to.counts, comm->size);
    if (c->from.count >= 0)
        return number(g, c->from.count) && number(g, c->from.count) == number(g, c->to.count) &&
               word(g, c->from.type) == word(g, c->to.type);
    return word(g, c->from.counts) == word(g, c->to.counts) &&
           word(g, c->from.type) == word(g, c->to.type) &&
           word(g, c->from.types) == word(g, c->to.types);
}

int guest_is_wrong_coll(const struct guest_call *g)
{
    const struct collective *c = &collectives[g->call.fn];
    if (!c->is_one)
        return 0;
    native.may_ask = native.may_fail = 1;
    const struct native_comm *comm = native_comm((uint32_t)g->call.args[c->comm]);
    native.may_ask = native.may_fail = 0;
    if (!comm)
        return 0; /* the virtual MPI refuses it, too */
    int root = c->root < 0 ? 0 : (int)g->call.args[c->root];
    int is_leaf = c->root < 0 || !comm->is_inter || root >= 0,
        is_root = c->root < 0 || (comm->is_inter ? root == MPI_ROOT : root == comm->rank);
    int sends = c->to.buffer < 0 ? is_leaf || is_root : c->scatters ? is_root : is_leaf;
    int receives = c->scatters ? is_leaf : is_root;
    return (sends && is_wrong_side(g, &c->from)) || (receives && is_wrong_side(g, &c->to)) ||
           (sends && receives && is_alias(g, c, comm));
}
