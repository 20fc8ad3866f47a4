/*
 * explain.c - describes what a blocked rank waits for, for deadlock reports.
 *
 * The engine wakes the rank with ENGINE_WAKE_EXPLAIN, so that the rank describes its requests in
 * its own context, where they are accessible.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "engine/waits.h"
#include "mpi/p2p/p2p_internal.h"
#include "mpi/p2p/request.h"
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
    mpi_comm_made(c, out->made, sizeof out->made);
    if (c->site)
        snprintf(out->site, sizeof out->site, "%s", c->site);
    out->identity = c->ctx;
}

/* The object of the wait: its name after the text, or its description for the report to number
 * it. */
static void say_where(struct mpi_rank *self, struct engine_wait *out, const struct mpi_comm *c,
                      MPI_Comm comm)
{
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

/* The next thing that the rank waits for: "MPI_Recv waits for...", then "and for...". */
__attribute__((format(printf, 2, 3))) static struct engine_wait *add(struct mpi_rank *self,
                                                                     const char *format, ...)
{
    struct engine_wait *out = engine_waits_add(mpi_explanation.out);
    va_list list;
    int n;

    if (!out)
        return NULL;
    if (mpi_explanation.out->count == 1)
        n = snprintf(out->text, sizeof out->text, "%s waits ", fn_name(self));
    else
        n = snprintf(out->text, sizeof out->text, mpi_explanation.any ? "or " : "and ");
    va_start(list, format);
    vsnprintf(out->text + n, sizeof out->text - (size_t)n, format, list);
    va_end(list);
    return out;
}

static void add_edge(struct engine_wait *out, int64_t on)
{
    if (out)
        out->waits_on = on;
    engine_waits_edge(mpi_explanation.out, on);
}

static void say(struct mpi_rank *self, const char *what, int32_t peer, int32_t tag, uint32_t ctx,
                MPI_Comm comm)
{
    struct mpi_comm *c = mpi_comm_get(comm);
    struct engine_wait *out;
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
    out = add(self, "%s %s%s", what, from, with_tag);
    if (out)
        say_where(self, out, c, comm);
    add_edge(out, peer == MPI_P2P_ANY ? -1 : peer);
}

void mpi_explain_recv(struct mpi_rank *self, int32_t src, int32_t tag, uint32_t ctx, MPI_Comm comm)
{
    say(self, "for a message from", src, tag, ctx, comm);
}

/* What a concurrent operation waits for: the one of this request, or else the oldest. */
static const struct mpi_req *beside(const struct mpi_rank *self, const struct mpi_req *work)
{
    const struct mpi_strand *oldest, *s;

    if (!mpi_has_strands(self))
        return NULL;
    s = oldest = self->ext->strands->next;
    do {
        if (s->arg == work->buf)
            return s->awaits;
        s = s->next;
    } while (s != oldest);
    return oldest->awaits;
}

static void say_one_sided(struct mpi_rank *self, const struct mpi_req *r)
{
    const char *what = r->buf ? r->buf : "for the window of";
    struct mpi_comm *c = mpi_comm_get((MPI_Comm)r->comm);
    struct engine_wait *out;
    char rank[48] = "";

    if (r->peer >= 0)
        format_rank(rank, sizeof rank, c, r->peer);
    out = add(self, "%s%s%s", what, r->peer >= 0 ? " " : "", rank);
    if (out && c)
        describe(out, "window", c);
    /* others wait for the holder of the lock, which only the target knows */
    add_edge(out, self->fn == MPI_FN_WIN_START ? r->peer : -1);
}

/* Only the call is known. */
static void say_call(struct mpi_rank *self)
{
    struct engine_wait *out = engine_waits_add(mpi_explanation.out);

    if (out)
        snprintf(out->text, sizeof out->text, "%s", fn_name(self));
}

void mpi_explain_req(struct mpi_rank *self, const struct mpi_req *r)
{
    if (r && r->kind == MPI_REQ_WORK && r->mode == MPI_MODE_ONE_SIDED) {
        say_one_sided(self, r);
        return;
    }
    if (r && r->kind == MPI_REQ_WORK && r->mode == MPI_MODE_PORT && r->buf) {
        add(self, "at the port '%s'", (const char *)r->buf);
        return;
    }
    if (r && r->kind == MPI_REQ_WORK)
        r = beside(self, r);
    if (!r && mpi_req_orphans(self))
        add(self, "for a send that was freed and nobody receives");
    else if (!r)
        say_call(self);
    else if (r->kind == MPI_REQ_GREQ)
        add(self, "for a generalized request that nobody completes");
    else if (r->kind == MPI_REQ_PSEND)
        say(self, "for partitions to be sent to", r->peer, r->tag, r->ctx, (MPI_Comm)r->comm);
    else if (r->kind == MPI_REQ_SEND)
        say(self, "to send to", r->peer, r->tag, r->ctx, (MPI_Comm)r->comm);
    else
        say(self, "for a message from", r->peer, r->tag, r->ctx, (MPI_Comm)r->comm);
}

void mpi_explain_all(struct mpi_rank *self, const struct mpi_req *reqs, uint32_t n)
{
    mpi_explanation.any = 0;
    for (uint32_t i = 0; i < n; i++)
        if (!(reqs[i].flags & MPI_REQ_DONE))
            mpi_explain_req(self, &reqs[i]);
}

void mpi_explain_handles(struct mpi_rank *self, const MPI_Request *hs, int n, int any)
{
    mpi_explanation.any = any;
    for (int i = 0; i < n; i++) {
        const struct mpi_req *r = mpi_req_pending(self, hs[i]);

        if (r && !(r->flags & MPI_REQ_DONE))
            mpi_explain_req(self, r);
    }
}
