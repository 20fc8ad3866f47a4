/* MPI calls on datatypes: constructors, commit and free, queries, envelope and contents, names.
 *
 * Each function is the MPI call of the same name with the calling rank in front: it checks the
 * arguments, raises errors (on MPI_COMM_SELF: these calls have no communicator) and returns an MPI
 * error class. None switches, but the error handler may end the run.
 */
#include <limits.h>
#include <string.h>

#include "base/mem.h"
#include "mpi/attr.h"
#include "mpi/datatype/datatype.h"
#include "mpi/datatype/type_api.h"
#include "mpi/error.h"
#include "mpi_impl.h"

int type_raise_handle(struct mpi_rank *self, MPI_Datatype handle)
{
    if (handle == MPI_DATATYPE_NULL)
        return mpi_raise(self, MPI_COMM_SELF, MPI_ERR_TYPE, "the datatype is MPI_DATATYPE_NULL");
    return mpi_raise(self, MPI_COMM_SELF, MPI_ERR_TYPE,
                     "the datatype 0x%08x does not exist or has been freed", (unsigned)handle);
}

int type_raise_null(struct mpi_rank *self, const char *argument)
{
    return mpi_raise(self, MPI_COMM_SELF, MPI_ERR_ARG, "the argument %s is a null pointer",
                     argument);
}

/* Hand the outcome of a constructor to the user. */
static int deliver(struct mpi_rank *self, int rc, struct mpi_type *made, MPI_Datatype *newtype)
{
    switch (rc) {
    case MPI_SUCCESS:
        *newtype = mpi_type_publish(made);
        return MPI_SUCCESS;
    case MPI_ERR_COUNT:
        return mpi_raise(self, MPI_COMM_SELF, rc,
                         "a count or block length is negative, or the type exceeds 2^63 bytes");
    case MPI_ERR_ARG:
        return mpi_raise(self, MPI_COMM_SELF, rc,
                         "the order is unknown, or the subarray does not lie inside the array");
    default:
        return mpi_raise(self, MPI_COMM_SELF, rc, "there are too many datatypes");
    }
}

/* Common checks of constructors from one old type: stores the old type and returns MPI_SUCCESS. */
static int check_make(struct mpi_rank *self, MPI_Datatype oldtype, const MPI_Datatype *newtype,
                      struct mpi_type **old)
{
    *old = mpi_type_get(oldtype);
    if (!*old)
        return type_raise_handle(self, oldtype);
    return newtype ? MPI_SUCCESS : type_raise_null(self, "newtype");
}

/* The same for those with lists. `lengths` may be NULL if the call has no list of them. */
static int check_lists(struct mpi_rank *self, int count, int has_lengths, const int *lengths,
                       const void *displs)
{
    if (count > 0 && has_lengths && !lengths)
        return type_raise_null(self, "array_of_blocklengths");
    if (count > 0 && !displs)
        return type_raise_null(self, "array_of_displacements");
    if (count > (INT_MAX - 2) / 2)
        return mpi_raise(self, MPI_COMM_SELF, MPI_ERR_COUNT, "count %d is too large", count);
    return MPI_SUCCESS;
}

int mpi_type_contiguous(struct mpi_rank *self, int count, MPI_Datatype oldtype,
                        MPI_Datatype *newtype)
{
    struct mpi_type *old, *made = NULL;
    int rc = check_make(self, oldtype, newtype, &old);
    if (rc)
        return rc;
    rc = count < 0 ? MPI_ERR_COUNT : mpi_type_make_contiguous((uint64_t)count, old, &made);
    return deliver(self, rc, made, newtype);
}

int mpi_type_vector(struct mpi_rank *self, int count, int blocklength, int stride,
                    MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct mpi_type *old, *made = NULL;
    int rc = check_make(self, oldtype, newtype, &old);
    if (rc)
        return rc;
    rc = mpi_type_make_vector(count, blocklength, stride, old, &made);
    return deliver(self, rc, made, newtype);
}

int mpi_type_create_hvector(struct mpi_rank *self, int count, int blocklength, MPI_Aint stride,
                            MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct mpi_type *old, *made = NULL;
    int rc = check_make(self, oldtype, newtype, &old);
    if (rc)
        return rc;
    rc = mpi_type_make_hvector(count, blocklength, stride, old, &made);
    return deliver(self, rc, made, newtype);
}

int mpi_type_hvector(struct mpi_rank *self, int count, int blocklength, MPI_Aint stride,
                     MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return mpi_type_create_hvector(self, count, blocklength, stride, oldtype, newtype);
}

int mpi_type_indexed(struct mpi_rank *self, int count, const int array_of_blocklengths[],
                     const int array_of_displacements[], MPI_Datatype oldtype,
                     MPI_Datatype *newtype)
{
    struct mpi_type *old, *made = NULL;
    int rc = check_make(self, oldtype, newtype, &old);
    if (!rc)
        rc = check_lists(self, count, 1, array_of_blocklengths, array_of_displacements);
    if (rc)
        return rc;
    rc = mpi_type_make_indexed(count, array_of_blocklengths, array_of_displacements, old, &made);
    return deliver(self, rc, made, newtype);
}

int mpi_type_create_hindexed(struct mpi_rank *self, int count, const int array_of_blocklengths[],
                             const MPI_Aint array_of_displacements[], MPI_Datatype oldtype,
                             MPI_Datatype *newtype)
{
    struct mpi_type *old, *made = NULL;
    int rc = check_make(self, oldtype, newtype, &old);
    if (!rc)
        rc = check_lists(self, count, 1, array_of_blocklengths, array_of_displacements);
    if (rc)
        return rc;
    rc = mpi_type_make_hindexed(count, array_of_blocklengths, array_of_displacements, old, &made);
    return deliver(self, rc, made, newtype);
}

int mpi_type_hindexed(struct mpi_rank *self, int count, int array_of_blocklengths[],
                      MPI_Aint array_of_displacements[], MPI_Datatype oldtype,
                      MPI_Datatype *newtype)
{
    return mpi_type_create_hindexed(self, count, array_of_blocklengths, array_of_displacements,
                                    oldtype, newtype);
}

int mpi_type_create_indexed_block(struct mpi_rank *self, int count, int blocklength,
                                  const int array_of_displacements[], MPI_Datatype oldtype,
                                  MPI_Datatype *newtype)
{
    struct mpi_type *old, *made = NULL;
    int rc = check_make(self, oldtype, newtype, &old);
    if (!rc)
        rc = check_lists(self, count, 0, NULL, array_of_displacements);
    if (rc)
        return rc;
    rc = mpi_type_make_indexed_block(count, blocklength, array_of_displacements, old, &made);
    return deliver(self, rc, made, newtype);
}

int mpi_type_create_hindexed_block(struct mpi_rank *self, int count, int blocklength,
                                   const MPI_Aint array_of_displacements[], MPI_Datatype oldtype,
                                   MPI_Datatype *newtype)
{
    struct mpi_type *old, *made = NULL;
    int rc = check_make(self, oldtype, newtype, &old);
    if (!rc)
        rc = check_lists(self, count, 0, NULL, array_of_displacements);
    if (rc)
        return rc;
    rc = mpi_type_make_hindexed_block(count, blocklength, array_of_displacements, old, &made);
    return deliver(self, rc, made, newtype);
}

/* The objects of a list of handles, on the heap; NULL after raising an error into *rc. */
static struct mpi_type **get_types(struct mpi_rank *self, int count, const MPI_Datatype *handles,
                                   int *rc)
{
    struct mpi_type **types = mem_alloc((size_t)count * sizeof *types);
    for (int i = 0; i < count; i++) {
        types[i] = mpi_type_get(handles[i]);
        if (!types[i]) {
            mem_free(types);
            *rc = type_raise_handle(self, handles[i]);
            return NULL;
        }
    }
    return types;
}

int mpi_type_create_struct(struct mpi_rank *self, int count, const int array_of_blocklengths[],
                           const MPI_Aint array_of_displacements[],
                           const MPI_Datatype array_of_types[], MPI_Datatype *newtype)
{
    int rc = check_lists(self, count, 1, array_of_blocklengths, array_of_displacements);
    if (rc)
        return rc;
    if (!newtype || (count > 0 && !array_of_types))
        return type_raise_null(self, newtype ? "array_of_types" : "newtype");
    if (count < 0)
        return deliver(self, MPI_ERR_COUNT, NULL, newtype);
    struct mpi_type **types = get_types(self, count, array_of_types, &rc);
    if (!types)
        return rc;
    struct mpi_type *made = NULL;
    rc = mpi_type_make_struct(count, array_of_blocklengths, array_of_displacements, types, &made);
    mem_free(types);
    return deliver(self, rc, made, newtype);
}

int mpi_type_struct(struct mpi_rank *self, int count, int array_of_blocklengths[],
                    MPI_Aint array_of_displacements[], MPI_Datatype array_of_types[],
                    MPI_Datatype *newtype)
{
    return mpi_type_create_struct(self, count, array_of_blocklengths, array_of_displacements,
                                  array_of_types, newtype);
}

int mpi_type_create_resized(struct mpi_rank *self, MPI_Datatype oldtype, MPI_Aint lb,
                            MPI_Aint extent, MPI_Datatype *newtype)
{
    struct mpi_type *old, *made = NULL;
    int rc = check_make(self, oldtype, newtype, &old);
    if (rc)
        return rc;
    rc = mpi_type_make_resized(old, lb, extent, &made);
    return deliver(self, rc, made, newtype);
}

int mpi_type_create_subarray(struct mpi_rank *self, int ndims, const int array_of_sizes[],
                             const int array_of_subsizes[], const int array_of_starts[], int order,
                             MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct mpi_type *old, *made = NULL;
    int rc = check_make(self, oldtype, newtype, &old);
    if (rc)
        return rc;
    if (ndims > 0 && (!array_of_sizes || !array_of_subsizes || !array_of_starts))
        return type_raise_null(self, "array_of_sizes, array_of_subsizes or array_of_starts");
    rc = mpi_type_make_subarray(ndims, array_of_sizes, array_of_subsizes, array_of_starts, order,
                                old, &made);
    return deliver(self, rc, made, newtype);
}

/* The duplicate is gone if a copy function fails. */
static int copy_attributes(struct mpi_rank *self, MPI_Datatype from, MPI_Datatype *to)
{
    int rc = mpi_attr_copy_all(self, from, *to);

    if (!rc)
        return MPI_SUCCESS;
    mpi_type_retract(mpi_type_get(*to));
    *to = MPI_DATATYPE_NULL;
    return mpi_raise(self, MPI_COMM_NULL, rc, "an attribute copy function returned %d", rc);
}

int mpi_type_dup(struct mpi_rank *self, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct mpi_type *old, *made = NULL;
    int rc = check_make(self, oldtype, newtype, &old);
    if (rc)
        return rc;
    rc = mpi_type_make_dup(old, &made);
    rc = deliver(self, rc, made, newtype);
    return rc ? rc : copy_attributes(self, oldtype, newtype);
}

int mpi_type_commit(struct mpi_rank *self, MPI_Datatype *datatype)
{
    if (!datatype)
        return type_raise_null(self, "datatype");
    struct mpi_type *t = mpi_type_get(*datatype);
    if (!t)
        return type_raise_handle(self, *datatype);
    mpi_type_set_committed(t);
    return MPI_SUCCESS;
}

int mpi_type_free(struct mpi_rank *self, MPI_Datatype *datatype)
{
    if (!datatype)
        return type_raise_null(self, "datatype");
    struct mpi_type *t = mpi_type_get(*datatype);
    if (!t)
        return type_raise_handle(self, *datatype);
    if (t->builtin)
        return mpi_raise(self, MPI_COMM_SELF, MPI_ERR_TYPE,
                         "the predefined datatype %s cannot be freed", mpi_type_name(t));
    int rc = mpi_attr_delete_all(self, *datatype);
    if (rc)
        return mpi_raise(self, MPI_COMM_NULL, rc, "an attribute delete function returned %d", rc);
    mpi_type_retract(t);
    *datatype = MPI_DATATYPE_NULL;
    return MPI_SUCCESS;
}
