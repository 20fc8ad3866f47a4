/*
 * ext.c - the rarely needed parts of a rank.
 */
#include "mpi/ext.h"

#include <string.h>

struct mpi_ext *mpi_ext_make(struct mpi_rank *self)
{
    self->ext = pool_alloc(&mpi_world.pool, sizeof *self->ext);
    memset(self->ext, 0, sizeof *self->ext);
    return self->ext;
}

struct mpi_rare *mpi_rare_make(struct mpi_rank *self)
{
    struct mpi_ext *x = mpi_ext_get(self);

    x->rare = pool_alloc(&mpi_world.pool, sizeof *x->rare);
    memset(x->rare, 0, sizeof *x->rare);
    return x->rare;
}
