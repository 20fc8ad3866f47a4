/* type_query.c - MPI calls that query a datatype: sizes and bounds, envelope and contents, names.
 * 
 * Conventions as in type_api.c. Values that do not fit the argument's type are MPI_UNDEFINED. */
#include <limits.h>
#include <string.h>

#include "mpi/datatype/datatype.h"
#include "mpi/datatype/type_api.h"
#include "mpi/error.h"
#include "mpi_impl.h"

/* The type of a handle; else NULL, and the error in *rc. */
static struct mpi_type *query(struct mpi_rank *self, MPI_Datatype handle, int *rc)
{
    struct mpi_type *t = mpi_type_get(handle);
    *rc = t ? MPI_SUCCESS : type_raise_handle(self, handle);
    return t;
}

int mpi_type_size(struct mpi_rank *self, MPI_Datatype datatype, int *size)
{
    int rc;
    const struct mpi_type *t = query(self, datatype, &rc);
    if (t)
        *size = t->size > INT_MAX ? MPI_UNDEFINED : (int)t->size;
    return rc;
}

int mpi_type_size_c(struct mpi_rank *self, MPI_Datatype datatype, MPI_Count *size)
{
    int rc;
    const struct mpi_type *t = query(self, datatype, &rc);
    if (t)
        *size = (MPI_Count)t->size;
    return rc;
}

int mpi_type_size_x(struct mpi_rank *self, MPI_Datatype datatype, MPI_Count *size)
{
    return mpi_type_size_c(self, datatype, size);
}

int mpi_type_get_extent_c(struct mpi_rank *self, MPI_Datatype datatype, MPI_Count *lb,
                          MPI_Count *extent)
{
    int rc;
    const struct mpi_type *t = query(self, datatype, &rc);
    if (t) {
        *lb = t->lb;
        *extent = t->extent;
    }
    return rc;
}

int mpi_type_get_extent_x(struct mpi_rank *self, MPI_Datatype datatype, MPI_Count *lb,
                          MPI_Count *extent)
{
    return mpi_type_get_extent_c(self, datatype, lb, extent);
}

int mpi_type_get_true_extent_c(struct mpi_rank *self, MPI_Datatype datatype, MPI_Count *true_lb,
                               MPI_Count *true_extent)
{
    int rc;
    const struct mpi_type *t = query(self, datatype, &rc);
    if (t) {
        *true_lb = t->true_lb;
        *true_extent = t->true_extent;
    }
    return rc;
}

int mpi_type_get_true_extent_x(struct mpi_rank *self, MPI_Datatype datatype, MPI_Count *true_lb,
                               MPI_Count *true_extent)
{
    return mpi_type_get_true_extent_c(self, datatype, true_lb, true_extent);
}

int mpi_type_extent(struct mpi_rank *self, MPI_Datatype datatype, MPI_Aint *extent)
{
    MPI_Aint lb;
    return mpi_type_get_extent_c(self, datatype, &lb, extent);
}

int mpi_type_lb(struct mpi_rank *self, MPI_Datatype datatype, MPI_Aint *displacement)
{
    MPI_Aint extent;
    return mpi_type_get_extent_c(self, datatype, displacement, &extent);
}

int mpi_type_ub(struct mpi_rank *self, MPI_Datatype datatype, MPI_Aint *displacement)
{
    int rc;
    const struct mpi_type *t = query(self, datatype, &rc);
    if (t)
        *displacement = t->lb + t->extent;
    return rc;
}

int mpi_type_get_envelope_c(struct mpi_rank *self, MPI_Datatype datatype, MPI_Count *num_integers,
                            MPI_Count *num_addresses, MPI_Count *num_large_counts,
                            MPI_Count *num_datatypes, int *combiner)
{
    int rc;
    const struct mpi_type *t = query(self, datatype, &rc);
    if (!t)
        return rc;
    *num_integers = t->nints;
    *num_addresses = t->naints;
    *num_large_counts = t->ncounts;
    *num_datatypes = t->ntypes;
    *combiner = t->kind;
    return MPI_SUCCESS;
}

/* The int forms of envelope and contents do not work for types created with large counts. */
static int raise_large(struct mpi_rank *self)
{
    return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_OTHER,
                     "the datatype was made with large counts: use MPI_Type_get_envelope_c and "
                     "MPI_Type_get_contents_c");
}

int mpi_type_get_envelope(struct mpi_rank *self, MPI_Datatype datatype, int *num_integers,
                          int *num_addresses, int *num_datatypes, int *combiner)
{
    int rc;
    const struct mpi_type *t = query(self, datatype, &rc);
    if (!t)
        return rc;
    *combiner = t->kind;
    if (t->ncounts)
        return raise_large(self);
    *num_integers = (int)t->nints;
    *num_addresses = (int)t->naints;
    *num_datatypes = (int)t->ntypes;
    return MPI_SUCCESS;
}

/* Do the user's arrays have room for the arguments of the constructor? */
static int check_contents(struct mpi_rank *self, const struct mpi_type *t, MPI_Count max_integers,
                          MPI_Count max_addresses, MPI_Count max_counts, MPI_Count max_datatypes)
{
    if (t->kind == MPI_COMBINER_NAMED)
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_TYPE,
                         "the predefined datatype %s has no contents", mpi_type_name(t));
    if (max_integers < t->nints || max_addresses < t->naints || max_counts < t->ncounts ||
        max_datatypes < t->ntypes)
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_OTHER,
                         "the contents are %ld integers, %ld addresses, %ld counts and %ld "
                         "datatypes; there is room for %ld, %ld, %ld and %ld",
                         t->nints, t->naints, t->ncounts, t->ntypes, max_integers, max_addresses,
                         max_counts, max_datatypes);
    return MPI_SUCCESS;
}

/* Derived types among the contents are new handles that the user frees. */
int mpi_type_get_contents_c(struct mpi_rank *self, MPI_Datatype datatype, MPI_Count max_integers,
                            MPI_Count max_addresses, MPI_Count max_large_counts,
                            MPI_Count max_datatypes, int array_of_integers[],
                            MPI_Aint array_of_addresses[], MPI_Count array_of_large_counts[],
                            MPI_Datatype array_of_datatypes[])
{
    int rc;
    const struct mpi_type *t = query(self, datatype, &rc);
    if (!t)
        return rc;
    rc = check_contents(self, t, max_integers, max_addresses, max_large_counts, max_datatypes);
    if (rc)
        return rc;
    for (MPI_Count i = 0; i < t->nints; i++)
        array_of_integers[i] = t->ints[i];
    for (MPI_Count i = 0; i < t->naints; i++)
        array_of_addresses[i] = t->aints[i];
    for (MPI_Count i = 0; i < t->ncounts; i++)
        array_of_large_counts[i] = t->counts[i];
    for (MPI_Count i = 0; i < t->ntypes; i++) {
        mpi_type_ref(t->types[i]);
        array_of_datatypes[i] = mpi_type_publish(t->types[i]);
    }
    return MPI_SUCCESS;
}

int mpi_type_get_contents(struct mpi_rank *self, MPI_Datatype datatype, int max_integers,
                          int max_addresses, int max_datatypes, int array_of_integers[],
                          MPI_Aint array_of_addresses[], MPI_Datatype array_of_datatypes[])
{
    const struct mpi_type *t = mpi_type_get(datatype);
    if (t && t->ncounts)
        return raise_large(self);
    return mpi_type_get_contents_c(self, datatype, max_integers, max_addresses, 0, max_datatypes,
                                   array_of_integers, array_of_addresses, NULL, array_of_datatypes);
}

int mpi_type_set_name(struct mpi_rank *self, MPI_Datatype datatype, const char *type_name)
{
    int rc;
    struct mpi_type *t = query(self, datatype, &rc);
    if (t)
        mpi_type_rename(t, type_name);
    return rc;
}

int mpi_type_get_name(struct mpi_rank *self, MPI_Datatype datatype, char *type_name, int *resultlen)
{
    int rc;
    const struct mpi_type *t = query(self, datatype, &rc);
    if (!t)
        return rc;
    *resultlen = (int)strlen(mpi_type_name(t));
    memcpy(type_name, mpi_type_name(t), (size_t)*resultlen + 1);
    return MPI_SUCCESS;
}
