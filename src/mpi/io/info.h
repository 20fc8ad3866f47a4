/*
 * info.h - hints of files.
 */
#ifndef MPI_IO_INFO_H
#define MPI_IO_INFO_H

#include "mpi/io/io_internal.h"

/* The value of a key as a number, or -1 if it has none. */
int64_t io_info_number(MPI_Info info, const char *key);

/* Adds the hints of `info` (may be MPI_INFO_NULL) to those of the file. */
void io_info_take(struct mpi_rank *self, struct io_file *f, MPI_Info info);

#endif
