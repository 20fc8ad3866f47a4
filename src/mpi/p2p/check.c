/*
 * check.c - argument checks common to point-to-point calls.
 */
#include "base/log.h"
#include "mpi/p2p/p2p_internal.h"

#define TAG_MAX INT32_MAX /* MPI_TAG_UB */

static inline __attribute__((always_inline)) int check_buffer(struct mpi_rank *self,
                                                              const void *buf, MPI_Count count,
                                                              MPI_Datatype type, MPI_Comm comm,
                                                              struct mpi_sendargs *out)
{
    out->comm = mpi_comm_get(comm);
    if (!out->comm)
        return mpi_raise(self, comm, MPI_ERR_COMM, "invalid communicator 0x%x", (unsigned)comm);
    out->type = mpi_type_get(type);
    /* As in MPICH: with a count of 0 the type does not matter. */
    if (__builtin_expect(!out->type || !out->type->committed, 0) && count == 0)
        out->type = mpi_type_get(MPI_BYTE);
    if (!out->type)
        return mpi_raise(self, comm, MPI_ERR_TYPE, "invalid datatype 0x%x", (unsigned)type);
    if (!out->type->committed)
        return mpi_raise(self, comm, MPI_ERR_TYPE, "datatype 0x%x is not committed",
                         (unsigned)type);
    if (!buf && count > 0 && out->type->size > 0 && out->type->builtin)
        return mpi_raise(self, comm, MPI_ERR_BUFFER, "the buffer is NULL");
    return MPI_SUCCESS;
}

static inline __attribute__((always_inline)) int check_rank(struct mpi_rank *self, int rank,
                                                            MPI_Comm comm, const struct mpi_comm *c)
{
    char name[64];

    if (rank == MPI_PROC_NULL || (rank >= 0 && (uint32_t)rank < mpi_comm_peers(c)))
        return MPI_SUCCESS;
    return mpi_raise(self, comm, MPI_ERR_RANK, "rank %d is not in %s (size %u)", rank,
                     mpi_comm_label(comm, name, sizeof name), mpi_comm_peers(c));
}

int mpi_check_send(struct mpi_rank *self, const void *buf, MPI_Count count, MPI_Datatype type,
                   int dest, int tag, MPI_Comm comm, struct mpi_sendargs *out)
{
    int rc = check_buffer(self, buf, count, type, comm, out);

    if (rc == MPI_SUCCESS)
        rc = check_rank(self, dest, comm, out->comm);
    if (rc == MPI_SUCCESS && tag < 0)
        return mpi_raise(self, comm, MPI_ERR_TAG, "tag %d is not in 0..%d", tag, TAG_MAX);
    return rc;
}

/* With substreams by tag nobody knows which of two tags was sent first. */
static int check_any_tag(struct mpi_rank *self, int tag, MPI_Comm comm)
{
    if (tag != MPI_ANY_TAG)
        return mpi_raise(self, comm, MPI_ERR_TAG, "tag %d is not in 0..%d or MPI_ANY_TAG", tag,
                         TAG_MAX);
    if (mpi_world.net.substreams == NET_SUBSTREAMS_TAG)
        log_fatal_input("rank %u receives with MPI_ANY_TAG, but messages with different tags may "
                        "overtake each other: set net.packet.streams=communicator",
                        mpi_rank_id(self));
    return MPI_SUCCESS;
}

int mpi_check_source(struct mpi_rank *self, int source, int tag, MPI_Comm comm, struct mpi_comm *c)
{
    if (source != MPI_ANY_SOURCE) {
        int rc = check_rank(self, source, comm, c);

        if (rc != MPI_SUCCESS)
            return rc;
    }
    if (tag < 0)
        return check_any_tag(self, tag, comm);
    return MPI_SUCCESS;
}
int mpi_check_recv(struct mpi_rank *self, const void *buf, MPI_Count count, MPI_Datatype type,
                   int source, int tag, MPI_Comm comm, struct mpi_sendargs *out)
{
    int rc = check_buffer(self, buf, count, type, comm, out);

    return rc == MPI_SUCCESS ? mpi_check_source(self, source, tag, comm, out->comm) : rc;
}

int32_t mpi_source_world(const struct mpi_comm *c, int source)
{
    return source == MPI_ANY_SOURCE ? MPI_P2P_ANY
                                    : (int32_t)mpi_comm_world_rank(c, (uint32_t)source);
}
