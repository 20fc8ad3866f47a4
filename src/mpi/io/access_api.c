/*
 * access_api.c - the calls that read and write, by kind of position, blocking and collective form.
 *
 * Each says what it is; access.c does it. Forms with int counts use the ones for large counts.
 */
#include "mpi/io/io_internal.h"
#include "mpi_impl.h"

/* The operation only reads a buffer that is written to the file. */
static void *writable(const void *buf)
{
    return (void *)(uintptr_t)buf;
}

/* ---- blocking ---- */

int mpi_file_read_at_c(struct mpi_rank *self, MPI_File fh, MPI_Offset offset, void *buf,
                       MPI_Count count, MPI_Datatype datatype, MPI_Status *status)
{
    return io_blocking(self, fh, IO_READ | IO_AT, offset, buf, count, datatype, status);
}

int mpi_file_write_at_c(struct mpi_rank *self, MPI_File fh, MPI_Offset offset, const void *buf,
                        MPI_Count count, MPI_Datatype datatype, MPI_Status *status)
{
    return io_blocking(self, fh, IO_WRITE | IO_AT, offset, writable(buf), count, datatype, status);
}

int mpi_file_read_at_all_c(struct mpi_rank *self, MPI_File fh, MPI_Offset offset, void *buf,
                           MPI_Count count, MPI_Datatype datatype, MPI_Status *status)
{
    return io_blocking(self, fh, IO_READ | IO_AT | IO_ALL, offset, buf, count, datatype, status);
}

int mpi_file_write_at_all_c(struct mpi_rank *self, MPI_File fh, MPI_Offset offset, const void *buf,
                            MPI_Count count, MPI_Datatype datatype, MPI_Status *status)
{
    return io_blocking(self, fh, IO_WRITE | IO_AT | IO_ALL, offset, writable(buf), count, datatype,
                       status);
}

int mpi_file_read_c(struct mpi_rank *self, MPI_File fh, void *buf, MPI_Count count,
                    MPI_Datatype datatype, MPI_Status *status)
{
    return io_blocking(self, fh, IO_READ, 0, buf, count, datatype, status);
}

int mpi_file_write_c(struct mpi_rank *self, MPI_File fh, const void *buf, MPI_Count count,
                     MPI_Datatype datatype, MPI_Status *status)
{
    return io_blocking(self, fh, IO_WRITE, 0, writable(buf), count, datatype, status);
}

int mpi_file_read_all_c(struct mpi_rank *self, MPI_File fh, void *buf, MPI_Count count,
                        MPI_Datatype datatype, MPI_Status *status)
{
    return io_blocking(self, fh, IO_READ | IO_ALL, 0, buf, count, datatype, status);
}

int mpi_file_write_all_c(struct mpi_rank *self, MPI_File fh, const void *buf, MPI_Count count,
                         MPI_Datatype datatype, MPI_Status *status)
{
    return io_blocking(self, fh, IO_WRITE | IO_ALL, 0, writable(buf), count, datatype, status);
}

int mpi_file_read_shared_c(struct mpi_rank *self, MPI_File fh, void *buf, MPI_Count count,
                           MPI_Datatype datatype, MPI_Status *status)
{
    return io_blocking(self, fh, IO_READ | IO_SHARED, 0, buf, count, datatype, status);
}

int mpi_file_write_shared_c(struct mpi_rank *self, MPI_File fh, const void *buf, MPI_Count count,
                            MPI_Datatype datatype, MPI_Status *status)
{
    return io_blocking(self, fh, IO_WRITE | IO_SHARED, 0, writable(buf), count, datatype, status);
}

int mpi_file_read_ordered_c(struct mpi_rank *self, MPI_File fh, void *buf, MPI_Count count,
                            MPI_Datatype datatype, MPI_Status *status)
{
    return io_blocking(self, fh, IO_READ | IO_ORDERED, 0, buf, count, datatype, status);
}

int mpi_file_write_ordered_c(struct mpi_rank *self, MPI_File fh, const void *buf, MPI_Count count,
                             MPI_Datatype datatype, MPI_Status *status)
{
    return io_blocking(self, fh, IO_WRITE | IO_ORDERED, 0, writable(buf), count, datatype, status);
}

/* ---- non-blocking ---- */

int mpi_file_iread_at_c(struct mpi_rank *self, MPI_File fh, MPI_Offset offset, void *buf,
                        MPI_Count count, MPI_Datatype datatype, MPI_Request *request)
{
    return io_nonblocking(self, fh, IO_READ | IO_AT, offset, buf, count, datatype, request);
}

int mpi_file_iwrite_at_c(struct mpi_rank *self, MPI_File fh, MPI_Offset offset, const void *buf,
                         MPI_Count count, MPI_Datatype datatype, MPI_Request *request)
{
    return io_nonblocking(self, fh, IO_WRITE | IO_AT, offset, writable(buf), count, datatype,
                          request);
}

int mpi_file_iread_at_all_c(struct mpi_rank *self, MPI_File fh, MPI_Offset offset, void *buf,
                            MPI_Count count, MPI_Datatype datatype, MPI_Request *request)
{
    return io_nonblocking(self, fh, IO_READ | IO_AT | IO_ALL, offset, buf, count, datatype,
                          request);
}

int mpi_file_iwrite_at_all_c(struct mpi_rank *self, MPI_File fh, MPI_Offset offset, const void *buf,
                             MPI_Count count, MPI_Datatype datatype, MPI_Request *request)
{
    return io_nonblocking(self, fh, IO_WRITE | IO_AT | IO_ALL, offset, writable(buf), count,
                          datatype, request);
}

int mpi_file_iread_c(struct mpi_rank *self, MPI_File fh, void *buf, MPI_Count count,
                     MPI_Datatype datatype, MPI_Request *request)
{
    return io_nonblocking(self, fh, IO_READ, 0, buf, count, datatype, request);
}

int mpi_file_iwrite_c(struct mpi_rank *self, MPI_File fh, const void *buf, MPI_Count count,
                      MPI_Datatype datatype, MPI_Request *request)
{
    return io_nonblocking(self, fh, IO_WRITE, 0, writable(buf), count, datatype, request);
}

int mpi_file_iread_all_c(struct mpi_rank *self, MPI_File fh, void *buf, MPI_Count count,
                         MPI_Datatype datatype, MPI_Request *request)
{
    return io_nonblocking(self, fh, IO_READ | IO_ALL, 0, buf, count, datatype, request);
}

int mpi_file_iwrite_all_c(struct mpi_rank *self, MPI_File fh, const void *buf, MPI_Count count,
                          MPI_Datatype datatype, MPI_Request *request)
{
    return io_nonblocking(self, fh, IO_WRITE | IO_ALL, 0, writable(buf), count, datatype, request);
}

int mpi_file_iread_shared_c(struct mpi_rank *self, MPI_File fh, void *buf, MPI_Count count,
                            MPI_Datatype datatype, MPI_Request *request)
{
    return io_nonblocking(self, fh, IO_READ | IO_SHARED, 0, buf, count, datatype, request);
}

int mpi_file_iwrite_shared_c(struct mpi_rank *self, MPI_File fh, const void *buf, MPI_Count count,
                             MPI_Datatype datatype, MPI_Request *request)
{
    return io_nonblocking(self, fh, IO_WRITE | IO_SHARED, 0, writable(buf), count, datatype,
                          request);
}

/* ---- split collective ---- */

int mpi_file_read_at_all_begin_c(struct mpi_rank *self, MPI_File fh, MPI_Offset offset, void *buf,
                                 MPI_Count count, MPI_Datatype datatype)
{
    return io_split_begin(self, fh, IO_READ | IO_AT | IO_ALL, offset, buf, count, datatype);
}

int mpi_file_read_at_all_end(struct mpi_rank *self, MPI_File fh, void *buf, MPI_Status *status)
{
    (void)buf;
    return io_split_end(self, fh, IO_READ | IO_AT | IO_ALL, status);
}

int mpi_file_write_at_all_begin_c(struct mpi_rank *self, MPI_File fh, MPI_Offset offset,
                                  const void *buf, MPI_Count count, MPI_Datatype datatype)
{
    return io_split_begin(self, fh, IO_WRITE | IO_AT | IO_ALL, offset, writable(buf), count,
                          datatype);
}

int mpi_file_write_at_all_end(struct mpi_rank *self, MPI_File fh, const void *buf,
                              MPI_Status *status)
{
    (void)buf;
    return io_split_end(self, fh, IO_WRITE | IO_AT | IO_ALL, status);
}

int mpi_file_read_all_begin_c(struct mpi_rank *self, MPI_File fh, void *buf, MPI_Count count,
                              MPI_Datatype datatype)
{
    return io_split_begin(self, fh, IO_READ | IO_ALL, 0, buf, count, datatype);
}

int mpi_file_read_all_end(struct mpi_rank *self, MPI_File fh, void *buf, MPI_Status *status)
{
    (void)buf;
    return io_split_end(self, fh, IO_READ | IO_ALL, status);
}

int mpi_file_write_all_begin_c(struct mpi_rank *self, MPI_File fh, const void *buf, MPI_Count count,
                               MPI_Datatype datatype)
{
    return io_split_begin(self, fh, IO_WRITE | IO_ALL, 0, writable(buf), count, datatype);
}

int mpi_file_write_all_end(struct mpi_rank *self, MPI_File fh, const void *buf, MPI_Status *status)
{
    (void)buf;
    return io_split_end(self, fh, IO_WRITE | IO_ALL, status);
}

int mpi_file_read_ordered_begin_c(struct mpi_rank *self, MPI_File fh, void *buf, MPI_Count count,
                                  MPI_Datatype datatype)
{
    return io_split_begin(self, fh, IO_READ | IO_ORDERED, 0, buf, count, datatype);
}

int mpi_file_read_ordered_end(struct mpi_rank *self, MPI_File fh, void *buf, MPI_Status *status)
{
    (void)buf;
    return io_split_end(self, fh, IO_READ | IO_ORDERED, status);
}

int mpi_file_write_ordered_begin_c(struct mpi_rank *self, MPI_File fh, const void *buf,
                                   MPI_Count count, MPI_Datatype datatype)
{
    return io_split_begin(self, fh, IO_WRITE | IO_ORDERED, 0, writable(buf), count, datatype);
}

int mpi_file_write_ordered_end(struct mpi_rank *self, MPI_File fh, const void *buf,
                               MPI_Status *status)
{
    (void)buf;
    return io_split_end(self, fh, IO_WRITE | IO_ORDERED, status);
}
