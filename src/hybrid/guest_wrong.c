/*
 * guest_wrong.c - calls that the real MPI refuses because of their arguments.
 *
 * Nothing comes of them, and the stand-in must not make them: it could not see that a buffer is
 * missing, or that a datatype is not committed, and might wait forever. So such a call is recorded
 * after it was made, as one that has failed. Wrong ranks, tags and communicators need no such care:
 * the virtual MPI refuses them, too. The wrappers have looked at null pointers and negative numbers
 * (api/roles.py).
 */
#include "hybrid/guest.h"

#include "mpi_roles.h"

/* A buffer, a count and a datatype begin at each of these positions; -1: there is none. */
struct buffers {
    int8_t at[2];
};

static struct buffers functions[MPI_FN_COUNT];

static int has_role(const struct mpi_signature *s, unsigned role)
{
    for (unsigned i = 0; i < s->count; i++)
        if (s->args[i].role == role)
            return 1;
    return 0;
}

static struct buffers find_buffers(const struct mpi_signature *s)
{
    struct buffers found = {{-1, -1}};
    int count = 0;
    if (!has_role(s, MPI_ROLE_TAG) && !has_role(s, MPI_ROLE_MESSAGE))
        return found; /* of collectives: guest_wrong_coll.c */
    for (unsigned i = 0; i + 2 < s->count && count < 2; i++)
        if (s->args[i].role == MPI_ROLE_BUFFER && s->args[i + 1].role == MPI_ROLE_COUNT &&
            s->args[i + 2].role == MPI_ROLE_DATATYPE)
            found.at[count++] = (int8_t)i;
    return found;
}

void guest_learn_wrong(void)
{
    for (unsigned i = 0; i < MPI_FN_COUNT; i++)
        functions[i] = find_buffers(&mpi_fn_signature[i]);
    guest_learn_wrong_coll();
}

/* Datatypes of MPI itself have this in the highest bits of their handles (MPICH's ABI). */
static int is_builtin(MPI_Datatype type)
{
    return (uint32_t)type >> 30 == 1;
}

/* Whether messages may have the type, without an error that the program sees. */
static int is_usable(MPI_Datatype type)
{
    int position = 0;
    char none = 0;
    return is_builtin(type) ||
           native_real.MPI_Pack(&none, 0, type, &none, 1, &position, guest.quiet) == MPI_SUCCESS;
}

int guest_is_wrong_buffer(uint64_t buffer, MPI_Datatype type)
{
    return (!buffer && is_builtin(type)) || !is_usable(type);
}

static int is_wrong_buffer(const uint64_t *args, int at)
{
    MPI_Datatype type = (MPI_Datatype)args[at + 2];
    return args[at + 1] ? guest_is_wrong_buffer(args[at], type) : !is_usable(type);
}

/* Requests that the program has not got from a call. */
static int has_unknown_request(const struct guest_call *g)
{
    int position = native.fns[g->call.fn].request;
    uint64_t word = position < 0 ? 0 : g->call.args[position];
    const uint32_t *handles = (const uint32_t *)(uintptr_t)word;
    if (position < 0 || !word)
        return 0;
    if (!mpi_fn_signature[g->call.fn].args[position].pointers)
        return (uint32_t)word != (uint32_t)MPI_REQUEST_NULL &&
               guest.lane.ids[0] == (uint32_t)MPI_REQUEST_NULL;
    for (uint32_t i = 0; i < guest.lane.id_count; i++)
        if (handles[i] != (uint32_t)MPI_REQUEST_NULL &&
            guest.lane.ids[i] == (uint32_t)MPI_REQUEST_NULL)
            return 1;
    return 0;
}

/* MPI_Graph_create with more nodes than ranks: the arrays may be shorter than they should be. */
static int is_wrong_graph(const struct guest_call *g)
{
    native.may_ask = native.may_fail = 1;
    const struct native_comm *comm = native_comm((uint32_t)g->call.args[0]);
    native.may_ask = native.may_fail = 0;
    return !comm || (int64_t)(int)g->call.args[1] > (int64_t)comm->size;
}

int guest_is_wrong(const struct guest_call *g)
{
    const struct buffers *b = &functions[g->call.fn];
    for (int i = 0; i < 2 && b->at[i] >= 0; i++)
        if (is_wrong_buffer(g->call.args, b->at[i]))
            return 1;
    return g->call.fn == MPI_FN_GRAPH_CREATE ? is_wrong_graph(g)
                                             : has_unknown_request(g) || guest_is_wrong_coll(g);
}
