/*
 * engine_fini.h - frees what the engine and its parts hold. Only tests run several engines in one
 * process; otherwise they live as long as the process.
 */
#ifndef ENGINE_FINI_H
#define ENGINE_FINI_H

#include "base/mem.h"
#include "engine/engine.h"
#include "engine/procs_internal.h"

__attribute__((unused)) static void engine_fini(struct engine *e)
{
    pool_fini(&e->msgs);
    mem_free(e->decisions.at);
    mem_free(e->asking);
    mem_free(e->ready);
    mem_free(e->later.groups);
    mem_free(e->later.queue);
}

__attribute__((unused)) static void rank_map_fini(struct rank_map *map)
{
    mem_free(map->number);
}

__attribute__((unused)) static void procs_fini(struct procs *p)
{
    struct procs_batch *b;

    while ((b = p->full)) {
        p->full = b->next;
        proc_link_free(b->data);
        mem_free(b);
    }
    for (struct procs_held *h; (h = p->held);) {
        p->held = h->next;
        proc_link_free(h->data);
        mem_free(h);
    }
    for (uint32_t i = 0; i < p->cfg.link.procs; i++)
        proc_link_free(p->boxes[i].data);
    mem_free(p->boxes);
    mem_free(p->open);
    mem_free(p->sent_to);
    mem_free(p->got_from);
    mem_free(p->reports);
    mem_free(p->has_report);
    mem_free(p->epochs);
    mem_free(p->settled);
    mem_free(p->told);
}

#endif
