/*
 * live_sides.c - ranks that stand for processes with several threads.
 *
 * The calls of a thread run in a side of the rank (mpi/side.h). The stand-in's own program decides
 * which side runs (hybrid/standin_threads.c); when none can, it pauses the rank until its process
 * has sent something or something has happened in the virtual MPI.
 */
#include "base/mem.h"
#include "engine/proc_link.h"
#include "mpi/entry.h"
#include "mpi/main/live_internal.h"
#include "mpi/p2p/bind.h"

ORR_EXPORT enum orrery_own_side orrery_own_side_run(unsigned number, void (*fn)(void *), void *arg);
ORR_EXPORT void orrery_own_side_await(const struct orrery_own_call *);
ORR_EXPORT int orrery_own_side_is_due(unsigned number);
ORR_EXPORT int64_t orrery_own_side_end(unsigned number);
ORR_EXPORT int orrery_own_is_safe(int64_t time);
ORR_EXPORT const void *orrery_own_take(size_t *bytes);
ORR_EXPORT int orrery_own_pause(enum orrery_own_pause);
ORR_EXPORT void orrery_own_catch_up(void);

/* ---- sides ---- */

static struct mpi_side *find(const struct mpi_rank *self, unsigned number)
{
    struct mpi_side *s = *mpi_live_sides(self);

    while (s && s->number != number)
        s = s->next;
    return s;
}

static struct mpi_side *make(const struct mpi_rank *self, unsigned number)
{
    struct mpi_side *s = mem_zalloc(sizeof *s), **first = mpi_live_sides(self);

    s->number = number;
    s->state = MPI_SIDE_ENDED;
    s->next = *first;
    *first = s;
    return s;
}

static void resume(struct mpi_side *s)
{
    mpi_side_current = s;
    vp_private.threaded = 1;
    s->state = MPI_SIDE_IDLE;
    if (vp_side_run(&s->vp))
        s->state = MPI_SIDE_ENDED;
    vp_private.threaded = 0;
    mpi_side_current = NULL;
}

enum orrery_own_side orrery_own_side_run(unsigned number, void (*fn)(void *), void *arg)
{
    struct mpi_rank *self = mpi_self();
    struct mpi_side *s = find(self, number);

    if (!s)
        s = make(self, number);
    if (s->state == MPI_SIDE_ENDED)
        s->vp = (struct vp_side){.fn = fn, .arg = arg};
    resume(s);
    return s->state == MPI_SIDE_ENDED     ? ORRERY_OWN_SIDE_ENDED
           : s->state == MPI_SIDE_BLOCKED ? ORRERY_OWN_SIDE_BLOCKED
                                          : ORRERY_OWN_SIDE_AWAITS;
}

void orrery_own_side_await(const struct orrery_own_call *call)
{
    mpi_side_current->call = call;
    mpi_side_current->state = MPI_SIDE_AWAITS;
    vp_side_suspend();
}

int orrery_own_side_is_due(unsigned number)
{
    const struct mpi_rank *self = mpi_self();
    const struct mpi_side *s = find(self, number);

    return s && s->state == MPI_SIDE_BLOCKED && !s->holds && s->due <= self->ent.clock;
}

int64_t orrery_own_side_end(unsigned number)
{
    struct mpi_rank *self = mpi_self();
    const struct mpi_side *s = find(self, number);
    vtime t = s && s->state == MPI_SIDE_BLOCKED ? mpi_wait_end(self, s->holds, s->arg)
                                                : VTIME_NEVER;

    return t == VTIME_NEVER ? -1 : t > self->ent.clock ? t : self->ent.clock;
}

int orrery_own_is_safe(int64_t time)
{
    return engine_is_safe(&mpi_world.engine, mpi_rank_index(mpi_self()), time);
}

const void *orrery_own_take(size_t *bytes)
{
    const struct mpi_rank *self = mpi_self();

    return mpi_live_has_item(self) ? mpi_live_take(self, bytes) : NULL;
}

/* Others have gone on without it. */
void orrery_own_catch_up(void)
{
    struct mpi_rank *self = mpi_self();

    mpi_clock_begin(self);
    mpi_clock_reach(self, engine_reached(&mpi_world.engine));
    mpi_clock_end();
}

/* ---- pausing ---- */

/* When something is due: a decision of the rank or of a side or, unless the process may still do
 * something now, the end of a side's wait. */
static vtime first_due(struct mpi_rank *self, vtime due, int is_away)
{
    for (const struct mpi_side *s = *mpi_live_sides(self); s; s = s->next) {
        vtime end = VTIME_NEVER;

        if (s->state != MPI_SIDE_BLOCKED)
            continue;
        if (!is_away)
            end = mpi_wait_end(self, s->holds, s->arg);
        if (!end || (is_away && !s->holds))
            end = s->due;
        if (end < due)
            due = end;
    }
    return due;
}

/* Can what the process says of its calls only follow from what others do? */
static int are_led(struct mpi_rank *self)
{
    for (const struct mpi_side *s = *mpi_live_sides(self); s; s = s->next)
        if (s->state == MPI_SIDE_AWAITS && s->call && !mpi_live_is_led(self, s->call))
            return 0;
    return 1;
}

/* Decisions that are due now wait for nothing that the process may still do. */
static void block(struct mpi_rank *self, vtime due, enum orrery_own_pause how)
{
    struct engine *e = &mpi_world.engine;
    uint32_t id = mpi_rank_index(self);
    int guesses = mpi_world.binds && mpi_wild_count(self) && mpi_bind_any_candidate(self);
    int is_led = how == ORRERY_OWN_LED || how == ORRERY_OWN_SEEMS_LED;

    if (how == ORRERY_OWN_BUSY || (is_led && guesses))
        engine_block_busy(e, &self->ent, id, due, 1);
    else if ((is_led && are_led(self)) || due <= self->ent.clock)
        engine_block_led(e, &self->ent, id, due, how == ORRERY_OWN_LED && mpi_bind_is_sure(self));
    else
        engine_block_away(e, &self->ent, id, due, 1);
}

static void explain(struct mpi_rank *self)
{
    struct mpi_side *s = *mpi_live_sides(self);

    while (s && s->state != MPI_SIDE_BLOCKED && !(s->state == MPI_SIDE_AWAITS && s->call))
        s = s->next;
    if (s && s->state == MPI_SIDE_AWAITS)
        mpi_live_explain(self, s->call);
    else if (s) {
        resume(s);
        s->state = MPI_SIDE_BLOCKED;
    }
}

/* What one side has handled may end the wait of another that has looked before. */
static int has_handled(struct mpi_rank *self)
{
    static uint64_t handled; /* when the rank's sides began to run */
    int has_changed = self->ent.inbox || handled != mpi_world.handled;

    mpi_drain(self);
    handled = mpi_world.handled;
    return has_changed;
}

int orrery_own_pause(enum orrery_own_pause how)
{
    struct mpi_rank *self = mpi_self();
    vtime due;

    if (has_handled(self))
        return 0;
    if (mpi_decide(self, VTIME_NEVER, &due) || self->ent.inbox ||
        (how != ORRERY_OWN_BUSY && mpi_live_has_item(self)))
        return 0;
    block(self, first_due(self, due, how == ORRERY_OWN_AWAY), how);
    vp_suspend();
    for (; self->ent.wake == ENGINE_WAKE_EXPLAIN; vp_suspend())
        explain(self);
    has_handled(self);
    if (self->ent.wake != ENGINE_WAKE_LOOK)
        return 0;
    if (mpi_world.binds && mpi_wild_count(self))
        mpi_bind_guess(self);
    return 1;
}
