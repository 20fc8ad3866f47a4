/*
 * ext.c - the rarely needed part of a rank.
 */
#include "mpi/ext.h"

#include <string.h>

#define SHORT_BYTES offsetof(struct mpi_ext, posted)

struct mpi_ext *mpi_ext_make_short(struct mpi_rank *self)
{
    self->ext = pool_alloc(&mpi_world.pool, SHORT_BYTES);
    memset(self->ext, 0, SHORT_BYTES);
    return self->ext;
}

struct mpi_ext *mpi_ext_make(struct mpi_rank *self)
{
    struct mpi_ext *part = self->ext, *x = pool_alloc(&mpi_world.pool, sizeof *x);

    memset(x, 0, sizeof *x);
    if (part) {
        memcpy(x, part, SHORT_BYTES);
        pool_free(&mpi_world.pool, part, SHORT_BYTES);
    }
    x->full = 1;
    self->ext = x;
    return x;
}
