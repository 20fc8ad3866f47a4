/*
 * share.c - decides when a rank that sent to another process yields, so that its message is sent.
 *
 * Messages to other processes are collected and sent when the scheduler runs. A rank that sends and
 * then computes for a second would delay its message that long. Programs alternate between
 * computing and calling: after a long compute slice the next calls are probably the last before
 * another one. So for a few calls after a long slice, a rank that has sent something to another
 * process yields to the scheduler before it continues. In programs that do not compute this never
 * happens, and batches grow. Time is read only while something is unsent.
 */
#include "mpi/entry.h"

#define LONG_NS 200000.0 /* a slice is long from here on */
#define CALLS 16         /* calls that are watched after a long slice */

static struct {
    uint64_t left, long_ticks; /* when a rank last left a call with something unsent, in ticks */
    int watched;               /* remaining calls to watch */
    int timed;                 /* compare `left` with the next entry */
} share;

void mpi_share_enter(void)
{
    if (!share.timed)
        return;
    share.timed = 0;
    if (!share.long_ticks)
        share.long_ticks = (uint64_t)(LONG_NS * ticks_per_ns());
    if (ticks_now() - share.left > share.long_ticks)
        share.watched = CALLS;
    else if (share.watched)
        share.watched--;
}

/* Of the hostile build: with a random schedule, a rank often lets others go first after a call. The
 * seed of the schedule decides, so a run can be repeated; no result depends on it. */
void mpi_share_yield(struct mpi_rank *self)
{
    struct engine *e = &mpi_world.engine;

    if (!engine_may_yield(e) || mpi_strand_current || vp_private.threaded || mpi_world.paced ||
        mpi_world.opt->live)
        return;
    engine_yield(e, &self->ent, mpi_rank_index(self));
    vp_suspend();
}

void mpi_share_leave(struct mpi_rank *self)
{
    int unsent = engine_unsent(&mpi_world.engine);

    /* a program's function called by a strand cannot yield: others use the strands' stack */
    if (!unsent || mpi_strand_current)
        return;
    if ((unsent > 1 || share.watched) && !vp_private.threaded) {
        engine_send_soon(&mpi_world.engine);
        engine_yield(&mpi_world.engine, &self->ent, mpi_rank_index(self));
        vp_suspend();
    }
    share.left = ticks_now();
    share.timed = 1;
}
