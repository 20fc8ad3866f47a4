/*
 * file.h - creates and releases file objects, for opening and closing. Nothing here switches.
 */
#ifndef MPI_IO_FILE_H
#define MPI_IO_FILE_H

#include "mpi/io/io_internal.h"

/* A new open file of this process, without references. */
struct io_shared *io_shared_add(uint32_t ctx);
/* A rank releases it; the last one closes the descriptor. */
void io_shared_unref(struct io_shared *);

/* A file of the rank, with the default view; takes over a reference to s, and fd if it is not that
 * of s. Releasing closes only the descriptor. */
struct io_file *io_file_new(struct mpi_rank *self, struct io_shared *s, int fd);
void io_file_release(struct mpi_rank *self, struct io_file *);

#endif
