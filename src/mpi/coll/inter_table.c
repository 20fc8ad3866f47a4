/*
 * inter_table.c - chooses the algorithm of a collective on an intercommunicator, as MPICH 4.0 does.
 * Selectors use values that are equal on all participating ranks.
 */
#include "mpi/coll/inter.h"

#define ID(operation, name) ID_##operation##_##name,
enum inter_id { MPI_COLL_INTER_ALGORITHMS(ID) ID_COUNT };

#define ROW(operation, name) \
    {#operation, #name, MPI_COLL_##operation, 0, inter_##operation##_##name},
static const struct mpi_coll_algorithm algorithms[ID_COUNT] = {MPI_COLL_INTER_ALGORITHMS(ROW)};

enum { INTER_SHORT = 2048 }; /* bytes in all; below: through rank 0 of the other group */

static int is_short(const struct mpi_comm *c, const struct mpi_coll_args *a)
{
    int root_receives = a->op_id == MPI_COLL_gather,
        receives = (a->root == MPI_ROOT) == root_receives;
    uint64_t block = receives ? a->rcount * a->rtype->size : a->scount * a->stype->size;

    return block * (a->root == MPI_ROOT ? c->remote : c->group)->size < INTER_SHORT;
}

static enum inter_id pick(const struct mpi_comm *c, const struct mpi_coll_args *a)
{
    if (a->op_id == MPI_COLL_gather && !is_short(c, a))
        return ID_gather_linear;
    if (a->op_id == MPI_COLL_scatter && !is_short(c, a))
        return ID_scatter_linear;
    for (uint32_t i = 0; i < ID_COUNT; i++)
        if (algorithms[i].op_id == a->op_id)
            return (enum inter_id)i;
    return ID_COUNT;
}

int mpi_inter_run(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    enum inter_id id;

    if (a->root == MPI_PROC_NULL) /* rooted operations only: does not take part */
        return MPI_SUCCESS;
    id = pick(c, a);
    return id == ID_COUNT ? MPI_ERR_COMM : algorithms[id].run(self, c, a); /* scan, exscan */
}
