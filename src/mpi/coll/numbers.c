/*
 * numbers.c - what tells the messages of collectives apart that are pending on one communicator.
 *
 * All ranks start their non-blocking collectives on a communicator in the same order (MPI-4.0,
 * 6.12), and make their persistent ones in the same order (6.13), but may start these in any. So
 * its number in that order names a collective on all ranks alike:
 *
 *     tag = enum mpi_coll_tag + 64 * (1 + number)     see tags.h
 *
 * Non-blocking ones count in the lower half of the numbers, persistent ones in the upper, both
 * around. The next numbers are kept per rank and communicator, in a map that holds nothing for
 * ranks that start none. Nothing here switches.
 */
#include "mpi/coll/coll_internal.h"

#define HALF \
    ((MPI_TAG_CREATE_GROUP_FIRST - 2 * MPI_TAG_NONBLOCKING_FIRST) / (2 * MPI_TAG_NONBLOCKING_FIRST))

struct next {
    uint32_t started, made; /* non-blocking, persistent */
};
static struct map numbers; /* rank << 32 | communicator -> struct next */

static uint64_t number_key(uint32_t rank, MPI_Comm comm)
{
    return (uint64_t)rank << 32 | (uint32_t)comm;
}

static struct next *next_of(const struct mpi_rank *self, const struct mpi_comm *c)
{
    _Static_assert(sizeof(struct next) == sizeof(uint64_t), "it is the map's value");
    return (struct next *)map_insert(&numbers, number_key(mpi_rank_id(self), c->handle), NULL);
}

int32_t mpi_coll_next_shift(const struct mpi_rank *self, const struct mpi_comm *c)
{
    uint32_t number = next_of(self, c)->started++ % HALF;

    return (int32_t)(MPI_TAG_NONBLOCKING_FIRST * (1 + number));
}

int32_t coll_persistent_shift(const struct mpi_rank *self, const struct mpi_comm *c)
{
    uint32_t number = HALF + next_of(self, c)->made++ % HALF;

    return (int32_t)(MPI_TAG_NONBLOCKING_FIRST * (1 + number));
}

void mpi_coll_forget(uint32_t rank, MPI_Comm comm)
{
    map_remove(&numbers, number_key(rank, comm));
}
