/*
 * coll_util.c - buffers and arithmetic that collective algorithms share. Nothing here switches.
 */
#include "mpi/coll/coll_internal.h"

/* Distance from the address of a buffer to its lowest byte: items may be below the address. */
static int64_t items_low(const struct mpi_type *type, uint64_t count)
{
    int64_t last = count ? (int64_t)(count - 1) * type->extent : 0;
    return (last < 0 ? last : 0) + type->true_lb;
}

static size_t items_size(const struct mpi_type *type, uint64_t count)
{
    int64_t last = count ? (int64_t)(count - 1) * type->extent : 0;
    return (size_t)((last < 0 ? -last : last) + type->true_extent);
}

void *coll_items_alloc(const struct mpi_coll_args *a, const struct mpi_type *type, uint64_t count)
{
    if (coll_is_hollow(a))
        return MPI_HOLLOW;
    char *low = (char *)pool_alloc(&mpi_world.pool, items_size(type, count));
    return low - items_low(type, count);
}

void coll_items_free(void *items, const struct mpi_type *type, uint64_t count)
{
    if (!mpi_is_hollow(items))
        pool_free(&mpi_world.pool, (char *)items + items_low(type, count), items_size(type, count));
}

char *coll_bytes_alloc(const struct mpi_coll_args *a, uint64_t n)
{
    return (char *)(coll_is_hollow(a) ? MPI_HOLLOW : mem_alloc(n));
}

void coll_bytes_free(char *bytes)
{
    if (!mpi_is_hollow(bytes))
        mem_free(bytes);
}

int coll_fold(const struct mpi_coll_args *a, void *acc, void *in, uint64_t count, int in_is_lower)
{
    if (!count)
        return MPI_SUCCESS;
    if (in_is_lower || a->op->commute)
        return mpi_op_apply(a->op, in, acc, count, a->rtype);
    int rc = mpi_op_apply(a->op, acc, in, count, a->rtype);
    coll_copy(in, acc, count, a->rtype);
    return rc;
}

void coll_pack_ring(const struct mpi_coll_args *a, const void *buf, uint64_t count,
                    const struct mpi_type *type, int first, int n, char *out)
{
    uint64_t straight = (uint64_t)coll_min(n, a->size - first), wrapped = (uint64_t)n - straight;
    const void *start = coll_at(buf, (int64_t)((uint64_t)first * count), type);

    out += mpi_type_pack(type, straight * count, start, out);
    mpi_type_pack(type, wrapped * count, buf, out);
}

void coll_unpack_ring(const struct mpi_coll_args *a, void *buf, uint64_t count,
                      const struct mpi_type *type, int first, int n, const char *in)
{
    uint64_t straight = (uint64_t)coll_min(n, a->size - first), wrapped = (uint64_t)n - straight;
    uint64_t bytes = straight * count * type->size;
    void *start = coll_at(buf, (int64_t)((uint64_t)first * count), type);

    mpi_type_unpack(type, straight * count, start, in, bytes);
    mpi_type_unpack(type, wrapped * count, buf, in + bytes, wrapped * count * type->size);
}

uint64_t coll_block_sum(const struct mpi_coll_args *a, int from, int to)
{
    if (a->op_id != MPI_COLL_reduce_scatter)
        return (uint64_t)(to - from) * a->rcount;
    uint64_t sum = 0;
    for (int i = from; i < to; i++)
        sum += coll_count(a, a->rcounts, i);
    return sum;
}

static struct coll_block block_of(const void *buf, int64_t item, uint64_t count,
                                  struct mpi_type *type)
{
    return (struct coll_block){coll_at(buf, item, type), count, type};
}

/* The w form: displacements in bytes, a type per rank, any type if the block is empty. */
static struct coll_block block_w(const struct mpi_coll_args *a, const void *buf, const void *counts,
                                 const void *displs, const void *types, int i)
{
    uint64_t count = coll_count(a, counts, i);

    if (!count)
        return (struct coll_block){(char *)(uintptr_t)buf, 0, coll_byte()};
    return (struct coll_block){(char *)(uintptr_t)buf + coll_displ(a, displs, i), count,
                               coll_type(a, types, i)};
}

struct coll_block coll_send_block(const struct mpi_coll_args *a, int i)
{
    switch (a->op_id) {
    case MPI_COLL_alltoallw:
    case MPI_COLL_neighbor_alltoallw:
        return block_w(a, a->sbuf, a->scounts, a->sdispls, a->stypes, i);
    case MPI_COLL_alltoallv:
    case MPI_COLL_neighbor_alltoallv:
    case MPI_COLL_scatterv:
        return block_of(a->sbuf, coll_displ(a, a->sdispls, i), coll_count(a, a->scounts, i),
                        a->stype);
    case MPI_COLL_alltoall:
    case MPI_COLL_neighbor_alltoall:
    case MPI_COLL_scatter:
        return block_of(a->sbuf, (int64_t)((uint64_t)i * a->scount), a->scount, a->stype);
    default:
        return block_of(a->sbuf, 0, a->scount, a->stype);
    }
}

struct coll_block coll_recv_block(const struct mpi_coll_args *a, int i)
{
    switch (a->op_id) {
    case MPI_COLL_alltoallw:
    case MPI_COLL_neighbor_alltoallw:
        return block_w(a, a->rbuf, a->rcounts, a->rdispls, a->rtypes, i);
    case MPI_COLL_alltoallv:
    case MPI_COLL_neighbor_alltoallv:
    case MPI_COLL_allgatherv:
    case MPI_COLL_neighbor_allgatherv:
    case MPI_COLL_gatherv:
        return block_of(a->rbuf, coll_displ(a, a->rdispls, i), coll_count(a, a->rcounts, i),
                        a->rtype);
    case MPI_COLL_alltoall:
    case MPI_COLL_neighbor_alltoall:
    case MPI_COLL_allgather:
    case MPI_COLL_neighbor_allgather:
    case MPI_COLL_gather:
        return block_of(a->rbuf, (int64_t)((uint64_t)i * a->rcount), a->rcount, a->rtype);
    default:
        return block_of(a->rbuf, 0, a->rcount, a->rtype);
    }
}

int coll_copy_block(const struct coll_block *from, const struct coll_block *to)
{
    if (coll_block_bytes(from) > coll_block_bytes(to))
        return MPI_ERR_TRUNCATE;
    mpi_type_copy(from->buf, from->count, from->type, to->buf, to->count, to->type);
    return MPI_SUCCESS;
}

int coll_copy_own(const struct mpi_coll_args *a)
{
    if (a->sbuf == MPI_IN_PLACE || a->rbuf == MPI_IN_PLACE)
        return MPI_SUCCESS;
    struct coll_block from = coll_send_block(a, a->rank), to = coll_recv_block(a, a->rank);
    return coll_copy_block(&from, &to);
}

char *coll_flatten(const struct mpi_coll_args *a)
{
    if (a->rtype->contig)
        return (char *)a->rbuf;
    char *bytes = coll_bytes_alloc(a, a->rcount * a->rtype->size);
    if (a->rank == a->root)
        mpi_type_pack(a->rtype, a->rcount, a->rbuf, bytes);
    return bytes;
}

void coll_unflatten(const struct mpi_coll_args *a, char *bytes, int unpack)
{
    if (a->rtype->contig)
        return;
    if (unpack)
        mpi_type_unpack(a->rtype, a->rcount, a->rbuf, bytes, a->rcount * a->rtype->size);
    coll_bytes_free(bytes);
}
