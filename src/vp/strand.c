/*
 * strand.c - strands of a fibre: library code that waits while the fibre itself continues.
 *
 * All strands of all fibres run on one separate stack, one at a time, each inside a call of
 * vp_strand_start or vp_strand_resume by its fibre. While a strand is suspended, its live bytes are
 * kept in a block; when it resumes they are copied back to the same address. So pointers into them
 * are valid only while it runs:
 *
 *     low |guard|            ....             |live bytes| top        sp when suspended: top - live
 */
#include <assert.h>
#include <string.h>

#include "vp/vp_internal.h"

void vp_switch(void **save, void *load);
void *vp_switch_prepare(void *top, void (*entry)(void));

static VP_OWN struct {
    char *top;                 /* of the stack */
    struct vp_strand *running; /* or NULL */
    void (*fn)(void *);        /* what a new strand runs */
    void *arg;
    void *outside;   /* stack pointer of the fibre while a strand runs */
    void *suspended; /* of the strand that just left */
} strands;

static void strand_entry(void)
{
    void (*fn)(void *) = strands.fn;

    fn(strands.arg);
    strands.running->ended = 1;
    vp_switch(&strands.suspended, strands.outside);
    __builtin_unreachable();
}

/* Runs s from `sp` until it suspends or ends. */
static int enter(struct vp_strand *s, void *sp)
{
    assert(!strands.running);
    strands.running = s;
    vp_switch(&strands.outside, sp);
    strands.running = NULL;
    if (s->ended)
        return 1;
    s->live = (uint32_t)(strands.top - (char *)strands.suspended);
    s->copy = pool_alloc(&vp_pool, s->live);
    memcpy(s->copy, strands.suspended, s->live);
    return 0;
}

int vp_strand_start(struct vp_strand *s, void (*fn)(void *), void *arg)
{
    *s = (struct vp_strand){0};
    strands.fn = fn;
    strands.arg = arg;
    return enter(s, vp_switch_prepare(strands.top, strand_entry));
}

int vp_strand_resume(struct vp_strand *s)
{
    char *sp = strands.top - s->live;

    memcpy(sp, s->copy, s->live);
    pool_free(&vp_pool, s->copy, s->live);
    s->copy = NULL;
    return enter(s, sp);
}

void vp_strand_suspend(void)
{
    assert(strands.running);
    vp_switch(&strands.suspended, strands.outside);
}

void vp_strand_init(char *top)
{
    strands.top = top;
}
