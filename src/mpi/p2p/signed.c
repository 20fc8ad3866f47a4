/*
 * signed.c - computes the type signatures that messages carry for --check (verify.h), and says
 * which messages carry one.
 */
#include "mpi/datatype/datatype.h"
#include "mpi/p2p/request.h"
#include "mpi/p2p/tags.h"
#include "mpi/verify.h"

struct mpi_sig mpi_sig_of(const struct mpi_rank *self, const struct mpi_type *type, uint64_t count)
{
    struct mpi_sig s = {.fn = self->fn};

    if (!type || !count || !type->nelems)
        return s;
    s.elements = type->nelems * count;
    s.hash = mpi_type_prefix_signature(type, s.elements);
    s.elem = type->elem;
    return s;
}

int mpi_sig_is_open(const struct mpi_sig *s)
{
    return s->elem == MPI_PACKED;
}

int mpi_verify_wants(int32_t tag, uint32_t ctx)
{
    if (mpi_ctx_is_users(ctx))
        return 1;
    if (!mpi_ctx_is_coll(ctx) || ctx >= MPI_CTX_PARTITIONED || tag >= MPI_TAG_CREATE_GROUP_FIRST)
        return 0;
    switch (tag % MPI_TAG_NONBLOCKING_FIRST) {
    case MPI_TAG_GATHERV:
    case MPI_TAG_SCATTERV:
    case MPI_TAG_ALLTOALLV:
    case MPI_TAG_ALLTOALLW:
    case MPI_TAG_NEIGHBOR:
        return 1;
    default:
        return 0;
    }
}
