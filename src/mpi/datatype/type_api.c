/*
 * type_api.c - MPI calls on datatypes: copy, commit and free, the Fortran 90 types, addresses.
 *
 * Each function is the MPI call of the same name with the calling rank in front: it checks the
 * arguments, raises errors (these calls have no communicator) and returns an MPI
 * error class. None switches, but the error handler may end the run.
 */
#include <stddef.h>

#include "mpi/attr.h"
#include "mpi/datatype/datatype.h"
#include "mpi/datatype/type_api.h"
#include "mpi/error.h"
#include "mpi_impl.h"

int type_raise_handle_on(struct mpi_rank *self, MPI_Comm comm, MPI_Datatype handle)
{
    if (handle == MPI_DATATYPE_NULL)
        return mpi_raise(self, comm, MPI_ERR_TYPE, "the datatype is MPI_DATATYPE_NULL");
    return mpi_raise(self, comm, MPI_ERR_TYPE,
                     "the datatype 0x%08x does not exist or has been freed", (unsigned)handle);
}

int type_raise_handle(struct mpi_rank *self, MPI_Datatype handle)
{
    return type_raise_handle_on(self, MPI_COMM_NULL, handle);
}

int type_deliver(struct mpi_rank *self, int rc, struct mpi_type *made, MPI_Datatype *newtype)
{
    switch (rc) {
    case MPI_SUCCESS:
        *newtype = mpi_type_publish(made);
        return MPI_SUCCESS;
    case MPI_ERR_COUNT:
        return mpi_raise(self, MPI_COMM_NULL, rc, "the type exceeds 2^63 bytes");
    case MPI_ERR_ARG:
        return mpi_raise(self, MPI_COMM_NULL, rc,
                         "the order or a distribution is unknown, or the part does not fit the "
                         "array and the processes");
    case MPI_ERR_RANK:
        return mpi_raise(self, MPI_COMM_NULL, rc, "the rank is not one of the processes");
    default:
        return mpi_raise(self, MPI_COMM_NULL, rc, "there are too many datatypes");
    }
}

int type_check_make(struct mpi_rank *self, MPI_Datatype oldtype, struct mpi_type **old)
{
    *old = mpi_type_get(oldtype);
    return *old ? MPI_SUCCESS : type_raise_handle(self, oldtype);
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
    int rc = type_check_make(self, oldtype, &old);
    if (rc)
        return rc;
    rc = mpi_type_make_dup(old, &made);
    rc = type_deliver(self, rc, made, newtype);
    return rc ? rc : copy_attributes(self, oldtype, newtype);
}

int mpi_type_commit(struct mpi_rank *self, MPI_Datatype *datatype)
{
    struct mpi_type *t = mpi_type_get(*datatype);
    if (!t)
        return type_raise_handle(self, *datatype);
    mpi_type_set_committed(t);
    return MPI_SUCCESS;
}

int mpi_type_free(struct mpi_rank *self, MPI_Datatype *datatype)
{
    struct mpi_type *t = mpi_type_get(*datatype);
    if (!t)
        return type_raise_handle(self, *datatype);
    if (t->builtin)
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_TYPE,
                         "the predefined datatype %s cannot be freed", mpi_type_name(t));
    int rc = mpi_attr_delete_all(self, *datatype);
    if (rc)
        return mpi_raise(self, MPI_COMM_NULL, rc, "an attribute delete function returned %d", rc);
    mpi_type_retract(t);
    *datatype = MPI_DATATYPE_NULL;
    return MPI_SUCCESS;
}

/* The requirements on a Fortran kind: decimal digits, and for reals the decimal exponent. */
struct kind {
    int digits, range;
    MPI_Datatype real, complex;
};

static const struct kind reals[] = {
    {6, 37, MPI_REAL, MPI_COMPLEX},
    {15, 307, MPI_DOUBLE_PRECISION, MPI_DOUBLE_COMPLEX},
};

static const struct {
    int range;
    MPI_Datatype type;
} integers[] = {{2, MPI_INTEGER1}, {4, MPI_INTEGER2}, {9, MPI_INTEGER4}, {18, MPI_INTEGER8}};

static int make_f90(struct mpi_rank *self, int combiner, int p, int r, MPI_Datatype basic,
                    MPI_Datatype *newtype)
{
    struct mpi_type *made = NULL;
    if (basic == MPI_DATATYPE_NULL)
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_OTHER,
                         "no Fortran kind has precision %d and range %d", p, r);
    int rc = mpi_type_make_f90(combiner, p, r, mpi_type_get(basic), &made);
    return type_deliver(self, rc, made, newtype);
}

static const struct kind *find_real(int p, int r)
{
    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++)
        if ((p == MPI_UNDEFINED || p <= reals[i].digits) &&
            (r == MPI_UNDEFINED || r <= reals[i].range))
            return &reals[i];
    return NULL;
}

int mpi_type_create_f90_real(struct mpi_rank *self, int p, int r, MPI_Datatype *newtype)
{
    const struct kind *kind = find_real(p, r);
    return make_f90(self, MPI_COMBINER_F90_REAL, p, r, kind ? kind->real : MPI_DATATYPE_NULL,
                    newtype);
}

int mpi_type_create_f90_complex(struct mpi_rank *self, int p, int r, MPI_Datatype *newtype)
{
    const struct kind *kind = find_real(p, r);
    return make_f90(self, MPI_COMBINER_F90_COMPLEX, p, r, kind ? kind->complex : MPI_DATATYPE_NULL,
                    newtype);
}

int mpi_type_create_f90_integer(struct mpi_rank *self, int r, MPI_Datatype *newtype)
{
    MPI_Datatype basic = MPI_DATATYPE_NULL;
    for (size_t i = sizeof integers / sizeof integers[0]; i-- > 0;)
        if (r <= integers[i].range)
            basic = integers[i].type;
    return make_f90(self, MPI_COMBINER_F90_INTEGER, 0, r, basic, newtype);
}

int mpi_type_match_size(struct mpi_rank *self, int typeclass, int size, MPI_Datatype *datatype)
{
    static const struct {
        int typeclass;
        MPI_Datatype type;
    } sized[] = {
        {MPI_TYPECLASS_REAL, MPI_REAL4},        {MPI_TYPECLASS_REAL, MPI_REAL8},
        {MPI_TYPECLASS_REAL, MPI_REAL16},       {MPI_TYPECLASS_INTEGER, MPI_INTEGER1},
        {MPI_TYPECLASS_INTEGER, MPI_INTEGER2},  {MPI_TYPECLASS_INTEGER, MPI_INTEGER4},
        {MPI_TYPECLASS_INTEGER, MPI_INTEGER8},  {MPI_TYPECLASS_COMPLEX, MPI_COMPLEX8},
        {MPI_TYPECLASS_COMPLEX, MPI_COMPLEX16}, {MPI_TYPECLASS_COMPLEX, MPI_COMPLEX32},
    };
    for (size_t i = 0; i < sizeof sized / sizeof sized[0]; i++) {
        const struct mpi_type *t = mpi_type_get(sized[i].type);
        if (sized[i].typeclass == typeclass && size >= 0 && t->size == (uint64_t)size) {
            *datatype = sized[i].type;
            return MPI_SUCCESS;
        }
    }
    *datatype = MPI_DATATYPE_NULL;
    return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_ARG, "no type of class %d has %d bytes",
                     typeclass, size);
}

int mpi_get_address(struct mpi_rank *self, const void *location, MPI_Aint *address)
{
    (void)self;
    *address = (MPI_Aint)location;
    return MPI_SUCCESS;
}

int mpi_address(struct mpi_rank *self, void *location, MPI_Aint *address)
{
    return mpi_get_address(self, location, address);
}

/* Sums and differences of addresses wrap, as pointers do. */
MPI_Aint mpi_aint_add(struct mpi_rank *self, MPI_Aint base, MPI_Aint disp)
{
    (void)self;
    return (MPI_Aint)((size_t)base + (size_t)disp);
}

MPI_Aint mpi_aint_diff(struct mpi_rank *self, MPI_Aint addr1, MPI_Aint addr2)
{
    (void)self;
    return (MPI_Aint)((size_t)addr1 - (size_t)addr2);
}
