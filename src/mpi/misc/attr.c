/*
 * attr.c - predefined attributes of communicators.
 *
 * All are ints. C asks for the address of one: it gets that of a copy, renewed at each call, so
 * that a program that writes to it harms nothing for long. Fortran asks for the value, widened to
 * an address-sized integer, and its keys are those of C plus one. Keys that programs make
 * themselves are not there yet (MPI_Comm_create_keyval refuses), so no such key is valid.
 */
#include "mpi/comm/check.h"
#include "mpi/entry.h"
#include "mpi_impl.h"

/* How MPICH's language bindings want the value (its MPII_Comm_get_attr). */
enum attr_form { ATTR_POINTER = 0, ATTR_AINT = 1, ATTR_INT = 3 };

/* The address of the int, or NULL if the key has no value; *valid: is there such a key? */
static int *predefined(const struct mpi_rank *self, int keyval, int *valid)
{
    static int tag_ub, host, io, wtime_is_global, appnum;

    *valid = 1;
    switch (keyval & 1 ? keyval : keyval - 1) {
    case MPI_TAG_UB:
        tag_ub = MPI_TAG_LIMIT;
        return &tag_ub;
    case MPI_HOST:
        host = MPI_PROC_NULL;
        return &host;
    case MPI_IO:
        io = MPI_ANY_SOURCE;
        return &io;
    case MPI_WTIME_IS_GLOBAL:
        wtime_is_global = 1; /* virtual clocks start together and do not drift */
        return &wtime_is_global;
    case MPI_APPNUM:
        appnum = 0;
        return &appnum;
    case MPI_LASTUSEDCODE:
        return mpi_errcode_last(self);
    case MPI_UNIVERSE_SIZE:
        return NULL;
    default:
        *valid = 0;
        return NULL;
    }
}

static int get_attr(struct mpi_rank *self, MPI_Comm comm, int keyval, void *attribute_val,
                    int *flag, int form)
{
    struct mpi_comm *c;
    int rc = mpi_check_comm(self, comm, &c), valid, *at;

    if (!rc)
        rc = mpi_check_ptr(self, comm, attribute_val, "attribute_val");
    if (!rc)
        rc = mpi_check_ptr(self, comm, flag, "flag");
    if (rc)
        return rc;
    at = predefined(self, keyval, &valid);
    if (!valid)
        return mpi_raise(self, comm, MPI_ERR_KEYVAL, "0x%08x is not an attribute key",
                         (unsigned)keyval);
    *flag = at != NULL;
    if (at && form == ATTR_POINTER)
        *(int **)attribute_val = at;
    else if (at)
        *(MPI_Aint *)attribute_val = *at;
    return MPI_SUCCESS;
}

int mpi_comm_get_attr(struct mpi_rank *self, MPI_Comm comm, int comm_keyval, void *attribute_val,
                      int *flag)
{
    return get_attr(self, comm, comm_keyval, attribute_val, flag, ATTR_POINTER);
}

int mpi_attr_get(struct mpi_rank *self, MPI_Comm comm, int keyval, void *attribute_val, int *flag)
{
    return get_attr(self, comm, keyval, attribute_val, flag, ATTR_POINTER);
}

/* Called by the Fortran and C++ bindings in place of MPI_Comm_get_attr. */
int MPII_Comm_get_attr(MPI_Comm comm, int keyval, void *attribute_val, int *flag, int out_type)
{
    struct mpi_rank *self = mpi_enter(MPI_FN_COMM_GET_ATTR);
    vtime t0 = mpi_clock(self);
    int rc = get_attr(self, comm, keyval, attribute_val, flag, out_type);

    mpi_leave(self, MPI_FN_COMM_GET_ATTR, t0);
    return rc;
}
