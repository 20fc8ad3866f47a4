/*
 * explain.c - what a blocked rank says of itself when the engine reports a deadlock.
 *
 * The engine wakes the rank with ENGINE_WAKE_EXPLAIN, so that the rank describes its requests in
 * its own context, where they can be looked at.
 */
#include <stdio.h>

#include "mpi/objects.h"
#include "mpi/p2p/p2p_internal.h"
#include "mpi/strand.h"

struct mpi_explanation mpi_explanation;

static const char *fn_name(const struct mpi_rank *self)
{
    return mpi_fn_name[self->fn];
}

static void say(struct mpi_rank *self, const char *what, int32_t peer, int32_t tag, uint32_t ctx,
                MPI_Comm comm)
{
    struct engine_wait *out = mpi_explanation.out;
    struct mpi_comm *c = mpi_comm_get(comm);
    char from[48], with_tag[32], name[64];

    if (peer == MPI_P2P_ANY)
        snprintf(from, sizeof from, "any source");
    else
        snprintf(from, sizeof from, "rank %d", c ? mpi_comm_rank_of(c, (uint32_t)peer) : peer);
    if (c && ctx == c->ctx + 1)
        with_tag[0] = '\0'; /* inside a collective: the tag is ours */
    else if (tag == MPI_ANY_TAG)
        snprintf(with_tag, sizeof with_tag, ", any tag");
    else
        snprintf(with_tag, sizeof with_tag, ", tag %d", tag);
    snprintf(out->text, sizeof out->text, "%s waits %s %s%s, %s", fn_name(self), what, from,
             with_tag, mpi_comm_label(comm, name, sizeof name));
    out->waits_on = peer == MPI_P2P_ANY ? -1 : peer;
}

void mpi_explain_recv(struct mpi_rank *self, int32_t src, int32_t tag, uint32_t ctx, MPI_Comm comm)
{
    say(self, "for a message from", src, tag, ctx, comm);
}

/* What an operation that goes on beside the program waits for: that of the oldest strand. */
static const struct mpi_req *beside(const struct mpi_rank *self)
{
    return mpi_has_strands(self) ? self->ext->strands->next->awaits : NULL;
}

static void say_one_sided(struct mpi_rank *self, const struct mpi_req *r)
{
    struct engine_wait *out = mpi_explanation.out;
    const char *what = r->buf ? r->buf : "for the window of";
    struct mpi_comm *c = mpi_comm_get((MPI_Comm)r->comm);
    char rank[32] = "";

    if (r->peer >= 0)
        snprintf(rank, sizeof rank, " rank %d",
                 c ? mpi_comm_rank_of(c, (uint32_t)r->peer) : r->peer);
    snprintf(out->text, sizeof out->text, "%s waits %s%s, window 0x%08x", fn_name(self), what, rank,
             (unsigned)mpi_win_of_comm(self, (MPI_Comm)r->comm));
    /* others wait for whoever holds the lock, which only the target knows */
    out->waits_on = self->fn == MPI_FN_WIN_START ? r->peer : -1;
}

void mpi_explain_reqs(struct mpi_rank *self, struct mpi_req **reqs, uint32_t n)
{
    struct engine_wait *out = mpi_explanation.out;
    const struct mpi_req *r = n ? reqs[0] : NULL;

    if (r && r->kind == MPI_REQ_WORK && r->mode == MPI_MODE_ONE_SIDED) {
        say_one_sided(self, r);
        return;
    }
    if (r && r->kind == MPI_REQ_WORK && r->mode == MPI_MODE_PORT && r->buf) {
        snprintf(out->text, sizeof out->text, "%s waits at the port '%s'", fn_name(self),
                 (const char *)r->buf);
        out->waits_on = -1;
        return;
    }
    if (r && r->kind == MPI_REQ_WORK)
        r = beside(self);
    if (!r)
        snprintf(out->text, sizeof out->text, "%s", fn_name(self));
    else if (r->kind == MPI_REQ_GREQ)
        snprintf(out->text, sizeof out->text,
                 "%s waits for a generalized request that nobody completes", fn_name(self));
    else if (r->kind == MPI_REQ_PSEND)
        say(self, "for partitions to be sent to", r->peer, r->tag, r->ctx, (MPI_Comm)r->comm);
    else if (r->kind == MPI_REQ_SEND)
        say(self, "to send to", r->peer, r->tag, r->ctx, (MPI_Comm)r->comm);
    else
        say(self, "for a message from", r->peer, r->tag, r->ctx, (MPI_Comm)r->comm);
}
