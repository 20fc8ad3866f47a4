/*
 * stuck.c - the report of a deadlock or livelock: who waits in which call for whom, and the cycle.
 *
 * The engine does not know what its entities wait for: ops->explain fills in a line and, where an
 * entity needs one certain other, its id. Following those ids from any entity ends in a cycle or
 * at one that waits for nobody in particular (or has ended); the first cycle found is printed.
 */
#include <stdio.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/units.h"
#include "engine/engine.h"

#define LISTED 20              /* blocked entities described one by one */
#define CYCLE_SHOWN 12         /* members of a cycle printed */
#define CYCLE_SEARCH 4000000u  /* entities looked at for a cycle */

static void explain(struct engine *e, uint32_t id, struct engine_wait *w)
{
    w->waits_on = -1;
    w->text[0] = '\0';
    e->cfg.ops->explain(e->cfg.owner, id, w);
}

static uint64_t list_blocked(struct engine *e)
{
    uint64_t blocked = 0;
    struct engine_wait w;
    char when[64];

    for (uint64_t i = 0; i < e->cfg.entities; i++) {
        struct engine_entity *x = engine_entity_at(e, (uint32_t)i);

        if (x->state != ENGINE_BLOCKED)
            continue;
        if (++blocked > LISTED)
            continue;
        explain(e, (uint32_t)i, &w);
        units_format_time(when, sizeof when, x->clock);
        log_note("  rank %llu at %s: %s", (unsigned long long)i, when, w.text);
        if (w.waits_on >= 0 &&
            engine_entity_at(e, (uint32_t)w.waits_on)->state == ENGINE_DONE)
            log_note("    (rank %lld has ended)", (long long)w.waits_on);
    }
    return blocked;
}

static void print_cycle(const int64_t *on, uint32_t start)
{
    struct buf b;
    uint32_t at = start, n = 0;

    buf_init(&b);
    do {
        if (n < CYCLE_SHOWN)
            buf_addf(&b, "%u -> ", at);
        at = (uint32_t)on[at];
        n++;
    } while (at != start);
    if (n > CYCLE_SHOWN)
        buf_addf(&b, "... -> ");
    log_note("  cycle of %u: rank %s%u", n, buf_str(&b), start);
    buf_fini(&b);
}

/* Colours: 0 unseen, 1 + the walk that saw it. */
static void find_cycle(struct engine *e)
{
    uint32_t n = (uint32_t)(e->cfg.entities < CYCLE_SEARCH ? e->cfg.entities : CYCLE_SEARCH);
    int64_t *on = mem_alloc(n * sizeof *on);
    uint32_t *seen = mem_zalloc(n * sizeof *seen);
    struct engine_wait w;

    for (uint32_t i = 0; i < n; i++) {
        on[i] = -1;
        if (engine_entity_at(e, i)->state != ENGINE_BLOCKED)
            continue;
        explain(e, i, &w);
        if (w.waits_on < (int64_t)n)
            on[i] = w.waits_on;
    }
    for (uint32_t i = 0; i < n; i++) {
        int64_t at = i;

        while (at >= 0 && seen[at] == 0) {
            seen[at] = i + 1;
            at = on[at];
        }
        if (at >= 0 && seen[at] == i + 1) {
            print_cycle(on, (uint32_t)at);
            break;
        }
    }
    mem_free(on);
    mem_free(seen);
}

void engine_report_stuck(struct engine *e, enum engine_end end)
{
    uint64_t blocked;

    if (end == ENGINE_END_LIVELOCK)
        log_error("livelock: every rank only polls and no message is on its way; "
                  "see --idle-limit");
    else
        log_error("deadlock: no rank can go on and no message is on its way");
    blocked = list_blocked(e);
    if (blocked > LISTED)
        log_note("  ... and %llu more blocked ranks", (unsigned long long)(blocked - LISTED));
    find_cycle(e);
    log_note("  %llu of %llu ranks blocked, %llu ended", (unsigned long long)blocked,
             (unsigned long long)e->cfg.entities, (unsigned long long)e->done);
}
