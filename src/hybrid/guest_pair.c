/*
 * guest_pair.c - the sends of MPI_Isendrecv, if its receive is handled as one of MPI_Irecv: the
 * real MPI does not say which message its own MPI_Isendrecv got. The send is complete before the
 * program sees that the request is.
 */
#include "hybrid/guest.h"

#include "base/array.h"
#include "base/mem.h"
#include "mpi_roles.h"

struct pair {
    int64_t number; /* of the request's record; -1: it has none yet */
    MPI_Request sent;
    void *copy; /* of what is sent, or NULL */
};

static struct {
    struct pair *items;
    uint32_t count, room;
} pairs;

/* Of MPI_Isendrecv_replace, whose buffer is about to be overwritten. */
static void *pack(const uint64_t *a, MPI_Comm comm, MPI_Count *used)
{
    MPI_Count room = 0;
    native_real.MPI_Pack_size_c((MPI_Count)a[1], (MPI_Datatype)a[2], comm, &room);
    void *copy = mem_alloc((size_t)room + 1);
    *used = 0;
    native_real.MPI_Pack_c((const void *)(uintptr_t)a[0], (MPI_Count)a[1], (MPI_Datatype)a[2], copy,
                           room, used, comm);
    return copy;
}

int guest_pair_send(const struct guest_call *g, int is_replaced)
{
    const uint64_t *a = g->call.args;
    MPI_Comm comm = native_comm_real((MPI_Comm)a[native.fns[g->call.fn].comm]);
    struct pair p = {.number = -1};
    MPI_Count count = (MPI_Count)a[1];
    if (is_replaced)
        p.copy = pack(a, comm, &count);
    int rc = native_real.MPI_Isend_c(is_replaced ? p.copy : (const void *)(uintptr_t)a[0], count,
                                     is_replaced ? MPI_PACKED : (MPI_Datatype)a[2], (int)a[3],
                                     (int)a[4], comm, &p.sent);
    if (rc != MPI_SUCCESS) {
        mem_free(p.copy);
        return rc;
    }
    ARRAY_RESERVE(pairs.items, pairs.room, pairs.count + 1, 4);
    pairs.items[pairs.count++] = p;
    return MPI_SUCCESS;
}

static void finish(int64_t number)
{
    for (uint32_t i = 0; i < pairs.count; i++)
        if (pairs.items[i].number == number) {
            native_real.MPI_Wait(&pairs.items[i].sent, MPI_STATUS_IGNORE);
            mem_free(pairs.items[i].copy);
            pairs.items[i] = pairs.items[--pairs.count];
            return;
        }
}

void guest_pair_leave(const struct guest_call *g)
{
    const struct native_fn *f = &native.fns[g->call.fn];
    if (!pairs.count || !f->ends)
        return;
    const MPI_Request *now = (const MPI_Request *)(uintptr_t)g->call.args[f->request];
    for (uint32_t i = 0; i < guest.lane.id_count; i++)
        if (now[i] == MPI_REQUEST_NULL && guest_number_at((int)i) >= 0)
            finish(guest_number_at((int)i));
}

void guest_pair_numbered(void)
{
    if (pairs.count && pairs.items[pairs.count - 1].number < 0)
        pairs.items[pairs.count - 1].number = native.rank.next_request - 1;
}
