/*
 * numbers.c - numbers that distinguish the messages of collectives pending on one communicator.
 *
 * All ranks start their non-blocking collectives on a communicator in the same order (MPI-4.0,
 * 6.12), and create their persistent ones in the same order (6.13), but may start these in any
 * order. So its number in that order identifies a collective on all ranks:
 *
 *     tag = enum mpi_coll_tag + 64 * (1 + number)     see tags.h
 *
 * Non-blocking ones use the lower half of the numbers, persistent ones the upper half, both
 * cyclically. A rank that starts any keeps the next numbers of each communicator. Nothing here
 * switches.
 */
#include "mpi/coll/coll_internal.h"
#include "mpi/state.h"

#define HALF \
    ((MPI_TAG_CREATE_GROUP_FIRST - 2 * MPI_TAG_NONBLOCKING_FIRST) / (2 * MPI_TAG_NONBLOCKING_FIRST))

struct next {
    uint32_t started, made; /* non-blocking, persistent */
};

static struct next *next_of(struct mpi_rank *self, const struct mpi_comm *c)
{
    _Static_assert(sizeof(struct next) == sizeof(uint64_t), "it is the value of a pair");
    return (struct next *)mpi_state_insert(self, MPI_STATE_numbers, (uint32_t)c->handle);
}

int32_t mpi_coll_next_shift(struct mpi_rank *self, const struct mpi_comm *c)
{
    uint32_t number = next_of(self, c)->started++ % HALF;

    return (int32_t)(MPI_TAG_NONBLOCKING_FIRST * (1 + number));
}

int32_t coll_persistent_shift(struct mpi_rank *self, const struct mpi_comm *c)
{
    uint32_t number = HALF + next_of(self, c)->made++ % HALF;

    return (int32_t)(MPI_TAG_NONBLOCKING_FIRST * (1 + number));
}

void mpi_coll_forget(struct mpi_rank *self, MPI_Comm comm)
{
    mpi_state_remove(self, MPI_STATE_numbers, (uint32_t)comm);
}
