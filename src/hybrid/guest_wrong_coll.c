/*
 * guest_wrong_coll.c - collectives that the real MPI refuses on one rank: a buffer is missing, the
 * same for sending and receiving, or its datatype is not committed. Others may not make the call at
 * all, so the stand-in must not wait for them in it.
 *
 * What MPICH compares depends on the function; non-blocking ones are recorded after they were made,
 * and need no such care.
 */
#include "hybrid/guest.h"
#include "mpi_roles.h"

/* Positions of arguments on the side of what is sent, or received; -1: there is none. */
struct side {
    int8_t buffer, count, counts, type, types, displacements;
};

static struct side sent_side(const struct mpi_effect *f)
{
    return (struct side){f->send_buf,  f->send_count, f->send_counts,
                         f->send_type, f->send_types, f->send_displs};
}

static struct side received_side(const struct mpi_effect *f)
{
    return (struct side){f->recv_buf,  f->recv_count, f->recv_counts,
                         f->recv_type, f->recv_types, f->recv_displs};
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
static int is_same_block(const struct guest_call *g, const struct side *from, const struct side *to,
                         int32_t rank)
{
    int scatters = native_does(&g->call)->class == MPI_CLASS_ONE_TO_ALL;
    const struct side *one = scatters ? to : from, *all = scatters ? from : to;
    if (word(g, from->type) != word(g, to->type) || !number(g, one->count) ||
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

/* Whether the call is given the same memory for both sides. */
static int is_alias(const struct guest_call *g, const struct side *from, const struct side *to,
                    const struct native_comm *comm)
{
    const struct mpi_effect *f = native_does(&g->call);
    uint64_t at = word(g, from->buffer);
    if (f->send_buf == f->recv_buf || f->class == MPI_CLASS_NEIGHBOURS || comm->is_inter ||
        is_in_place(at) || is_in_place(word(g, to->buffer)))
        return 0;
    if (!f->reduces && (f->gives != f->gets)) /* one block on one side */
        return is_same_block(g, from, to, comm->rank);
    if (at != word(g, to->buffer))
        return 0;
    if (f->reduces)
        return from->count >= 0 ? number(g, from->count) > 0 : any_item(g, to->counts, comm->size);
    if (from->count >= 0)
        return number(g, from->count) && number(g, from->count) == number(g, to->count) &&
               word(g, from->type) == word(g, to->type);
    return word(g, from->counts) == word(g, to->counts) &&
           word(g, from->type) == word(g, to->type) && word(g, from->types) == word(g, to->types);
}

/* Blocking collectives that move data. */
static int is_one(const struct mpi_effect *f)
{
    return f->kind == MPI_DOES_COLLECTIVE && f->form == MPI_FORM_BLOCKING &&
           f->gives != MPI_VOLUME_NOTHING;
}

int guest_is_wrong_coll(const struct guest_call *g)
{
    const struct mpi_effect *f = native_does(&g->call);
    if (!is_one(f))
        return 0;
    native.may_ask = native.may_fail = 1;
    const struct native_comm *comm = native_comm((uint32_t)g->call.args[f->comm]);
    native.may_ask = native.may_fail = 0;
    if (!comm)
        return 0; /* the virtual MPI refuses it, too */
    int root = f->root < 0 ? 0 : (int)g->call.args[f->root];
    int is_leaf = f->root < 0 || !comm->is_inter || root >= 0,
        is_root = f->root < 0 || (comm->is_inter ? root == MPI_ROOT : root == comm->rank);
    int sends = f->gives_root ? is_root : is_leaf, receives = f->gets_root ? is_root : is_leaf;
    struct side from = sent_side(f), to = received_side(f);
    return (sends && is_wrong_side(g, &from)) || (receives && is_wrong_side(g, &to)) ||
           (sends && receives && is_alias(g, &from, &to, comm));
}
