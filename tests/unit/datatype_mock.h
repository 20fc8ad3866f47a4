/*
 * datatype_mock.h - what tests of src/mpi/datatype share: errors are noted, there are no
 * attributes.
 */
#ifndef DATATYPE_MOCK_H
#define DATATYPE_MOCK_H

#include "mpi/datatype/datatype.h"
#include "mpi/error.h"
#include "mpi_impl.h"
#include "no_attributes.h"
#include "tap.h"

static int raised; /* class of the last error, 0 if none since it was reset */

int mpi_raise(struct mpi_rank *self, MPI_Comm comm, int error_class, const char *fmt, ...)
{
    (void)self;
    (void)comm;
    (void)fmt;
    raised = error_class;
    return error_class;
}

static struct mpi_rank *const self = NULL;

/* Whether `call` raised and returned exactly this class. */
#define raises(call, class, name)                      \
    do {                                               \
        raised = 0;                                    \
        int rc_ = (call);                              \
        ok(rc_ == (class) && raised == (class), name); \
    } while (0)

static MPI_Datatype struct2(int b1, MPI_Aint d1, MPI_Datatype t1, int b2, MPI_Aint d2,
                            MPI_Datatype t2)
{
    int b[] = {b1, b2};
    MPI_Aint d[] = {d1, d2};
    MPI_Datatype t[] = {t1, t2}, h = MPI_DATATYPE_NULL;
    mpi_type_create_struct(self, 2, b, d, t, &h);
    return h;
}

#endif
