/*
 * pack_api.c - MPI calls that pack and unpack data, and those that count the elements of a status.
 *
 * Conventions as in type_api.c. The packed form of MPI_Pack is the plain stream of data bytes: all
 * ranks run on one kind of machine; that of MPI_Pack_external is "external32" (external.h). Errors
 * of pack and unpack are raised on the communicator they are given, which is not used otherwise.
 */
#include <limits.h>
#include <stddef.h>
#include <string.h>

#include "mpi/datatype/datatype.h"
#include "mpi/datatype/external.h"
#include "mpi/datatype/type_api.h"
#include "mpi/error.h"
#include "mpi_impl.h"

enum { LOWEST_ADDRESS = 4096 };

/* MPI_BOTTOM is a null pointer too, but then the displacements are addresses. */
static int is_null_buffer(const struct mpi_type *t, MPI_Count count, const void *buf)
{
    return !buf && count && t->size && t->true_lb > -LOWEST_ADDRESS && t->true_lb < LOWEST_ADDRESS;
}

/* Checks common to pack and unpack; the type, or NULL with the raised error in *rc. */
static const struct mpi_type *check_typed(struct mpi_rank *self, MPI_Comm comm, const void *buf,
                                          MPI_Count count, MPI_Datatype datatype, int *rc)
{
    const struct mpi_type *t = mpi_type_get(datatype);
    *rc = MPI_SUCCESS;
    if (!t)
        *rc = type_raise_handle_on(self, comm, datatype);
    else if (!t->committed)
        *rc = mpi_raise(self, comm, MPI_ERR_TYPE, "the datatype is not committed");
    else if (is_null_buffer(t, count, buf))
        *rc = mpi_raise(self, comm, MPI_ERR_BUFFER, "the buffer is a null pointer");
    return *rc ? NULL : t;
}

/* Whether the packed side has room for `count` items of `bytes` bytes from *position on. */
static int check_packed(struct mpi_rank *self, MPI_Comm comm, uint64_t bytes, MPI_Count count,
                        const void *packed, MPI_Count packed_size, const MPI_Count *position)
{
    unsigned __int128 need = (unsigned __int128)bytes * (uint64_t)count;
    if (need && !packed)
        return mpi_raise(self, comm, MPI_ERR_BUFFER, "the packed buffer is a null pointer");
    if (*position < 0 || packed_size < 0)
        return mpi_raise(self, comm, MPI_ERR_ARG, "position %ld or size %ld is negative", *position,
                         packed_size);
    if (*position > packed_size || need > (uint64_t)(packed_size - *position))
        return mpi_raise(
            self, comm, MPI_ERR_TRUNCATE,
            "%ld items of %llu bytes do not fit at position %ld of a buffer of %ld bytes", count,
            (unsigned long long)bytes, *position, packed_size);
    return MPI_SUCCESS;
}

/* ---- the packed forms ---- */

struct form {
    uint64_t (*size)(const struct mpi_type *); /* bytes of an item */
    uint64_t (*pack)(const struct mpi_type *, uint64_t count, const void *buf, void *out);
    uint64_t (*unpack)(const struct mpi_type *, uint64_t count, void *buf, const void *in);
};

static uint64_t native_size(const struct mpi_type *t)
{
    return t->size;
}

static uint64_t native_unpack(const struct mpi_type *t, uint64_t count, void *buf, const void *in)
{
    return mpi_type_unpack(t, count, buf, in, t->size * count);
}

static const struct form native = {native_size, mpi_type_pack, native_unpack};
static const struct form external = {type_external_size, type_external_pack, type_external_unpack};

static int pack(struct mpi_rank *self, MPI_Comm comm, const struct form *form, const void *inbuf,
                MPI_Count incount, MPI_Datatype datatype, void *outbuf, MPI_Count outsize,
                MPI_Count *position)
{
    int rc;
    const struct mpi_type *t = check_typed(self, comm, inbuf, incount, datatype, &rc);
    if (t)
        rc = check_packed(self, comm, form->size(t), incount, outbuf, outsize, position);
    if (rc || !t->size || !incount)
        return rc;
    *position += (MPI_Count)form->pack(t, (uint64_t)incount, inbuf, (char *)outbuf + *position);
    return MPI_SUCCESS;
}

static int unpack(struct mpi_rank *self, MPI_Comm comm, const struct form *form, const void *inbuf,
                  MPI_Count insize, MPI_Count *position, void *outbuf, MPI_Count outcount,
                  MPI_Datatype datatype)
{
    int rc;
    const struct mpi_type *t = check_typed(self, comm, outbuf, outcount, datatype, &rc);
    if (t)
        rc = check_packed(self, comm, form->size(t), outcount, inbuf, insize, position);
    if (rc || !t->size || !outcount)
        return rc;
    *position += (MPI_Count)form->unpack(t, (uint64_t)outcount, outbuf,
                                         (const char *)inbuf + *position);
    return MPI_SUCCESS;
}

/* ---- MPI_Pack and its like ---- */

int mpi_pack_c(struct mpi_rank *self, const void *inbuf, MPI_Count incount, MPI_Datatype datatype,
               void *outbuf, MPI_Count outsize, MPI_Count *position, MPI_Comm comm)
{
    return pack(self, comm, &native, inbuf, incount, datatype, outbuf, outsize, position);
}

int mpi_pack(struct mpi_rank *self, const void *inbuf, int incount, MPI_Datatype datatype,
             void *outbuf, int outsize, int *position, MPI_Comm comm)
{
    MPI_Count at = *position;
    int rc = mpi_pack_c(self, inbuf, incount, datatype, outbuf, outsize, &at, comm);
    if (!rc)
        *position = (int)at;
    return rc;
}

int mpi_unpack_c(struct mpi_rank *self, const void *inbuf, MPI_Count insize, MPI_Count *position,
                 void *outbuf, MPI_Count outcount, MPI_Datatype datatype, MPI_Comm comm)
{
    return unpack(self, comm, &native, inbuf, insize, position, outbuf, outcount, datatype);
}

int mpi_unpack(struct mpi_rank *self, const void *inbuf, int insize, int *position, void *outbuf,
               int outcount, MPI_Datatype datatype, MPI_Comm comm)
{
    MPI_Count at = *position;
    int rc = mpi_unpack_c(self, inbuf, insize, &at, outbuf, outcount, datatype, comm);
    if (!rc)
        *position = (int)at;
    return rc;
}

/* Packed bytes of `count` items; MPI_UNDEFINED if beyond `limit`. */
static int packed_size(struct mpi_rank *self, MPI_Comm comm, const struct form *form,
                       MPI_Count count, MPI_Datatype datatype, MPI_Count limit, MPI_Count *size)
{
    const struct mpi_type *t = mpi_type_get(datatype);
    if (!t)
        return type_raise_handle_on(self, comm, datatype);
    if (!t->committed)
        return mpi_raise(self, comm, MPI_ERR_TYPE, "the datatype is not committed");
    unsigned __int128 all = (unsigned __int128)form->size(t) * (uint64_t)count;
    *size = all > (uint64_t)limit ? MPI_UNDEFINED : (MPI_Count)all;
    return MPI_SUCCESS;
}

int mpi_pack_size_c(struct mpi_rank *self, MPI_Count incount, MPI_Datatype datatype, MPI_Comm comm,
                    MPI_Count *size)
{
    return packed_size(self, comm, &native, incount, datatype, INT64_MAX, size);
}

int mpi_pack_size(struct mpi_rank *self, int incount, MPI_Datatype datatype, MPI_Comm comm,
                  int *size)
{
    MPI_Count all = 0;
    int rc = packed_size(self, comm, &native, incount, datatype, INT_MAX, &all);
    if (!rc)
        *size = (int)all;
    return rc;
}

static int check_datarep(struct mpi_rank *self, const char *datarep)
{
    if (strcmp(datarep, "external32"))
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_UNSUPPORTED_DATAREP,
                         "the data representation '%.64s' is unknown: only external32 is", datarep);
    return MPI_SUCCESS;
}

int mpi_pack_external_c(struct mpi_rank *self, const char *datarep, const void *inbuf,
                        MPI_Count incount, MPI_Datatype datatype, void *outbuf, MPI_Count outsize,
                        MPI_Count *position)
{
    int rc = check_datarep(self, datarep);
    return rc ? rc
              : pack(self, MPI_COMM_NULL, &external, inbuf, incount, datatype, outbuf, outsize,
                     position);
}

int mpi_unpack_external_c(struct mpi_rank *self, const char datarep[], const void *inbuf,
                          MPI_Count insize, MPI_Count *position, void *outbuf, MPI_Count outcount,
                          MPI_Datatype datatype)
{
    int rc = check_datarep(self, datarep);
    return rc ? rc
              : unpack(self, MPI_COMM_NULL, &external, inbuf, insize, position, outbuf, outcount,
                       datatype);
}

int mpi_pack_external_size_c(struct mpi_rank *self, const char *datarep, MPI_Count incount,
                             MPI_Datatype datatype, MPI_Count *size)
{
    int rc = check_datarep(self, datarep);
    return rc ? rc
              : packed_size(self, MPI_COMM_NULL, &external, incount, datatype, INT64_MAX, size);
}

/* ---- the elements of a status ---- */

static int as_int(int64_t n)
{
    return n > INT_MAX ? MPI_UNDEFINED : (int)n;
}

static int check_status(struct mpi_rank *self, const MPI_Status *status, MPI_Datatype datatype,
                        const struct mpi_type **type)
{
    *type = mpi_type_get(datatype);
    if (!*type)
        return type_raise_handle(self, datatype);
    if (status == MPI_STATUS_IGNORE)
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_ARG, "the status is MPI_STATUS_IGNORE");
    return MPI_SUCCESS;
}

int mpi_get_count_c(struct mpi_rank *self, const MPI_Status *status, MPI_Datatype datatype,
                    MPI_Count *count)
{
    const struct mpi_type *t;
    int rc = check_status(self, status, datatype, &t);
    if (rc)
        return rc;
    uint64_t bytes = mpi_status_bytes(status);
    if (!bytes)
        *count = 0;
    else if (!t->size || bytes % t->size)
        *count = MPI_UNDEFINED;
    else
        *count = (MPI_Count)(bytes / t->size);
    return MPI_SUCCESS;
}

int mpi_get_count(struct mpi_rank *self, const MPI_Status *status, MPI_Datatype datatype,
                  int *count)
{
    MPI_Count n = 0;
    int rc = mpi_get_count_c(self, status, datatype, &n);
    if (!rc)
        *count = as_int(n);
    return rc;
}

int mpi_get_elements_c(struct mpi_rank *self, const MPI_Status *status, MPI_Datatype datatype,
                       MPI_Count *count)
{
    const struct mpi_type *t;
    int rc = check_status(self, status, datatype, &t);
    if (rc)
        return rc;
    *count = mpi_type_elements(t, mpi_status_bytes(status));
    return MPI_SUCCESS;
}

int mpi_get_elements_x(struct mpi_rank *self, const MPI_Status *status, MPI_Datatype datatype,
                       MPI_Count *count)
{
    return mpi_get_elements_c(self, status, datatype, count);
}

int mpi_get_elements(struct mpi_rank *self, const MPI_Status *status, MPI_Datatype datatype,
                     int *count)
{
    MPI_Count n = 0;
    int rc = mpi_get_elements_c(self, status, datatype, &n);
    if (!rc)
        *count = as_int(n);
    return rc;
}

int mpi_status_set_elements_x(struct mpi_rank *self, MPI_Status *status, MPI_Datatype datatype,
                              MPI_Count count)
{
    const struct mpi_type *t = mpi_type_get(datatype);
    if (!t)
        return type_raise_handle(self, datatype);
    if (status != MPI_STATUS_IGNORE)
        mpi_status_set_bytes(status, mpi_type_element_bytes(t, (uint64_t)count));
    return MPI_SUCCESS;
}

int mpi_status_set_elements(struct mpi_rank *self, MPI_Status *status, MPI_Datatype datatype,
                            int count)
{
    return mpi_status_set_elements_x(self, status, datatype, count);
}
