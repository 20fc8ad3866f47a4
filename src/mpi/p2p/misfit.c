/*
 * misfit.c - remembers a message that did not fit, for the text of the error.
 *
 * A rank that finds a receive complete with an error may still block before it raises the error,
 * inside a collective; so the details are kept per rank. Only ranks with such errors have an entry.
 */
#include <stdio.h>

#include "base/mem.h"
#include "mpi/p2p/request.h"
#include "mpi/state.h"

struct misfit {
    int32_t rank, world; /* of the sender: in the communicator, and of the run */
    int32_t tag;
    int in_collective;
    uint64_t bytes, room;
};

void mpi_misfit_note(struct mpi_rank *self, const struct mpi_req *r)
{
    const struct mpi_comm *c = mpi_req_comm(r);
    struct misfit *m;

    if (r->kind != MPI_REQ_RECV || (r->flags & MPI_REQ_CHILD))
        return;
    m = mpi_state_make(self, MPI_STATE_misfit, sizeof *m);
    m->world = r->got_peer;
    m->rank = c ? mpi_comm_rank_of(c, (uint32_t)r->got_peer) : MPI_UNDEFINED;
    m->tag = r->got_tag;
    m->in_collective = mpi_ctx_is_coll(r->ctx);
    m->bytes = r->bytes;
    m->room = r->count * r->type->size;
}

static void format(const struct misfit *m, char *out, size_t n)
{
    char from[48], tag[32] = "";

    if (m->rank < 0)
        snprintf(from, sizeof from, "world rank %d", m->world);
    else if (m->rank == m->world)
        snprintf(from, sizeof from, "rank %d", m->rank);
    else
        snprintf(from, sizeof from, "rank %d (world rank %d)", m->rank, m->world);
    if (!m->in_collective)
        snprintf(tag, sizeof tag, ", tag %d,", m->tag);
    if (m->bytes > m->room || m->in_collective)
        snprintf(out, n, "the message from %s%s has %llu bytes, %s %llu", from, tag,
                 (unsigned long long)m->bytes,
                 m->in_collective ? "the receiver expects" : "the receive has room for",
                 (unsigned long long)m->room);
    else
        snprintf(out, n,
                 "the message from %s%s has %llu bytes, which end within an item; the "
                 "receive has room for %llu",
                 from, tag, (unsigned long long)m->bytes, (unsigned long long)m->room);
}

const char *mpi_misfit_text(struct mpi_rank *self, char *out, size_t n)
{
    const struct misfit *m = mpi_state_misfit(self);

    if (!m)
        return NULL;
    format(m, out, n);
    mpi_state_free(self, MPI_STATE_misfit);
    return out;
}
