/*
 * verify_message.c - checks that a message is received with the types it was sent with (MPI-4.0,
 * 3.3.1).
 *
 * The sequence of basic types sent must be a prefix of the one that the receive describes. Both are
 * compared by a hash, for which the receiver uses as many of its elements as the message has. It is
 * computed from the datatypes' hashes in time logarithmic in their counts (datatype/elements.c).
 * MPI_PACKED matches everything; MPI_BYTE is a basic type like any other.
 */
#include <string.h>

#include "mpi/check/verify_internal.h"
#include "mpi/datatype/datatype.h"
#include "mpi/p2p/request.h"

/* Does the receive match the message's types? A message that is too long is a separate error. */
static int fits(const struct mpi_sig *s, const struct mpi_type *type, uint64_t count)
{
    uint64_t room = type->nelems * count;

    if (s->elements == 0 || mpi_sig_is_open(s) || type->elem == MPI_PACKED)
        return 1;
    if (s->elements > room)
        return 0;
    return (s->elem && s->elem == type->elem) ||
           s->hash == mpi_type_prefix_signature(type, s->elements);
}

void verify_match(const struct mpi_rank *self, const struct mpi_req *req, const struct mpi_msg *m)
{
    const struct mpi_comm *c = mpi_req_comm(req);
    struct mpi_finding f;
    struct mpi_sig s;

    memcpy(&s, m->payload + (m->kind == MPI_MSG_RTS ? 0 : mpi_msg_carried(m)), sizeof s);
    if (m->bytes > req->count * req->type->size || fits(&s, req->type, req->count))
        return;
    memset(&f, 0, sizeof f);
    f = (struct mpi_finding){.kind = MPI_FINDING_TYPES,
                             .count = 1,
                             .tag = mpi_ctx_is_coll(m->ctx) ? -1 : m->tag,
                             .world = {m->em.src, m->em.dst},
                             .value = {s.elem, req->type->elem},
                             .amount = {s.elements, req->type->nelems * req->count}};
    f.fn[0] = s.fn;
    f.fn[1] = req->flags & MPI_REQ_HEAP ? (uint32_t)mpi_req_maker(req) : self->fn;
    if (f.fn[1] >= MPI_FN_COUNT)
        f.fn[1] = self->fn;
    f.rank[0] = c ? mpi_comm_rank_of(c, m->em.src) : (int32_t)m->em.src;
    f.rank[1] = c ? mpi_comm_my_rank(c, self) : (int32_t)m->em.dst;
    if (c)
        mpi_verify_name(self, c, f.comm, sizeof f.comm);
    mpi_verify_found(&f);
}
