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

static int is_wrong_buffer(uint64_t buffer, uint64_t count, uint64_t type)
{
    return count ? guest_is_wrong_buffer(buffer, (MPI_Datatype)type)
                 : !is_usable((MPI_Datatype)type);
}

/* Buffers of messages; those of collectives: guest_wrong_coll.c. */
static int is_wrong_message(const struct guest_call *g)
{
    const struct mpi_effect *f = native_does(&g->call);
    const uint64_t *a = g->call.args;
    if (f->is_partitioned)
        return 0;
    int sends = f->kind == MPI_DOES_SEND || f->kind == MPI_DOES_EXCHANGE;
    return (sends && is_wrong_buffer(a[f->send_buf], a[f->send_count], a[f->send_type])) ||
           (calls_receives(f) &&
            is_wrong_buffer(a[f->recv_buf], a[f->recv_count], a[f->recv_type]));
}

/* Requests that the program has not got from a call. */
static int has_unknown_request(const struct guest_call *g)
{
    int position = calls_request(native_does(&g->call));
    uint64_t word = position < 0 ? 0 : g->call.args[position];
    const uint32_t *handles = (const uint32_t *)(uintptr_t)word;
    if (position < 0 || !word)
        return 0;
    if (!mpi_fn_signature[g->call.fn].args[position].pointers)
        return (uint32_t)word != (uint32_t)MPI_REQUEST_NULL &&
               guest.me->lane.ids[0] == (uint32_t)MPI_REQUEST_NULL;
    for (uint32_t i = 0; i < guest.me->lane.id_count; i++)
        if (handles[i] != (uint32_t)MPI_REQUEST_NULL &&
            guest.me->lane.ids[i] == (uint32_t)MPI_REQUEST_NULL)
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

/* MPI_Comm_create with ranks that are not in the communicator: the real MPI returns no error to
 * those that are not in the group. */
static int is_wrong_group(const struct guest_call *g)
{
    MPI_Group of_comm, common;
    int size = 0, shared = 0;
    if (g->call.fn != MPI_FN_COMM_CREATE && g->call.fn != MPI_FN_COMM_CREATE_GROUP)
        return 0;
    native.may_ask = native.may_fail = 1;
    const struct native_comm *comm = native_comm((uint32_t)g->call.args[0]);
    native.may_ask = native.may_fail = 0;
    if (!comm || native_real.MPI_Group_size((MPI_Group)g->call.args[1], &size) != MPI_SUCCESS)
        return 0; /* the virtual MPI refuses it, too */
    native_real.MPI_Comm_group(native_comm_real((MPI_Comm)g->call.args[0]), &of_comm);
    native_real.MPI_Group_intersection((MPI_Group)g->call.args[1], of_comm, &common);
    native_real.MPI_Group_size(common, &shared);
    native_real.MPI_Group_free(&common);
    native_real.MPI_Group_free(&of_comm);
    return shared < size;
}

int guest_is_wrong(struct guest_call *g)
{
    g->is_void = (uint8_t)is_wrong_group(g);
    if (g->is_void)
        return 1;
    if (is_wrong_message(g))
        return 1;
    return g->call.fn == MPI_FN_GRAPH_CREATE ? is_wrong_graph(g)
                                             : has_unknown_request(g) || guest_is_wrong_coll(g);
}
