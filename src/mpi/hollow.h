/*
 * hollow.h - buffers without content.
 *
 * A hollow buffer is an address in a range that no processor maps (they are not canonical). It
 * serves as a buffer of any size: messages sent from it have their size and take their time, but
 * carry nothing; what is received into it is dropped. An address that is computed from a hollow one
 * is hollow, too, so most code that handles buffers need not know; only what would read or write
 * them asks.
 */
#ifndef MPI_HOLLOW_H
#define MPI_HOLLOW_H

#include <stdint.h>

#define MPI_HOLLOW_BITS 56 /* below the byte that marks the range */
#define MPI_HOLLOW_MARK ((uintptr_t)0x4f)
/* The middle of the range: addresses on both sides of it are hollow. */
#define MPI_HOLLOW \
    ((void *)(MPI_HOLLOW_MARK << MPI_HOLLOW_BITS | (uintptr_t)1 << (MPI_HOLLOW_BITS - 1)))

static inline int mpi_is_hollow(const void *p)
{
    return (uintptr_t)p >> MPI_HOLLOW_BITS == MPI_HOLLOW_MARK;
}

#endif
