/*
 * verify_pair.c - operations whose two sides are seen by one rank: one-sided ones, where the origin
 * describes the data of the target, too (MPI-4.0 12.3), and partitioned ones, where the sender
 * tells its size (4.2.1).
 */
#include <stdio.h>
#include <string.h>

#include "mpi/check/verify_internal.h"
#include "mpi/comm/comm.h"
#include "mpi/p2p/request.h"

void mpi_verify_target(const struct mpi_rank *self, const struct mpi_comm *c, const char *window,
                       int target, const struct mpi_sig *own, const struct mpi_sig *there)
{
    struct mpi_finding f;

    if (mpi_sig_is_open(own) || mpi_sig_is_open(there) ||
        (own->hash == there->hash && own->elements == there->elements))
        return;
    memset(&f, 0, sizeof f);
    f = (struct mpi_finding){.kind = MPI_FINDING_TARGET,
                             .count = 1,
                             .tag = -1,
                             .fn = {self->fn, self->fn},
                             .rank = {mpi_comm_my_rank(c, self), target},
                             .value = {own->elem, there->elem},
                             .amount = {own->elements, there->elements}};
    f.world[0] = mpi_rank_id(self);
    f.world[1] = mpi_comm_world_rank(c, (uint32_t)target);
    snprintf(f.comm, sizeof f.comm, "window%s%.80s", window ? " " : "", window ? window : "");
    mpi_verify_found(&f);
}

void verify_parts(const struct mpi_rank *self, const struct mpi_req *r, uint64_t sent,
                  uint64_t received)
{
    const struct mpi_comm *c = mpi_req_comm(r);
    struct mpi_finding f;

    if (sent == received)
        return;
    memset(&f, 0, sizeof f);
    f = (struct mpi_finding){.kind = MPI_FINDING_PARTS,
                             .count = 1,
                             .tag = r->tag,
                             .fn = {MPI_FN_PSEND_INIT, MPI_FN_PRECV_INIT},
                             .rank = {r->peer, (int32_t)mpi_rank_id(self)},
                             .world = {(uint32_t)r->peer, mpi_rank_id(self)},
                             .amount = {sent, received}};
    if (c) {
        f.rank[0] = mpi_comm_rank_of(c, (uint32_t)r->peer);
        f.rank[1] = mpi_comm_my_rank(c, self);
        mpi_verify_name(self, c, f.comm, sizeof f.comm);
    }
    mpi_verify_found(&f);
}
