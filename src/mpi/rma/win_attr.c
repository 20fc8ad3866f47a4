/*
 * win_attr.c - attributes of windows (MPI-4.0 7.7.3, 12.2.6). See object/attr_api.c.
 */
#include "mpi/attr_internal.h"
#include "mpi/rma/rma_internal.h"
#include "mpi_impl.h"

static int check_win_key(struct mpi_rank *self, MPI_Win win, int keyval)
{
    struct rma_win *w;
    int rc = rma_check_win(self, win, &w);

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

/* Where the window keeps the value of a predefined key: the base is a void *, the size an MPI_Aint,
 * the others are ints. It stays there as long as the window. NULL: the window has none. */
static const void *predefined_value(const struct rma_win *w, int keyval)
{
    switch (keyval) {
    case MPI_WIN_BASE:
        return &w->base;
    case MPI_WIN_SIZE:
        return &w->size;
    case MPI_WIN_DISP_UNIT:
        return &w->disp_unit_int;
    case MPI_WIN_CREATE_FLAVOR:
        return &w->flavor;
    case MPI_WIN_MODEL:
        return &w->model;
    default:
        return NULL;
    }
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
    struct rma_win *w;
    int key = win_predefined(keyval), rc = rma_check_win(self, win, &w);
    const void *at;

    if (!rc && !key)
        rc = check_win_key(self, win, keyval);
    if (rc)
        return rc;
    if (!key) {
        *flag = attr_get(self, win, keyval, out_type, attribute_val);
        return MPI_SUCCESS;
    }
    at = predefined_value(w, key);
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
