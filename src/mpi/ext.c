/*
 * ext.c - the rarely needed part of a rank.
 */
#include "mpi/ext.h"

#include <string.h>

struct mpi_ext *mpi_ext_make(struct mpi_rank *self)
{
    self->ext = pool_alloc(&mpi_world.pool, sizeof *self->ext);
    memset(self->ext, 0, sizeof *self->ext);
    return self->ext;
}
