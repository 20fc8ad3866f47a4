/*
 * explain.c - describes what a blocked rank waits for, for deadlock reports.
 *
 * The engine wakes the rank with ENGINE_WAKE_EXPLAIN, so that the rank describes its requests in
 * its own context, where they are accessible.
 */
#include <stdio.h>
#include <string.h>

#include "mpi/p2p/p2p_internal.h"
#include "mpi/p2p/strand.h"

struct mpi_explanation mpi_explanation;

static const char *fn_name(const struct mpi_rank *self)
{
    return mpi_fn_name[self->fn];
}

/* "rank 1", and its world rank if that differs. */
static void format_rank(char *out, size_t n, const struct mpi_comm *c, int32_t peer)
{
    int rank = c ? mpi_comm_rank_of(c, (uint32_t)peer) : peer;

    if (rank == peer)
        snprintf(out, n, "rank %d", rank);
    else if (rank < 0)
        snprintf(out, n, "world rank %d", peer);
    else
        snprintf(out, n, "rank %d (%s %d)", rank,
                 mpi_world.has_spawned ? "of the run: rank" : "world rank", peer);
}

/* An unnamed object, for the report to number. */
__attribute__((noinline)) static void describe(struct engine_wait *out, const char *kind,
                                               const struct mpi_comm *c)
{
    snprintf(out->kind, sizeof out->kind, "%s", kind);
    mpi_comm_made_where(c, out->made, sizeof out->made);
    out->identity = c->ctx;
}

/* The object of the wait: its name after the text, or its description for the report to number
 * it. */
static void say_where(struct mpi_rank *self, const struct mpi_comm *c, MPI_Comm comm)
{
    struct engine_wait *out = mpi_explanation.out;
    size_t n = strlen(out->text);
    const char *name = c ? mpi_comm_name_for(self, comm) : "";
    char label[64];

    if (c && !*name) {
        describe(out, "communicator", c);
        return;
    }
    snprintf(out->text + n, sizeof out->text - n, ", %s",
             *name ? name : mpi_comm_label(comm, label, sizeof label));
}

static void say(struct mpi_rank *self, const char *what, int32_t peer, int32_t tag, uint32_t ctx,
                MPI_Comm comm)
{
    struct engine_wait *out = mpi_explanation.out;
    struct mpi_comm *c = mpi_comm_get(comm);
    char from[48], with_tag[32];

    if (peer == MPI_P2P_ANY)
        snprintf(from, sizeof from, "any source");
    else
        format_rank(from, sizeof from, c, peer);
    if (c && ctx == c->ctx + 1)
        with_tag[0] = '\0'; /* inside a collective: the tag is internal */
    else if (tag == MPI_ANY_TAG)
        snprintf(with_tag, sizeof with_tag, ", any tag");
    else
        snprintf(with_tag, sizeof with_tag, ", tag %d", tag);
    snprintf(out->text, sizeof out->text, "%s waits %s %s%s", fn_name(self), what, from, with_tag);
    say_where(self, c, comm);
    out->waits_on = peer == MPI_P2P_ANY ? -1 : peer;
}

void mpi_explain_recv(struct mpi_rank *self, int32_t src, int32_t tag, uint32_t ctx, MPI_Comm comm)
{
    say(self, "for a message from", src, tag, ctx, comm);
}

/* What a concurrent operation waits for: that of the oldest strand. */
static const struct mpi_req *beside(const struct mpi_rank *self)
{
    return mpi_has_strands(self) ? self->ext->strands->next->awaits : NULL;
}

static void say_one_sided(struct mpi_rank *self, const struct mpi_req *r)
{
    struct engine_wait *out = mpi_explanation.out;
    const char *what = r->buf ? r->buf : "for the window of";
    struct mpi_comm *c = mpi_comm_get((MPI_Comm)r->comm);
    char rank[48] = "";

    if (r->peer >= 0)
        format_rank(rank, sizeof rank, c, r->peer);
    snprintf(out->text, sizeof out->text, "%s waits %s%s%s", fn_name(self), what,
             r->peer >= 0 ? " " : "", rank);
    if (c)
        describe(out, "window", c);
    /* others wait for the holder of the lock, which only the target knows */
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
    if (!r && mpi_req_orphans(self))
        snprintf(out->text, sizeof out->text,
                 "%s waits for a send that was freed and nobody receives", fn_name(self));
    else if (!r)
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
