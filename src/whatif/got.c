/*
 * got.c - finds what non-blocking receives receive. Only the record that completes a receive says
 * so, hence this reads ahead to it, and keeps the completions in between until they are taken.
 */
#include "whatif/got.h"

#include <string.h>

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

/* The arguments of a call that completes requests. */
struct completion {
    const struct trace_value *requests, *statuses, *indices;
    int is_array;
};

static int find_completion(const struct trace_fn *fn, const struct trace_event *e,
                           struct completion *c)
{
    *c = (struct completion){0};
    for (unsigned i = 0; i < fn->count && i < e->argc; i++) {
        if (strcmp(fn->args[i].role, "request") == 0 && fn->args[i].is_in) {
            c->requests = &e->args[i];
            c->is_array = fn->args[i].is_array;
        } else if (strcmp(fn->args[i].role, "status") == 0) {
            c->statuses = &e->args[i];
        } else if (strcmp(fn->args[i].role, "index") == 0) {
            c->indices = &e->args[i];
        }
    }
    return c->requests && c->statuses;
}

void whatif_visit_statuses(const struct whatif_rank *r, const struct trace_event *e,
                           whatif_visit_status *visit, void *owner)
{
    struct completion c;
    if (!find_completion(&r->trace->header.schema->fns[e->fn], e, &c))
        return;
    struct trace_status *statuses = (struct trace_status *)c.statuses->statuses;
    if (!c.is_array) {
        visit(owner, c.requests->number, statuses);
        return;
    }
    int is_some = c.indices && c.indices->count > 0;
    if (c.indices && !is_some) { /* MPI_Waitany: one status */
        if (c.indices->number >= 0 && (uint64_t)c.indices->number < c.requests->count)
            visit(owner, c.requests->items[c.indices->number], statuses);
        return;
    }
    uint64_t count = is_some ? c.indices->count : c.statuses->count;
    for (uint64_t i = 0; i < count && i < c.statuses->count; i++) {
        int64_t at = is_some ? c.indices->items[i] : (int64_t)i;
        if (at >= 0 && (uint64_t)at < c.requests->count)
            visit(owner, c.requests->items[at], &statuses[i]);
    }
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
