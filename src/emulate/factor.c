/*
 * factor.c - see factor.h.
 */
#include "emulate/factor.h"

#define FIRST 4.0
#define MOST 4096.0
#define GROWTH 1.5
#define DECAY 0.9
#define QUIET_NS 2000000 /* without an event, after which a phase of communication is over */
#define GROW_NS 500000   /* between two growths: the first needs time to have an effect */
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

/* The factor of communication, after an event. */
static void learn(struct emulate_control *c, int64_t wall, vtime behind)
{
    if (behind > c->tolerance) {
        c->calm = wall;
        if (wall - c->grown < GROW_NS)
            return;
        c->factor = c->factor * GROWTH < c->most ? c->factor * GROWTH : c->most;
        c->grown = wall;
    } else if (wall - c->calm >= CALM_NS) {
        c->factor = c->factor * DECAY > c->least ? c->factor * DECAY : c->least;
        c->calm = wall;
    }
}

void emulate_adapt(struct emulate_control *c, struct emulate_pace *p, int64_t wall, vtime behind)
{
    if (behind >= 0) {
        c->active = wall;
        learn(c, wall, behind);
    }
    /* a piece must not be shorter than the overhead: readers know two of them */
    if (wall - c->changed < 2 * p->overhead)
        return;
    set_factor(c, p, wall, wall - c->active < QUIET_NS ? c->factor : c->least);
}
