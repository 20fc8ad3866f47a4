/*
 * got.c - finds what non-blocking receives receive. Only the record that completes a receive says
 * so, hence this reads ahead to it, and keeps the completions in between until they are taken.
 */
#include "whatif/got.h"

#include "base/array.h"

static size_t new_item(struct whatif_got *g)
{
    size_t slot = g->free;
    if (slot) {
        g->free = g->list[slot - 1].next;
        return slot;
    }
    ARRAY_EXTEND(g->list, g->count);
    return ++g->count;
}

static void keep(void *got, int64_t number, struct trace_status *status)
{
    struct whatif_got *g = got;
    int is_new;
    if (number < 0 || !status->is_set)
        return;
    uint64_t *at = map_insert(&g->at, (uint64_t)number, &is_new);
    if (!is_new && !g->keeps_all)
        return;
    size_t slot = new_item(g), last = is_new ? 0 : (size_t)*at;
    g->list[slot - 1] = (struct whatif_got_item){.status = *status};
    if (is_new) {
        *at = slot;
        return;
    }
    while (g->list[last - 1].next)
        last = g->list[last - 1].next;
    g->list[last - 1].next = slot;
}

void whatif_visit_statuses(const struct whatif_rank *r, const struct trace_event *e,
                           whatif_visit_status *visit, void *owner)
{
    const struct mpi_effect *does = whatif_effect(r, e);
    if (does->status < 0)
        return;
    for (size_t i = 0, count = calls_completed(does, e); i < count; i++)
        if (calls_completed_status(does, e, i)->is_set)
            visit(owner, calls_completed_request(does, e, i),
                  (struct trace_status *)calls_completed_status(does, e, i));
}

int whatif_got_take(struct whatif_got *g, struct whatif_stage *ahead, int64_t number,
                    struct trace_status *out)
{
    struct whatif_item item;
    struct err err;
    uint64_t *at;
    while (!(at = map_find(&g->at, (uint64_t)number)) && !g->is_at_end) {
        if (whatif_next(ahead, &item, &err) <= 0)
            g->is_at_end = 1;
        else if (item.event->head == TRACE_CALL && !item.is_dropped)
            whatif_visit_statuses(ahead->rank, item.event, keep, g);
    }
    if (!at)
        return 0;
    size_t slot = (size_t)*at, next = g->list[slot - 1].next;
    *out = g->list[slot - 1].status;
    g->list[slot - 1].next = g->free;
    g->free = slot;
    if (next)
        *at = next;
    else
        map_remove(&g->at, (uint64_t)number);
    return 1;
}

void whatif_got_fini(struct whatif_got *g)
{
    map_fini(&g->at);
    mem_free(g->list);
}
