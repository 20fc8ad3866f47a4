/*
 * misfit.c - what did not fit, for the text of the error.
 *
 * A rank that finds a receive complete with an error may yet block before it raises it, inside of a
 * collective; so what there is to say is kept per rank. Only ranks with such errors have an entry.
 */
#include <stdio.h>

#include "base/map.h"
#include "base/mem.h"
#include "mpi/p2p/request.h"

struct misfit {
    int32_t rank, world; /* of the sender: in the communicator, and of the run */
    int32_t tag;
    int in_collective;
    uint64_t bytes, room;
};

static struct map by_rank; /* index of a rank -> struct misfit */

void mpi_misfit_note(const struct mpi_rank *self, const struct mpi_req *r)
{
    const struct mpi_comm *c = mpi_req_comm(r);
    struct misfit *m;
    uint64_t *at;

    if (r->kind != MPI_REQ_RECV || (r->flags & MPI_REQ_CHILD))
        return;
    at = map_insert(&by_rank, mpi_rank_index(self), NULL);
    if (!*at)
        *at = (uintptr_t)mem_alloc(sizeof *m);
    m = (struct misfit *)(uintptr_t)*at;
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

const char *mpi_misfit_text(const struct mpi_rank *self, char *out, size_t n)
{
    uint64_t *at = map_find(&by_rank, mpi_rank_index(self));

    if (!at)
        return NULL;
    format((struct misfit *)(uintptr_t)*at, out, n);
    mem_free((void *)(uintptr_t)*at);
    map_remove(&by_rank, mpi_rank_index(self));
    return out;
}
