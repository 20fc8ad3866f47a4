/* external.h - the portable data representation "external32" (MPI-4.0 section 14.5.2).
 * 
 * Big-endian IEEE numbers with fixed sizes; items follow each other in typemap order without gaps.
 * Sizes differ from this machine's for long (4), wchar_t (2) and long double (16, as binary128).
 * Complex numbers and pairs are their two parts.
 * 
 * No function here switches. */
#ifndef ORRERY_MPI_DATATYPE_EXTERNAL_H
#define ORRERY_MPI_DATATYPE_EXTERNAL_H

#include <stdint.h>

struct mpi_type;

/* External bytes of one item. Cost: the description of the type. */
uint64_t type_external_size(const struct mpi_type *t);

/* Pack or unpack `count` items; return the external bytes. Buffers are as in mpi_type_pack. Cost:
 * the elements, and for types that are not contiguous a pass through a bounded heap buffer. */
uint64_t type_external_pack(const struct mpi_type *t, uint64_t count, const void *buf, void *out);
uint64_t type_external_unpack(const struct mpi_type *t, uint64_t count, void *buf, const void *in);

#endif
