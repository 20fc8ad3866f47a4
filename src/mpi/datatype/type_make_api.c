/* type_make_api.c - MPI calls that construct datatypes, in both forms: ints, and MPI_Count
 * (MPI_X_c).
 *
 * The two forms differ in what the contents of the type will be, and in the arrays they take. A
 * static function does the work of both on MPI_Counts; the int form widens its arrays first.
 * Addresses need no conversion: MPI_Aint and MPI_Count are the same type. Other conventions as in
 * type_api.c. */
#include <stddef.h>

#include "base/mem.h"
#include "mpi/datatype/datatype.h"
#include "mpi/datatype/type_api.h"
#include "mpi/error.h"
#include "mpi_impl.h"

_Static_assert(__builtin_types_compatible_p(MPI_Aint, MPI_Count), "addresses are counts");

/* The ints as counts, to be freed with mem_free; NULL if there are none. */
static MPI_Count *widen(MPI_Count n, const int *ints)
{
    if (!ints || n <= 0)
        return NULL;
    MPI_Count *counts = mem_alloc((size_t)n * sizeof *counts);
    for (MPI_Count i = 0; i < n; i++)
        counts[i] = ints[i];
    return counts;
}

static int make_contiguous(struct mpi_rank *self, bool large, MPI_Count count, MPI_Datatype oldtype,
                           MPI_Datatype *newtype)
{
    struct mpi_type *old, *made = NULL;
    int rc = type_check_make(self, oldtype, &old);
    if (rc)
        return rc;
    rc = mpi_type_make_contiguous(large, count, old, &made);
    return type_deliver(self, rc, made, newtype);
}

int mpi_type_contiguous(struct mpi_rank *self, int count, MPI_Datatype oldtype,
                        MPI_Datatype *newtype)
{
    return make_contiguous(self, false, count, oldtype, newtype);
}

int mpi_type_contiguous_c(struct mpi_rank *self, MPI_Count count, MPI_Datatype oldtype,
                          MPI_Datatype *newtype)
{
    return make_contiguous(self, true, count, oldtype, newtype);
}

typedef int vector_maker(bool, MPI_Count, MPI_Count, MPI_Count, struct mpi_type *,
                         struct mpi_type **);

static int make_vector(struct mpi_rank *self, vector_maker *make, bool large, MPI_Count count,
                       MPI_Count blocklength, MPI_Count stride, MPI_Datatype oldtype,
                       MPI_Datatype *newtype)
{
    struct mpi_type *old, *made = NULL;
    int rc = type_check_make(self, oldtype, &old);
    if (rc)
        return rc;
    rc = make(large, count, blocklength, stride, old, &made);
    return type_deliver(self, rc, made, newtype);
}

int mpi_type_vector(struct mpi_rank *self, int count, int blocklength, int stride,
                    MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return make_vector(self, mpi_type_make_vector, false, count, blocklength, stride, oldtype,
                       newtype);
}

int mpi_type_vector_c(struct mpi_rank *self, MPI_Count count, MPI_Count blocklength,
                      MPI_Count stride, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return make_vector(self, mpi_type_make_vector, true, count, blocklength, stride, oldtype,
                       newtype);
}

int mpi_type_create_hvector(struct mpi_rank *self, int count, int blocklength, MPI_Aint stride,
                            MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return make_vector(self, mpi_type_make_hvector, false, count, blocklength, stride, oldtype,
                       newtype);
}

int mpi_type_create_hvector_c(struct mpi_rank *self, MPI_Count count, MPI_Count blocklength,
                              MPI_Count stride, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return make_vector(self, mpi_type_make_hvector, true, count, blocklength, stride, oldtype,
                       newtype);
}

int mpi_type_hvector(struct mpi_rank *self, int count, int blocklength, MPI_Aint stride,
                     MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return mpi_type_create_hvector(self, count, blocklength, stride, oldtype, newtype);
}

typedef int indexed_maker(bool, MPI_Count, const MPI_Count *, const MPI_Count *, struct mpi_type *,
                          struct mpi_type **);

static int make_indexed(struct mpi_rank *self, indexed_maker *make, bool large, MPI_Count count,
                        const MPI_Count *lengths, const MPI_Count *displs, MPI_Datatype oldtype,
                        MPI_Datatype *newtype)
{
    struct mpi_type *old, *made = NULL;
    int rc = type_check_make(self, oldtype, &old);
    if (rc)
        return rc;
    rc = make(large, count, lengths, displs, old, &made);
    return type_deliver(self, rc, made, newtype);
}

int mpi_type_indexed(struct mpi_rank *self, int count, const int array_of_blocklengths[],
                     const int array_of_displacements[], MPI_Datatype oldtype,
                     MPI_Datatype *newtype)
{
    MPI_Count *lengths = widen(count, array_of_blocklengths);
    MPI_Count *displs = widen(count, array_of_displacements);
    int rc = make_indexed(self, mpi_type_make_indexed, false, count, lengths, displs, oldtype,
                          newtype);
    mem_free(lengths);
    mem_free(displs);
    return rc;
}

int mpi_type_indexed_c(struct mpi_rank *self, MPI_Count count,
                       const MPI_Count array_of_blocklengths[],
                       const MPI_Count array_of_displacements[], MPI_Datatype oldtype,
                       MPI_Datatype *newtype)
{
    return make_indexed(self, mpi_type_make_indexed, true, count, array_of_blocklengths,
                        array_of_displacements, oldtype, newtype);
}

int mpi_type_create_hindexed(struct mpi_rank *self, int count, const int array_of_blocklengths[],
                             const MPI_Aint array_of_displacements[], MPI_Datatype oldtype,
                             MPI_Datatype *newtype)
{
    MPI_Count *lengths = widen(count, array_of_blocklengths);
    int rc = make_indexed(self, mpi_type_make_hindexed, false, count, lengths,
                          array_of_displacements, oldtype, newtype);
    mem_free(lengths);
    return rc;
}

int mpi_type_create_hindexed_c(struct mpi_rank *self, MPI_Count count,
                               const MPI_Count array_of_blocklengths[],
                               const MPI_Count array_of_displacements[], MPI_Datatype oldtype,
                               MPI_Datatype *newtype)
{
    return make_indexed(self, mpi_type_make_hindexed, true, count, array_of_blocklengths,
                        array_of_displacements, oldtype, newtype);
}

int mpi_type_hindexed(struct mpi_rank *self, int count, int array_of_blocklengths[],
                      MPI_Aint array_of_displacements[], MPI_Datatype oldtype,
                      MPI_Datatype *newtype)
{
    return mpi_type_create_hindexed(self, count, array_of_blocklengths, array_of_displacements,
                                    oldtype, newtype);
}

typedef int block_maker(bool, MPI_Count, MPI_Count, const MPI_Count *, struct mpi_type *,
                        struct mpi_type **);

static int make_blocks(struct mpi_rank *self, block_maker *make, bool large, MPI_Count count,
                       MPI_Count blocklength, const MPI_Count *displs, MPI_Datatype oldtype,
                       MPI_Datatype *newtype)
{
    struct mpi_type *old, *made = NULL;
    int rc = type_check_make(self, oldtype, &old);
    if (rc)
        return rc;
    rc = make(large, count, blocklength, displs, old, &made);
    return type_deliver(self, rc, made, newtype);
}

int mpi_type_create_indexed_block(struct mpi_rank *self, int count, int blocklength,
                                  const int array_of_displacements[], MPI_Datatype oldtype,
                                  MPI_Datatype *newtype)
{
    MPI_Count *displs = widen(count, array_of_displacements);
    int rc = make_blocks(self, mpi_type_make_indexed_block, false, count, blocklength, displs,
                         oldtype, newtype);
    mem_free(displs);
    return rc;
}

int mpi_type_create_indexed_block_c(struct mpi_rank *self, MPI_Count count, MPI_Count blocklength,
                                    const MPI_Count array_of_displacements[], MPI_Datatype oldtype,
                                    MPI_Datatype *newtype)
{
    return make_blocks(self, mpi_type_make_indexed_block, true, count, blocklength,
                       array_of_displacements, oldtype, newtype);
}

int mpi_type_create_hindexed_block(struct mpi_rank *self, int count, int blocklength,
                                   const MPI_Aint array_of_displacements[], MPI_Datatype oldtype,
                                   MPI_Datatype *newtype)
{
    return make_blocks(self, mpi_type_make_hindexed_block, false, count, blocklength,
                       array_of_displacements, oldtype, newtype);
}

int mpi_type_create_hindexed_block_c(struct mpi_rank *self, MPI_Count count, MPI_Count blocklength,
                                     const MPI_Count array_of_displacements[], MPI_Datatype oldtype,
                                     MPI_Datatype *newtype)
{
    return make_blocks(self, mpi_type_make_hindexed_block, true, count, blocklength,
                       array_of_displacements, oldtype, newtype);
}

/* The objects of a list of handles, on the heap; NULL after raising an error into *rc. */
static struct mpi_type **get_types(struct mpi_rank *self, MPI_Count count,
                                   const MPI_Datatype *handles, int *rc)
{
    struct mpi_type **types = mem_alloc((size_t)count * sizeof *types);
    for (MPI_Count i = 0; i < count; i++) {
        types[i] = mpi_type_get(handles[i]);
        if (!types[i]) {
            mem_free(types);
            *rc = type_raise_handle(self, handles[i]);
            return NULL;
        }
    }
    return types;
}

static int make_struct(struct mpi_rank *self, bool large, MPI_Count count, const MPI_Count *lengths,
                       const MPI_Count *displs, const MPI_Datatype *handles, MPI_Datatype *newtype)
{
    int rc;
    struct mpi_type **types = get_types(self, count, handles, &rc);
    if (!types)
        return rc;
    struct mpi_type *made = NULL;
    rc = mpi_type_make_struct(large, count, lengths, displs, types, &made);
    mem_free(types);
    return type_deliver(self, rc, made, newtype);
}

int mpi_type_create_struct(struct mpi_rank *self, int count, const int array_of_blocklengths[],
                           const MPI_Aint array_of_displacements[],
                           const MPI_Datatype array_of_types[], MPI_Datatype *newtype)
{
    MPI_Count *lengths = widen(count, array_of_blocklengths);
    int rc = make_struct(self, false, count, lengths, array_of_displacements, array_of_types,
                         newtype);
    mem_free(lengths);
    return rc;
}

int mpi_type_create_struct_c(struct mpi_rank *self, MPI_Count count,
                             const MPI_Count array_of_blocklengths[],
                             const MPI_Count array_of_displacements[],
                             const MPI_Datatype array_of_types[], MPI_Datatype *newtype)
{
    return make_struct(self, true, count, array_of_blocklengths, array_of_displacements,
                       array_of_types, newtype);
}

int mpi_type_struct(struct mpi_rank *self, int count, int array_of_blocklengths[],
                    MPI_Aint array_of_displacements[], MPI_Datatype array_of_types[],
                    MPI_Datatype *newtype)
{
    return mpi_type_create_struct(self, count, array_of_blocklengths, array_of_displacements,
                                  array_of_types, newtype);
}

static int make_resized(struct mpi_rank *self, bool large, MPI_Datatype oldtype, MPI_Count lb,
                        MPI_Count extent, MPI_Datatype *newtype)
{
    struct mpi_type *old, *made = NULL;
    int rc = type_check_make(self, oldtype, &old);
    if (rc)
        return rc;
    rc = mpi_type_make_resized(large, old, lb, extent, &made);
    return type_deliver(self, rc, made, newtype);
}

int mpi_type_create_resized(struct mpi_rank *self, MPI_Datatype oldtype, MPI_Aint lb,
                            MPI_Aint extent, MPI_Datatype *newtype)
{
    return make_resized(self, false, oldtype, lb, extent, newtype);
}

int mpi_type_create_resized_c(struct mpi_rank *self, MPI_Datatype oldtype, MPI_Count lb,
                              MPI_Count extent, MPI_Datatype *newtype)
{
    return make_resized(self, true, oldtype, lb, extent, newtype);
}

static int make_subarray(struct mpi_rank *self, bool large, int ndims, const MPI_Count *sizes,
                         const MPI_Count *subsizes, const MPI_Count *starts, int order,
                         MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct mpi_type *old, *made = NULL;
    int rc = type_check_make(self, oldtype, &old);
    if (rc)
        return rc;
    rc = mpi_type_make_subarray(large, ndims, sizes, subsizes, starts, order, old, &made);
    return type_deliver(self, rc, made, newtype);
}

int mpi_type_create_subarray(struct mpi_rank *self, int ndims, const int array_of_sizes[],
                             const int array_of_subsizes[], const int array_of_starts[], int order,
                             MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    MPI_Count *sizes = widen(ndims, array_of_sizes);
    MPI_Count *subsizes = widen(ndims, array_of_subsizes);
    MPI_Count *starts = widen(ndims, array_of_starts);
    int rc = make_subarray(self, false, ndims, sizes, subsizes, starts, order, oldtype, newtype);
    mem_free(sizes);
    mem_free(subsizes);
    mem_free(starts);
    return rc;
}

int mpi_type_create_subarray_c(struct mpi_rank *self, int ndims, const MPI_Count array_of_sizes[],
                               const MPI_Count array_of_subsizes[],
                               const MPI_Count array_of_starts[], int order, MPI_Datatype oldtype,
                               MPI_Datatype *newtype)
{
    return make_subarray(self, true, ndims, array_of_sizes, array_of_subsizes, array_of_starts,
                         order, oldtype, newtype);
}

/* `a` has all but the lists of ints. */
static int make_darray(struct mpi_rank *self, bool large, struct mpi_type_darray *a,
                       const int *distribs, const int *dargs, const int *psizes,
                       MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct mpi_type *old, *made = NULL;
    int rc = type_check_make(self, oldtype, &old);
    if (rc)
        return rc;
    MPI_Count *lists[] = {widen(a->ndims, distribs), widen(a->ndims, dargs),
                          widen(a->ndims, psizes)};
    a->distribs = lists[0];
    a->dargs = lists[1];
    a->psizes = lists[2];
    rc = mpi_type_make_darray(large, a, old, &made);
    for (int i = 0; i < 3; i++)
        mem_free(lists[i]);
    return type_deliver(self, rc, made, newtype);
}

int mpi_type_create_darray(struct mpi_rank *self, int size, int rank, int ndims,
                           const int array_of_gsizes[], const int array_of_distribs[],
                           const int array_of_dargs[], const int array_of_psizes[], int order,
                           MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    MPI_Count *gsizes = widen(ndims, array_of_gsizes);
    struct mpi_type_darray a = {.size = size,
                                .rank = rank,
                                .ndims = ndims,
                                .order = order,
                                .gsizes = gsizes};
    int rc = make_darray(self, false, &a, array_of_distribs, array_of_dargs, array_of_psizes,
                         oldtype, newtype);
    mem_free(gsizes);
    return rc;
}

int mpi_type_create_darray_c(struct mpi_rank *self, int size, int rank, int ndims,
                             const MPI_Count array_of_gsizes[], const int array_of_distribs[],
                             const int array_of_dargs[], const int array_of_psizes[], int order,
                             MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct mpi_type_darray a = {.size = size,
                                .rank = rank,
                                .ndims = ndims,
                                .order = order,
                                .gsizes = array_of_gsizes};
    return make_darray(self, true, &a, array_of_distribs, array_of_dargs, array_of_psizes, oldtype,
                       newtype);
}
