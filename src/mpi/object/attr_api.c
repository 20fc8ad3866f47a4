/*
 * attr_api.c - attribute keys of all kinds, and attributes of datatypes; those of windows are in
 * rma/win_attr.c.
 *
 * The MPII functions are what MPICH's Fortran and C++ bindings call: they say what form a value
 * has, and how functions written in these languages are called.
 */
#include "mpi/comm/check.h"
#include "mpi/datatype/datatype.h"
#include "mpi/entry.h"
#include "mpi/attr_internal.h"
#include "mpi_impl.h"

/* ---- keys ---- */

static int create_key(struct mpi_rank *self, enum attr_kind kind, void (*copy)(void),
                      void (*delete)(void), int *keyval, void *extra)
{
    *keyval = attr_key_create(self, kind, copy, delete, extra);
    return MPI_SUCCESS;
}

static int free_key(struct mpi_rank *self, enum attr_kind kind, int *keyval)
{

    if (!attr_key_valid(self, kind, *keyval))
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_KEYVAL,
                         "0x%08x is not an attribute key of this kind", (unsigned)*keyval);
    attr_key_free(self, *keyval);
    *keyval = MPI_KEYVAL_INVALID;
    return MPI_SUCCESS;
}

int mpi_comm_create_keyval(struct mpi_rank *self, MPI_Comm_copy_attr_function *comm_copy_attr_fn,
                           MPI_Comm_delete_attr_function *comm_delete_attr_fn, int *comm_keyval,
                           void *extra_state)
{
    return create_key(self, ATTR_COMM, (void (*)(void))comm_copy_attr_fn,
                      (void (*)(void))comm_delete_attr_fn, comm_keyval, extra_state);
}

int mpi_keyval_create(struct mpi_rank *self, MPI_Copy_function *copy_fn,
                      MPI_Delete_function *delete_fn, int *keyval, void *extra_state)
{
    return create_key(self, ATTR_COMM, (void (*)(void))copy_fn, (void (*)(void))delete_fn, keyval,
                      extra_state);
}

int mpi_type_create_keyval(struct mpi_rank *self, MPI_Type_copy_attr_function *type_copy_attr_fn,
                           MPI_Type_delete_attr_function *type_delete_attr_fn, int *type_keyval,
                           void *extra_state)
{
    return create_key(self, ATTR_TYPE, (void (*)(void))type_copy_attr_fn,
                      (void (*)(void))type_delete_attr_fn, type_keyval, extra_state);
}

int mpi_win_create_keyval(struct mpi_rank *self, MPI_Win_copy_attr_function *win_copy_attr_fn,
                          MPI_Win_delete_attr_function *win_delete_attr_fn, int *win_keyval,
                          void *extra_state)
{
    return create_key(self, ATTR_WIN, (void (*)(void))win_copy_attr_fn,
                      (void (*)(void))win_delete_attr_fn, win_keyval, extra_state);
}

int mpi_comm_free_keyval(struct mpi_rank *self, int *comm_keyval)
{
    return free_key(self, ATTR_COMM, comm_keyval);
}

int mpi_keyval_free(struct mpi_rank *self, int *keyval)
{
    return free_key(self, ATTR_COMM, keyval);
}

int mpi_type_free_keyval(struct mpi_rank *self, int *type_keyval)
{
    return free_key(self, ATTR_TYPE, type_keyval);
}

int mpi_win_free_keyval(struct mpi_rank *self, int *win_keyval)
{
    return free_key(self, ATTR_WIN, win_keyval);
}

void mpii_keyval_set_proxy(struct mpi_rank *self, int keyval, void (*copy_proxy)(void),
                           void (*delete_proxy)(void))
{
    if (attr_key_valid(self, ATTR_COMM, keyval) || attr_key_valid(self, ATTR_TYPE, keyval) ||
        attr_key_valid(self, ATTR_WIN, keyval))
        attr_key_proxy(self, keyval, (attr_copy_proxy *)copy_proxy,
                       (attr_delete_proxy *)delete_proxy);
}

/* ---- datatypes ---- */

static int check_type(struct mpi_rank *self, MPI_Datatype datatype, int keyval)
{
    if (!mpi_type_get(datatype))
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_TYPE, "0x%08x is not a datatype",
                         (unsigned)datatype);
    if (!attr_key_valid(self, ATTR_TYPE, keyval))
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_KEYVAL,
                         "0x%08x is not an attribute key of datatypes", (unsigned)keyval);
    return MPI_SUCCESS;
}

static int type_outcome(struct mpi_rank *self, int rc)
{
    return rc ? mpi_raise(self, MPI_COMM_NULL, rc, "an attribute function returned %d", rc)
              : MPI_SUCCESS;
}

int mpii_type_get_attr(struct mpi_rank *self, MPI_Datatype datatype, int keyval,
                       void *attribute_val, int *flag, int out_type)
{
    int rc = check_type(self, datatype, keyval);

    if (!rc)
        *flag = attr_get(self, datatype, keyval, out_type, attribute_val);
    return rc;
}

int mpi_type_get_attr(struct mpi_rank *self, MPI_Datatype datatype, int type_keyval,
                      void *attribute_val, int *flag)
{
    return mpii_type_get_attr(self, datatype, type_keyval, attribute_val, flag, ATTR_POINTER);
}

int mpii_type_set_attr(struct mpi_rank *self, MPI_Datatype datatype, int keyval,
                       void *attribute_val, int attr_type)
{
    int rc = check_type(self, datatype, keyval);

    return rc ? rc : type_outcome(self, attr_set(self, datatype, keyval, attribute_val, attr_type));
}

int mpi_type_set_attr(struct mpi_rank *self, MPI_Datatype datatype, int type_keyval,
                      void *attribute_val)
{
    return mpii_type_set_attr(self, datatype, type_keyval, attribute_val, ATTR_POINTER);
}

int mpi_type_delete_attr(struct mpi_rank *self, MPI_Datatype datatype, int type_keyval)
{
    int rc = check_type(self, datatype, type_keyval);

    return rc ? rc : type_outcome(self, attr_delete(self, datatype, type_keyval));
}
