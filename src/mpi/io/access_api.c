/*
 * access_api.c - the calls that read and write: a row for each kind of position and of waiting
 * defines one call that reads and one that writes.
 *
 * Each describes the access; access.c does it. Forms with int counts use those for large counts.
 */
#include "mpi/io/io_internal.h"
#include "mpi_impl.h"

/* The operation only reads a buffer that is written to the file. */
static void *writable(const void *buf)
{
    return (void *)(uintptr_t)buf;
}

/* The position: `at` are the first parameters, `offset` is 0 unless it is one of them. */
#define BY_OFFSET MPI_File fh, MPI_Offset offset
#define BY_POINTER MPI_File fh
#define ITEMS MPI_Count count, MPI_Datatype datatype

/* ---- blocking ---- */

#define BLOCKING(name, at, offset, how)                                                          \
    int mpi_file_read##name##_c(struct mpi_rank *self, at, void *buf, ITEMS, MPI_Status *status) \
    {                                                                                            \
        return io_blocking(self, fh, IO_READ | (how), offset, buf, count, datatype, status);     \
    }                                                                                            \
    int mpi_file_write##name##_c(struct mpi_rank *self, at, const void *buf, ITEMS,              \
                                 MPI_Status *status)                                             \
    {                                                                                            \
        return io_blocking(self, fh, IO_WRITE | (how), offset, writable(buf), count, datatype,   \
                           status);                                                              \
    }

BLOCKING(_at, BY_OFFSET, offset, IO_AT)
BLOCKING(_at_all, BY_OFFSET, offset, IO_AT | IO_ALL)
BLOCKING(, BY_POINTER, 0, 0)
BLOCKING(_all, BY_POINTER, 0, IO_ALL)
BLOCKING(_shared, BY_POINTER, 0, IO_SHARED)
BLOCKING(_ordered, BY_POINTER, 0, IO_ORDERED)

/* ---- non-blocking ---- */

#define NONBLOCKING(name, at, offset, how)                                                        \
    int mpi_file_iread##name##_c(struct mpi_rank *self, at, void *buf, ITEMS,                     \
                                 MPI_Request *request)                                            \
    {                                                                                             \
        return io_nonblocking(self, fh, IO_READ | (how), offset, buf, count, datatype, request);  \
    }                                                                                             \
    int mpi_file_iwrite##name##_c(struct mpi_rank *self, at, const void *buf, ITEMS,              \
                                  MPI_Request *request)                                           \
    {                                                                                             \
        return io_nonblocking(self, fh, IO_WRITE | (how), offset, writable(buf), count, datatype, \
                              request);                                                           \
    }

NONBLOCKING(_at, BY_OFFSET, offset, IO_AT)
NONBLOCKING(_at_all, BY_OFFSET, offset, IO_AT | IO_ALL)
NONBLOCKING(, BY_POINTER, 0, 0)
NONBLOCKING(_all, BY_POINTER, 0, IO_ALL)
NONBLOCKING(_shared, BY_POINTER, 0, IO_SHARED)

/* ---- split collective ---- */

#define SPLIT(name, at, offset, how)                                                               \
    int mpi_file_read##name##_begin_c(struct mpi_rank *self, at, void *buf, ITEMS)                 \
    {                                                                                              \
        return io_split_begin(self, fh, IO_READ | (how), offset, buf, count, datatype);            \
    }                                                                                              \
    int mpi_file_read##name##_end(struct mpi_rank *self, MPI_File fh, void *buf,                   \
                                  MPI_Status *status)                                              \
    {                                                                                              \
        (void)buf;                                                                                 \
        return io_split_end(self, fh, IO_READ | (how), status);                                    \
    }                                                                                              \
    int mpi_file_write##name##_begin_c(struct mpi_rank *self, at, const void *buf, ITEMS)          \
    {                                                                                              \
        return io_split_begin(self, fh, IO_WRITE | (how), offset, writable(buf), count, datatype); \
    }                                                                                              \
    int mpi_file_write##name##_end(struct mpi_rank *self, MPI_File fh, const void *buf,            \
                                   MPI_Status *status)                                             \
    {                                                                                              \
        (void)buf;                                                                                 \
        return io_split_end(self, fh, IO_WRITE | (how), status);                                   \
    }

SPLIT(_at_all, BY_OFFSET, offset, IO_AT | IO_ALL)
SPLIT(_all, BY_POINTER, 0, IO_ALL)
SPLIT(_ordered, BY_POINTER, 0, IO_ORDERED)
