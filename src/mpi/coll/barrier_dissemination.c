/*
 * Barrier by dissemination (Hensgen, Finkel and Manber 1988).
 *
 * In round k every rank signals the rank 2^k after it and waits for the one 2^k before it. Cost:
 * ceil(log2 P) messages of 0 bytes per rank, ceil(log2 P) * alpha in time.
 *
 * Millions of ranks wait here at once, so a rank's state is the round alone (the distance); its
 * rank in the communicator is looked up again each round. A message of no bytes is always eager:
 * the send returns at once, and only the receive keeps a request on the stack.
 */
#include "mpi/coll/coll_internal.h"

/* Read again in each round: a value kept in a register would take 16 more bytes of stack in every
 * waiting rank. */
static struct mpi_type *const volatile no_data = &mpi_type_builtins[MPI_BYTE & 0xff];

/* Sends round `distance`'s signal; returns the rank to wait for. */
static __attribute__((noinline)) int signal_peer(struct mpi_rank *self, struct mpi_comm *c,
                                                 uint32_t distance)
{
    uint32_t size = c->group->size, me = (uint32_t)mpi_comm_my_rank(c, self);

    mpi_rank_prefetch(mpi_comm_world_rank(c, (me + 2 * distance) % size)); /* next round's */
    mpi_coll_send(self, c, NULL, 0, coll_byte(), (int)((me + distance) % size), MPI_TAG_BARRIER);
    return (int)((me + size - distance) % size);
}

int coll_barrier_dissemination(struct mpi_rank *self, struct mpi_comm *c,
                               const struct mpi_coll_args *a)
{
    (void)a;
    for (uint32_t distance = 1; distance < c->group->size; distance <<= 1) {
        int from = signal_peer(self, c, distance);
        int rc = mpi_coll_recv(self, c, NULL, 0, no_data, from, MPI_TAG_BARRIER);
        if (rc)
            return rc;
    }
    return MPI_SUCCESS;
}
