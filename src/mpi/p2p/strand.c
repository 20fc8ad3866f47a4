/*
 * strand.c - starting, waiting and resuming strands.
 *
 * Suspended strands are in a ring from the oldest to the youngest. A strand is resumed when the
 * request it waits for is complete, or in every round if it waits for anything. Strands started
 * within a strand wait at the end of the ring for their first turn.
 */
#include "mpi/p2p/strand.h"

#include <assert.h>
#include <string.h>

#include "mpi/p2p/p2p_internal.h"

/* ---- the ring ---- */

static void append(struct mpi_ext *ext, struct mpi_strand *s)
{
    if (ext->strands) {
        s->next = ext->strands->next;
        ext->strands->next = s;
    } else {
        s->next = s;
    }
    ext->strands = s;
}

static void unlink_after(struct mpi_ext *ext, struct mpi_strand *before)
{
    struct mpi_strand *s = before->next;

    assert(ext->strands && s);
    before->next = s->next;
    if (s == before)
        ext->strands = NULL;
    else if (ext->strands == s)
        ext->strands = before;
}

/* ---- running ---- */

static void strand_main(void *arg)
{
    struct mpi_strand *s = arg;

    assert(mpi_strand_current == s);
    s->fn(mpi_self(), s->arg);
}

/* Runs s with its own clock; returns 1 when it has ended. */
static int run(struct mpi_rank *self, struct mpi_strand *s, int fresh)
{
    vtime clock = self->ent.clock;
    int ended;

    assert(!mpi_strand_current && self == mpi_self() && s->clock >= 0);
    self->ent.clock = s->clock;
    mpi_strand_current = s;
    ended = fresh ? vp_strand_start(&s->vp, strand_main, s) : vp_strand_resume(&s->vp);
    assert(mpi_strand_current == s);
    mpi_strand_current = NULL;
    s->clock = self->ent.clock;
    self->ent.clock = clock;
    return ended;
}

/* The strand has ended. */
static void discard(struct mpi_rank *self, struct mpi_strand *s)
{
    mpi_note_end(self, s->clock);
    pool_free(&mpi_world.pool, s, sizeof *s);
}

void mpi_strand_start(struct mpi_rank *self, void (*fn)(struct mpi_rank *, void *), void *arg,
                      int32_t tag_shift)
{
    struct mpi_strand *s = pool_alloc(&mpi_world.pool, sizeof *s);

    *s = (struct mpi_strand){.clock = self->ent.clock, .fn = fn, .arg = arg, .tag_shift = tag_shift};
    self->sends_apart = 1;
    if (mpi_strand_current) {
        append(mpi_ext_get(self), s); /* vp.copy NULL: has not run yet */
        return;
    }
    if (run(self, s, 1))
        discard(self, s);
    else
        append(mpi_ext_get(self), s);
}

static int is_ready(const struct mpi_strand *s)
{
    return !s->awaits || (s->awaits->flags & MPI_REQ_DONE);
}

/* Examines every strand once; returns whether any had something to do and ran. */
static int round_of(struct mpi_rank *self)
{
    struct mpi_ext *ext = self->ext;
    struct mpi_strand *before = ext->strands, *last = before, *s;
    int progress = 0, at_last;

    do {
        s = before->next;
        at_last = s == last;
        if (!is_ready(s)) {
            before = s;
            continue;
        }
        progress |= s->awaits != NULL || !s->vp.copy;
        if (run(self, s, !s->vp.copy)) {
            while (before->next != s) /* it may have started others at the end */
                before = before->next;
            unlink_after(ext, before);
            discard(self, s);
            progress = 1;
        } else {
            before = s;
        }
    } while (!at_last && ext->strands);
    return progress;
}

int mpi_strands_run(struct mpi_rank *self)
{
    int any = 0;

    if (mpi_strand_current)
        return 0;
    while (self->ext->strands && round_of(self))
        any = 1;
    return any;
}

void mpi_strand_wait(struct mpi_rank *self, const struct mpi_req *awaits)
{
    assert(mpi_strand_current);
    mpi_strand_current->awaits = awaits;
    vp_strand_suspend();
    (void)self;
}

struct mpi_req *mpi_strand_reqs(uint32_t n)
{
    struct mpi_req *reqs;

    if (!mpi_strand_current)
        return NULL;
    reqs = pool_alloc(&mpi_world.pool, n * sizeof *reqs);
    memset(reqs, 0, n * sizeof *reqs);
    return reqs;
}

void mpi_strand_reqs_free(struct mpi_req *reqs, uint32_t n)
{
    pool_free(&mpi_world.pool, reqs, n * sizeof *reqs);
}
