/*
 * entry_check.h - argument checks of the collective MPI calls.
 *
 * The tests are inline and cheap; the functions that say what is wrong are out of line and cold, so
 * that the frames of the calls stay small. All of them raise the error and return its class. Where
 * MPICH checks an argument, its error class is used.
 */
#ifndef MPI_COLL_ENTRY_CHECK_H
#define MPI_COLL_ENTRY_CHECK_H

#include "mpi/coll/coll_internal.h"
#include "mpi/error.h"

#define COLL_COLD __attribute__((cold, noinline))
#define coll_unlikely(x) __builtin_expect(!!(x), 0)

int coll_bad_comm(struct mpi_rank *self, MPI_Comm comm) COLL_COLD;
int coll_bad_root(struct mpi_rank *self, MPI_Comm comm, int root) COLL_COLD;
int coll_bad_items(struct mpi_rank *self, MPI_Comm comm, const void *buf, int count,
                   MPI_Datatype datatype) COLL_COLD;
int coll_bad_op(struct mpi_rank *self, MPI_Comm comm, MPI_Op op, MPI_Datatype datatype) COLL_COLD;
int coll_bad_alias(struct mpi_rank *self, MPI_Comm comm) COLL_COLD;
int coll_bad_array(struct mpi_rank *self, MPI_Comm comm) COLL_COLD;
int coll_failed(struct mpi_rank *self, MPI_Comm comm, int error_class) COLL_COLD;

static inline int coll_comm_ok(const struct mpi_comm *c)
{
    return c != NULL;
}
/* An intracommunicator. */
static inline int coll_intra_ok(const struct mpi_comm *c)
{
    return c && !c->remote;
}

/* In an intercommunicator the group of the root passes MPI_ROOT or MPI_PROC_NULL. */
static inline int coll_root_ok(const struct mpi_comm *c, int root)
{
    return (root >= 0 && (uint32_t)root < mpi_comm_peers(c)) ||
           (c->remote && (root == MPI_ROOT || root == MPI_PROC_NULL));
}
/* Is the caller the root? Does it have the part of the others, which a root also has if it is in
 * their group? */
static inline int coll_is_root(const struct mpi_rank *self, const struct mpi_comm *c, int root)
{
    return c->remote ? root == MPI_ROOT : mpi_comm_my_rank(c, self) == root;
}
static inline int coll_is_leaf(const struct mpi_comm *c, int root)
{
    return !c->remote || root >= 0;
}
/* May the caller say MPI_IN_PLACE? Not in an intercommunicator. */
static inline int coll_is_in_place(const struct mpi_comm *c, const void *buf)
{
    return buf == MPI_IN_PLACE && !c->remote;
}

/* A buffer of count items. The null address is good for nothing, for absolute addresses
 * (MPI_BOTTOM), and for types without data. */
static inline int coll_items_ok(const void *buf, int count, const struct mpi_type *type)
{
    return count >= 0 && type && type->committed && buf != MPI_IN_PLACE &&
           (buf || !count || type->true_lb || !type->size);
}

static inline int coll_op_ok(const struct mpi_op *op, const struct mpi_type *type)
{
    return op && mpi_op_check(op, type) == MPI_SUCCESS;
}

static inline int coll_is_alias(const void *sbuf, const void *rbuf, int count)
{
    return sbuf == rbuf && sbuf && count > 0;
}

/* The same for a call that puts what the rank sends into its own block of the receive buffer, which
 * begins `skip` items into it. */
static inline int coll_is_own_block(const void *sbuf, const void *rbuf, int count, int64_t skip,
                                    const struct mpi_type *type)
{
    return coll_is_alias(sbuf, rbuf, count) ||
           (type && sbuf != MPI_IN_PLACE &&
            coll_is_alias(sbuf, (const char *)rbuf + skip * type->extent, count));
}

/* A buffer of a block per rank; -1: all well, else the first rank whose block is not. Types and
 * counts per rank; `types` NULL: all of `type`. O(size). */
int coll_first_bad_block(const void *buf, const int *counts, const int *displs,
                         MPI_Datatype type, const MPI_Datatype *types, int size);

/* What a call returns. */
static inline int coll_done(struct mpi_rank *self, MPI_Comm comm, int rc)
{
    return coll_unlikely(rc) ? coll_failed(self, comm, rc) : MPI_SUCCESS;
}

#endif
