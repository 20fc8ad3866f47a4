/*
 * attr.c - attributes of communicators: the predefined ones and the MPI calls.
 *
 * All predefined ones are ints. C gets the address of a copy, which is renewed at each call, so a
 * program that writes to it does no lasting harm. Fortran gets the value, widened to an
 * address-sized integer, and its keys are those of C plus one.
 */
#include "mpi/attr.h"

#include "mpi/comm/app.h"
#include "mpi/comm/check.h"
#include "mpi/comm/errhandler.h"
#include "mpi/entry.h"
#include "mpi/ext.h"
#include "mpi/attr_internal.h"
#include "mpi_impl.h"

/* The address of the int, or NULL if the key has no value; *valid: is there such a key? */
static int *predefined(const struct mpi_rank *self, int keyval, int *valid)
{
    static int tag_ub, host, io, wtime_is_global, universe;
    static VP_OWN int appnum; /* that of ranks that were not spawned: those here run one program */
    struct mpi_app *app;

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
        app = mpi_app_of(self);
        if (app)
            return &app->appnum;
        appnum = (int)run_app_of(mpi_world.opt, mpi_rank_id(self));
        return &appnum;
    case MPI_LASTUSEDCODE:
        return mpi_errcode_last(self);
    case MPI_UNIVERSE_SIZE:
        universe = (int)(mpi_world.opt->universe ? mpi_world.opt->universe : mpi_world.room);
        return mpi_world.opt->universe || (mpi_world.opt->needs & MPI_NEED_SPAWN) ? &universe
                                                                                  : NULL;
    default:
        *valid = 0;
        return NULL;
    }
}

static int bad_key(struct mpi_rank *self, MPI_Comm comm, int keyval)
{
    return mpi_raise(self, comm, MPI_ERR_KEYVAL, "0x%08x is not an attribute key of communicators",
                     (unsigned)keyval);
}

static int check(struct mpi_rank *self, MPI_Comm comm, int keyval)
{
    struct mpi_comm *c;
    int rc = mpi_check_comm(self, comm, &c);

    if (!rc && !attr_key_valid(self, ATTR_COMM, keyval))
        rc = bad_key(self, comm, keyval);
    return rc;
}

/* The program's function has failed with this code: it is the code of the call. */
static int outcome(struct mpi_rank *self, MPI_Comm comm, int rc)
{
    return rc ? mpi_raise(self, comm, rc, "an attribute function returned %d", rc) : MPI_SUCCESS;
}

static int get_attr(struct mpi_rank *self, MPI_Comm comm, int keyval, void *attribute_val,
                    int *flag, int form)
{
    struct mpi_comm *c;
    int rc = mpi_check_comm(self, comm, &c), valid, *at;

    if (rc)
        return rc;
    if (attr_key_valid(self, ATTR_COMM, keyval)) {
        *flag = attr_get(self, comm, keyval, form, attribute_val);
        return MPI_SUCCESS;
    }
    at = predefined(self, keyval, &valid);
    if (!valid)
        return bad_key(self, comm, keyval);
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

int mpii_comm_get_attr(struct mpi_rank *self, MPI_Comm comm, int keyval, void *attribute_val,
                       int *flag, int out_type)
{
    return get_attr(self, comm, keyval, attribute_val, flag, out_type);
}

int mpii_comm_set_attr(struct mpi_rank *self, MPI_Comm comm, int keyval, void *attribute_val,
                       int attr_type)
{
    int rc = check(self, comm, keyval);

    return rc ? rc : outcome(self, comm, attr_set(self, comm, keyval, attribute_val, attr_type));
}

int mpi_comm_set_attr(struct mpi_rank *self, MPI_Comm comm, int comm_keyval, void *attribute_val)
{
    return mpii_comm_set_attr(self, comm, comm_keyval, attribute_val, ATTR_POINTER);
}

int mpi_attr_put(struct mpi_rank *self, MPI_Comm comm, int keyval, void *attribute_val)
{
    return mpii_comm_set_attr(self, comm, keyval, attribute_val, ATTR_POINTER);
}

int mpi_comm_delete_attr(struct mpi_rank *self, MPI_Comm comm, int comm_keyval)
{
    int rc = check(self, comm, comm_keyval);

    return rc ? rc : outcome(self, comm, attr_delete(self, comm, comm_keyval));
}

int mpi_attr_delete(struct mpi_rank *self, MPI_Comm comm, int keyval)
{
    return mpi_comm_delete_attr(self, comm, keyval);
}
