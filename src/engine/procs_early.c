/*
 * procs_early.c - batches of a step that this process has yet to take.
 *
 * The coordinator sends a verdict to one process after another, and goes on to look for messages.
 * So what others do because of a verdict may come before the verdict itself. Without a medium that
 * does no harm: the head of a batch says how far decisions are safe. With a medium it would:
 * process 0 would put what comes into its medium before the medium advances, together with what
 * entered it earlier, and others would forget at the verdict what their entities have asked for
 * after it (engine.h, invariant 7). Therefore, where all take part in all steps, batches have the
 * number of their step, and whatever comes from a process that is ahead waits for the verdict.
 *
 * A process whose engine was stopped takes no further step. Nothing waits there: notes say how the
 * run ends, and messages that would have waited are dropped (procs_is_dropped).
 */
#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "engine/procs_internal.h"

static int is_held_from(const struct procs *p, uint32_t from)
{
    for (const struct procs_held *h = p->held; h; h = h->next)
        if (h->from == from)
            return 1;
    return 0;
}

/* Does it follow from a verdict that is yet to come, or from something that does? */
static int is_early(const struct procs *p, uint32_t from, int tag, const void *data)
{
    struct procs_head head;

    if (p->held && is_held_from(p, from))
        return tag == PROCS_BATCH || tag >= PROCS_NOTE;
    if (tag != PROCS_BATCH)
        return 0;
    memcpy(&head, data, sizeof head);
    assert(head.step <= p->epoch + 1);
    return head.step > p->epoch;
}

int procs_hold_early(struct procs *p, uint32_t from, int tag, void *data, size_t bytes)
{
    struct procs_held *h, **last = &p->held;

    if (!p->cfg.in_step || p->cfg.engine->stop || !is_early(p, from, tag, data))
        return 0;
    while (*last)
        last = &(*last)->next;
    h = mem_alloc(sizeof *h);
    *h = (struct procs_held){NULL, from, tag, data, bytes, p->epoch};
    *last = h;
    return 1;
}

/* No process is ahead by more than one step, so all of them belong to the step that was taken. */
struct procs_held *procs_release(struct procs *p)
{
    struct procs_held *all = p->held;

    if (!all || (all->epoch == p->epoch && !p->cfg.engine->stop))
        return NULL;
    assert(p->epoch == all->epoch + 1 || p->cfg.engine->stop);
    p->held = NULL;
    return all;
}

int procs_is_dropped(const struct procs *p, const void *batch)
{
    struct procs_head head;

    if (!p->cfg.in_step || !p->cfg.engine->stop)
        return 0;
    memcpy(&head, batch, sizeof head);
    return head.step > p->epoch;
}
