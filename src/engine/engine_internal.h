/*
 * engine_internal.h - shared by the files of the run loop: engine.c runs entities, ready.c
 * chooses the next, deliver.c wakes them, quiescence.c decides what follows when none is ready.
 */
#ifndef ENGINE_ENGINE_INTERNAL_H
#define ENGINE_ENGINE_INTERNAL_H

#include "engine/engine.h"
#include "engine/medium.h"

static inline int engine_due_before(const struct engine_due *a, const struct engine_due *b)
{
    return a->due < b->due || (a->due == b->due && a->id < b->id);
}

/* Does the medium have its own clock? */
static inline int engine_is_outside(const struct engine *e)
{
    return e->cfg.medium && e->cfg.medium->wait;
}

/* An entity gets ready, for this reason; its decision, if it has one, is no longer due. */
void engine_make_ready(struct engine *, struct engine_entity *, uint32_t id, enum engine_wake why);

/* An entity is ready. / The next one to run, which may be a new one, or -1. */
void engine_add_ready(struct engine *, uint32_t id);
int64_t engine_take_ready(struct engine *);

/* A quiescence: which entities have made calls that request a notice no longer matters. */
void engine_forget_asking(struct engine *);

/* No entity of this process is ready, and none is out. If that is so everywhere, and no message is
 * in flight, takes the step that follows. Returns how the run ends; ENGINE_END_GOES_ON: look
 * again. */
enum engine_end engine_quiesce(struct engine *);

#endif
