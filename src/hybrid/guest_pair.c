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

int guest_pair_send(const struct guest_call *g)
{
    struct guest_message m = guest_sent(g);
    struct pair p = {.number = -1, .copy = m.copy};
    int rc = guest_start_send(&m, MPI_MODE_STANDARD, &p.sent);
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
            struct pair p = pairs.items[i];
            pairs.items[i] = pairs.items[--pairs.count];
            GUEST_BLOCKING(native_real.MPI_Wait(&p.sent, MPI_STATUS_IGNORE));
            mem_free(p.copy);
            return;
        }
}

void guest_pair_leave(const struct guest_call *g)
{
    const struct mpi_effect *f = native_does(&g->call);
    if (!pairs.count || f->kind != MPI_DOES_COMPLETE)
        return;
    const MPI_Request *now = (const MPI_Request *)(uintptr_t)g->call.args[f->request];
    for (uint32_t i = 0; i < guest.me->lane.id_count; i++)
        if (now[i] == MPI_REQUEST_NULL && guest_number_at((int)i) >= 0)
            finish(guest_number_at((int)i));
}

void guest_pair_numbered(void)
{
    if (pairs.count && pairs.items[pairs.count - 1].number < 0)
        pairs.items[pairs.count - 1].number = native.rank.next_request - 1;
}
