/*
 * factor.c - adapts the factor of an emulation to the load of the simulator (see factor.h).
 */
#include "emulate/factor.h"

#define FIRST 4.0
#define MOST 4096.0
#define GROWTH 1.5
#define DECAY 0.9
#define QUIET_NS 2000000 /* without an event, after which a phase of communication is over */
#define GROW_NS 500000   /* between two growths: the first needs time to have an effect */
#define CATCH_UP 0.25    /* of the time that passes, by which events become less late */
#define CALM_NS 20000000 /* without a late event, after which the factor shrinks */

void emulate_control_init(struct emulate_control *c, double least, vtime tolerance)
{
    *c = (struct emulate_control){.least = least,
                                  .most = MOST > least ? MOST : least,
                                  .factor = FIRST > least ? FIRST : least,
                                  .tolerance = tolerance};
}

static void set_factor(struct emulate_control *c, struct emulate_pace *p, int64_t wall, double to)
{
    if (to == p->now.factor)
        return;
    c->changed = wall;
    emulate_change(p, wall, to);
}

/* Does the simulator catch up? After an interruption - the system ran another process, or a large
 * message was copied - the events that were due meanwhile are late, whatever the factor. If there
 * is time left for others, they become less late, the faster the more is left. `late` is real
 * time. */
static int catches_up(const struct emulate_control *c, int64_t wall, double late)
{
    return c->late == 0 || c->late - late > (double)(wall - c->judged) * CATCH_UP;
}

static void learn_late(struct emulate_control *c, int64_t wall, double late)
{
    c->calm = wall;
    if (wall - c->judged < GROW_NS)
        return;
    if (!catches_up(c, wall, late))
        c->factor = c->factor * GROWTH < c->most ? c->factor * GROWTH : c->most;
    c->judged = wall;
    c->late = late;
}

/* The factor of communication, after an event. */
static void learn(struct emulate_control *c, const struct emulate_pace *p, int64_t wall,
                  vtime behind)
{
    if (behind > c->tolerance) {
        learn_late(c, wall, (double)behind / 1000 * p->now.factor);
        return;
    }
    c->late = 0;
    if (wall - c->calm < CALM_NS)
        return;
    c->factor = c->factor * DECAY > c->least ? c->factor * DECAY : c->least;
    c->calm = wall;
}

void emulate_adapt(struct emulate_control *c, struct emulate_pace *p, int64_t wall, vtime behind)
{
    if (behind >= 0) {
        c->active = wall;
        learn(c, p, wall, behind);
    }
    /* a piece must not be shorter than the overhead: readers know two of them */
    if (wall - c->changed < 2 * p->overhead)
        return;
    set_factor(c, p, wall, wall - c->active < QUIET_NS ? c->factor : c->least);
}
