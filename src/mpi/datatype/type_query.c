/* MPI calls that ask about a datatype: sizes and bounds, envelope and contents, names.
 *
 * Conventions as in type_api.c. Values that do not fit the argument's type are MPI_UNDEFINED.
 */
#include <limits.h>
#include <string.h>

#include "mpi/datatype/datatype.h"
#include "mpi/datatype/type_api.h"
#include "mpi/error.h"
#include "mpi_impl.h"

/* The type of a handle if both results have somewhere to go; else NULL, and the error in *rc. */
static struct mpi_type *query(struct mpi_rank *self, MPI_Datatype handle, const void *result,
                              const void *result2, int *rc)
{
    struct mpi_type *t = mpi_type_get(handle);
    if (!t) {
        *rc = type_raise_handle(self, handle);
        return NULL;
    }
    if (!result || !result2) {
        *rc = type_raise_null(self, "for the result");
        return NULL;
    }
    *rc = MPI_SUCCESS;
    return t;
}

int mpi_type_size(struct mpi_rank *self, MPI_Datatype datatype, int *size)
{
    int rc;
    const struct mpi_type *t = query(self, datatype, size, size, &rc);
    if (t)
        *size = t->size > INT_MAX ? MPI_UNDEFINED : (int)t->size;
    return rc;
}

int mpi_type_size_x(struct mpi_rank *self, MPI_Datatype datatype, MPI_Count *size)
{
    int rc;
    const struct mpi_type *t = query(self, datatype, size, size, &rc);
    if (t)
        *size = (MPI_Count)t->size;
    return rc;
}

int mpi_type_get_extent(struct mpi_rank *self, MPI_Datatype datatype, MPI_Aint *lb,
                        MPI_Aint *extent)
{
    int rc;
    const struct mpi_type *t = query(self, datatype, lb, extent, &rc);
    if (t) {
        *lb = t->lb;
        *extent = t->extent;
    }
    return rc;
}

int mpi_type_get_extent_x(struct mpi_rank *self, MPI_Datatype datatype, MPI_Count *lb,
                          MPI_Count *extent)
{
    return mpi_type_get_extent(self, datatype, lb, extent);
}

int mpi_type_get_true_extent(struct mpi_rank *self, MPI_Datatype datatype, MPI_Aint *true_lb,
                             MPI_Aint *true_extent)
{
    int rc;
    const struct mpi_type *t = query(self, datatype, true_lb, true_extent, &rc);
    if (t) {
        *true_lb = t->true_lb;
        *true_extent = t->true_extent;
    }
    return rc;
}

int mpi_type_get_true_extent_x(struct mpi_rank *self, MPI_Datatype datatype, MPI_Count *true_lb,
                               MPI_Count *true_extent)
{
    return mpi_type_get_true_extent(self, datatype, true_lb, true_extent);
}

int mpi_type_extent(struct mpi_rank *self, MPI_Datatype datatype, MPI_Aint *extent)
{
    MPI_Aint lb;
    return mpi_type_get_extent(self, datatype, &lb, extent);
}

int mpi_type_lb(struct mpi_rank *self, MPI_Datatype datatype, MPI_Aint *displacement)
{
    MPI_Aint extent;
    return mpi_type_get_extent(self, datatype, displacement, &extent);
}

int mpi_type_ub(struct mpi_rank *self, MPI_Datatype datatype, MPI_Aint *displacement)
{
    int rc;
    const struct mpi_type *t = query(self, datatype, displacement, displacement, &rc);
    if (t)
        *displacement = t->lb + t->extent;
    return rc;
}

int mpi_type_get_envelope(struct mpi_rank *self, MPI_Datatype datatype, int *num_integers,
                          int *num_addresses, int *num_datatypes, int *combiner)
{
    int rc;
    const struct mpi_type *t = query(self, datatype, num_integers, num_addresses, &rc);
    if (!t)
        return rc;
    if (!num_datatypes || !combiner)
        return type_raise_null(self, "for the result");
    *num_integers = t->nints;
    *num_addresses = t->naints;
    *num_datatypes = t->ntypes;
    *combiner = t->kind;
    return MPI_SUCCESS;
}

/* Whether the user's arrays take the arguments of the constructor. */
static int check_contents(struct mpi_rank *self, const struct mpi_type *t, int max_integers,
                          int max_addresses, int max_datatypes)
{
    if (t->builtin)
        return mpi_raise(self, MPI_COMM_SELF, MPI_ERR_TYPE,
                         "the predefined datatype %s has no contents", mpi_type_name(t));
    if (max_integers < t->nints || max_addresses < t->naints || max_datatypes < t->ntypes)
        return mpi_raise(self, MPI_COMM_SELF, MPI_ERR_OTHER,
                         "the contents are %d integers, %d addresses and %d datatypes; there is "
                         "room for %d, %d and %d",
                         t->nints, t->naints, t->ntypes, max_integers, max_addresses,
                         max_datatypes);
    return MPI_SUCCESS;
}

/* Derived types among the contents are new handles that the user frees. */
int mpi_type_get_contents(struct mpi_rank *self, MPI_Datatype datatype, int max_integers,
                          int max_addresses, int max_datatypes, int array_of_integers[],
                          MPI_Aint array_of_addresses[], MPI_Datatype array_of_datatypes[])
{
    int rc;
    const struct mpi_type *t = query(self, datatype, &rc, &rc, &rc);
    if (!t)
        return rc;
    rc = check_contents(self, t, max_integers, max_addresses, max_datatypes);
    if (rc)
        return rc;
    if ((t->nints && !array_of_integers) || (t->naints && !array_of_addresses) ||
        (t->ntypes && !array_of_datatypes))
        return type_raise_null(self, "for the result");
    for (int i = 0; i < t->nints; i++)
        array_of_integers[i] = t->ints[i];
    for (int i = 0; i < t->naints; i++)
        array_of_addresses[i] = t->aints[i];
    for (int i = 0; i < t->ntypes; i++) {
        mpi_type_ref(t->types[i]);
        array_of_datatypes[i] = mpi_type_publish(t->types[i]);
    }
    return MPI_SUCCESS;
}

int mpi_type_set_name(struct mpi_rank *self, MPI_Datatype datatype, const char *type_name)
{
    int rc;
    struct mpi_type *t = query(self, datatype, type_name, type_name, &rc);
    if (t)
        mpi_type_rename(t, type_name);
    return rc;
}

int mpi_type_get_name(struct mpi_rank *self, MPI_Datatype datatype, char *type_name,
                      int *resultlen)
{
    int rc;
    const struct mpi_type *t = query(self, datatype, type_name, resultlen, &rc);
    if (!t)
        return rc;
    *resultlen = (int)strlen(mpi_type_name(t));
    memcpy(type_name, mpi_type_name(t), (size_t)*resultlen + 1);
    return MPI_SUCCESS;
}

int mpi_get_address(struct mpi_rank *self, const void *location, MPI_Aint *address)
{
    if (!address)
        return type_raise_null(self, "address");
    *address = (MPI_Aint)location;
    return MPI_SUCCESS;
}

int mpi_address(struct mpi_rank *self, void *location, MPI_Aint *address)
{
    return mpi_get_address(self, location, address);
}
