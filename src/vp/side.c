/*
 * side.c - sides of a fibre: code of a rank that waits while the fibre itself continues, each on a
 * stack of its own.
 *
 * Unlike a strand (strand.c) a side may start strands, and pointers into its stack stay valid. It
 * runs inside a call of vp_side_run by its fibre, and never suspends that. Stacks are kept for
 * later sides.
 */
#include <assert.h>

#include "base/array.h"
#include "base/log.h"
#include "vp/host.h"
#include "vp/vp_internal.h"

void vp_switch(void **save, void *load);
void *vp_switch_prepare(void *top, void (*entry)(void));

static struct {
    struct vp_side *running;
    void *outside; /* stack pointer of the fibre while a side runs */
    char **stacks; /* that are free */
    uint32_t count, room;
} sides;

static void side_entry(void)
{
    struct vp_side *s = sides.running;

    s->fn(s->arg);
    s->ended = 1;
    vp_switch(&s->sp, sides.outside);
    __builtin_unreachable();
}

static char *take_stack(void)
{
    struct err err;
    char *top;

    if (sides.count)
        return sides.stacks[--sides.count];
    top = vp_stack_map(&err);
    if (!top)
        log_fatal("%s", err.text);
    return top;
}

int vp_side_run(struct vp_side *s)
{
    assert(!sides.running);
    if (!s->top) {
        s->top = take_stack();
        s->sp = vp_switch_prepare(s->top, side_entry);
    }
    sides.running = s;
    vp_switch(&sides.outside, s->sp);
    sides.running = NULL;
    if (!s->ended)
        return 0;
    ARRAY_RESERVE(sides.stacks, sides.room, sides.count + 1, 4);
    sides.stacks[sides.count++] = s->top;
    s->top = NULL;
    return 1;
}

void vp_side_suspend(void)
{
    assert(sides.running);
    vp_switch(&sides.running->sp, sides.outside);
}
