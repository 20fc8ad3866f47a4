/*
 * numbers.c - what tells the messages of collectives apart that are pending on one communicator.
 *
 * All ranks start their non-blocking collectives on a communicator in the same order (MPI-4.0,
 * 6.12), so its number in that order names a collective on all ranks alike:
 *
 *     tag = enum mpi_coll_tag + 64 * (1 + number)     counted modulo NUMBERS, see tags.h
 *
 * The next number is kept per rank and communicator, in a map that holds nothing for ranks that
 * start none. Nothing here switches.
 */
#include "mpi/coll/coll_internal.h"

#define NUMBERS ((MPI_TAG_CREATE_GROUP_FIRST - 2 * MPI_TAG_NONBLOCKING_FIRST) / \
                 MPI_TAG_NONBLOCKING_FIRST)

/* Of (rank, communicator): the next number in the low half; in the high half the persistent
 * requests, which go on counting after MPI_Comm_free, and whether the rank has called that. */
#define LEFT ((uint64_t)1 << 63)
#define ONE_USER ((uint64_t)1 << 32)
static struct map numbers;

static uint64_t number_key(uint32_t rank, MPI_Comm comm)
{
    return (uint64_t)rank << 32 | (uint32_t)comm;
}

int32_t mpi_coll_next_shift(const struct mpi_rank *self, const struct mpi_comm *c)
{
    uint64_t *at = map_insert(&numbers, number_key(mpi_rank_id(self), c->handle), NULL);
    uint32_t number = (uint32_t)*at;

    *at = (*at & ~(uint64_t)UINT32_MAX) | (number + 1) % NUMBERS;
    return (int32_t)(MPI_TAG_NONBLOCKING_FIRST * (1 + number));
}

void coll_number_use(const struct mpi_rank *self, const struct mpi_comm *c)
{
    *map_insert(&numbers, number_key(mpi_rank_id(self), c->handle), NULL) += ONE_USER;
}

void coll_number_unuse(const struct mpi_rank *self, const struct mpi_comm *c)
{
    uint64_t key = number_key(mpi_rank_id(self), c->handle), *at = map_find(&numbers, key);

    *at -= ONE_USER;
    if (*at >> 32 == LEFT >> 32)
        map_remove(&numbers, key);
}

void mpi_coll_forget(uint32_t rank, MPI_Comm comm)
{
    uint64_t key = number_key(rank, comm), *at = map_find(&numbers, key);

    if (at && *at >> 32)
        *at |= LEFT;
    else if (at)
        map_remove(&numbers, key);
}
