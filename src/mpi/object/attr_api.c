/*
 * attr_api.c - attribute keys of all kinds, and attributes of datatypes and windows.
 *
 * The MPII functions are what MPICH's Fortran and C++ bindings call: they say what form a value has,
 * and how functions written in these languages are called.
 */
#include "mpi/comm/check.h"
#include "mpi/datatype/datatype.h"
#include "mpi/entry.h"
#include "mpi/object/attr_internal.h"
#include "mpi/objects.h"
#include "mpi_impl.h"

/* ---- keys ---- */

static int create_key(struct mpi_rank *self, enum attr_kind kind, void (*copy)(void),
                      void (*delete)(void), int *keyval, void *extra)
{
    int rc = mpi_check_ptr(self, MPI_COMM_NULL, keyval, "keyval");

    if (!rc)
        *keyval = attr_key_create(self, kind, copy, delete, extra);
    return rc;
}

static int free_key(struct mpi_rank *self, enum attr_kind kind, int *keyval)
{
    int rc = mpi_check_ptr(self, MPI_COMM_NULL, keyval, "keyval");

    if (rc)
        return rc;
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
        rc = mpi_check_ptr(self, MPI_COMM_NULL, attribute_val, "attribute_val");
    if (!rc)
        rc = mpi_check_ptr(self, MPI_COMM_NULL, flag, "flag");
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

/* ---- windows ---- */

static int check_win(struct mpi_rank *self, MPI_Win win)
{
    if (mpi_win_held(self, win))
        return MPI_SUCCESS;
    return mpi_raise_win(self, win, MPI_ERR_WIN, "0x%08x is not a window of this rank",
                         (unsigned)win);
}

static int check_win_key(struct mpi_rank *self, MPI_Win win, int keyval)
{
    int rc = check_win(self, win);

    if (!rc && !attr_key_valid(self, ATTR_WIN, keyval))
        rc = mpi_raise_win(self, win, MPI_ERR_KEYVAL, "0x%08x is not an attribute key of windows",
                           (unsigned)keyval);
    return rc;
}

static int win_outcome(struct mpi_rank *self, MPI_Win win, int rc)
{
    return rc ? mpi_raise_win(self, win, rc, "an attribute function returned %d", rc) : MPI_SUCCESS;
}

/* Fortran's keys are those of C plus one. */
static int win_predefined(int keyval)
{
    int key = keyval & 1 ? keyval : keyval - 1;

    return key == MPI_WIN_BASE || key == MPI_WIN_SIZE || key == MPI_WIN_DISP_UNIT ||
                   key == MPI_WIN_CREATE_FLAVOR || key == MPI_WIN_MODEL
               ? key
               : 0;
}

/* C gets the base itself and the address of the others, Fortran all values. */
static void win_value(int key, int form, const void *at, void *attribute_val)
{
    if (key == MPI_WIN_BASE || (key == MPI_WIN_SIZE && form != ATTR_POINTER))
        *(MPI_Aint *)attribute_val = *(const MPI_Aint *)at;
    else if (form == ATTR_POINTER)
        *(const void **)attribute_val = at;
    else
        *(MPI_Aint *)attribute_val = *(const int *)at;
}

int mpii_win_get_attr(struct mpi_rank *self, MPI_Win win, int keyval, void *attribute_val,
                      int *flag, int out_type)
{
    int key = win_predefined(keyval), rc = check_win(self, win);
    const void *at;

    if (!rc && (!attribute_val || !flag))
        rc = mpi_raise_win(self, win, MPI_ERR_ARG, "the argument '%s' is a null pointer",
                           flag ? "attribute_val" : "flag");
    if (!rc && !key)
        rc = check_win_key(self, win, keyval);
    if (rc)
        return rc;
    if (!key) {
        *flag = attr_get(self, win, keyval, out_type, attribute_val);
        return MPI_SUCCESS;
    }
    at = mpi_win_attr(self, win, key);
    *flag = at != NULL;
    if (at)
        win_value(key, out_type, at, attribute_val);
    return MPI_SUCCESS;
}

int mpi_win_get_attr(struct mpi_rank *self, MPI_Win win, int win_keyval, void *attribute_val,
                     int *flag)
{
    return mpii_win_get_attr(self, win, win_keyval, attribute_val, flag, ATTR_POINTER);
}

int mpii_win_set_attr(struct mpi_rank *self, MPI_Win win, int keyval, void *attribute_val,
                      int attr_type)
{
    int rc = check_win_key(self, win, keyval);

    return rc ? rc : win_outcome(self, win, attr_set(self, win, keyval, attribute_val, attr_type));
}

int mpi_win_set_attr(struct mpi_rank *self, MPI_Win win, int win_keyval, void *attribute_val)
{
    return mpii_win_set_attr(self, win, win_keyval, attribute_val, ATTR_POINTER);
}

int mpi_win_delete_attr(struct mpi_rank *self, MPI_Win win, int win_keyval)
{
    int rc = check_win_key(self, win, win_keyval);

    return rc ? rc : win_outcome(self, win, attr_delete(self, win, win_keyval));
}
